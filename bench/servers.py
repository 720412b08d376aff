# SPDX-License-Identifier: Apache-2.0
"""The servers: how each is configured and started, and a running one.

Every server gets the same document root, a free port of the loopback, room for as many connections
and requests per connection as the cases need, the same backlog, two minutes of keep-alive, and no
access log.  All else is the default of its Debian package, unless the name says otherwise.
"""

import glob
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

import measure

BENCH = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(BENCH)

# The build tree, the certificate and the peers' sockets may be root's alone; others look at the memory of their own server.
RIGHTS = "    User root\n" if os.geteuid() == 0 else "    CoreDumps on\n"

BACKLOG = 4096
KEEP_SECONDS = 120
KEEP_REQUESTS = 1000000
BACKEND_KEEP = 128          # connections that a proxy keeps to a backend


@dataclass
class Setup:
    """What a case asks of a server."""
    root: str                   # document root
    path: str                   # the file asked for: all that the floor can answer
    size: int                   # its size
    workers: int = 1
    connections: int = 10240    # how many at once it must be ready for
    close: bool = False         # a connection for each request (only the floor has to be told)
    php: str = ""               # socket of the pool that answers *.php
    php_keep: bool = False      # connections to it are kept
    cgi: bool = False           # what is below /cgi-bin/ is a program
    tls: bool = False           # with the certificate of certificate()
    backends: tuple = ()        # ports of what every request is passed on to
    port: int = 0
    dir: str = ""               # for configuration and temporary files


def free_port():
    """A port below the ephemeral range, so that no client's own port can take it."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def _write(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def find_program(*names):
    """The first of the programs that exists; sbin is searched too."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


class Server:
    """One kind of server.  command() writes its configuration and returns the argument vector."""
    name = ""
    note = ""
    small = "hello.txt"         # where it answers 13 bytes
    ready = (b"200",)           # status of an answer to a plain GET

    def program(self):
        """Path of the executable, or None when it is not installed."""
        raise NotImplementedError

    def libraries(self):
        """Objects of its own that belong to its size."""
        return []

    def version(self):
        return ""

    def command(self, setup):
        raise NotImplementedError


_made = {}


def certificate():
    """Paths of the certificate (ECDSA, P-256) and its key that every server gets where TLS is measured."""
    if "dir" not in _made:
        _made["dir"] = tempfile.TemporaryDirectory(prefix="monkey-bench-certificate-")
        os.chmod(_made["dir"].name, 0o755)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-subj", "/CN=localhost", "-days", "30", "-out", "pair.pem", "-keyout", "pair.key"],
                       cwd=_made["dir"].name, check=True, capture_output=True)
    return [os.path.join(_made["dir"].name, name) for name in ("pair.pem", "pair.key")]


class Monkey(Server):
    name = "monkey"
    note = "as shipped"
    build = os.path.join(TOP, "build")
    extra = ""
    plugins = ""    # lines of [PLUGINS]
    transport = "tls"   # where TLS is asked for
    site = ""       # further sections of the site

    def program(self):
        path = os.path.join(self.build, "monkey")
        return path if os.access(path, os.X_OK) else None

    def libraries(self):
        path = os.path.join(self.build, "libmonkey.so")
        return [os.path.realpath(path)] if os.path.exists(path) else []

    def version(self):
        return _first_line([self.program(), "--version"])

    def command(self, setup):
        conf = os.path.join(setup.dir, "conf")
        _write(conf, "monkey.conf",
               "[SERVER]\n"
               f"    Listen 127.0.0.1:{setup.port}{' ' + self.transport if setup.tls else ''}\n"
               f"    Workers {setup.workers}\n"
               f"    KeepAliveTimeout {KEEP_SECONDS}\n"
               f"    MaxKeepAliveRequest {KEEP_REQUESTS}\n"
               "    ErrorLog stderr\n"
               f"{RIGHTS}"
               f"{'    MaxBodySize 100M' if setup.php else ''}\n"
               f"{self.extra}")
        _write(conf, "monkey.mime",
               "[MIMETYPES]\n"
               "    html text/html\n    css text/css\n    js text/javascript\n    txt text/plain\n"
               "    png image/png\n    jpg image/jpeg\n    svg image/svg+xml\n    ico image/x-icon\n")
        _write(conf, "plugins.load", f"[PLUGINS]\n{self.plugins}{self._dynamic(setup, conf)}{self._secure(setup, conf)}")
        _write(conf, "sites/default",
               f"[HOST]\n    ServerName localhost\n    DocumentRoot {setup.root}\n{self.site}")
        return [self.program(), "-c", conf]

    def _secure(self, setup, conf):
        if not setup.tls:
            return ""
        chain, key = certificate()
        _write(conf, f"plugins/{self.transport}/{self.transport}.conf",
               f"[TLS]\n    CertificateFile {chain}\n    KeyFile {key}\n")
        return f"    Load {self.transport}\n"

    def _dynamic(self, setup, conf):
        """Lines of [PLUGINS]; the files of these plugins are written."""
        lines = ""
        if setup.php:
            lines += "    Load fastcgi\n"
            _write(conf, "plugins/fastcgi/fastcgi.conf",
                   f"[FASTCGI_SERVER]\n    ServerName pool\n    ServerPath {setup.php}\n"
                   "[FASTCGI_LOCATION]\n    LocationName php\n    ServerNames pool\n"
                   f"    KeepAlive {'on' if setup.php_keep else 'off'}\n    Match \\.php(/|$)\n")
        if setup.cgi:
            lines += "    Load cgi\n"
            _write(conf, "plugins/cgi/cgi.conf", "[CGI]\n    Match ^/cgi-bin/\n")
        if setup.backends:
            lines += "    Load proxy_reverse\n"
            names = " ".join(f"127.0.0.1:{port}" for port in setup.backends)
            _write(conf, "plugins/proxy_reverse/proxy_reverse.conf",
                   f"[PROXY_ENTRY]\n    Match ^/\n    ServerList {names}\n    KeepAlive {BACKEND_KEEP}\n"
                   "    KeepAliveTimeout 60\n")
        return lines


class MonkeyNoTable(Monkey):
    name = "monkey-nofdt"
    note = "FDT off, FileCache 0: every request opens its file"
    extra = "    FDT off\n    FileCache 0\n"


class MonkeyNoCache(Monkey):
    name = "monkey-nocache"
    note = "FileCache 0: descriptors are kept, bytes are not"
    extra = "    FileCache 0\n"


class MonkeyFair(Monkey):
    name = "monkey-fair"
    note = "Scheduler Fair"
    extra = "    Scheduler Fair\n"


class MonkeyReusePort(Monkey):
    name = "monkey-reuseport"
    note = "Scheduler ReusePort"
    extra = "    Scheduler ReusePort\n"


class MonkeyMbedtls(Monkey):
    name = "monkey-mbedtls"
    note = "TLS by the plugin mbedtls"
    transport = "mbedtls"


class MonkeyLocation(Monkey):
    name = "monkey-location"
    note = "a site with a location"
    site = "[LOCATION]\n    Path /elsewhere\n"


class MonkeyLog(Monkey):
    name = "monkey-log"
    note = "the plugin logger writes an access log, combined"
    plugins = "    Load logger\n"
    site = "[LOGGER]\n    AccessLog access.log\n"


class MonkeyUnlogged(MonkeyLog):
    name = "monkey-unlogged"
    note = "the plugin logger, whose LogIf leaves all lines out"
    site = "[LOGGER]\n    AccessLog access.log\n    LogIf status>=400 path=/api/*\n    LogIf time>=10s\n"


def _shipped_plugins():
    """Names of the plugins beside the executable."""
    folder = os.path.join(TOP, "build", "plugins")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name[len("monkey-"):-len(".so")] for name in names if name.startswith("monkey-") and name.endswith(".so"))


class MonkeyPlugins(Monkey):
    name = "monkey-plugins"
    note = "all plugins are loaded, none has anything to do"

    def command(self, setup):
        self.plugins = "".join(f"    Load {name}\n" for name in _shipped_plugins())
        command = super().command(setup)
        _write(os.path.join(setup.dir, "conf"), "plugins/cheetah/cheetah.conf",
               f"[CHEETAH]\n    Socket {setup.dir}/cheetah\n")
        return command


class MonkeyRules(Monkey):
    name = "monkey-rules"
    note = "mandril looks at 10,000 networks and a path for every request"
    plugins = "    Load mandril\n"

    def command(self, setup):
        command = super().command(setup)
        nets = "".join(f"    Deny_IP 198.{18 + i // 5000}.{i // 256 % 256}.{i % 256}\n" for i in range(10000))
        _write(os.path.join(setup.dir, "conf"), "plugins/mandril/mandril.conf",
               f"[RULES]\n    Deny_URL /forbidden\n{nets}")
        return command


class MonkeyStatus(Monkey):
    name = "monkey-status"
    note = "the plugin status counts every request"
    plugins = "    Load status\n"

    def command(self, setup):
        command = super().command(setup)
        _write(os.path.join(setup.dir, "conf"), "plugins/status/status.conf", "[STATUS]\n    Metrics /metrics\n")
        return command


class Nginx(Server):
    name = "nginx"
    note = "sendfile, tcp_nopush, tcp_nodelay on; access_log off; open_file_cache off"
    cache = ""
    log = "off"

    def program(self):
        return find_program("nginx")

    def version(self):
        return _first_line([self.program(), "-v"])

    def command(self, setup):
        temp = "".join(f"    {kind}_temp_path {setup.dir}/{kind};\n"
                       for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;\n" if os.geteuid() == 0 else ""
        conf = _write(
            setup.dir, "nginx.conf",
            f"{user}worker_processes {setup.workers};\n"
            f"pid {setup.dir}/nginx.pid;\n"
            f"error_log {setup.dir}/error.log crit;\n"
            f"events {{ worker_connections {setup.connections}; }}\n"
            "http {\n"
            "    include /etc/nginx/mime.types;\n"
            "    default_type application/octet-stream;\n"
            "    sendfile on;\n    tcp_nopush on;\n    tcp_nodelay on;\n"
            f"    access_log {self.log.format(dir=setup.dir)};\n"
            f"    keepalive_timeout {KEEP_SECONDS};\n    keepalive_requests {KEEP_REQUESTS};\n"
            f"{self.cache}{temp}{self._pool(setup)}"
            "    server {\n"
            f"        listen 127.0.0.1:{setup.port}{' ssl' if setup.tls else ''} backlog={BACKLOG};\n"
            f"        root {setup.root};\n{self._secure(setup)}{self._php(setup)}{self._proxy(setup)}"
            "    }\n"
            "}\n")
        return [self.program(), "-c", conf, "-p", setup.dir, "-g", "daemon off;"]

    @staticmethod
    def _secure(setup):
        """As Monkey's defaults have it: TLS 1.2 and 1.3, tickets, no cache of sessions."""
        if not setup.tls:
            return ""
        chain, key = certificate()
        return (f"        ssl_certificate {chain};\n        ssl_certificate_key {key};\n"
                "        ssl_protocols TLSv1.2 TLSv1.3;\n        ssl_session_tickets on;\n")

    @staticmethod
    def _pool(setup):
        keep = "keepalive 8; " if setup.php_keep else ""
        pool = f"    upstream pool {{ server unix:{setup.php}; {keep}}}\n" if setup.php else ""
        if setup.backends:
            names = "".join(f"server 127.0.0.1:{port}; " for port in setup.backends)
            pool += (f"    upstream backends {{ {names}keepalive {BACKEND_KEEP}; keepalive_requests {KEEP_REQUESTS}; }}\n"
                     "    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n"
                     "    proxy_set_header Host $host;\n"
                     "    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n")
        return pool

    @staticmethod
    def _proxy(setup):
        return "        location / { proxy_pass http://backends; }\n" if setup.backends else ""

    @staticmethod
    def _php(setup):
        """As Debian's snippets/fastcgi-php.conf has it; larger uploads are allowed."""
        if not setup.php:
            return ""
        return ("        client_max_body_size 100m;\n"
                "        location ~ \\.php(/|$) {\n"
                "            fastcgi_split_path_info ^(.+?\\.php)(/.*)$;\n"
                "            try_files $fastcgi_script_name =404;\n"
                "            set $path_info $fastcgi_path_info;\n"
                "            fastcgi_param PATH_INFO $path_info;\n"
                "            fastcgi_index index.php;\n"
                "            include /etc/nginx/fastcgi.conf;\n"
                "            fastcgi_pass pool;\n"
                f"            fastcgi_keep_conn {'on' if setup.php_keep else 'off'};\n"
                "        }\n")


class NginxOfc(Nginx):
    name = "nginx-ofc"
    note = "nginx with open_file_cache on"
    cache = ("    open_file_cache max=1000 inactive=60s;\n    open_file_cache_valid 1s;\n"
             "    open_file_cache_min_uses 1;\n    open_file_cache_errors on;\n")


class NginxLogbuf(Nginx):
    name = "nginx-logbuf"
    note = "nginx with access_log combined buffer=64k flush=3s"
    log = "{dir}/access.log combined buffer=64k flush=3s"


class Haproxy(Server):
    name = "haproxy"
    note = "only as a proxy: mode http, http-reuse always, splicing"

    def program(self):
        return find_program("haproxy")

    def version(self):
        return _first_line([self.program(), "-v"])

    def command(self, setup):
        names = "".join(f"    server s{i} 127.0.0.1:{port} pool-max-conn {BACKEND_KEEP}\n"
                        for i, port in enumerate(setup.backends))
        conf = _write(
            setup.dir, "haproxy.cfg",
            # Its reckoning of descriptors is for the worst case; what the shell allows will do.
            f"global\n    maxconn {setup.connections}\n    nbthread {setup.workers}\n    no strict-limits\n"
            "defaults\n    mode http\n    option splice-auto\n    option forwardfor\n    http-reuse always\n"
            f"    timeout connect 5s\n    timeout server 60s\n    timeout client {KEEP_SECONDS}s\n"
            f"    timeout http-keep-alive {KEEP_SECONDS}s\n"
            f"frontend f\n    bind 127.0.0.1:{setup.port} backlog {BACKLOG}\n    default_backend b\n"
            f"backend b\n    balance roundrobin\n{names}")
        return [self.program(), "-db", "-f", conf]


class Lighttpd(Server):
    name = "lighttpd"
    note = "sendfile and writev, as Debian builds it"

    def program(self):
        return find_program("lighttpd")

    def version(self):
        return _first_line([self.program(), "-v"])

    def command(self, setup):
        worker = f"server.max-worker = {setup.workers}\n" if setup.workers > 1 else ""
        worker += self._dynamic(setup)
        conf = _write(
            setup.dir, "lighttpd.conf",
            f'server.document-root = "{setup.root}"\n'
            'server.bind = "127.0.0.1"\n'
            f"server.port = {setup.port}\n{worker}"
            f"server.max-connections = {setup.connections}\n"
            f"server.max-fds = {min(setup.connections * 2, 20000)}\n"
            f"server.listen-backlog = {BACKLOG}\n"
            f"server.max-keep-alive-requests = {min(KEEP_REQUESTS, 65535)}\n"
            f"server.max-keep-alive-idle = {KEEP_SECONDS}\n"
            f'server.errorlog = "{setup.dir}/error.log"\n'
            'mimetype.assign = ( ".html" => "text/html", ".css" => "text/css",\n'
            '    ".js" => "text/javascript", ".txt" => "text/plain", ".png" => "image/png",\n'
            '    ".jpg" => "image/jpeg", ".svg" => "image/svg+xml", ".ico" => "image/x-icon" )\n')
        return [self.program(), "-D", "-f", conf]

    @staticmethod
    def _dynamic(setup):
        lines = ""
        if setup.php:
            lines += ('server.modules += ( "mod_fastcgi" )\n'
                      f'fastcgi.server = ( ".php" => (( "socket" => "{setup.php}" )) )\n')
        if setup.cgi:
            lines += ('server.modules += ( "mod_cgi" )\n'
                      '$HTTP["url"] =~ "^/cgi-bin/" { cgi.assign = ( "" => "" ) }\n')
        return lines


class Node(Server):
    name = "node"
    note = "http, fs.stat and streams: bench/node_server.js"

    def program(self):
        return find_program("node", "nodejs")

    def version(self):
        return "Node.js " + _first_line([self.program(), "--version"])

    def command(self, setup):
        return [self.program(), os.path.join(BENCH, "node_server.js"), str(setup.port), setup.root,
                str(setup.workers)]


class Floor(Server):
    name = "floor"
    note = "a bare epoll loop with a canned answer: bench/floor.c"

    def program(self):
        return build_tool("floor")

    def command(self, setup):
        argv = [self.program(), "-p", str(setup.port), "-w", str(setup.workers),
                "-f", os.path.join(setup.root, setup.path)]
        if setup.size > 16384:
            argv.append("-s")
        if setup.close:
            argv.append("-1")
        return argv


SERVERS = {kind.name: kind() for kind in (Monkey, Nginx, NginxOfc, Lighttpd, Node, Floor,
                                          MonkeyNoCache, MonkeyNoTable,
                                          MonkeyFair, MonkeyReusePort, MonkeyPlugins, MonkeyRules, MonkeyLocation, MonkeyLog, MonkeyUnlogged,
                                          MonkeyStatus, NginxLogbuf,
                                          MonkeyMbedtls, Haproxy)}


def _first_line(argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, TypeError, subprocess.TimeoutExpired):
        return ""
    return ((done.stdout or done.stderr).strip().splitlines() or [""])[0]


_tools = {}


def _have_openssl():
    return subprocess.run(["pkg-config", "--exists", "openssl >= 3"], check=False).returncode == 0


def build_program(name, sources, flags):
    """Compile once for this run and return the path of the program."""
    if name not in _tools:
        if "dir" not in _tools:
            _tools["dir"] = tempfile.TemporaryDirectory(prefix="monkey-bench-tools-")
        out = os.path.join(_tools["dir"].name, name)
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", out, *sources, *flags], check=True)
        _tools[name] = out
    return _tools[name]


def build_tool(name):
    """The program of bench/NAME*.c."""
    parts = sorted(glob.glob(os.path.join(BENCH, name + "*.c")))
    return build_program(name, parts, ["-DLOAD_TLS", "-lssl", "-lcrypto"] if len(parts) > 1 and _have_openssl() else [])


@dataclass
class Running:
    """A started server; a context manager that ends exactly the processes it started."""
    server: Server
    setup: Setup
    cores: set = None
    wrapper: list = field(default_factory=list)   # e.g. valgrind and its options
    patience: float = 10.0

    def __enter__(self):
        self._temp = tempfile.TemporaryDirectory(prefix="monkey-bench-")
        os.chmod(self._temp.name, 0o755)
        self.setup.dir = self._temp.name
        self.setup.port = free_port()
        argv = self.wrapper + self.server.command(self.setup)
        self._output = open(os.path.join(self.setup.dir, "output"), "w+", encoding="utf-8")
        cores = self.cores
        # In a group of its own: lighttpd's parent ends its workers by a signal to the whole group.
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
            cwd=self.setup.dir, start_new_session=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None)
        try:
            self._wait_until_it_answers()
        except Exception:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        self._output.close()
        self._temp.cleanup()

    def _wait_until_it_answers(self):
        end = time.monotonic() + self.patience
        request = (f"GET /{self.setup.path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").encode()
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.server.name} ended at start: {self.output()}")
            try:
                with self._connect() as s:
                    s.sendall(request)
                    first = s.recv(4096)
                    if first[9:12] not in self.server.ready:
                        raise RuntimeError(f"{self.server.name} answers {first[:80]!r}")
                # With several workers: until all processes are there.
                time.sleep(0.05 if self.setup.workers > 1 else 0)
                return
            except OSError:
                time.sleep(0.005)
        raise RuntimeError(f"{self.server.name} does not answer: {self.output()}")

    def _connect(self):
        sock = socket.create_connection(("127.0.0.1", self.setup.port), 5)
        if not self.setup.tls:
            return sock
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(sock)

    def output(self):
        self._output.flush()
        with open(self._output.name, encoding="utf-8", errors="replace") as text:
            return text.read()[-2000:]

    def pids(self):
        """The server's processes, the first one included."""
        helpers = measure.named("monkey-palm", self._output.name) if self.setup.cgi else []
        return measure.tree(self.process.pid) + helpers

    def stop(self, patience=5):
        """Ask the first process to end, and whatever of ours is left after that."""
        family = self.pids()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pid in family:
            if pid != self.process.pid and measure.alive(pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
