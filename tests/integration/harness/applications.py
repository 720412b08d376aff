# SPDX-License-Identifier: Apache-2.0
"""
Applications behind the server: php-fpm, php-cgi, a WSGI application behind uWSGI. Each runs in a folder of its
own, on the loopback or a Unix socket, as whoever runs the tests, and is ended by its pid with its children.

    with applications.php_fpm(tmp_path, children=4) as php:
        start(**applications.fastcgi(php.address, r"\\.php(/|$)"), files={"a.php": "<?php echo 1;"})
"""

import os
import shutil
import signal
import socket
import subprocess
import textwrap

from harness import ports, process, tools
from harness.client import eventually
from harness.config import section
from harness.program import children, is_alive

# What a PHP needs here to be the same on every machine: no php.ini, errors to the log, room for large uploads.
PHP_SETTINGS = {"display_errors": "0", "log_errors": "1", "html_errors": "0", "upload_max_filesize": "100M",
                "post_max_size": "100M", "memory_limit": "64M", "output_buffering": "0"}


class Application:
    """A running FastCGI application. address: "127.0.0.1:9000" or "unix:/path"."""

    def __init__(self, folder, address, command, env=None):
        self.address = address
        self.output = folder / "output"
        with open(self.output, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd=folder, env={**os.environ, **(env or {})},
                                            start_new_session=True)
        self.pid = self.process.pid
        eventually(lambda: self.accepts() or self.process.poll() is not None)
        assert self.process.poll() is None and self.accepts(), self.log()

    def accepts(self):
        kind, _, place = self.address.partition(":")
        if kind != "unix":
            return ports.listens(self.pid, int(place))
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(place)
            except OSError:
                return False
            return True

    def log(self):
        return self.output.read_text(errors="replace")

    def workers(self):
        """The processes that run scripts: php-fpm's own, in the order of their pids."""
        return sorted(children(self.pid))

    def kill(self):
        """End it like a crash, its children too: all are of one process group, and none has the address any more."""
        if self.process.poll() is None:
            family = self.workers()
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait(10)
            eventually(lambda: not any(map(is_alive, family)))

    def stop(self):
        family = self.workers() if self.process.poll() is None else []
        self.process.terminate()
        eventually(lambda: self.process.poll() is not None, within=2)
        self.kill()
        for pid in family:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _bare(address):
    return address.removeprefix("unix:")


def _program(*names):
    """Debian's php-fpm and uWSGI carry a version in their names."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return next(filter(None, (shutil.which(name, path=path) for name in names)), None) or tools.require(names[0])


def php_fpm(folder, tcp=False, **how):
    """how: of one that listens at an address."""
    if tcp:
        return ports.on_free(lambda port: _php_fpm(folder, f"127.0.0.1:{port}", **how))
    return _php_fpm(folder, **{"address": f"unix:{folder}/socket", **how})


def _php_fpm(folder, address, children=3, backlog=511, settings=None, pool=""):
    """settings: of PHP, over the ones above; pool: further lines of the pool."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sessions").mkdir(exist_ok=True)
    values = {**PHP_SETTINGS, "session.save_path": str(folder / "sessions"), **(settings or {})}
    (folder / "php-fpm.conf").write_text(textwrap.dedent(f"""\
        [global]
        error_log = {folder}/fpm.log
        daemonize = no
        [tests]
        listen = {_bare(address)}
        listen.backlog = {backlog}
        pm = static
        pm.max_children = {children}
        catch_workers_output = no
        """) + ("user = root\ngroup = root\n" if os.geteuid() == 0 else "")
        + "".join(f"php_admin_value[{name}] = {value}\n" for name, value in values.items()) + textwrap.dedent(pool))
    command = [php_fpm_program(), "-n", "-F", "-y", folder / "php-fpm.conf"]
    return Application(folder, address, [*command, "-R"] if os.geteuid() == 0 else command)


def php_fpm_program():
    return _program("php-fpm", *(f"php-fpm8.{minor}" for minor in range(9, -1, -1)))


def php_cgi(folder, children=2, requests=0):
    """php-cgi as a FastCGI server over TCP. requests: after so many a child ends and is replaced; 0: never."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [word for name, value in PHP_SETTINGS.items() for word in ("-d", f"{name}={value}")]
    env = {"PHP_FCGI_CHILDREN": str(children), "PHP_FCGI_MAX_REQUESTS": str(requests)}
    command = [tools.require("php-cgi"), "-n", *words, "-b"]
    return ports.on_free(lambda port: Application(folder, f"127.0.0.1:{port}", [*command, f"127.0.0.1:{port}"], env))


def wsgi(folder, source, processes=2):
    """source: of a Python module whose `application` is served by uWSGI, which speaks FastCGI."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.py").write_text(textwrap.dedent(source))
    address = f"unix:{folder}/socket"
    command = [_program("uwsgi_python3", "uwsgi"), "--fastcgi-socket", _bare(address), "--wsgi-file", folder / "app.py",
               "--need-app", "--master", "--die-on-term", "--processes", processes, "--disable-logging"]
    return Application(folder, address, command)


def fastcgi_sections(address, match, server="", location=""):
    """fastcgi.conf for one application; server, location: further lines of its sections."""
    place = f"ServerPath {_bare(address)}" if address.startswith("unix:") else f"ServerAddr {address}"
    return (section("FASTCGI_SERVER", f"ServerName one\n{place}\n{textwrap.dedent(server)}")
            + section("FASTCGI_LOCATION", f"LocationName one\nServerNames one\nMatch {match}\n{textwrap.dedent(location)}"))


def fastcgi(address, match, server="", location="", more=""):
    """What to start a server with, so that an application answers what matches. more: lines of [PLUGINS]."""
    return {"extra": {"plugins.load": section("PLUGINS", f"Load {process.plugin('fastcgi')}\n{more}"),
                      "plugins/fastcgi/fastcgi.conf": fastcgi_sections(address, match, server, location)}}


def cgi(match, lines="", more=""):
    """The same for scripts that are programs. match: as in `Match`; lines: further ones of [CGI]."""
    return {"extra": {"plugins.load": section("PLUGINS", f"Load {process.plugin('cgi')}\n{more}"),
                      "plugins/cgi/cgi.conf": section("CGI", f"Match {match}\n{textwrap.dedent(lines)}")}}
