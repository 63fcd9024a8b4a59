#!/bin/sh
# heap-gate.sh: starts a .NET program, runs a load twice, and fails if the second load has made the heap grow.  See README.md in this folder.
set -u

usage() {
    cat <<'X'
usage: heap-gate.sh --load COMMAND [OPTION...] -- PROGRAM [ARGUMENT...]

Starts PROGRAM, runs the load, dumps the heap, runs the load again, dumps it again, and compares.

  --load COMMAND      one load, a shell command; it ends when the program has done its work
  --ready COMMAND     a shell command that succeeds as soon as PROGRAM can take the load
  --fail-if EXPR      a condition of "gcdumpc diff"; can be repeated (retained > +10%)
  --warm-up N         loads before the first dump (1)
  --name NAME         dump the process of this name instead of PROGRAM, for example if PROGRAM is "dotnet run"
  --out FOLDER        for dumps, comparison and output of PROGRAM (heap-gate)
  --summary FILE      append the Markdown there ($GITHUB_STEP_SUMMARY, else standard output)
  --ready-timeout S   seconds until PROGRAM must be ready (120)
  --load-timeout S    seconds that one load may take (1800)
  --help              show this help

Both commands get GATE_PID (number of PROGRAM), GATE_INPUT (a pipe to its standard input), GATE_OUTPUT (a file with what it prints) and GATE_LOAD (number
of the load) in their environment.  GCDUMPC is the program to use (gcdumpc).

Exit status: 0 no condition holds, 1 failed, 2 wrong usage, 3 a dump is incomplete, 4 the heap has grown, 130 interrupted.
X
}

wrong() {
    echo "heap-gate: $1; see heap-gate.sh --help" >&2
    exit 2
}

newline='
'
gcdumpc=${GCDUMPC:-gcdumpc} load='' ready='' conditions='' warm_up=1 name='' out=heap-gate summary=${GITHUB_STEP_SUMMARY:-}
ready_timeout=120 load_timeout=1800 count=0
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --) break ;;
    --load | --ready | --fail-if | --warm-up | --name | --out | --summary | --ready-timeout | --load-timeout)
        [ $# -ge 2 ] || wrong "$1 needs a value" ;;
    *) wrong "unknown option $1" ;;
    esac
    case $1 in
    --load) load=$2 ;;
    --ready) ready=$2 ;;
    --fail-if) case $2 in *"$newline"*) wrong "--fail-if takes one line" ;; esac
        conditions=$conditions$2$newline count=$((count + 1)) ;;
    --warm-up) warm_up=$2 ;;
    --name) name=$2 ;;
    --out) out=$2 ;;
    --summary) summary=$2 ;;
    --ready-timeout) ready_timeout=$2 ;;
    --load-timeout) load_timeout=$2 ;;
    esac
    shift 2
done
[ $# -ge 2 ] || wrong 'a program is expected after "--"'
shift
[ -n "$load" ] || wrong '--load is missing'
for number in "$warm_up" "$ready_timeout" "$load_timeout"; do
    case $number in '' | 0 | *[!0-9]* | ???????*) wrong "\"$number\" is no number from 1 to 999999" ;; esac
done
[ "$count" -le 32 ] || wrong '--fail-if can be given 32 times at most'
conditions=${conditions:-retained > +10%$newline}
program=$(command -v -- "$gcdumpc") || { echo "heap-gate: there is no program $gcdumpc (GCDUMPC)" >&2; exit 1; }
case $program in /*) gcdumpc=$program ;; *) gcdumpc=$PWD/$program ;; esac
set -- "$conditions" "$@"
while [ -n "$1" ]; do                # finds a wrong condition before any dump is taken: these files do not exist yet
    condition=${1%%"$newline"*} rest=${1#*"$newline"}
    "$gcdumpc" diff /dev/null/1 /dev/null/2 --fail-if "$condition" >/dev/null 2>&1
    [ $? -ne 2 ] || wrong "\"$condition\" is no condition of gcdumpc diff --fail-if"
    shift
    set -- "$rest" "$@"
done
shift

# -- the program -------------------------------------------------------------------------------------------------------

here=$PWD
mkdir -p -- "$out" && out=$(cd -- "$out" && pwd) || exit 1
work=$(mktemp -d) || exit 1
pid=''
: >"$work/facts"

# The program and everything it has started are one process group.
finish() {
    trap '' INT TERM HUP PIPE
    loading=$(cat "$work/loading" 2>/dev/null)   # read from the file: the load may have started just now
    [ -z "$loading" ] || kill -s TERM -- "-$loading" 2>/dev/null
    if [ -n "$pid" ] && kill -s TERM -- "-$pid" 2>/dev/null; then
        n=0
        while [ $n -lt 100 ] && kill -s 0 -- "-$pid" 2>/dev/null && [ ! -s "$work/status" ]; do
            sleep 0.1
            n=$((n + 1))
        done
        kill -s KILL -- "-$pid" 2>/dev/null
    fi
    n=0 # what was killed may write its last file now, or after the folder is gone
    until rm -rf -- "$work" 2>/dev/null || [ $n -ge 50 ]; do
        sleep 0.1
        n=$((n + 1))
    done
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
trap 'exit 1' PIPE

indent() { # an indented block, because no line in it can end it; at most N lines
    awk -v most="$1" 'NR <= most { print "    " $0 } END { if (NR > most) print "    ... (" NR - most " more lines)" }'
}

# summary_of RESULT SENTENCE: the Markdown.
summary_of() {
    printf '## Heap gate: %s\n\n%s\n\n' "$1" "$2"
    if [ -s "$work/conditions" ]; then
        printf '### Conditions\n\n'
        indent 100 <"$work/conditions"
        echo
    fi
    if [ -s "$work/facts" ]; then
        printf '### Cost of the dumps\n\n'
        indent 20 <"$work/facts"
        echo
    fi
    for block in "types:What has grown" "paths:What holds it" "leaks:Suspects in the second dump" "errors:Messages" "output:Output of the program"; do
        [ -s "$work/${block%%:*}" ] || continue
        printf '<details%s><summary>%s</summary>\n\n' "$([ "${block%%:*}" = types ] && echo ' open')" "${block#*:}"
        indent 60 <"$work/${block%%:*}"
        printf '\n</details>\n\n'
    done
}

# report STATUS RESULT SENTENCE: writes the summary and ends.
report() {
    summary_of "$2" "$3" >"$out/summary.md"
    echo "heap-gate: $2: $3" >&2
    if [ -z "$summary" ]; then
        cat "$out/summary.md"
    elif ! (cd -- "$here" && cat "$out/summary.md" >>"$summary"); then
        [ "$1" -ne 0 ] || exit 1
    fi
    [ "$1" -eq 0 ] || [ -z "${GITHUB_ACTIONS:-}" ] || echo "::error title=Heap gate::$3"
    exit "$1"
}

failed() {
    [ ! -e "$out/program.log" ] || tail -n 20 "$out/program.log" >"$work/output"
    report 1 failed "$1"
}

alive() { [ ! -s "$work/status" ]; }

must_live() {
    alive || failed "The program ended $1 (exit status $(cat "$work/status"))."
}

rm -f -- "$out/1.nettrace.gz" "$out/2.nettrace.gz" "$out/diff.html" "$out/summary.md"
mkfifo "$work/input" || exit 1
exec 3<>"$work/input"                # keeps a writer open, so the program never sees the end of its input
(
    setsid sh -c 'echo $$ >"$1"; shift; exec "$@"' heap-gate "$work/pid" "$@" <"$work/input" >"$out/program.log" 2>&1 3>&-
    { echo $? >"$work/status"; } 2>/dev/null
) &
while [ ! -s "$work/pid" ] && alive; do sleep 0.05; done
pid=$(cat "$work/pid" 2>/dev/null) || failed "The program cannot be started: is there a program setsid?"
export GATE_PID="$pid" GATE_INPUT="$work/input" GATE_OUTPUT="$out/program.log" GATE_LOAD=0

# -- ready -------------------------------------------------------------------------------------------------------------

# The start time that the runtime puts into the name of its socket, in ticks since the machine started: a killed process leaves its socket behind, and
# pids are reused.
start_time() {
    fields=$(cat "/proc/$pid/stat" 2>/dev/null)
    # shellcheck disable=SC2086
    set -- ${fields##*) }
    [ $# -ge 20 ] && echo "${20}"
}

is_ready() {
    if [ -n "$ready" ]; then
        sh -c "$ready" >"$work/errors" 2>&1 3>&-
    elif [ -n "$name" ]; then        # finds the process, but takes no dump, because nothing meets this condition
        "$gcdumpc" --name "$name" -o "$work/none.nettrace" --if-rss-above 1000000G -q >"$work/errors" 2>&1
    else
        [ -S "${TMPDIR:-/tmp}/dotnet-diagnostic-$pid-$(start_time)-socket" ]
    fi
}

start=$(date +%s)
until is_ready; do
    must_live "before it was ready"
    if [ $(($(date +%s) - start)) -ge "$ready_timeout" ]; then
        [ -n "$ready$name" ] || failed "The program has no diagnostic socket after $ready_timeout s: it is no .NET program, has diagnostics \
switched off (DOTNET_EnableDiagnostics=0), or starts another process (--name)."
        failed "The program was not ready after $ready_timeout s."
    fi
    sleep 0.2
done
: >"$work/errors"

# -- loads and dumps ---------------------------------------------------------------------------------------------------

run_load() {
    GATE_LOAD=$((GATE_LOAD + 1))
    echo "heap-gate: load $GATE_LOAD" >&2
    : >"$work/loaded"
    : >"$work/loading"
    (
        setsid sh -c 'echo $$ >"$0"; exec timeout "$@"' "$work/loading" "$load_timeout" sh -c "$load" >"$out/load.log" 2>&1 3>&-
        { echo $? >"$work/loaded"; } 2>/dev/null
    ) &
    while [ ! -s "$work/loading" ] && [ ! -s "$work/loaded" ]; do sleep 0.05; done
    while [ ! -s "$work/loaded" ] && alive; do sleep 0.1; done
    loaded=$(cat "$work/loaded")
    tail -n 20 "$out/load.log" >"$work/errors"
    must_live "during load $GATE_LOAD"
    [ "$loaded" != 124 ] || failed "Load $GATE_LOAD was not done after $load_timeout s."
    [ "$loaded" = 0 ] || failed "Load $GATE_LOAD failed (exit status $loaded)."
    : >"$work/loading"
    : >"$work/errors"
}

worst=0
dump() {
    if [ -n "$name" ]; then set -- "$1" --name "$name"; else set -- "$1" --pid "$pid"; fi
    number=$1
    shift
    "$gcdumpc" "$@" -o "$number.nettrace.gz" 2>"$work/errors"
    status=$?
    case $status in
    0) ;;
    3) worst=3 ;;
    *) cat "$work/errors" >&2
        must_live "before dump $number was taken"
        failed "Dump $number failed (exit status $status)." ;;
    esac
    grep -v '^$' "$work/errors" >>"$work/facts"
    cat "$work/errors" >&2
    : >"$work/errors"
}

while [ "$warm_up" -gt 0 ]; do
    run_load
    warm_up=$((warm_up - 1))
done
# A dump makes the runtime describe its own events (some 200 KB), which only later dumps show: they are no growth.
if [ -n "$name" ]; then set -- --name "$name"; else set -- --pid "$pid"; fi
"$gcdumpc" report "$@" --top 1 -q >"$work/first" 2>&1     # dump 1 says what is wrong
cd -- "$out" && dump 1 && cd -- "$here" || exit 1        # messages then name files without folders
run_load
cd -- "$out" && dump 2 || exit 1

# -- comparison --------------------------------------------------------------------------------------------------------

set --
rest=$conditions
while [ -n "$rest" ]; do
    set -- "$@" --fail-if "${rest%%"$newline"*}"
    rest=${rest#*"$newline"}
done
"$gcdumpc" diff 1.nettrace.gz 2.nettrace.gz --top 20 "$@" >"$work/types" 2>"$work/errors"
status=$?
case $status in
0 | 3 | 4) ;;
*) cat "$work/errors" >&2
    failed "The dumps cannot be compared (exit status $status)." ;;
esac
cat "$work/errors" >&2
printf '%s' "$conditions" | while IFS= read -r condition; do
    line=$(grep -F "threshold exceeded: $condition: " "$work/errors" | head -n 1)
    if [ -n "$line" ]; then
        echo "exceeded  ${line#*threshold exceeded: }"
    else
        echo "ok        $condition"
    fi
done >"$work/conditions"
grep -v 'threshold exceeded: ' "$work/errors" >"$work/other"
mv "$work/other" "$work/errors"
"$gcdumpc" diff 1.nettrace.gz 2.nettrace.gz -o diff.html -q 2>/dev/null
if [ "$status" -eq 4 ]; then
    "$gcdumpc" diff 1.nettrace.gz 2.nettrace.gz --paths --top 30 -q >"$work/paths" 2>/dev/null
    "$gcdumpc" leaks 2.nettrace.gz --top 3 -q >"$work/leaks" 2>/dev/null
    report 4 grown "The second load has made the heap grow beyond a limit."
fi
[ "$worst" -eq 0 ] && [ "$status" -eq 0 ] || report 3 incomplete "No limit was exceeded, but a dump is incomplete."
report 0 passed "The second load has not made the heap grow beyond a limit."
