# SPDX-License-Identifier: Apache-2.0
"""Servers of WebSocket: one small program of bench/sockets/ for each; and the client of messages, sockets.c."""

import json
import os
import subprocess

import embedded
import load
import measure
import servers

FOLDER = os.path.join(servers.BENCH, "sockets")
ECHO, EVERYBODY = "echo", "all"
PYTHON = "/usr/bin/python3"                     # for which Debian packages websockets
MODULES = "/usr/share/nodejs"                   # where Debian has ws
SMALL, LARGE = 64, 65536                        # bytes of a message
RECEIVERS = 5000


class Client:
    """sockets.c: with all connections open, client(seconds) talks over them."""

    def __init__(self, port, cores, path, connections, size=SMALL, broadcast=False):
        self._argv = [servers.build_tool("sockets"), *(["-b"] if broadcast else []), "-c", str(connections), "-s", str(size),
                      str(port), path]
        self._cores = cores

    def __enter__(self):
        self._process = subprocess.Popen(self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         preexec_fn=(lambda: os.sched_setaffinity(0, self._cores)) if self._cores else None)
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError("sockets: the connections could not be opened")
        return self

    def __call__(self, seconds):
        with measure.Watch([self._process.pid]) as watch:
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
            got = json.loads(self._process.stdout.readline() or "{}")
        if not got:
            raise RuntimeError("sockets: ended while it talked")
        return load.Result(got["requests"], got["errors"], got["bytes"], got["seconds"], got["p99_us"] / 1000, watch["cpu_ms"] / 1000)

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()


class Sockets(servers.Server):
    ready = (b"400", b"426")


class Monkey(Sockets):
    name, note = "ws-monkey", "libmonkey-websocket"

    def program(self):
        return servers.build_program(self.name, [os.path.join(FOLDER, "monkey.c")], [*embedded.own_flags(), "-lmonkey-web", "-lmonkey-websocket"])

    def command(self, setup):
        return [self.program(), str(setup.port), str(setup.workers)]


class Node(Sockets):
    name, note = "ws-node", "Node.js, ws: one process"

    def program(self):
        return servers.find_program("node", "nodejs") if os.path.isdir(f"{MODULES}/ws") else None

    def version(self):
        with open(f"{MODULES}/ws/package.json", encoding="utf-8") as package:
            return f"ws {json.load(package)['version']}"

    def command(self, setup):
        return ["env", f"NODE_PATH={MODULES}", self.program(), os.path.join(FOLDER, "node.js"), str(setup.port)]


class Python(Sockets):
    name, note = "ws-python", "Python, websockets: one process"

    def program(self):
        return PYTHON if self.version() else None

    def version(self):
        done = subprocess.run([PYTHON, "-c", "import websockets.version as v; print('websockets', v.version)"],
                              capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def command(self, setup):
        return [PYTHON, os.path.join(FOLDER, "python.py"), str(setup.port)]


SERVERS = {server.name: server for server in (Monkey(), Node(), Python())}

servers.SERVERS.update(SERVERS)
