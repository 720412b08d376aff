# SPDX-License-Identifier: Apache-2.0
"""The cases: what is asked, by which client, on which cores."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass

import applications
import docroot
import embedded
import load
import servers
import sockets
import wsgi

CORES = sorted(os.sched_getaffinity(0))
FIRST, LAST, ALL = {CORES[0]}, {CORES[-1]}, set(CORES)

MAIN = ("monkey", "nginx", "nginx-ofc", "lighttpd", "node", "floor")
CACHE = MAIN + ("monkey-nocache", "monkey-nofdt")
TLS = ("monkey", "monkey-mbedtls", "nginx", "nginx-ofc")
TWO = MAIN + ("monkey-fair", "monkey-reuseport")
DYNAMIC = ("monkey", "nginx", "lighttpd")
PROXIES = ("monkey", "nginx", "haproxy")
EMBEDDED = tuple(embedded.SERVERS)
EVENT_DRIVEN = tuple(name for name in EMBEDDED if name != "embed-civetweb") # 5,000 threads are no comparison
SOCKETS = tuple(sockets.SERVERS)
WARM_UP_SECONDS = 0.2
THROUGH = (1, 2, 5)    # clients, in the comparison with direct access


@dataclass
class Case:
    """client(port, cores, seconds) runs the load once; everything else says how."""
    name: str
    title: str
    client: Callable = None
    path: str = docroot.SMALL
    servers: tuple = MAIN
    baseline: str = "nginx"     # ratios are to this server in the same round
    server_cores: set = None
    client_cores: set = None
    workers: int = 1
    close: bool = False
    seconds: float = 1.5        # of one measurement
    unit: str = "request"       # or "GB": CPU per GB
    many: bool = False          # needs thousands of descriptors
    php: bool = False           # a pool of php-fpm is behind the servers, on the client's cores
    php_keep: bool = False      # connections to it are kept
    cgi: bool = False           # programs are run
    tls: bool = False
    connected: Callable = None  # in place of client: connected(port, cores) as client: client(seconds); opening does not count
    backends: int = 0           # everything is passed on to so many, which are on the client's cores

    def __post_init__(self):
        self.server_cores = self.server_cores or FIRST
        self.client_cores = self.client_cores or LAST

    def warm_up(self, port):
        path, clients = (applications.SIZED, applications.CHILDREN) if self.php else (self.path, 16)
        load.own(port, [path], self.client_cores, connections=clients, seconds=WARM_UP_SECONDS, close=self.close, tls=self.tls)

    @contextlib.contextmanager
    def warm_client(self, port):
        """client(seconds) of a server that has answered before."""
        if self.connected:
            with self.connected(port, self.client_cores) as client:
                client(WARM_UP_SECONDS)
                yield client
        else:
            self.warm_up(port)
            yield lambda seconds: self.client(port, self.client_cores, seconds)

    def setup(self, root, pool=None):
        return servers.Setup(root=root, path=self.path, size=self.size(), workers=self.workers, close=self.close,
                             tls=self.tls, php=pool.socket if self.php else "", php_keep=self.php_keep, cgi=self.cgi,
                             backends=pool.ports if self.backends else ())

    def units(self, got):
        return got.bytes / 1e9 if self.unit == "GB" else got.requests

    def size(self):
        return len(b"Hello, world\n") if self.path == docroot.SMALL else docroot.SIZES.get(
            self.path, sum(docroot.SITE.values()) // len(docroot.SITE))


def _wrk(path, connections, threads=1, **options):
    return lambda port, cores, seconds: load.wrk(port, path, cores, connections, seconds, threads, **options)


def _own(paths, **options):
    return lambda port, cores, seconds: load.own(port, paths, cores, seconds=seconds, **options)


def _ab(path, connections, keep):
    """At full length 100,000 requests, as in the tables of old."""
    return lambda port, cores, seconds: load.ab(
        port, path, cores, connections, 100000 if seconds >= 1 else 20000, keep)


def _sockets(path, connections, **options):
    return lambda port, cores: sockets.Client(port, cores, path, connections, **options)


def _siege(paths):
    return lambda port, cores, seconds: load.siege(port, paths, cores, 10, seconds)


SMALL, LOGO, F200K, F1M = docroot.SMALL, docroot.LOGO, docroot.F200K, docroot.F1M

CASES = {case.name: case for case in (
    Case("keep", "13 bytes, keep-alive, 64 clients", _wrk(SMALL, 64), servers=CACHE, seconds=2),
    Case("keep-1core", "the same, client on the server's core", _wrk(SMALL, 64), servers=CACHE,
         client_cores=FIRST, seconds=2),
    Case("keep-log", "keep with a buffered access log", _wrk(SMALL, 64),
         servers=("monkey-log", "monkey", "nginx-logbuf", "nginx"), baseline="nginx-logbuf", seconds=2),
    Case("close", "13 bytes, a connection each, 64 clients", _own([SMALL], connections=64,
                                                                  close=True), close=True),
    Case("close-1core", "the same, client on the server's core",
         _own([SMALL], connections=64, close=True), client_cores=FIRST, close=True),
    Case("logo", "13 KB, keep-alive, 64 clients", _wrk(LOGO, 64), path=LOGO, seconds=2),
    Case("f200k-100", "200 KB, keep-alive, 100 clients", _wrk(F200K, 100), path=F200K, seconds=2),
    Case("f200k-500", "200 KB, keep-alive, 500 clients", _wrk(F200K, 500), path=F200K, seconds=2),
    Case("f200k-1000", "200 KB, keep-alive, 1,000 clients", _wrk(F200K, 1000), path=F200K,
         seconds=2),
    Case("site", "a small site, 10 clients of siege, a connection each", _siege(list(docroot.SITE)),
         path=docroot.SITE_MEAN, close=True, seconds=2),
    Case("c5000", "13 bytes, ab -n 100000 -c 5000", _ab(SMALL, 5000, False), close=True, many=True),
    Case("c5000k", "13 bytes, ab -k -n 100000 -c 5000", _ab(SMALL, 5000, True), many=True),
    Case("pipe16", "13 bytes, 16 requests pipelined, 64 clients", _own([SMALL], connections=64,
                                                                       depth=16)),
    Case("big", "100 MB, 4 clients", _own(docroot.BIG, connections=4), path=docroot.BIG[0],
         unit="GB"),
    Case("2w-keep", "keep, two workers, cores shared with the client", _wrk(SMALL, 64, 2),
         servers=TWO, baseline="nginx-ofc", server_cores=ALL, client_cores=ALL, workers=2,
         seconds=2),
    Case("2w-close", "close, two workers, cores shared with the client",
         _own([SMALL], connections=64, close=True, processes=2), servers=TWO, baseline="nginx-ofc",
         server_cores=ALL, client_cores=ALL, workers=2, close=True),
    Case("2w-f200k", "200 KB, 100 clients, two workers, cores shared with the client",
         _wrk(F200K, 100, 2), path=F200K, servers=TWO, baseline="nginx-ofc", server_cores=ALL,
         client_cores=ALL, workers=2, seconds=2),
    Case("php-keep", "a small PHP script, keep-alive on both sides, 8 clients", _wrk(applications.SMALL, 8),
         path=applications.SMALL, servers=DYNAMIC, php=True, php_keep=True, seconds=2),
    Case("php-close", "a small PHP script, a connection each on both sides, 8 clients",
         _own([applications.SIZED], connections=8, close=True), path=applications.SIZED, servers=DYNAMIC, php=True,
         close=True),
    Case("php-1m", "PHP answers with 1 MB, 8 clients", _wrk(applications.LARGE, 8), path=applications.LARGE,
         servers=DYNAMIC, php=True, seconds=2),
    Case("php-upload", "10 MB are sent to PHP, 4 clients", _wrk(applications.UPLOAD, 4, post=applications.UPLOAD_SIZE),
         path=applications.UPLOAD, servers=DYNAMIC, php=True, seconds=3),
    Case("cgi", "a CGI program of a few instructions, 8 clients, cores shared", _wrk(applications.CGI, 8),
         path=applications.CGI, servers=("monkey", "lighttpd"), baseline="lighttpd", cgi=True, server_cores=ALL,
         client_cores=ALL, seconds=2),
    Case("tls-hs", "TLS: a full handshake and 13 bytes each, 32 clients",
         _own([SMALL], connections=32, close=True, tls=True), servers=TLS, close=True, tls=True),
    Case("tls-resume", "TLS: a resumed handshake and 13 bytes each, 32 clients",
         _own([SMALL], connections=32, close=True, tls=True, resume=True), servers=TLS, close=True, tls=True),
    Case("tls-keep", "TLS: 13 bytes, keep-alive, 64 clients", _wrk(SMALL, 64, scheme="https"), servers=TLS,
         tls=True, seconds=2),
    Case("tls-bulk", "TLS: 100 MB, 4 clients", _own(docroot.BIG, connections=4, tls=True), path=docroot.BIG[0],
         servers=TLS, unit="GB", tls=True, seconds=4),
    Case("proxy", "13 bytes from a backend, keep-alive, 64 clients", _wrk(SMALL, 64), servers=PROXIES, backends=1,
         seconds=2),
    Case("proxy-close", "13 bytes from a backend, a client's connection each, 64 clients",
         _own([SMALL], connections=64, close=True), servers=PROXIES, backends=1, close=True),
    Case("proxy-200k", "200 KB from a backend, 100 clients", _wrk(F200K, 100), path=F200K, servers=PROXIES, backends=1,
         seconds=2),
    Case("hello", "a handler in the program: 13 bytes, keep-alive, 64 clients", _wrk(embedded.HELLO, 64),
         path=embedded.HELLO, servers=(*EMBEDDED, "monkey"), baseline="embed-microhttpd", seconds=2),
    Case("hello-close", "the same, a connection each", _own([embedded.HELLO], connections=64, close=True),
         path=embedded.HELLO, servers=EMBEDDED, baseline="embed-microhttpd", close=True),
    Case("hello-5000", "the same, ab -k -n 100000 -c 5000", _ab(embedded.HELLO, 5000, True), path=embedded.HELLO,
         servers=EVENT_DRIVEN, baseline="embed-microhttpd", many=True),
    Case("hello-json", "a document of 1 KB written for each request, 64 clients", _wrk(embedded.JSON, 64),
         path=embedded.JSON, servers=EMBEDDED, baseline="embed-microhttpd", seconds=2),
    Case("hello-post", "1 MB is sent to a handler, 8 clients", _wrk(embedded.COUNT, 8, post=embedded.COUNT_SIZE),
         path=embedded.COUNT, servers=EMBEDDED, baseline="embed-microhttpd", seconds=2),
    Case("wsgi", "a trivial WSGI application, keep-alive, 16 clients", _wrk(docroot.SMALL, 16), servers=tuple(wsgi.SERVERS),
         baseline="wsgi-waitress", seconds=2),
    Case("ws-echo", "WebSocket: 64 bytes come back, 64 clients", connected=_sockets(sockets.ECHO, 64), path=sockets.ECHO,
         servers=SOCKETS, baseline="ws-node", unit="message", seconds=2),
    Case("ws-echo-64k", "WebSocket: 64 KB come back, 16 clients", connected=_sockets(sockets.ECHO, 16, size=sockets.LARGE),
         path=sockets.ECHO, servers=SOCKETS, baseline="ws-node", unit="message", seconds=2),
    Case("ws-5000", "WebSocket: 64 bytes to 5,000 clients at once", path=sockets.EVERYBODY, servers=SOCKETS, baseline="ws-node",
         connected=_sockets(sockets.EVERYBODY, sockets.RECEIVERS, broadcast=True), unit="message", seconds=3, many=True),
    Case("proxy-1m", "1 MB from a backend, 32 clients", _wrk(F1M, 32), path=F1M, servers=PROXIES, backends=1, seconds=2),
)}

# What is measured once per server and not by a load: see the functions of these names in run.
SINGLES = ("idle10k", "idletls", "idleproxy", "through", "start", "rest", "size", "instructions")
