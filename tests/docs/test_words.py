"""The guides in tools/doc are readable: short sentences, words in the dictionary or in words.txt, lines that are not too long."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

from documents import COLUMNS, SOURCE, every_document, guides, read      # noqa: E402
from cli_support import main                     # noqa: E402

MEDIAN_WORDS, MOST_WORDS = 18, 40        # of a sentence
# misspelled on purpose, or names
NO_MISTAKES = ("statics,atleast,crate,nd,tring,reprot,ofmodule,iif,tre,rovider,pahts,nin,mondey,hrough,hax,conver")


def documents():
    return ["README.md"] + guides()


def prose(text):
    """Paragraphs and items of lists, without code, tables, headings, targets of links and marks."""
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    lines = [line for line in text.split("\n") if not line.startswith(("    ", "|", "#", "!["))]
    text = re.sub(r"(?m)^(- |\d+\. )", "\n", "\n".join(lines))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "code", text)
    return re.sub(r"[*\[\]]", "", text)


def sentences(text):
    """Lists of words."""
    for paragraph in re.split(r"\n\s*\n", prose(text)):
        for sentence in re.split(r"(?<=[.!?:;])[\"')]*\s+", " ".join(paragraph.split())):
            words = re.findall(r"[\w'’./-]*\w", sentence)
            if words:
                yield words


class Words(unittest.TestCase):
    def test_sentences(self):
        for name in documents():
            lengths = [(len(words), " ".join(words)) for words in sentences(read(name))]
            with self.subTest(name):
                self.assertLessEqual(statistics.median(n for n, _ in lengths), MEDIAN_WORDS)
                self.assertLessEqual(max(lengths)[0], MOST_WORDS, max(lengths)[1])

    def test_a_long_sentence_is_noticed(self):
        self.assertEqual([len(words) for words in sentences("One two three. " + "word " * 50 + "\n\n- item one\n- item `two of it`\n\n    code here\n")],
                         [3, 50, 2, 2])

    def test_columns(self):
        """Lines of all documents fit, not only those of the guides."""
        for name in every_document():
            text = re.sub(r"(?ms)^```.*?^```$", lambda fence: "\n" * fence[0].count("\n"), read(name))
            for number, line in enumerate(text.split("\n"), 1):
                if not re.match(r" *\||    ", line) and "](" not in line:
                    self.assertLessEqual(len(line), COLUMNS, f"{name}:{number}")

    @unittest.skipUnless(shutil.which("aspell"), "aspell is missing (Debian: aspell, aspell-en)")
    def test_spelling(self):
        with open(os.path.join(HERE, "words.txt"), encoding="utf-8") as f:
            known = {line.strip() for line in f}
        for name in documents():
            run = subprocess.run(["aspell", "list", "--lang=en_US", "--encoding=utf-8", "--ignore=2"], input=prose(read(name)), capture_output=True,
                                 text=True, check=True)
            with self.subTest(name):
                self.assertEqual(sorted({word for word in run.stdout.split() if word not in known and word.lower() not in known}), [])

    @unittest.skipUnless(shutil.which("codespell"), "codespell is missing (Debian: codespell)")
    def test_common_mistakes(self):
        """In all texts and sources."""
        folders = ["CHANGELOG.md", "CMakeLists.txt", "README.md", "include", "ipc", "src", "tests", "tools", "traces/README.md"]
        run = subprocess.run(["codespell", "--quiet-level", "3", "--ignore-words-list", NO_MISTAKES, "--skip", "*/corpus/*,*.gz,*.png,*/expected/*,*/package-lock.json",
                              *folders], cwd=SOURCE, capture_output=True, text=True)
        self.assertEqual((run.stdout, run.returncode), ("", 0))


if __name__ == "__main__":
    main()
