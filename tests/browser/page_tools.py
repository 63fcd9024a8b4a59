"""Programs that check the page, installed by npm on first use, like the real readers of formats."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "readers"))
import real_readers                                     # noqa: E402

OLDEST_NODE = 18          # Debian 12 has it


def need_page_tools():
    """The folder with TypeScript, ESLint and axe-core; a skip without Node and npm."""
    version = real_readers._version("node")
    if version < OLDEST_NODE or not shutil.which("npm"):
        raise real_readers.Missing(f"checks of the page's source: no Node {OLDEST_NODE} or later with npm")
    return real_readers._installed("page", os.path.join(HERE, "node"), version, [
        (("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"), {"npm_config_update_notifier": "false"})],
        on=("package.json", "package-lock.json"))
