# SPDX-License-Identifier: Apache-2.0
"""Real servers around ours: nginx, Node.js, uvicorn, gunicorn, HAProxy. Each is ended by its pid."""

import contextlib
import os
import signal
import subprocess
import textwrap

from harness import ports, tools
from harness.client import eventually


def _launch(words, **files):
    return subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, text=True, start_new_session=True, **files)


def _launch_at(port, words, errors):
    """One that listens there. errors: the file with its complaints."""
    with open(errors, "ab") as log:
        process = _launch(words, stdout=subprocess.DEVNULL, stderr=log)
    assert eventually(lambda: ports.listens(process.pid, port) or process.poll() is not None)
    assert process.poll() is None, f"{words[0]} ended with {process.returncode}: {errors.read_text()}"
    return process


@contextlib.contextmanager
def _running(process):
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def nginx(folder, server, root):
    """server: lines of its server block."""
    folder.mkdir(exist_ok=True)
    temps = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""
    conf, log = folder / "nginx.conf", folder / "error.log"

    def launch(port):
        conf.write_text(f"{user}worker_processes 1;\ndaemon off;\npid {folder}/pid;\nerror_log {log};\n"
                        f"events {{ }}\nhttp {{\naccess_log off;\n{temps}server {{\nlisten 127.0.0.1:{port};\nroot {root};\n"
                        f"{textwrap.dedent(server)}\n}}\n}}\n")
        return port, _launch_at(port, [tools.require("nginx"), "-p", folder, "-c", conf, "-e", log], log)

    port, process = ports.on_free(launch)
    with _running(process):
        yield port


@contextlib.contextmanager
def nginx_as_written(folder, text, port):
    """With a whole nginx.conf that listens at this port; its temporary files are kept in the folder."""
    temps = "".join(f"    {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    conf, log = folder / "nginx.conf", folder / "nginx.log"
    user = "user root;\n" if os.geteuid() == 0 else ""
    conf.write_text(f"{user}daemon off;\n{text}".replace("http {\n", "http {\n" + temps, 1))
    with _running(_launch_at(port, [tools.require("nginx"), "-p", folder, "-c", conf, "-e", log], log)):
        yield


@contextlib.contextmanager
def haproxy(folder, text, bind):
    """With a whole haproxy.cfg; the port in place of this line. It checks its servers before it passes anything on."""
    folder.mkdir(exist_ok=True)
    assert bind in text

    def launch(port):
        (folder / "haproxy.cfg").write_text(text.replace(bind, f"bind 127.0.0.1:{port}"))
        return port, _launch_at(port, [tools.require("haproxy"), "-db", "-f", folder / "haproxy.cfg"], folder / "log")

    port, process = ports.on_free(launch)
    with _running(process):
        yield port


@contextlib.contextmanager
def command(folder, words, accepts, **env):
    """A server that a shell starts with these words, in a folder. accepts: whether it serves already."""
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(["sh", "-c", f"exec {words}"], cwd=folder, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True)
    with _running(process):
        assert eventually(lambda: accepts() or process.poll() is not None) and process.poll() is None, (folder / "log").read_text()
        yield process


@contextlib.contextmanager
def node(keep_alive_ms=5000):
    with _running(_launch([tools.require("node"), tools.HELPERS / "peer.js", keep_alive_ms], stdout=subprocess.PIPE)) as process:
        with process.stdout:
            yield int(process.stdout.readline())


@contextlib.contextmanager
def uvicorn(folder):
    words = [tools.require("uvicorn"), "--app-dir", tools.HELPERS, "--log-level", "error", "--no-server-header", "peer_asgi:app"]
    port, process = ports.on_free(lambda port: (port, _launch_at(port, [*words, "--port", port], folder / "uvicorn.log")))
    with _running(process):
        yield port
