# SPDX-License-Identifier: Apache-2.0
"""The servers of the arena: each takes the addresses of a Setup, and names the profiles that it has."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import embedded
import servers

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(servers.TOP, "examples", "arena", "web")
SERVICE = os.path.join(servers.TOP, "examples", "arena", "duda")
ITEMS = os.path.join(EXAMPLE, "items.tsv")
KEPT = os.path.join(servers.TOP, "build", "bench-arena")     # what other languages' tools build
KINDS = ("http", "tls", "h2", "h2c")    # of addresses: HTTP/1.1, HTTP/1.1 over TLS, HTTP/2 over TLS and without

HTTP_1 = {"baseline", "limited", "pipelined", "json"}
PACKED, UPLOAD, STATIC, SECURE, SOCKETS, HTTP_2, JSON_2 = "json-comp", "upload", "static", "json-tls", "echo-ws", "http2", "json-h2c"
ALL = HTTP_1 | {PACKED, UPLOAD, STATIC, SECURE, SOCKETS, HTTP_2, JSON_2}


@dataclass
class Setup(servers.Setup):
    """root has the folder static."""
    others: dict = field(default_factory=lambda: {kind: servers.free_port() for kind in KINDS[1:]})

    def at(self, kind):
        return self.others.get(kind, self.port)

    def ports(self):
        return [str(self.at(kind)) for kind in KINDS]


def write(folder, texts):
    """Files of a configuration: path to text."""
    for name, text in texts.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


class Entrant(servers.Server):
    has = ALL


class Web(Entrant):
    name, note = "libmonkey-web", "examples/arena/web with its configuration, one worker"

    def program(self):
        sources = [os.path.join(EXAMPLE, name) for name in ("arena.c", "items.c", "store.c")]
        return servers.build_program("arena", sources, [*embedded.own_flags(), "-lmonkey-web", "-lmonkey-websocket", "-lmonkey-postgresql"])

    def command(self, setup):
        folder = os.path.join(setup.dir, "conf")
        shutil.copytree(os.path.join(EXAMPLE, "conf"), folder)
        path = os.path.join(folder, "monkey.conf")
        with open(path, encoding="utf-8") as text:
            lines = text.read()
        for shown, port in zip(("8080", "8081", "8443", "8082"), setup.ports()):
            lines = lines.replace(f"Listen {shown}", f"Listen 127.0.0.1:{port}")
        with open(path, "w", encoding="utf-8") as text:
            text.write(f"{lines}\n    Workers {setup.workers}\n")
        os.symlink(setup.root, os.path.join(setup.dir, "www"))
        os.mkdir(os.path.join(folder, "keys"))
        for source, name in zip(servers.certificate(), ("cert.pem", "key.pem")):
            shutil.copy(source, os.path.join(folder, "keys", name))
        return ["env", f"PLUGINS={servers.TOP}/build/plugins", self.program(), folder, ITEMS]


class Duda(Entrant):
    name, note = "Duda", "examples/arena/duda at the root of a site, one worker"

    def program(self):
        if not os.path.exists(f"{servers.TOP}/build/plugins/monkey-duda.so"):
            return None
        os.makedirs(KEPT, exist_ok=True)
        sources = [os.path.join(SERVICE, name) for name in ("main.c", "items.c", "store.c")]
        subprocess.run(["cc", "-std=gnu11", "-O2", "-fPIC", "-shared", "-fcommon", "-DDUDA_API_LEVEL=3", f"-I{servers.TOP}/src/duda/headers",
                        f"-I{SERVICE}", "-Wl,-Bsymbolic", *sources, "-o", os.path.join(KEPT, "arena.duda")], check=True)
        return f"{servers.TOP}/build/monkey"

    def command(self, setup):
        folder, plugins = os.path.join(setup.dir, "conf"), f"{servers.TOP}/build/plugins"
        chain, key = servers.certificate()
        with open(os.path.join(servers.TOP, "conf", "monkey.mime"), encoding="utf-8") as types:
            mime = types.read()
        listens = zip(setup.ports(), ("", " tls !h2", " tls", " h2 !http"))
        write(folder, {
            "monkey.conf": "[SERVER]\n" + "".join(f"    Listen 127.0.0.1:{port}{words}\n" for port, words in listens) +
                           f"    Workers {setup.workers}\n    MaxKeepAliveRequest 1000000\n    MaxBodySize 32M\n    LogLevel warn\n{servers.RIGHTS}",
            "monkey.mime": mime,
            "plugins.load": "[PLUGINS]\n" + "".join(f"    Load {plugins}/monkey-{name}.so\n" for name in ("tls", "http2", "compress", "duda")),
            "sites/default": f"[HOST]\n    DocumentRoot {setup.root}\n    Precompressed on\n"
                             "[COMPRESS]\n    Types application/json\n    Encodings br gzip\n    MinSize 100\n"
                             "[WEB_SERVICE]\n    Name arena\n    Enabled on\n    Root on\n"
                             f"    DocumentRoot {setup.root}\n",
            "plugins/tls/tls.conf": f"[TLS]\n    CertificateFile {chain}\n    KeyFile {key}\n",
            "plugins/duda/duda.conf": f"[DUDA]\n    ServicesRoot {KEPT}\n    PackagesRoot {servers.TOP}/build/src/duda/packages\n"})
        return ["env", f"ARENA_ITEMS={ITEMS}", f"{servers.TOP}/build/monkey", "--configdir", folder]


class Node(Entrant):
    name, note = "Node.js", "modules http, https, http2 and ws, one process"

    @property
    def has(self):
        return ALL - {STATIC} - (set() if os.path.isdir("/usr/share/nodejs/ws") else {SOCKETS})

    def program(self):
        return servers.find_program("node", "nodejs")

    def command(self, setup):
        return ["env", "NODE_PATH=/usr/share/nodejs", self.program(), os.path.join(HERE, "node.js"), ITEMS, *servers.certificate(), *setup.ports()]


class Built(Entrant):
    """A program that the tool of another language builds, in a folder of its own under build/."""
    tool, words, folder, result = "", [], "", ""

    def program(self):
        tool = shutil.which(self.tool)
        if not tool:
            return None
        folder = os.path.join(KEPT, self.folder)
        shutil.copytree(os.path.join(HERE, self.folder), folder, dirs_exist_ok=True)
        done = subprocess.run([tool, *self.words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{self.name} cannot be built: {done.stderr.strip()[-500:]}", file=sys.stderr)
            return None
        return os.path.join(folder, self.result)

    def _start(self, *words):
        return [os.path.join(KEPT, self.folder, self.result), ITEMS, *servers.certificate(), *words]


class Actix(Built):
    name, note, has = "actix-web", "one worker", ALL - {STATIC}
    tool, words, folder, result = "cargo", ["build", "--release", "--quiet"], "actix", "target/release/bench-arena"

    def command(self, setup):
        return self._start(*setup.ports())


class Fasthttp(Built):
    name, note, has = "fasthttp", "GOMAXPROCS 1", ALL - {SOCKETS, HTTP_2, JSON_2}
    tool, words, folder, result = "go", ["build", "-o", "bench-arena", "."], "fasthttp", "bench-arena"

    def command(self, setup):
        return self._start(setup.root, *setup.ports()[:2])


class Nginx(Entrant):
    name, note, has = "nginx", "files; a sum is a text of the configuration", {STATIC, HTTP_2}

    def program(self):
        return servers.find_program("nginx")

    def command(self, setup):
        chain, key = servers.certificate()
        http, _, h2, h2c = setup.ports()
        sums = "        location = /baseline2 { default_type text/plain; return 200 \"55\"; }\n"
        write(setup.dir, {"nginx.conf": (
            f"{'user root;' if os.geteuid() == 0 else ''}\nworker_processes {setup.workers};\npid {setup.dir}/nginx.pid;\n"
            f"error_log {setup.dir}/error.log crit;\nevents {{ worker_connections {setup.connections}; }}\n"
            "http {\n    include /etc/nginx/mime.types;\n    access_log off;\n    sendfile on;\n    tcp_nopush on;\n    keepalive_requests 1000000;\n"
            f"    server {{\n        listen 127.0.0.1:{http} backlog=4096;\n        root {setup.root};\n        gzip_static on;\n"
            "        open_file_cache max=1000;\n        location = /pipeline { return 200 \"ok\"; }\n    }\n"
            f"    server {{\n        listen 127.0.0.1:{h2} ssl http2;\n        listen 127.0.0.1:{h2c} http2;\n"
            f"        ssl_certificate {chain};\n        ssl_certificate_key {key};\n        ssl_protocols TLSv1.2 TLSv1.3;\n{sums}    }}\n}}\n")})
        return [self.program(), "-c", f"{setup.dir}/nginx.conf", "-p", setup.dir, "-g", "daemon off;"]


class H2o(Entrant):
    name, note, has = "h2o", "files; a sum is a file", {STATIC, HTTP_2}

    def program(self):
        return servers.find_program("h2o")

    def command(self, setup):
        chain, key = servers.certificate()
        http, _, h2, h2c = setup.ports()
        paths = (f"      /static:\n        file.dir: {setup.root}/static\n        file.send-compressed: ON\n"
                 f"      /pipeline:\n        file.file: {setup.dir}/ok.txt\n      /baseline2:\n        file.file: {setup.dir}/sum.txt\n")
        listens = "".join(f"listen:\n  host: 127.0.0.1\n  port: {port}\n" for port in (http, h2c, h2))     # the last with TLS
        write(setup.dir, {"ok.txt": "ok", "sum.txt": "55", "h2o.conf": (
            f"{'user: root' if os.geteuid() == 0 else ''}\nnum-threads: {setup.workers}\npid-file: {setup.dir}/h2o.pid\n"
            f"{listens}  ssl:\n    certificate-file: {chain}\n    key-file: {key}\n"
            f"hosts:\n  default:\n    paths:\n{paths}")})
        return [self.program(), "-m", "worker", "-c", f"{setup.dir}/h2o.conf"]


SERVERS = (Web(), Duda(), Actix(), Fasthttp(), Node(), Nginx(), H2o())
