# SPDX-License-Identifier: Apache-2.0
"""Libraries that serve HTTP inside another program: one small program of bench/embed/ for each."""

import os
import subprocess

import docroot
import servers

FOLDER = os.path.join(servers.BENCH, "embed")
HELLO, JSON, COUNT = docroot.HELLO, "json", "count"
COUNT_SIZE = 1000000        # bytes of a body that is counted


def _pkg_config(name):
    done = subprocess.run(["pkg-config", "--cflags", "--libs", name], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


def own_flags():
    """Of the build tree, not of an installed one."""
    build = os.path.abspath(servers.Monkey.build)
    return [f"-I{servers.TOP}/include", f"-L{build}", "-lmonkey", f"-Wl,-rpath,{build}"]


def _civetweb():
    """Debian's package has no .pc file."""
    return ["-lcivetweb"] if os.path.exists("/usr/include/civetweb.h") else None


class Embedded(servers.Server):
    """A program of one library; takes the port and one worker."""
    small = HELLO

    def __init__(self, library, note, flags, version=""):
        self.library, self.name, self.note = library, f"embed-{library}", note
        self._flags, self._version = flags, version

    def program(self):
        flags = self._flags()
        if flags is None:
            return None
        source = os.path.join(FOLDER, f"{self.library}.c")
        return servers.build_program(f"embed-{self.library}", [source], [*flags, "-lpthread"])

    def libraries(self):
        """What it loads that is no part of libc."""
        done = subprocess.run(["ldd", self.program()], capture_output=True, text=True, check=False)
        paths = [line.split("=> ")[1].split(" (")[0] for line in done.stdout.splitlines() if "=> /" in line]
        return [path for path in paths if not os.path.basename(path).startswith(("libc.so", "libm.so", "libdl.so"))]

    def version(self):
        done = subprocess.run(["pkg-config", "--modversion", self._version], capture_output=True, text=True, check=False)
        return f"{self._version} {done.stdout.strip()}" if self._version and done.returncode == 0 else ""

    def command(self, setup):
        return [self.program(), str(setup.port)]


SERVERS = {server.name: server for server in (
    Embedded("monkey", "libmonkey, handlers in the program", own_flags),
    Embedded("microhttpd", "epoll in a thread of its own", lambda: _pkg_config("libmicrohttpd"), "libmicrohttpd"),
    Embedded("civetweb", "64 threads, one for each connection", _civetweb),
    Embedded("libevent", "evhttp, one loop", lambda: _pkg_config("libevent"), "libevent"),
)}

servers.SERVERS.update(SERVERS)
