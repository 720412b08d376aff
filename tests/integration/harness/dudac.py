# SPDX-License-Identifier: Apache-2.0
"""
dudac as a process, with folders of its own.

    with dudac.running(tmp_path, "-w", folder) as run:
        assert run.get("/hello/").body == b"Hello"
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

import pytest

from harness import executable, http
from harness.client import Connection, eventually

WITHIN = 45.0  # seconds for a build and a start, on a machine that does other things too


def program():
    path = pathlib.Path(executable.binary()).parent / "tools" / "dudac"
    if not path.is_file():
        pytest.skip("this build opens no shared objects")
    return str(path)


def environment(tmp_path, **more):
    folder = tmp_path / "temporary"
    folder.mkdir(exist_ok=True)
    return {**executable.environment(), "DUDAC_HOME": str(tmp_path / "home"), "TMPDIR": str(folder), **more}


def run(tmp_path, *words, env=None):
    """To its end."""
    return subprocess.run([program(), *map(str, words)], env=environment(tmp_path, **(env or {})), cwd=tmp_path, timeout=WITHIN,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


class Running:
    def __init__(self, tmp_path, words, env, options=("-M", "Listen=127.0.0.1:0")):
        self.folder = tmp_path / "temporary"
        self._files = [tmp_path / "stdout", tmp_path / "stderr"]
        with open(self._files[0], "wb") as out, open(self._files[1], "wb") as err:
            self.process = subprocess.Popen([program(), *map(str, words), *options], cwd=tmp_path,
                                            env=environment(tmp_path, **env), stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def output(self):
        return self._files[0].read_text()

    def errors(self):
        return self._files[1].read_text()

    def urls(self):
        return re.findall(r"^Service Up  : (\S+)$", self.output().rpartition("\n")[0], re.M)

    @property
    def port(self):
        return int(re.search(r":(\d+)/", self.urls()[-1])[1])

    def wait_for(self, condition, what):
        eventually(lambda: condition() or self.process.poll() is not None, within=WITHIN)
        assert condition(), f"{what}\n{self.output()}\n{self.errors()}"

    def request(self, target, method="GET", headers=(), **kwargs):
        pairs = [*(headers.items() if isinstance(headers, dict) else headers), ("Connection", "close")]
        with Connection(("127.0.0.1", self.port)) as connection:
            connection.send(http.request(target, method, headers=pairs, **kwargs))
            return http.parse_one(connection.rest(), method)

    def get(self, target, **kwargs):
        return self.request(target, **kwargs)

    def interrupt(self):
        """Ctrl-C; the exit code is returned."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(WITHIN)


@contextlib.contextmanager
def running(tmp_path, *words, count=1, **env):
    """dudac after it printed `count` lines of services."""
    run = Running(tmp_path, words, env)
    try:
        run.wait_for(lambda: len(run.urls()) >= count, "dudac brings no service up")
        yield run
    finally:
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGTERM)
            try:
                run.process.wait(20)
            except subprocess.TimeoutExpired:
                run.process.kill()
                run.process.wait()
