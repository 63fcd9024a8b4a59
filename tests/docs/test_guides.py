"""The README and the guides in tools/doc are correct: every command in them runs and prints what they show (see documents.py).

"test_guides.py --bless" writes what commands print today into the documents: read the difference before you commit it.
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

from documents import Folder, bless, blocks, commands, is_live, loose, read, wanted_status, with_commands, without_page_size     # noqa: E402
from cli_support import BLESS, SANITIZED, main                          # noqa: E402
import lab_programs                                                     # noqa: E402
import live_support                                                     # noqa: E402


class Commands(unittest.TestCase):
    maxDiff = None

    def test_there_are_documents(self):
        self.assertGreaterEqual(len(with_commands()), 5)

    def test_every_shown_command_is_run(self):
        for name in with_commands():
            for line in read(name).splitlines():
                self.assertNotRegex(line, r"^ {4,}build/gcdumpc ", name)

    def test_commands_are_separated_from_prose(self):
        text = "Words\n\n    $ one --two    # why\n    output\n\n    more\n    $ two\n\nWords"
        self.assertEqual([command for command, _ in blocks(text)], [None, "one --two", "two", None])
        self.assertEqual("\n".join(line for _, lines in blocks(text) for line in lines), text)

    def test_commands_on_recordings_print_what_is_shown(self):
        for name in with_commands():
            with Folder() as folder:
                for command, shown in commands(name):
                    if not is_live(command):
                        with self.subTest(name, command=command):
                            status, text = folder.run(command)
                            self.assertEqual((status, without_page_size(text)), (wanted_status(command), without_page_size(shown)))

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build cannot talk to processes")
    @unittest.skipIf(SANITIZED, "what a sanitizer adds to memory and time is not in the documents")
    def test_commands_on_a_process_print_what_is_shown(self):
        try:
            program = lab_programs.coffee_shop()
        except live_support.Missing as e:
            self.skipTest(str(e))
        with live_support.Process(program=program) as target:
            for name in with_commands():
                with Folder() as folder:
                    os.symlink(os.path.dirname(program), os.path.join(folder.path, "build", "shop"))
                    for command, shown in commands(name):
                        if is_live(command):
                            with self.subTest(name, command=command):
                                status, text = folder.run(command.replace("--name CoffeeShop", f"--pid {target.pid}"))
                                self.assertEqual((status, loose(text)), (wanted_status(command), loose(shown)), text)


if __name__ == "__main__":
    if BLESS:
        bless()
    else:
        main()
