# SPDX-License-Identifier: Apache-2.0
"""Servers of WSGI applications, each with one process and the same number of Python threads."""

import os
import shutil
import subprocess
import tempfile

import servers

THREADS = 4
PYTHON = "/usr/bin/python3"     # for which Debian packages waitress and gunicorn

_built = {}


def _package():
    """The folder with the package monkey, built for the library of the build tree; None: it cannot be built."""
    if "folder" not in _built:
        _built["temp"] = tempfile.TemporaryDirectory(prefix="monkey-bench-python-")
        source = shutil.copytree(os.path.join(servers.TOP, "python"), os.path.join(_built["temp"].name, "source"))
        target = os.path.join(_built["temp"].name, "package")
        done = subprocess.run(
            [PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", target, source],
            env={**os.environ, "MONKEY_BUILD": os.path.abspath(servers.Monkey.build)}, capture_output=True, check=False)
        _built["folder"] = target if done.returncode == 0 else None
    return _built["folder"]


class Wsgi(servers.Server):
    """A server of bench/wsgi_application.py. words(port): behind `python3 -m`."""

    def __init__(self, name, note, module, words):
        self.name, self.note, self._module, self._words = f"wsgi-{name}", note, module, words

    def program(self):
        if self._module == "monkey":
            return PYTHON if _package() else None
        found = subprocess.run([PYTHON, "-c", f"import {self._module}"], capture_output=True, check=False)
        return PYTHON if found.returncode == 0 else None

    def command(self, setup):
        paths = [servers.BENCH] + ([_package()] if self._module == "monkey" else [])
        return ["env", f"PYTHONPATH={os.pathsep.join(paths)}", PYTHON, "-m", *self._words(setup.port)]


SERVERS = {server.name: server for server in (
    Wsgi("monkey", f"python -m monkey, one worker, {THREADS} threads", "monkey", lambda port: [
        "monkey", "wsgi_application", "--listen", f"127.0.0.1:{port}", "--threads", str(THREADS), "--set", "SERVER.MaxKeepAliveRequest=1000000"]),
    Wsgi("waitress", f"{THREADS} threads", "waitress", lambda port: [
        "waitress", "--listen", f"127.0.0.1:{port}", "--threads", str(THREADS), "wsgi_application:application"]),
    Wsgi("gunicorn", f"gthread, one worker, {THREADS} threads", "gunicorn", lambda port: [
        "gunicorn", "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread", "--threads", str(THREADS), "--keep-alive", "120",
        "--log-level", "error", "wsgi_application:application"]),
)}

servers.SERVERS.update(SERVERS)
