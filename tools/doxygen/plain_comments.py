#!/usr/bin/env python3
"""plain_comments.py HEADER prints a public header as Doxygen expects it.

The comments of the headers are plain.  The first one is about the file.  A comment above a declaration is about it and those that follow without an
empty line.  A comment after a member, value or declaration is about that one.
"""
import re
import sys


def block(lines):
    """One comment above a declaration.  Text that looks like a Doxygen command is escaped."""
    return [re.sub(r"([@\\])", r"\\\1", line) for line in ["/**" + lines[0][2:], *lines[1:]]]


def documented(text):
    """Lines for Doxygen."""
    lines, out, last, first, i, fresh = text.split("\n"), [], None, True, 0, False
    while i < len(lines):
        line = lines[i]
        if line.startswith("/*"):
            end = i
            while "*/" not in lines[end]:
                end += 1
            comment, i = lines[i:end + 1], end + 1
            if comment[0].startswith("/* ----"):         # a heading for readers
                last = None
            elif first:
                out += ["/** @file", *block(comment)[1:]]
            else:
                last, fresh = block(comment), True
                out += last
            first = False
            continue
        if line == "":
            last = None
        elif line.startswith("GCD_API"):
            # a comment also covers the declaration in the next line
            end = i
            while ";" not in lines[end]:
                end += 1
            behind = "/*" in lines[end]
            if last is not None and not fresh and not behind:
                out += last
            fresh = False
        elif not line.startswith((" ", "}")):
            fresh = False
        # behind code
        line = re.sub(r"^(.*\S.*?)/\* (.*)$", lambda m: m[1] + "/**< " + re.sub(r"([@\\])", r"\\\1", m[2]), line)
        out.append(line)
        i += 1
    return out


def undocumented(text):
    """Names of functions without a comment."""
    lines, found = documented(text), []
    for i, line in enumerate(lines):
        if not line.startswith("GCD_API"):
            continue
        end = i
        while ";" not in lines[end]:
            end += 1
        declaration = " ".join(lines[i:end + 1])
        if not lines[i - 1].rstrip().endswith("*/") and "/**<" not in declaration:
            found.append(re.search(r"\b(gcd_\w+)\(", declaration)[1])
    return found


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        print("\n".join(documented(f.read())), end="")
