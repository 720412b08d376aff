# SPDX-License-Identifier: Apache-2.0
"""`dudac -w`: build, start, stay until Ctrl-C."""

import contextlib
import errno
import signal
import socket
import sys

from . import certificate, crash
from .building import Builder
from .failure import Failure
from .places import Cache
from .run_folder import LOOPBACK, RunFolder
from .server import Server


class Stopped(Exception):
    """The user wants an end."""


@contextlib.contextmanager
def until_stopped():
    """Ctrl-C, TERM and HUP end the block, which cleans up behind itself."""
    def stop(*_):
        for number in numbers:  # once is enough: what cleans up is not disturbed
            signal.signal(number, signal.SIG_IGN)
        raise Stopped

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    except Stopped:
        print(flush=True)
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)


def check_port(options):
    """The port may be used by somebody else, who is told apart from faults of the service."""
    if any(key.lower() in ("port", "listen") for key in options.overrides) or options.port == 0:
        return  # the server itself reports it
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, options.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Failure(f"port {options.port} is used by another program; choose one with -p, or any with -p 0") from None
            raise Failure(f"port {options.port}: {error.strerror}") from None


class Run:
    """A service that is built and served; one port for all starts."""

    def __init__(self, places, cache, run, options):
        self.places, self.cache, self.run, self.options = places, cache, run, options
        self.builder = Builder(places, cache, options.path, options.level, options.kind)
        self.server = None
        self.listens_at = (None, None)  # the port as configured, and the key pair

    def build(self):
        """The services. Raises Failure."""
        services = self.builder.build(self.options.is_forced)
        self.options.is_forced = False
        return services

    def start(self, services):
        """Start a server with them and print where they are. Raises Failure."""
        pair = certificate.pair(self.places, self.cache) if self.options.is_secure else None
        self.listens_at = self.options.port, pair
        self._write(services)
        self.server = Server(self.places, self.run, self.options.shows_output)
        if not self.server.wait_until_started():
            self.server.stop()
            self.server.show_output()
            raise Failure("the server does not start", self.server.output())
        self._show(services)

    def reload(self, services):
        """Have the server that runs load what has changed, and print where it is. Raises Failure: it keeps what it has."""
        self._write(services)
        is_reloaded = self.server.reload()
        if self.server.stuck:
            self._replace_stuck()
            self.start(services)
            return
        if not is_reloaded:
            self.server.show_output()
            raise Failure("the server keeps what it has", self.server.output())
        self._show(services)

    def _replace_stuck(self):
        """A call-back that does not return keeps its worker, and the service that was saved from being loaded."""
        self.server.abort_stuck()
        place = crash.where(list(self.server.lines)).replace("Crash in", "Stuck in", 1)
        print(f"{place}dudac: a call-back does not return; the server is started anew", file=sys.stderr, flush=True)

    def _write(self, services):
        port, pair = self.listens_at
        self.run.write(self.places, services, port, self.options.overrides, pair)

    def _show(self, services):
        up = [service.name for service in services if service.name not in self.server.skipped]
        if len(up) < len(services):
            self.server.show_output()
        if not up:
            raise Failure("the server skipped every service", self.server.output())
        for name in up:
            print(f"Service Up  : {self.url(name)}", flush=True)

    def url(self, name):
        """Of the page of a service, or of a folder."""
        return f"{'https' if self.options.is_secure else 'http'}://localhost:{self.server.port}/{name}/"

    def stop(self):
        if self.server:
            self.server.stop()

    def report_end(self):
        """The server ended though nobody asked: say how, and raise Failure."""
        name = crash.signal_name(self.server.poll())
        self.server.show_output()
        if not name:
            raise Failure(f"the server ended with exit code {self.server.poll()}", self.server.output())
        report = crash.write_report(self.places, self.run, self.server, self.options.path)
        place = crash.where(list(self.server.lines))
        print(place, end="", file=sys.stderr, flush=True)
        raise Failure(f"the server ended by {name}" + (f"; see {report}" if report else ""), place or self.server.output())


@contextlib.contextmanager
def prepared(places, options, is_watched=False):
    """A Run whose server, folder and cache are cleaned up at the end, which a signal brings."""
    crash.allow_core_files()
    with until_stopped(), Cache() as cache, RunFolder(is_watched) as folder:
        run = Run(places, cache, folder, options)
        try:
            yield run
        finally:
            run.stop()


def run_service(places, options):
    """Exit code 0 after Ctrl-C. Raises Failure."""
    with prepared(places, options) as run:
        services = run.build()
        check_port(options)
        run.start(services)
        run.server.wait()
        run.report_end()
    sys.stdout.flush()
    return 0
