"""Operators that make mutants of C code: each breaks one small thing inside a function.

The text is taken apart into tokens, so that comments, strings, the preprocessor, declarators,
static assertions, sizeof and the values of case labels stay as they are.  A mutant keeps the line
numbers.
"""
import bisect
import hashlib
import os
import re

TOKEN = re.compile(r"""
    (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<space>\n|[^\S\n]+|/\*.*?\*/|//[^\n]*)
  | (?P<string>(?:u8|[LuU])?"(?:\\.|[^"\\\n])*"|[LuU]?'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||.)
    """, re.X | re.S | re.M)

COMPARISON = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
LOGICAL = {"&&": "||", "||": "&&"}
BITS = {"&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<", "|=": "&=", "&=": "|=",
        "<<=": ">>=", ">>=": "<<="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=",
              "++": "--", "--": "++"}
OPERATORS = ("comparison", "boundary", "statement", "field", "arguments", "constant", "condition",
             "error", "logical", "bits", "arithmetic")

HEADS = {"if", "for", "while", "switch"}
KEYWORDS = HEADS | {"return", "goto", "break", "continue", "do", "case", "default", "else",
                    "sizeof"}
TYPES = {"const", "static", "struct", "enum", "union", "unsigned", "signed", "int", "char", "void",
         "bool", "double", "float", "long", "short", "volatile", "_Atomic", "_Alignas"}
CLOSES = {"(": ")", "[": "]", "{": "}"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# Number of the argument that can change places with the next one without any difference: compared
# with 0, and factors of a size.
COMMUTES = {**dict.fromkeys(("strcmp", "strncmp", "strcasecmp", "strncasecmp", "memcmp"), 0),
            **dict.fromkeys(("gcd_mem_new_array", "gcd_mem_new_uncleared"), 1)}
# What ends an operand of an operator, in both directions.
ENDS = ASSIGN | {",", ";", "{", "}", "?", ":", "return", "else", "case"}
OPERAND = {"||": ENDS | {"||"}, "&&": ENDS | {"||", "&&"}, "|": ENDS | {"||", "&&", "|"}}
FAILS = re.compile(r"return (st|rc|-1|NULL|false|GCD_(E_|END)\w+|\w*(fail|because|error|nomem)\w*"
                   r"( \(.*)?) ;")


class Mutant:
    """TEXT[begin:end] becomes NEW."""

    survives, first = "", []

    def __init__(self, path, operator, source, begin, end, new, function):
        self.path, self.operator, self.begin, self.end = path, operator, begin, end
        old = source.text[begin:end]
        self.new = new + "\n" * (old.count("\n") - new.count("\n"))
        self.line = source.line_of(begin)
        self.statement = self.line            # where its statement begins
        mutated = source.text[function[0]:begin] + self.new + source.text[end:function[1]]
        words = "\0".join([path, operator, *mutated.split()])
        self.id = hashlib.sha256(words.encode()).hexdigest()[:12]
        self.name = f"{path}:{self.line} {operator}"

    folder = property(lambda self: os.path.dirname(self.path))

    def digest(self):
        return self.id

    def apply(self, text):
        return text[:self.begin] + self.new + text[self.end:]


class Source:
    """The tokens of a C file, without white space, comments and directives."""

    def __init__(self, text):
        self.text = text
        found = [m for m in TOKEN.finditer(text) if m.lastgroup not in ("space", "directive")]
        self.kind = [m.lastgroup for m in found]
        self.t = [m.group() for m in found]
        self.begin = [m.start() for m in found]
        self.end = [m.end() for m in found]
        self.newlines = [m.start() for m in re.finditer("\n", text)]
        self.pair = self._pairs()
        self.fixed = set()                # tokens that stay as they are
        self.blocks = set()               # braces that hold statements

    def line_of(self, at):
        return bisect.bisect_left(self.newlines, at) + 1

    def _pairs(self):
        pair, stack = {}, []
        for i, token in enumerate(self.t):
            if token in CLOSES:
                stack.append(i)
            elif token in CLOSES.values() and stack:
                pair[i] = stack.pop()
                pair[pair[i]] = i
        return pair

    def functions(self):
        """First and last token of each body."""
        i = 0
        while i < len(self.t):
            if self.t[i] == "{":
                last = self.pair.get(i, len(self.t) - 1)
                if i > 0 and self.t[i - 1] == ")":
                    yield i, last
                i = last
            i += 1

    def after_head(self, i):
        """Whether token I follows if (...), for (...), while (...) or switch (...)."""
        return i > 0 and self.t[i - 1] == ")" and self.t[self.pair[i - 1] - 1] in HEADS

    def statements(self, first, last):
        """First tokens of the statements of a body.  Notes its blocks and the tokens to keep."""
        self.blocks.add(first)
        starts, inside = [], [first]
        for i in range(first + 1, last):
            token, before = self.t[i], self.t[i - 1]
            if token == "}":
                inside.pop()
                continue
            is_start = inside[-1] in self.blocks and i not in self.fixed and (
                before in ("{", "}", ";", "else", "do") or self.after_head(i) or
                before == ":" and self._is_label(i - 1))
            if is_start and not self._in_parentheses(i, inside[-1]):
                if token == "{":
                    self.blocks.add(i)
                else:
                    starts.append(i)
                    self._note_fixed(i)
            if token == "{":
                inside.append(i)
            elif token in ("sizeof", "_Static_assert") and self.t[i + 1] == "(":
                self.fixed.update(range(i, self.pair[i + 1] + 1))
            elif token == "for" and self._is_declaration(i + 2):
                self._note_declarators(i + 2)
        return starts

    def _is_label(self, i):
        """Whether the colon at I ends a case or the name of a label."""
        while i > 0 and self.t[i - 1] not in (";", "{", "}", "?"):
            i -= 1
            if self.t[i] in ("case", "default"):
                return True
        return self.t[i - 1] != "?" and self.kind[i] == "word" and self.t[i + 1] == ":"

    def _in_parentheses(self, i, block):
        """Whether I, in BLOCK, is a clause of a for loop."""
        for k in range(i - 1, block, -1):
            if self.t[k] in ("}", ")") and self.pair[k] > block:
                continue
            if self.t[k] == "(" and self.pair[k] > i:
                return True
            if self.t[k] in ("{", "}"):
                return False
        return False

    def _note_fixed(self, i):
        if self.t[i] == "case":
            end = next(k for k in range(i, len(self.t)) if self.t[k] == ":")
            self.fixed.update(range(i, end))
        elif self._is_declaration(i):
            self._note_declarators(i)

    def _is_declaration(self, i):
        word, after = self.t[i], self.t[i + 1]
        if self.kind[i] != "word" or word in KEYWORDS:
            return False
        if word in TYPES or word.endswith("_t") and after != "(" or self.kind[i + 1] == "word":
            return True
        while after == "*":
            i += 1
            after = self.t[i + 1]
        return self.t[i] == "*" and self.kind[i + 1] == "word"

    def _note_declarators(self, i):
        value = False
        while self.t[i] not in (";", "}"):
            if self.t[i] == "=":
                value = True
            elif self.t[i] == ",":
                value = False
            jump = self.pair[i] if value and self.t[i] in CLOSES else i
            if not value:
                self.fixed.add(i)
            i = jump + 1

    # -- parts of an expression

    def end_of_statement(self, i):
        """Its semicolon, or the end of the block behind a macro without one."""
        while self.t[i] not in (";", "}"):
            i = self.pair[i] + 1 if self.t[i] in CLOSES else i + 1
        return i

    def operand_left(self, i, ends):
        """First token of the operand before operator I."""
        while self.t[i - 1] not in ends and self.t[i - 1] not in CLOSES and \
                not self.after_head(i):
            i = self.pair[i - 1] if self.t[i - 1] in (")", "]", "}") else i - 1
        return i

    def operand_right(self, i, ends):
        """The token after the operand behind operator I."""
        i += 1
        while self.t[i] not in ends and self.t[i] not in CLOSES.values():
            i = self.pair[i] + 1 if self.t[i] in CLOSES else i + 1
        return i

    def arguments(self, i):
        """First and last tokens of the arguments in the parentheses that token I opens."""
        parts, k, first = [], i + 1, i + 1
        while k <= self.pair[i]:
            if self.t[k] == "," or k == self.pair[i]:
                if k > first:
                    parts.append((first, k - 1))
                first = k + 1
            k = self.pair[k] + 1 if self.t[k] in CLOSES else k + 1
        return parts

    def slice(self, first, last):
        return self.text[self.begin[first]:self.end[last]]

    def is_binary(self, i):
        return self.kind[i - 1] in ("number", "word") and self.t[i - 1] not in KEYWORDS or \
            self.t[i - 1] in (")", "]") and not self.after_head(i)


class Generator:
    """Makes the mutants of one function."""

    def __init__(self, path, source, first, last):
        self.path, self.s = path, source
        self.first, self.last = first, last
        self.span = (source.begin[first - 1], source.end[last])
        self.found, self.starts = [], []
        self.steps = set()                # of loops: backwards they only run into the time limit

    def add(self, operator, first, last, new):
        """Replaces the tokens FIRST to LAST."""
        s = self.s
        if s.slice(first, last).split() != new.split():
            m = Mutant(self.path, operator, s, s.begin[first], s.end[last], new, self.span)
            at = bisect.bisect_right(self.starts, first)
            m.statement = s.line_of(s.begin[self.starts[at - 1]]) if at else m.line
            self.found.append(m)

    def run(self):
        self.starts = self.s.statements(self.first, self.last)
        for i in self.starts:
            if i not in self.s.fixed:
                self.statement(i)
        for i in range(self.first + 1, self.last):
            if i not in self.s.fixed:
                self.token(i)
        return self.found

    def statement(self, i):
        s, word = self.s, self.s.t[i]
        if word in ("break", "continue"):
            self.add("statement", i, i, "")
        elif word in ("return", "goto"):
            is_conditional = s.t[i - 1] == "else" or s.after_head(i) or \
                s.t[s.end_of_statement(i) + 1] == "}" and s.end_of_statement(i) + 1 != self.last
            end = s.end_of_statement(i)
            if is_conditional:
                fails = word == "goto" or FAILS.match(" ".join(s.t[i:end + 1]))
                self.add("error" if fails else "statement", i, end - 1, "")
        elif word == "GCD_TRY":
            self.add("error", i, i, "(void)")
        elif word not in KEYWORDS and word != ";" and not (word == "(" and s.t[i + 1] == "void") \
                and not (s.kind[i] == "word" and s.t[i + 1] == ":"):
            self.add("statement", i, s.end_of_statement(i) - 1, "")

    def token(self, i):
        s, token = self.s, self.s.t[i]
        if s.kind[i] == "number":
            self.constant(i)
        elif token in ("true", "false"):
            self.add("constant", i, i, "false" if token == "true" else "true")
        elif token in ("if", "while") and s.t[i + 1] == "(":
            self.condition(i, i + 2, s.pair[i + 1] - 1)
        elif token == "for":
            step = s.pair[i + 1]
            self.steps.update(range(s.operand_left(step, {";"}), step))
        elif token == "(" and s.kind[i - 1] == "word" and s.t[i - 1] not in KEYWORDS:
            self.arguments(i)
        elif token == "{" and i not in s.blocks:
            self.fields(i)
        elif token == "?":
            self.choice(i)
        elif s.kind[i] == "sign":
            self.sign(i)

    def sign(self, i):
        s, token = self.s, self.s.t[i]
        if token in COMPARISON:
            self.add("comparison", i, i, COMPARISON[token])
        if token in BOUNDARY:
            self.add("boundary", i, i, BOUNDARY[token])
        if token in LOGICAL:
            self.add("logical", i, i, LOGICAL[token])
        if token in ("&&", "||", "|") and s.is_binary(i):
            self.operands("bits" if token == "|" else "logical", i)
        if token == "!":
            self.add("logical", i, i, "")
        if token == "~":
            self.add("bits", i, i, "")
        if token in BITS and (len(token) > 1 or s.is_binary(i)):
            self.add("bits", i, i, BITS[token])
        if token in ARITHMETIC and (len(token) > 1 or s.is_binary(i)) and i not in self.steps:
            self.add("arithmetic", i, i, ARITHMETIC[token])

    def operands(self, operator, i):
        """Drops the operator at I and one of its operands."""
        left = self.s.operand_left(i, OPERAND[self.s.t[i]])
        right = self.s.operand_right(i, OPERAND[self.s.t[i]])
        self.add(operator, left, i, "")
        self.add(operator, i, right - 1, "")

    def condition(self, i, first, last):
        if self.s.slice(first, last) not in ("true", "false", "0", "1"):
            self.add("condition", first, last, f"!({self.s.slice(first, last)})")
            self.add("condition", first, last, "false")
            if self.s.t[i] == "if":
                self.add("condition", first, last, "true")

    def choice(self, i):
        """Swaps the values of C ? A : B."""
        s, depth, k = self.s, 0, i + 1
        while depth > 0 or s.t[k] != ":":
            depth += (s.t[k] == "?") - (s.t[k] == ":")
            k = s.pair[k] + 1 if s.t[k] in CLOSES else k + 1
        end = k
        while True:
            end = s.operand_right(end, ENDS)
            if s.t[end] not in ("?", ":") or s.t[end] == ":" and depth == 0:
                break
            depth += 1 if s.t[end] == "?" else -1
        if end > k + 1:
            self.add("condition", i + 1, end - 1,
                     f"{s.slice(k + 1, end - 1)} : {s.slice(i + 1, k - 1)}")

    def arguments(self, i):
        s, parts = self.s, self.s.arguments(i)
        same, after = COMMUTES.get(s.t[i - 1]), s.pair[i] + 1
        if same == 0 and not (s.t[after] in ("==", "!=") and s.t[after + 1] == "0"):
            same = None                          # the sign counts
        for n, ((a, b), (c, d)) in enumerate(zip(parts, parts[1:])):
            if n != same:
                between = s.text[s.end[b]:s.begin[c]]
                self.add("arguments", a, d, s.slice(c, d) + between + s.slice(a, b))

    def fields(self, i):
        """Drops one .NAME = VALUE of an initializer."""
        parts = self.s.arguments(i)
        for n, (a, b) in enumerate(parts):
            if self.s.t[a] == "." and len(parts) > 1:
                comma = n + 1 < len(parts)
                self.add("field", a if comma else parts[n - 1][1] + 1, b + comma, "")

    def constant(self, i):
        m = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", self.s.t[i])
        if m:
            n = int(m[1], 16 if m[1][1:2] in ("x", "X") else 10)
            form = hex if m[1][1:2] in ("x", "X") else str
            self.add("constant", i, i, form(n + 1) + m[2])
            if n > 0:
                self.add("constant", i, i, form(n - 1) + m[2])
        else:
            self.add("constant", i, i, f"({self.s.t[i]} * 2)")


def mutants_of(path, text):
    source = Source(text)
    found = [m for first, last in source.functions()
             for m in Generator(path, source, first, last).run()]
    return list({m.id: m for m in found}.values())
