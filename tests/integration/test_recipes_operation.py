# SPDX-License-Identifier: Apache-2.0
"""docs/recipes: another version of the program, containers, a load balancer, Prometheus."""

import json
import os
import pathlib
import re
import signal
import socket
import sys
import threading

import pytest

from harness import http, peers, process, prometheus, tools
from harness.backend import Backend
from harness.client import eventually, free_port, free_ports
from harness.clients import Clients
from harness.program import as_nobody, open_folder, start_open  # noqa: F401
from harness.recipes import Recipe

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in ("logger", "status", "limit", "mandril", "proxy_reverse")),
                       reason="not all plugins are built"),
    pytest.mark.once("pages of the documentation"),
]

# Words before the executable that give it a listening socket as systemd does. The socket comes over the unix socket of this name.
INHERIT = """
import os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    fd = socket.recv_fds(line, 1, 1)[1][0]
os.dup2(fd, 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


def ask(connection):
    response = connection.request("/a.txt", headers={"Connection": "close"})
    assert response.text == "text"
    return response


# ---- another version of the program ----

def end(pid):
    """A server that is no child of ours."""
    os.kill(pid, signal.SIGTERM)
    assert eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists())


def take_over(start, recipe):
    """In a network of its own, whose handshakes may move. The old server is started as the page says, and finishes a download."""
    recipe.run(recipe.commands("sysctl"))
    port, (old, new) = free_port(), (recipe.path(f"/run/monkey-{number}.pid") for number in (1, 2))
    old.parent.mkdir(exist_ok=True)
    server = recipe.serve(start, ("Listen 80", f"Listen 127.0.0.1:{port}"), arguments=["--pid-file", old])
    with Clients(("127.0.0.1", port), [ask] * 4) as clients, server.connect() as download:
        download.send(http.request("/large.bin"))
        assert http.read_head(download.stream).status == 200
        recipe.run(recipe.commands("--daemon"))
        try:
            before = clients.answers
            assert eventually(lambda: clients.answers > before + 100)
            assert server.is_running() and int(old.read_text()) == server.pid
            assert len(download.stream.exactly(30_000_000)) == 30_000_000
            assert eventually(lambda: not server.is_running())
            before = clients.answers
            assert eventually(lambda: clients.answers > before + 100 or clients.faults)
        finally:
            clients.stop()
            end(int(new.read_text()))
    return clients.faults


def test_another_server_takes_over(start, tmp_path):
    recipe = Recipe("upgrade", tmp_path)
    recipe.write({"/srv/www/a.txt": "text", "/srv/www/large.bin": "x" * 30_000_000})
    assert tools.in_network_namespace(lambda: take_over(start, recipe)) == []


def give(listener, path):
    """Give a socket to each that asks for it at this path."""
    place = socket.socket(socket.AF_UNIX)
    place.bind(str(path))
    place.listen()

    def work():
        with place:
            while True:
                asker, _ = place.accept()
                with asker:
                    socket.send_fds(asker, [b"x"], [listener.fileno()])

    threading.Thread(target=work, daemon=True).start()


def test_a_socket_of_systemd_outlives_its_servers(start, tmp_path):
    recipe = Recipe("upgrade", tmp_path)
    recipe.write({"/srv/www/a.txt": "text"})
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        give(listener, tmp_path / "socket")
        place = ("Listen 80", f"Listen 127.0.0.1:{listener.getsockname()[1]}")

        def begin():
            return recipe.serve(start, place, wrapper=[sys.executable, "-c", INHERIT, tmp_path / "socket"])

        server = begin()
        assert "inherited=yes" in server.log()
        with Clients(listener.getsockname(), [ask] * 4) as clients:
            for _ in range(3):
                before = clients.answers
                assert eventually(lambda: clients.answers > before + 50)  # noqa: B023
                server.stop()
                server = begin()
            before = clients.answers
            assert eventually(lambda: clients.answers > before + 50)
            clients.stop()
    assert clients.faults == []


# ---- containers ----

def test_a_container_logs_json_on_standard_output(start_open, open_folder):  # noqa: F811
    """Without root, as the page says, where the tests are root."""
    recipe = Recipe("containers", open_folder)
    recipe.write({"/srv/www/a.txt": "text"})
    output = open_folder / "output"
    os.mkfifo(output)
    output.chmod(0o666)
    reader = os.open(output, os.O_RDONLY | os.O_NONBLOCK)
    rights = as_nobody() if os.geteuid() == 0 else []
    server = recipe.serve(start_open, ("Listen 8080", "Listen 127.0.0.1:0"),
                          wrapper=["sh", "-c", f'exec "$@" >{output}', "sh", *rights])
    received = b""

    def lines():
        nonlocal received
        try:
            received += os.read(reader, 65536)
        except BlockingIOError:
            pass
        return [json.loads(line) for line in received.decode().split("\n")[:-1]]

    assert server.get("/a.txt?x=1").text == "text"
    assert eventually(lambda: len(lines()) == 1)  # another worker may write the next line
    assert server.get("/none").status == 404
    assert server.get("/health/ready").status == 200 == server.get("/health/live").status
    assert eventually(lambda: len(lines()) == 2)
    assert [(line["method"], line["target"], line["status"], line["peer"]) for line in lines()] == [
        ("GET", "/a.txt?x=1", 200, "127.0.0.1"), ("GET", "/none", 404, "127.0.0.1")]
    assert "started workers=2" in server.log()
    assert server.get("/metrics").status == 403
    os.close(reader)


# ---- a load balancer ----

@pytest.fixture
def balanced(start, tmp_path):
    """The page's server, its two ports, and its access log; 127.0.0.9 is of the network of /admin, and 127.0.0.1 the balancer."""
    recipe = Recipe("load-balancer", tmp_path)
    recipe.write({"/srv/www/a.txt": "text", "/srv/www/admin/a.txt": "of the board"})
    ports = free_ports(2)
    with Backend() as application:
        server = recipe.serve(start, ("Listen 8080", f"Listen 127.0.0.1:{ports[0]}"), ("Listen 8081", f"Listen 127.0.0.1:{ports[1]}"),
                              ("10.0.0.0/24", "127.0.0.1"), ("192.0.2.0/24", "127.0.0.9"), ("127.0.0.1:8000", application.address))
        server.application, server.recipe, server.ports = application, recipe, ports
        yield server


def logged(server, count):
    log = server.recipe.path("/var/log/monkey/access.log")
    assert eventually(lambda: log.read_text().count("\n") >= count)
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("source, status", [("127.0.0.9", 200), ("127.0.0.10", 403)])
def test_a_header_says_who_the_client_is(balanced, source, status):
    head = f"PROXY TCP4 {source} 192.0.2.1 4711 80\r\n".encode()
    with balanced.connect() as connection:
        connection.send(head)
        assert connection.request("/admin/a.txt", headers={"X-Forwarded-For": "127.0.0.9"}).status == status
        assert connection.request("/app/x", headers={"X-Forwarded-For": "192.0.2.66"}).status == 200
    assert [line["peer"] for line in logged(balanced, 2)] == [source] * 2
    asked = balanced.application.requests[0]
    assert (asked.header("X-Forwarded-Proto"), asked.header("X-Forwarded-For")) == ("https", source)


@pytest.mark.parametrize("source, head", [("127.0.0.1", b""), ("127.0.0.2", b"PROXY TCP4 127.0.0.9 192.0.2.1 4711 80\r\n")],
                         ids=["no header", "not the balancer"])
def test_other_connections_are_closed(balanced, source, head):
    with balanced.connect(source=source) as connection:
        connection.send(head + http.request("/a.txt"))
        assert b"text" not in connection.rest_until_cut()


def test_haproxy_as_the_page_has_it(balanced, tmp_path):
    text = balanced.recipe.files["haproxy.cfg"]
    for old, new in (("10.0.0.11:8080", f"127.0.0.1:{balanced.ports[0]}"), ("port 8081", f"port {balanced.ports[1]}")):
        assert old in text
        text = text.replace(old, new)
    with balanced.connect(("127.0.0.1", balanced.ports[1])) as checker:
        assert checker.request("/health/ready", version="1.0").status == 200
    with peers.haproxy(tmp_path / "haproxy", text, "bind :80") as port, balanced.connect(("127.0.0.1", port), source="127.0.0.9") as client:
        assert client.request("/admin/a.txt").text == "of the board"
        with balanced.connect(("127.0.0.1", port), source="127.0.0.8") as other:
            assert other.request("/admin/a.txt").status == 403
        assert sorted(line["peer"] for line in logged(balanced, 2)) == ["127.0.0.8", "127.0.0.9"]
        assert "health" not in balanced.recipe.path("/var/log/monkey/access.log").read_text()


def test_a_balancer_that_sends_a_field_only(start, tmp_path):
    """Logs show the field, and limits count by it."""
    lines = re.search(r"^```\n(\[LOGGER\].*?)^```", Recipe("load-balancer", tmp_path).page, re.M | re.S)[1]
    log = tmp_path / "log"
    lines = lines.replace("[LOGGER]\n", f"[LOGGER]\n    FlushTimeout 0\n    AccessLog {log}\n").replace("50/s burst=100", "1/h burst=2")
    server = start(extra={"monkey.conf": f"[SERVER]\n    Listen 127.0.0.1:0\n{lines}[HOST]\n    DocumentRoot {tmp_path}\n", "sites/default": None})
    seen = [(client, server.get("/", headers={"X-Forwarded-For": client}).status) for client in ("192.0.2.1",) * 3 + ("192.0.2.2",)]
    assert [status == 429 for _, status in seen] == [False, False, True, False]
    assert eventually(lambda: log.read_text().count("\n") == 4)
    assert sorted((line["client"], line["status"]) for line in map(json.loads, log.read_text().splitlines())) == sorted(seen)


# ---- Prometheus ----

@pytest.mark.limit(120)
def test_prometheus_with_the_rules_of_the_page(start, tmp_path):
    recipe = Recipe("prometheus", tmp_path)
    recipe.write({"/srv/www/index.html": "welcome"})
    with Backend() as one, Backend() as two:
        server = recipe.serve(start, ("Listen 80", "Listen 127.0.0.1:0"), ("127.0.0.1:8000", one.address), ("127.0.0.1:8001", two.address))
        assert server.get("/").status == 200
        assert eventually(lambda: server.get("/health/ready").status == 200)
        scrape = server.get("/metrics").text
        rules = recipe.files["monkey.rules.yml"]
        named = {name.removesuffix("_total") for name in re.findall(r"monkey_\w+", rules)} - {"monkey_tls_certificate_not_after_seconds"}
        assert len(named) == 3 and all(f"\n{name}" in scrape for name in named)
        (tmp_path / "monkey.rules.yml").write_text(rules.replace("    rules:", "    interval: 1s\n    rules:"))
        text = recipe.files["prometheus.yml"].replace("www.example.org:80", f"127.0.0.1:{server.port}")
        with prometheus.running(tmp_path, text.replace("15s", "1s")) as tracker:
            checked = tools.run("promtool", "check", "config", tmp_path / "prometheus.yml")
            assert checked.returncode == 0 and b"5 rules found" in checked.stdout, checked.stdout + checked.stderr
            assert eventually(lambda: tracker.values('up{job="monkey"}') == [1], within=60, every=0.5), tracker.log()
            assert eventually(lambda: list(tracker.rules().values()) == ["ok"] * 5, within=60, every=0.5), tracker.rules()
            assert tracker.values("monkey_proxy_up") == [1, 1] and tracker.values("ALERTS") == []
