# SPDX-License-Identifier: Apache-2.0
"""Real servers as backends: nginx, Node.js, uvicorn. Each is ended by its pid."""

import contextlib
import os
import signal
import socket
import subprocess
import textwrap

from harness import tools
from harness.client import eventually, free_port


def _answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


@contextlib.contextmanager
def _running(words, port=None, **kwargs):
    """The port of a server that prints it, or was told it."""
    process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               start_new_session=True, **kwargs)
    try:
        port = port or int(process.stdout.readline())
        assert eventually(lambda: _answers(port) or process.poll() is not None)
        assert process.poll() is None, f"{words[0]} ended with {process.returncode}"
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()


@contextlib.contextmanager
def nginx(folder, server, root):
    """server: lines of its server block."""
    folder.mkdir(exist_ok=True)
    port = free_port()
    temps = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""
    conf = folder / "nginx.conf"
    conf.write_text(f"{user}worker_processes 1;\ndaemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
                    f"events {{ }}\nhttp {{\naccess_log off;\n{temps}server {{\nlisten 127.0.0.1:{port};\nroot {root};\n"
                    f"{textwrap.dedent(server)}\n}}\n}}\n")
    with _running([tools.require("nginx"), "-p", folder, "-c", conf, "-e", folder / "error.log"], port,
                  stderr=subprocess.DEVNULL):
        yield port


@contextlib.contextmanager
def node(keep_alive_ms=5000):
    with _running([tools.require("node"), tools.HELPERS / "peer.js", keep_alive_ms]) as port:
        yield port


@contextlib.contextmanager
def uvicorn():
    port = free_port()
    with _running([tools.require("uvicorn"), "--app-dir", tools.HELPERS, "--port", port, "--log-level", "error",
                   "--no-server-header", "peer_asgi:app"], port):
        yield port
