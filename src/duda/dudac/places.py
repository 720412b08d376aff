# SPDX-License-Identifier: Apache-2.0
"""Where the server, the headers and the packages of this installation or build tree are, and the cache of builds."""

import os
import pathlib
import platform
import shutil
import tempfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Testing:
    """What `dudac test` builds with."""
    headers: pathlib.Path   # monkey/ is there
    library: pathlib.Path   # libmonkey.so
    runner: pathlib.Path = pathlib.Path(__file__).parent / "runner" / "runner.c"


@dataclass(frozen=True)
class Places:
    version: str
    server: pathlib.Path    # the executable
    headers: pathlib.Path   # what services include
    plugins: pathlib.Path   # monkey-duda.so is there
    packages: pathlib.Path  # NAME.dpkg; may be missing
    mimes: pathlib.Path     # types of files; may be missing
    testing: Testing

    def is_32_bit(self):
        """Is the server a 32-bit program on a 64-bit machine? A service has the word size of what opens it."""
        with open(self.server, "rb") as file:
            return file.read(5)[4:] == b"\x01" and platform.machine() == "x86_64"


def is_home_chosen():
    return bool(os.environ.get("DUDAC_HOME"))


def home():
    """The folder of dudac's own files: builds, and the key pair of -S."""
    chosen = os.environ.get("DUDAC_HOME")
    if chosen:
        return pathlib.Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache).absolute() / "dudac"


class Cache:
    """A folder below home(), or a temporary one where home() cannot be written or make could not name it."""

    def __init__(self):
        self.folder, self._temporary = home(), None

    def __enter__(self):
        try:
            if len(str(self.folder).split()) != 1:
                raise OSError("make divides names at blanks")
            self.folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.folder).close()
        except OSError:
            self._temporary = self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dudac-cache-"))
        return self

    def __exit__(self, *_):
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)


def forget_builds():
    """Remove what home() keeps."""
    for name in ("services", "keys"):
        shutil.rmtree(home() / name, ignore_errors=True)
