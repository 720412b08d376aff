# SPDX-License-Identifier: Apache-2.0
"""From a folder with Makefile.in to services that a server can open. The folder itself is only read."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

from . import absent, makefile
from .failure import Failure

FOLDERS = {"html": "DocumentRoot", "conf": "ConfDir", "data": "DataDir", "logs": "LogDir"}


@dataclass(frozen=True)
class Service:
    name: str
    file: pathlib.Path    # NAME.duda
    folder: pathlib.Path  # html, conf, data and logs are here

    def folders(self):
        """Key of [WEB_SERVICE] -> folder, of those that exist."""
        return {key: self.folder / name for name, key in FOLDERS.items() if (self.folder / name).is_dir()}


def makefiles(path):
    """Every Makefile.in below the path, the path's own first."""
    path = pathlib.Path(path).absolute()
    if not (path / "Makefile.in").is_file():
        raise Failure(f"{path} has no Makefile.in" if path.is_dir() else f"{path} is not a folder")
    found = []
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        if "Makefile.in" in files:
            found.append(pathlib.Path(folder) / "Makefile.in")
    return found


@contextlib.contextmanager
def _alone_in(folder):
    """Two commands do not build one service at once."""
    with open(folder / "lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(folder, out, goal, **kwargs):
    try:
        return subprocess.run(["make", "-s", "--no-print-directory", "-C", str(folder), "-f", str(out / "Makefile"), goal],
                              stdin=subprocess.DEVNULL, text=True, errors="replace", check=False, **kwargs)
    except FileNotFoundError:
        raise Failure("make is not installed") from None


class Builder:
    """Builds what is below one path; build() may be called again after changes."""

    def __init__(self, places, cache, path, level=None, kind="plain"):
        self.places, self.level, self.kind = places, level, kind
        self.path = pathlib.Path(path).absolute()
        digest = hashlib.sha256(f"{self.path.resolve()}\0{places.server}\0{level}\0{kind}".encode()).hexdigest()[:20]
        self.out = cache.folder / "services" / digest

    def build(self, is_forced=False):
        """The services, in the order of their files. Compiler and make write to standard error. Raises Failure."""
        files = makefiles(self.path)
        self.out.mkdir(parents=True, exist_ok=True)
        with _alone_in(self.out):
            services = [self._build_one(file, is_forced) for file in files]
        services += self._built_elsewhere({service.name for service in services})
        names = [service.name for service in services]
        for name in names:
            if names.count(name) > 1:
                raise Failure(f"two Makefile.in have NAME = {name}")
        return services

    def _build_one(self, file, is_forced):
        folder = file.parent
        out = self.out / "built" / folder.relative_to(self.path)
        if is_forced:
            shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        self._write_makefile(file, out)
        name = self._name(file, out)
        done = _make(folder, out, "dudac-all", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout, end="", file=sys.stderr, flush=True)
        if done.returncode != 0:
            raise Failure(f"{name} does not build", done.stdout)
        home = folder if any((folder / kind).is_dir() for kind in FOLDERS) else self.path
        return Service(name, out / f"{name}.duda", home)

    def _write_makefile(self, file, out):
        names = absent.write_headers(self.places, out / "absent")
        text = makefile.text(file.read_text(errors="surrogateescape"), out, self.places.headers, self.level,
                             self.places.is_32_bit(), self.kind, self.places.testing, names)
        target = out / "Makefile"
        if not target.exists() or target.read_text(errors="surrogateescape") != text:
            for made in out.rglob("*.o"):  # times may be equal, or a clock may have been set
                made.unlink()
            target.write_text(text, errors="surrogateescape")

    def _name(self, file, out):
        done = _make(file.parent, out, "dudac-name", capture_output=True)
        name = done.stdout.strip()
        if done.returncode != 0:
            raise Failure(f"{file} is not understood by make:\n{done.stderr}")
        if not name or "/" in name or name.startswith(".") or len(name.split()) != 1:
            raise Failure(f"{file} has no NAME that a service can have")
        return name

    def build_tests(self):
        """After build(): the program of the tests. Raises Failure."""
        out = self.out / "built"
        with _alone_in(self.out):
            done = _make(self.path, out, "dudac-tests", stdout=sys.stderr)
        if done.returncode != 0:
            raise Failure("the tests do not build")
        return out / "tests"

    def _built_elsewhere(self, names):
        """Services that were put into the folder as files."""
        return [Service(file.stem, file, self.path) for file in sorted(self.path.glob("*.duda")) if file.stem not in names]
