"""How many event sessions a dump opens: one that makes the runtime describe its types again costs memory in the process, and comes only when needed."""
import os

from cli_support import CliTest, main, trace_bytes
from fake_process import FakeProcess


class SessionsTest(CliTest):
    def setUp(self):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            self.skipTest("this build has no support for living processes (GCDUMPC_IPC=OFF)")
        super().setUp()
        self.target = FakeProcess(self.tmp, self.path(self.put("in", trace_bytes("net10-wks"))), linger=0.05)
        os.unlink(self.path("in"))

    def tearDown(self):
        self.target.close()
        super().tearDown()

    def test_nobody_else_is_connected(self):
        """The connection by which we found it is still open in the runtime for a moment."""
        self.done("collect", "--pid", self.target.pid, "-o", "a.nettrace")
        self.assertEqual(self.target.sessions(), 1)


if __name__ == "__main__":
    main()
