"""The system calls of the program, from strace: one line per call, without process and descriptor numbers."""
import re
import shutil
import subprocess
import unittest

# Calls that create, open, name, remove or sync.  Not those that read and write.
CALLS = ("open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,symlink,symlinkat,chmod,fchmod,"
         "fchmodat,chown,fchown,fchownat,truncate,ftruncate,fallocate,fsync,fdatasync,sync_file_range,fadvise64,flock,mknod,mknodat,socket,"
         "socketpair,bind,listen,accept,accept4,connect,epoll_create,epoll_create1,timerfd_create,eventfd,eventfd2,pipe,pipe2,memfd_create,"
         "inotify_init,inotify_init1,signalfd,signalfd4,dup,dup2,dup3,fcntl,execve,madvise,mmap,setitimer,setpriority,"
         "ioprio_set")


def command(output):
    """The command in front of the program's name."""
    return ["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", "signal=none", "-e", "trace=" + ",".join(f"?{c}" for c in CALLS.split(",")), "-o", output]


def need_strace():
    """Skips the test where processes cannot be traced."""
    if shutil.which("strace") is None:
        raise unittest.SkipTest("strace is not here")
    r = subprocess.run([*command("/dev/null"), "true"], capture_output=True, text=True, check=False)
    if r.returncode != 0:
        raise unittest.SkipTest("strace may not trace here: " + (r.stderr.strip().splitlines() or ["?"])[-1])


def joined(text):
    """The lines of strace; a call interrupted by another thread is joined, at the place where it ended."""
    begun = {}
    for line in text.splitlines():
        pid, rest = re.match(r"(\d+) +(.*)", line).groups()
        if rest.endswith(" <unfinished ...>"):
            begun[pid] = rest[:-len(" <unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
        yield (begun.pop(pid) + resumed[1]) if resumed else rest


def calls(text, folders):
    """
    Lines "NAME ARGUMENTS -> RESULT" of the text of strace.  FOLDERS: path -> its replacement.  A descriptor is shown as its file, in angle
    brackets; temporary names have # for their number; a result is a descriptor, an errno, or empty.
    """
    for line in joined(text):
        found = re.match(r"(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)(.*)$", line)
        if not found:
            continue                     # a signal, or the end of a process
        name, arguments, result, rest = found.groups()
        fd = re.match(r"<(.*)>$", rest)
        error = re.match(r" (E[A-Z0-9]+) ", rest)
        shown = f" -> <{fd[1]}>" if fd else f" -> {error[1]}" if error else ""
        one = re.sub(r"(?:AT_FDCWD|\b\d+)<([^>]*)>", r"<\1>", f"{name} {arguments}{shown}")
        one = re.sub(r'<[^>]*>, "(?=/)', '"', one)       # an absolute name needs no folder
        for path, short in sorted(folders.items(), key=lambda pair: -len(pair[0])):
            one = one.replace(path, short)
        one = re.sub(r"\b[OFSLMP][A-Z]*_\w+(?:\|[A-Z_]+)+", lambda flags: "|".join(sorted(flags[0].split("|"))), one)   # the format that strace expects
        one = re.sub(r"\.\d+-\d+\.gcdumpc-tmp", ".#.gcdumpc-tmp", one)
        one = re.sub(r"\.gcdumpc-\d+-\d+\.\d+", ".gcdumpc-#", one)
        yield one.replace(" (deleted)", "")
