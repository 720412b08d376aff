# SPDX-License-Identifier: Apache-2.0
"""
The package monkey for Python, built once for all tests of a run, and programs of Python that use it.

    def test_something(serve):
        server = serve("def application(environ, start_response): ...", "--threads", "2")
        assert server.get("/").status == 200
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

import pytest

from harness import process
from harness.client import eventually

SOURCE = process.TREE / "python"


def _folder():
    return pathlib.Path(process.binary()).parent


def skip_unless_loadable():
    """An interpreter can load the library of most kinds of builds."""
    chosen = (_folder() / ".chosen").read_text()
    if process.is_sanitized():
        pytest.skip("a sanitizer's runtime ends a program in which it does not come first")
    if "default_library=static" in chosen:
        pytest.skip("there is no shared library")
    if "-m32" in chosen:
        pytest.skip("the interpreter has another size of pointers")


def pip(*words):
    """pip with a copy of the sources as its last word, because it builds in their folder. Nothing comes from the network."""
    with tempfile.TemporaryDirectory() as copy:
        source = shutil.copytree(SOURCE, pathlib.Path(copy) / "python", ignore=shutil.ignore_patterns("build", "*.egg-info"))
        env = dict(os.environ, MONKEY_BUILD=str(_folder()), MONKEY_CFLAGS="-Werror -O1", PIP_ROOT_USER_ACTION="ignore")
        env.pop("CC", None)
        words = [*words, "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", source]
        done = subprocess.run([sys.executable, "-m", "pip", *map(str, words)], env=env, capture_output=True, text=True,
                              timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def package(base):
    """The folder with the package, built by the first of the processes that run tests."""
    target = base / "python-package"
    with open(base / "python-package.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "monkey").exists():
            pip("install", "--target", target)
    return target


class _Addresses:
    """What process.Server wants to know of a configuration."""

    root = folder = None

    def __init__(self, count):
        self._count = count

    def listen_lines(self):
        return self._count


class Program(process.Server):
    """A program of Python with a server in it."""

    def __init__(self, folder, words, path, listens=1, env=None):
        self.folder, self.config = folder, _Addresses(listens)
        self.root = self.conf = None
        self.stderr = folder / "stderr"
        self._connections, self._checked, self._memory = [], False, None
        paths = os.pathsep.join([str(path), str(folder)])
        with open(self.stderr, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", *map(str, words)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", **(env or {})})
        self.pid = self.process.pid

    def wait_for_log(self, pattern, since=0, within=30.0):
        return super().wait_for_log(pattern, since, within)

    def resident_kb(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])


@contextlib.contextmanager
def programs(folder, path):
    """A function that starts programs; in the end each is ended, and must have ended well."""
    started = []

    def serve(source, *options, env=None, files=None):
        home = folder / f"python{len(started)}"
        home.mkdir()
        (home / "app.py").write_text(textwrap.dedent(source))
        for name, text in (files or {}).items():
            (home / name).write_text(text)
        words = ["-m", "monkey", "app", "--listen", "127.0.0.1:0", *options]
        started.append(Program(home, words, path, env=env))
        return started[-1].wait_until_started()

    yield serve
    faults = []
    for program in started:
        try:
            program.stop(within=30)
        except AssertionError as fault:
            faults.append(str(fault))
    assert not faults, "\n".join(faults)


def run(folder, path, source, timeout=60, code=0):
    """Run a program of Python to its end; what it wrote is returned."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(source)], cwd=folder, timeout=timeout, check=False,
                          env={**os.environ, "PYTHONPATH": str(path)}, capture_output=True, text=True)
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
