"""A copy of what the product is built from: another place than that of the build under test, whose compiler cache serves both."""
import os
import shutil

FILES = ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md")
FOLDERS = ("include", "src", "ipc", "tools")


def copy_source(root, copy):
    """Makes the folder COPY.  Compile two folders below it: cached objects of the whole test run have relative paths."""
    os.makedirs(copy)
    for name in FILES:
        shutil.copy(os.path.join(root, name), copy)
    for name in FOLDERS:
        shutil.copytree(os.path.join(root, name), os.path.join(copy, name), symlinks=True)
    os.environ["CCACHE_BASEDIR"] = copy
    return copy
