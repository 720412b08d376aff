# SPDX-License-Identifier: Apache-2.0
"""examples/arena/web: what the public benchmark checks of an entry before it measures it, with its own configuration."""

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess

import pytest
import websockets

from harness import certificates, compression, executable, installed, postgres_server, process
from harness.client import eventually, free_ports

FOLDER = process.TREE / "examples" / "arena" / "web"
WITHIN = 60.0
PAIRS = [(1, 3), (5, 7), (10, 2), (15, 5), (25, 4), (40, 8), (50, 6)]
TYPES = {"css": "text/css", "js": "javascript", "html": "text/html", "svg": "image/svg+xml", "json": "application/json",
         "woff2": "font/woff2", "webp": "image/webp"}
RANDOM = random.Random(int(os.environ.get("TEST_SEED", "1")))
pytestmark = [pytest.mark.limit(180), pytest.mark.once("a program with a configuration of its own, which has each carrier")]


def items():
    """The items of the file, as they are to be sent."""
    for line in (FOLDER / "items.tsv").read_text().splitlines():
        number, name, category, price, quantity, active, tags, score, count = line.split("\t")
        yield {"id": int(number), "name": name, "category": category, "price": int(price), "quantity": int(quantity),
               "active": active == "true", "tags": tags.split(","), "rating": {"score": int(score), "count": int(count)}}


def expected(count, factor):
    wanted = [{**item, "total": item["price"] * item["quantity"] * factor} for item in items()][:count]
    return {"items": wanted, "count": count}


def make_files(folder):
    """Twenty files, those of text with compressed ones beside them. Name to content."""
    folder.mkdir(parents=True)
    files = {}
    for number, extension in zip(range(20), [*TYPES] * 3):
        name = f"file{number}.{extension}"
        text = (f"{name} {number} " * 20_000)[:3000 + 15_000 * number].encode()
        files[name] = text if extension not in ("woff2", "webp") else RANDOM.randbytes(len(text))
        (folder / name).write_bytes(files[name])
        if extension not in ("woff2", "webp"):
            subprocess.run(["brotli", "-q", "5", folder / name], check=True)
            subprocess.run(["gzip", "-k", folder / name], check=True)
    return files


class Addresses:
    """The four addresses of a program, as its clients ask them: self.ports is one for each kind."""

    ports = {}

    def connect(self, kind="http"):
        if kind == "tls":
            return http.client.HTTPSConnection("localhost", self.ports["tls"], timeout=WITHIN, context=certificates.trusting())
        return http.client.HTTPConnection("127.0.0.1", self.ports[kind], timeout=WITHIN)

    def ask(self, method, target, body=None, kind="http", **fields):
        with contextlib.closing(self.connect(kind)) as connection:
            connection.request(method, target, body, {name.replace("_", "-"): value for name, value in fields.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def curl(self, kind, target, *words):
        """Version, status and body of an answer over HTTP/2."""
        scheme, flags = ("http", ["--http2-prior-knowledge"]) if kind == "h2c" else ("https", ["--http2", "-k"])
        done = subprocess.run(["curl", "-s", *flags, *words, "-w", "\n%{http_version} %{http_code}",
                               f"{scheme}://localhost:{self.ports[kind]}{target}"], capture_output=True, timeout=WITHIN)
        body, _, end = done.stdout.rpartition(b"\n")
        return (*end.decode().split(), body)

    def raw(self, data):
        """All that comes until the end."""
        with socket.create_connection(("127.0.0.1", self.ports["http"]), WITHIN) as raw:
            raw.sendall(data)
            return b"".join(iter(lambda: raw.recv(65536), b""))


class Arena(Addresses):
    """The program, with the addresses of its configuration at free ports."""

    def __init__(self, installation, folder, **environment):
        self.ports = dict(zip(("http", "tls", "h2", "h2c"), free_ports(4)))
        shutil.copytree(FOLDER / "conf", folder / "conf")
        text = (folder / "conf" / "monkey.conf").read_text()
        for old, port in zip(("8080", "8081", "8443", "8082"), self.ports.values()):
            text = re.sub(rf"(?m)^(\s+Listen ){old}\b", rf"\g<1>127.0.0.1:{port}", text)
        assert "Listen 80" not in text
        (folder / "conf" / "monkey.conf").write_text(text)
        keys = folder / "conf" / "keys"
        keys.mkdir()
        pair = certificates.issue("localhost")
        shutil.copy(pair.certificate, keys / "cert.pem")
        shutil.copy(pair.key, keys / "key.pem")
        self.files = make_files(folder / "www" / "static")
        plugins = next(installation.image.rglob("monkey-tls.so")).parent
        program = installation.build("arena/web", "monkey-web monkey-websocket monkey-postgresql", "arena")
        self.child = subprocess.Popen([program, folder / "conf", FOLDER / "items.tsv"], stderr=subprocess.PIPE,
                                      env=dict(installation.env, PLUGINS=str(plugins), **environment))

    def listens(self):
        with contextlib.closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", self.ports["h2c"])) == 0


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    if not all(executable.plugin(name) for name in ("tls", "http2", "compress")):
        pytest.skip("this build has no such plugin")
    made = installed.Installation(tmp_path_factory.mktemp("image"))
    if not list(made.image.rglob("libmonkey-postgresql.so")):
        pytest.skip("libpq is not installed")
    return made


@contextlib.contextmanager
def started(installation, folder, **environment):
    running = Arena(installation, folder, **environment)
    try:
        assert eventually(lambda: running.child.poll() is not None or running.listens(), within=WITHIN)
        assert running.child.poll() is None, running.child.stderr.read()
        yield running
        running.child.send_signal(signal.SIGTERM)
        assert running.child.wait(WITHIN) == 0
    finally:
        running.child.kill()
        running.child.wait()
        running.child.stderr.close()


@pytest.fixture(scope="module")
def arena(installation, tmp_path_factory):
    with started(installation, tmp_path_factory.mktemp("arena")) as running:
        yield running


@pytest.fixture(scope="module")
def database():
    with postgres_server.start() as server:
        server.sql((process.TREE / "examples" / "arena" / "duda" / "items.sql").read_text())
        yield server


@pytest.fixture
def stored(installation, tmp_path, database):
    with started(installation, tmp_path, DATABASE_URL=database.uri(), DATABASE_MAX_CONN="4") as running:
        yield running


def numbers():
    return RANDOM.randint(-1000, 1000), RANDOM.randint(0, 10_000), RANDOM.randint(1, 100)


def test_baseline_adds_values_of_the_query(arena):
    assert arena.ask("GET", "/baseline11?a=13&b=42")[::2] == (200, b"55")
    for _ in range(5):
        a, b, _ = numbers()
        for query in (f"a={a}&b={b}", f"b={b}&a={a}", f"c=7&b={b}&&a={a}"):
            status, fields, body = arena.ask("GET", f"/baseline11?{query}")
            assert (status, body) == (200, str(a + b).encode())
            assert fields["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("query", ["a=x&b=1", "a=1&b=", "a=1.5&b=1", "a=9223372036854775807&b=1", "a=99999999999999999999&b=1"])
def test_baseline_refuses_what_is_no_number(arena, query):
    assert arena.ask("GET", f"/baseline11?{query}")[0] == 400


def test_baseline_adds_a_body(arena):
    for _ in range(5):
        a, b, body = numbers()
        wanted = (200, str(a + b + body).encode())
        assert arena.ask("POST", f"/baseline11?a={a}&b={b}", str(body))[::2] == wanted
        assert arena.ask("POST", f"/baseline11?b={b}&a={a}", iter([c.encode() for c in str(body)]))[::2] == wanted
    assert arena.ask("POST", "/baseline11?a=1&b=2", "x")[0] == 400
    assert arena.ask("POST", "/baseline11?a=1&b=2", b"1" * 100)[0] == 413
    assert arena.ask("POST", "/baseline11?a=1&b=2", iter([b"1" * 100]))[0] == 413


@pytest.mark.parametrize("cut", range(1, 30, 7))
def test_a_body_may_come_in_pieces(arena, cut):
    head = b"POST /baseline11?a=13&b=42 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    chunks = b"1\r\n2\r\n1\r\n0\r\n0\r\n\r\n"
    request = head + chunks
    with socket.create_connection(("127.0.0.1", arena.ports["http"]), WITHIN) as raw:
        for part in (request[:-cut], request[-cut:]):
            raw.sendall(part)
        assert b"".join(iter(lambda: raw.recv(65536), b"")).endswith(b"\r\n\r\n75")


def test_requests_of_one_connection_are_told_apart(arena):
    """As after ten requests, when a client of the benchmark leaves."""
    with contextlib.closing(arena.connect()) as connection:
        for number in range(10):
            body = str(number) if number % 2 else None
            connection.request("POST" if body else "GET", f"/baseline11?a={number}&b=1", body)
            assert connection.getresponse().read() == str(number + 1 + int(body or 0)).encode()


def test_sixteen_requests_in_a_row_are_answered_in_order(arena):
    request = b"GET /pipeline HTTP/1.1\r\nHost: localhost\r\n\r\n"
    came = arena.raw(request * 15 + request[:-2] + b"Connection: close\r\n\r\n")
    assert came.count(b"HTTP/1.1 200 OK\r\n") == 16
    assert len(re.findall(rb"\r\n\r\nok", came)) == 16
    assert came.count(b"Content-Type: text/plain") == 16
    mixed = b"".join(b"GET /baseline11?a=%d&b=1 HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (n, b"Connection: close\r\n" if n == 15 else b"")
                     for n in range(16))
    assert re.findall(rb"\r\n\r\n(\d+)", arena.raw(mixed)) == [b"%d" % (n + 1) for n in range(16)]


@pytest.mark.parametrize("count, factor", PAIRS)
def test_items_are_listed_with_their_totals(arena, count, factor):
    for kind in ("http", "tls"):
        status, fields, body = arena.ask("GET", f"/json/{count}?m={factor}", kind=kind)
        assert (status, fields["Content-Type"]) == (200, "application/json")
        assert "Content-Encoding" not in fields
        assert json.loads(body) == expected(count, factor)


@pytest.mark.parametrize("target, status", [("/json/x?m=1", 404), ("/json/-1?m=1", 404), ("/json/5?m=x", 400), ("/json/5?m=-1", 400),
                                            ("/json/5", 200), ("/json/0?m=1", 200), ("/json/5/6?m=1", 404), ("/json/", 404)])
def test_lists_of_other_numbers(arena, target, status):
    assert arena.ask("GET", target)[0] == status


def test_a_list_ends_with_the_last_item(arena):
    assert json.loads(arena.ask("GET", "/json/51?m=1")[2]) == expected(50, 1)


@pytest.mark.parametrize("accepted, coding", [("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0.5, gzip;q=1", "gzip"), ("identity", None), ("gzip;q=0", None)])
@pytest.mark.parametrize("kind", ["http", "tls"])
def test_lists_are_compressed_for_clients_that_want_it(arena, kind, accepted, coding):
    for count, factor in PAIRS:
        _, fields, body = arena.ask("GET", f"/json/{count}?m={factor}", kind=kind, Accept_Encoding=accepted)
        assert fields["Content-Encoding"] == coding
        assert json.loads(compression.decode(coding, body)) == expected(count, factor)


def test_the_port_of_tls_speaks_http_1_alone(arena):
    context = certificates.trusting()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with certificates.connected(("127.0.0.1", arena.ports["tls"]), context) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"


@pytest.mark.parametrize("size", [0, 1, 500_000, 2_000_000, 10_000_000, 20_000_000])
def test_bytes_of_uploads_are_counted(arena, size):
    body = RANDOM.randbytes(size)
    assert arena.ask("POST", "/upload", body)[::2] == (200, str(size).encode())
    pieces = (body[at:at + 65_521] for at in range(0, size, 65_521))
    assert arena.ask("POST", "/upload", pieces)[::2] == (200, str(size).encode())


def test_an_upload_that_ends_early_is_not_counted(arena):
    with socket.create_connection(("127.0.0.1", arena.ports["http"]), WITHIN) as raw:
        raw.sendall(b"POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
        raw.shutdown(socket.SHUT_WR)
        came = b"".join(iter(lambda: raw.recv(65536), b""))
    assert b"HTTP/1.1 200" not in came


def test_files_have_their_types_and_codings(arena):
    for name, content in arena.files.items():
        extension = name.rpartition(".")[2]
        for accepted, coding in (("br;q=1, gzip;q=0.8", "br"), ("gzip", "gzip"), ("identity", None)):
            status, fields, body = arena.ask("GET", f"/static/{name}", Accept_Encoding=accepted)
            assert status == 200, name
            assert TYPES[extension] in fields["Content-Type"], name
            assert fields["Content-Encoding"] == (None if extension in ("woff2", "webp") else coding), name
            assert compression.decode(fields["Content-Encoding"], body) == content, name
    assert arena.ask("GET", "/static/none.css")[0] == 404
    assert arena.ask("GET", "/static/../conf/monkey.conf")[0] in (400, 404)


@pytest.mark.parametrize("target", ["/", "/nothing", "/baseline11/", "/baseline", "/pipeline/x", "/static/", "/conf/monkey.conf"])
def test_other_paths_are_not_found(arena, target):
    assert arena.ask("GET", target)[0] in (403, 404)


def test_other_methods_are_refused(arena):
    assert arena.ask("DELETE", "/baseline11?a=1&b=1")[0] == 405
    assert arena.ask("GET", "/upload")[0] == 405


@pytest.mark.parametrize("kind", ["h2", "h2c"])
def test_http_2_has_the_same_answers(arena, kind):
    for _ in range(3):
        a, b, _ = numbers()
        assert arena.curl(kind, f"/baseline2?b={b}&a={a}") == ("2", "200", str(a + b).encode())
    version, status, body = arena.curl(kind, "/json/25?m=4")
    assert (version, status, json.loads(body)) == ("2", "200", expected(25, 4))
    name = "file0.css"
    assert arena.curl(kind, f"/static/{name}", "-H", "Accept-Encoding: br;q=1, gzip;q=0.8", "--compressed") == ("2", "200", arena.files[name])
    assert arena.curl(kind, "/nothing")[:2] == ("2", "404")
    assert arena.curl(kind, "/upload", "--data-binary", "12345") == ("2", "200", b"5")


def test_the_port_of_http_2_has_no_http_1(arena):
    with contextlib.closing(socket.create_connection(("127.0.0.1", arena.ports["h2c"]), WITHIN)) as raw:
        raw.sendall(b"GET /baseline2?a=1&b=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not b"".join(iter(lambda: raw.recv(65536), b"")).startswith(b"HTTP/1.1 2")


async def echoes(url, messages):
    async with websockets.connect(url, max_size=None) as opened:
        came = []
        for message in messages:
            await opened.send(message)
            came.append(await opened.recv())
        return came


def test_messages_come_back(arena):
    messages = ["hello", b"\x00\xff\x01", "", "\u00e9" * 1000, RANDOM.randbytes(100_000)]
    url = f"ws://127.0.0.1:{arena.ports['http']}/ws"
    assert asyncio.run(asyncio.wait_for(echoes(url, messages), WITHIN)) == messages


def test_a_wrong_handshake_is_refused(arena):
    assert arena.ask("GET", "/ws")[0] in (400, 426)
    assert arena.ask("POST", "/ws")[0] in (400, 405)
    assert arena.ask("GET", "/ws", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13")[0] == 400
    assert arena.ask("GET", "/ws", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="7",
                     Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==")[0] == 426


def async_db(arena, query=""):
    status, fields, body = arena.ask("GET", f"/async-db{query}")
    assert (status, fields["Content-Type"]) == (200, "application/json"), body
    return json.loads(body)


def test_items_of_a_database(stored):
    for least, most, limit in [(10, 50, 20), (10, 20, 1), (0, 499, 50), (20, 10, 50), (-5, -1, 5)] + [
            (price, price + 30, limit) for price, _, limit in (numbers() for _ in range(5)) if 0 < price and limit <= 50]:
        answer = async_db(stored, f"?min={least}&max={most}&limit={limit}")
        wanted = limit if least <= most and most >= 0 and least < 500 else 0
        assert answer["count"] == len(answer["items"]) == wanted
        for item in answer["items"]:
            number = item["id"]
            assert least <= item["price"] <= most
            assert item == {"id": number, "name": f"item {number}", "category": ["books", "toys", "tools", "food"][number % 4],
                            "price": number * 7 % 500, "quantity": number % 50, "active": number % 2 == 0, "tags": ["fast", "new"],
                            "rating": {"score": number % 50, "count": number % 1000}}
    assert async_db(stored)["count"] == 50


@pytest.mark.parametrize("query", ["?min=x", "?max=", "?limit=0", "?limit=51", "?limit=1;DROP", "?min=1e3", "?max=99999999999999999999"])
def test_a_query_that_is_no_number(stored, query):
    assert stored.ask("GET", f"/async-db{query}")[0] == 400


def test_many_ask_the_database_at_once(stored, database):
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda number: async_db(stored, f"?min=0&max=499&limit={1 + number % 50}")["count"], range(300)))
    assert answers == [1 + number % 50 for number in range(300)]
    assert database.backends() <= 4


def test_there_is_no_database(arena):
    assert async_db(arena, "?min=10&max=50&limit=20") == {"items": [], "count": 0}
