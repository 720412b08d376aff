# SPDX-License-Identifier: Apache-2.0
"""The heads that a proxy makes and passes on: what a backend learns of the client, and what is nobody else's."""

import socket
import time

import pytest

from harness import http
from harness.backend import Backend, configured


TRUSTED = "TrustedProxies 127.0.0.1"


@pytest.fixture(scope="module")
def backend():
    with Backend() as one:
        yield one


def seen(server, backend, request):
    """What the backend got for these bytes of a client."""
    backend.requests.clear()
    with server.connect() as client:
        client.send(request)
        assert client.response().status == 200
    return backend.requests[0]


def ask(server, backend, *lines, first="GET / HTTP/1.1"):
    return seen(server, backend, "\r\n".join([first, "Host: example.org:8080", *lines, "", ""]))


@pytest.fixture(scope="module")
def server(start_shared, backend):
    return start_shared(**configured("", backend, server=TRUSTED))


@pytest.mark.parametrize("server, sent, address, port", [
    ("", ["X-Real-IP: 1.2.3.4", "X-Forwarded-Port: 7"], "127.0.0.1", None),
    ("", ["X_Real_IP: 1.2.3.4"], "127.0.0.1", None),
    ("TrustedProxies 127.0.0.1", ["X-Real-IP: 1.2.3.4", "X-Forwarded-Port: 7"], "1.2.3.4", "7"),
    ("TrustedProxies 127.0.0.1", ["X-Real-IP: ::1"], "::1", None),
    ("TrustedProxies 127.0.0.1", [], "127.0.0.1", None),
    ("TrustedProxies 127.0.0.1", ["X-Real-IP: 1.2.3.4", "X-Real-IP: 5.6.7.8"], "127.0.0.1", None),
    ("TrustedProxies 127.0.0.1", ["X-Real-IP: evil", "X-Forwarded-Port: 123456"], "127.0.0.1", None),
    ("TrustedProxies 127.0.0.1", ["X-Real-IP: " + "1" * 46, "X-Forwarded-Port: -1"], "127.0.0.1", None),
])
def test_real_ip_and_port(start, backend, server, sent, address, port):
    running = start(**configured("RealIP on\nForwardedPort on", backend, server=server))
    request = ask(running, backend, "Connection: X-Real-IP", *sent)
    assert request.header("X-Real-IP") == address
    assert request.header("X-Forwarded-Port") == (port or str(running.port))
    assert request.all("X_Real_IP") == []


def test_real_ip_and_port_pass_unless_asked_for(start, backend):
    request = ask(start(**configured("", backend)), backend, "X-Real-IP: 1.2.3.4", "X-Forwarded-Port: 7")
    assert (request.header("X-Real-IP"), request.header("X-Forwarded-Port")) == ("1.2.3.4", "7")


def test_a_set_header_replaces_real_ip(start, backend):
    request = ask(start(**configured("RealIP on\nSetHeader X-Real-IP x", backend)), backend)
    assert request.header("X-Real-IP") == "x"


def test_ordinary_fields_pass_in_order(server, backend):
    request = ask(server, backend, "X-B: 2", "Accept: */*", "x-a: 1", "X-B: 3", "Cookie: c=d")
    assert request.fields[:6] == [("Host", "example.org:8080"), ("X-B", "2"), ("Accept", "*/*"), ("x-a", "1"),
                                  ("X-B", "3"), ("Cookie", "c=d")]


@pytest.mark.parametrize("line", [
    "Connection: close", "Connection: keep-alive", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic eDp5", "TE: trailers", "Trailer: X", "Upgrade: websocket", "HTTP2-Settings: AAAA",
    "proxy_connection: x",
])
def test_what_is_of_one_connection_stays(server, backend, line):
    request = ask(server, backend, line, "X-A: 1")
    name = line.split(":")[0].replace("_", "-").lower()
    assert name not in [field.lower().replace("_", "-") for field, _ in request.fields]
    assert request.header("X-A") == "1"


@pytest.mark.parametrize("lines", [
    ["Connection: X-Secret"],
    ["Connection: close, x-secret"],
    ["Connection: close", "Connection: , ,X-SECRET ,x"],
    ["Connection: X_Secret"],
])
def test_what_connection_names_stays(server, backend, lines):
    request = ask(server, backend, *lines, "X-Secret: 1", "X-Other: 2")
    assert not request.all("X-Secret") and request.header("X-Other") == "2"
    assert request.header("X-Forwarded-For") == "127.0.0.1"


def test_connection_names_what_the_proxy_says_itself(server, backend):
    request = ask(server, backend, "Connection: Host, X-Forwarded-For, Forwarded, Via", "X-Forwarded-For: 1.2.3.4")
    assert request.header("Host") == "example.org:8080"
    assert request.header("X-Forwarded-For").endswith("127.0.0.1")
    assert request.header("Via") == "1.1 monkey"


@pytest.mark.parametrize("name, line, sent", [("Upgrade", "Upgrade: websocket", "upgrade"), ("TE", "TE: trailers", "TE")])
def test_a_wish_in_the_second_line_of_connection(server, backend, name, line, sent):
    """The lines of a list are one list: RFC 9110 5.3."""
    request = ask(server, backend, "Connection: keep-alive", f"Connection: {name}", line)
    assert request.header("Connection") == sent and request.header(name) == line.partition(": ")[2]


def test_connection_with_too_much(server):
    with server.connect() as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: " + ",".join(f"x{n}" for n in range(400)) + "\r\n\r\n")
        assert client.response().status == 400


def test_who_the_client_is(server, backend):
    request = ask(server, backend)
    assert request.header("X-Forwarded-For") == "127.0.0.1"
    assert request.header("X-Forwarded-Proto") == "http"
    assert request.header("X-Forwarded-Host") == "example.org:8080"
    assert request.header("Forwarded") == 'for=127.0.0.1;host="example.org:8080";proto=http'
    assert request.header("Via") == "1.1 monkey"


def test_who_it_was_before(server, backend):
    request = ask(server, backend, "X-Forwarded-For: 1.2.3.4", "x-forwarded-for: 5.6.7.8, 9.9.9.9", "Via: 1.0 a",
                  "Forwarded: for=1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil",
                  "X_Forwarded_For: 6.6.6.6")
    assert request.header("X-Forwarded-For") == "1.2.3.4, 5.6.7.8, 9.9.9.9, 6.6.6.6, 127.0.0.1"
    assert request.header("X-Forwarded-Proto") == "http"
    assert request.header("X-Forwarded-Host") == "example.org:8080"
    assert request.header("Forwarded") == 'for=1.2.3.4, for=127.0.0.1;host="example.org:8080";proto=http'
    assert request.header("Via") == "1.0 a, 1.1 monkey"
    assert not request.all("X_Forwarded_For")


@pytest.mark.parametrize("lines", ["", "TrustedProxies 10.0.0.0/8"])
def test_nobody_is_believed_who_is_not_trusted(start, backend, lines):
    """Many applications take the first word of the list for the client's address."""
    request = ask(start(**configured("", backend, server=lines)), backend, "X-Forwarded-For: 1.2.3.4", "X_Forwarded_For: 5.6.7.8",
                  "Forwarded: for=1.2.3.4")
    assert request.header("X-Forwarded-For") == "127.0.0.1"
    assert request.header("Forwarded") == 'for=127.0.0.1;host="example.org:8080";proto=http'
    assert not request.all("X_Forwarded_For")


def test_append_believes_all(start, backend):
    request = ask(start(**configured("Forwarded append", backend)), backend, "X-Forwarded-For: 1.2.3.4")
    assert request.header("X-Forwarded-For") == "1.2.3.4, 127.0.0.1"


def test_who_comes_over_a_unix_socket_is_believed(start, backend, tmp_path):
    server = start(**configured("", backend, server=f"Listen unix:{tmp_path}/s"))
    backend.requests.clear()
    with server.connect(f"{tmp_path}/s") as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
        assert client.response().status == 200
    assert backend.requests[0].header("X-Forwarded-For") == "1.2.3.4, unknown"


def test_a_proxy_header_makes_nobody_trusted(start, backend):
    """It is the client behind it who sent the fields."""
    server = start(**configured("", backend, server=f"Listen 127.0.0.1:0 proxy\n{TRUSTED}"))
    backend.requests.clear()
    with server.connect() as client:
        client.send("PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
        assert client.response().status == 200
    assert backend.requests[0].header("X-Forwarded-For") == "192.0.2.7"


@pytest.mark.parametrize("value", ['for="[::1]:80";by="a\\"b"', 'for=a, for="b" ; by=c', 'for="a\\\\"'])
def test_quotes_of_who_it_was_before(server, backend, value):
    request = ask(server, backend, f"Forwarded: {value}")
    assert request.header("Forwarded") == f'{value}, for=127.0.0.1;host="example.org:8080";proto=http'


@pytest.mark.parametrize("value", [
    'for=6.6.6.6;by="', 'for="6.6.6.6\\"', 'for=6.6.6.6;by=x";y="', 'for=6.6.6.6;by=\\", x="', 'for="a"b"c"', '"', '\\',
])
def test_no_quote_takes_in_who_the_client_is(server, backend, value):
    """Otherwise the last address that a backend sees is one that the client chose: RFC 7239 8.1."""
    request = ask(server, backend, f"Forwarded: {value}", "Forwarded: for=1.2.3.4")
    assert request.header("Forwarded") == 'for=1.2.3.4, for=127.0.0.1;host="example.org:8080";proto=http'


def test_a_client_of_http_1_0(server, backend):
    with server.connect() as client:
        backend.requests.clear()
        client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
        assert client.response().body == b"ok"
    assert backend.requests[0].version == "HTTP/1.1"
    assert backend.requests[0].header("Via") == "1.0 monkey"


def test_a_client_without_host(server, backend):
    with server.connect() as client:
        backend.requests.clear()
        client.send("GET / HTTP/1.0\r\n\r\n")
        assert client.response().body == b"ok"
    assert backend.requests[0].header("Host") == backend.address
    assert not backend.requests[0].all("X-Forwarded-Host")


def test_ipv6_clients(start, backend):
    server = start(server="Listen [::1]:0", **configured("", backend))
    backend.requests.clear()
    with server.connect(("::1", server.port)) as client:
        assert client.request("/").status == 200
    assert backend.requests[0].header("X-Forwarded-For") == "::1"
    assert backend.requests[0].header("Forwarded").startswith('for="[::1]";host=')


@pytest.mark.parametrize("rest, sent", [("", "*"), ("/", "/"), ("?q", "/?q")])
def test_options_of_a_whole_server(server, backend, rest, sent):
    """RFC 9112 3.2.4: the last proxy makes `*` of a URI without path and query; 3.2.2: its host is that of the URI."""
    request = ask(server, backend, first=f"OPTIONS http://other.example:81{rest} HTTP/1.1")
    assert (request.target, request.header("Host")) == (sent, "other.example:81")


@pytest.mark.parametrize("method, sent, got", [
    ("OPTIONS", "5", "4"), ("TRACE", "1", "0"), ("OPTIONS", "010", "9"), ("OPTIONS", "9" * 30, "999999999"),
    ("GET", "5", "5"), ("GET", "0", "0"), ("OPTIONS", "x", "x"), ("OPTIONS", "-1", "-1"),
])
def test_max_forwards_counts_us(server, backend, method, sent, got):
    """RFC 9110 7.6.2"""
    request = ask(server, backend, f"Max-Forwards: {sent}", first=f"{method} / HTTP/1.1")
    assert request.header("Max-Forwards") == got


@pytest.mark.parametrize("method, status", [("OPTIONS", 204), ("TRACE", 405)])
def test_max_forwards_of_none_is_answered_here(server, backend, method, status):
    backend.requests.clear()
    with server.connect() as client:
        client.send(f"{method} /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n")
        assert client.response().status == status
    assert not backend.requests


@pytest.mark.parametrize("sent, got", [
    ("/private/../public?q", "/public?q"), ("/private/%2E%2e/public", "/public"), ("/private%2f..%2Fpublic", "/public"),
    ("/a/./b%20c/", "/a/b%20c/"), ("http://a.example/private/../public", "/public"), ("/a/..", "/"),
    ("/a%2Fb//c/%61..b?x=/../", "/a%2Fb//c/%61..b?x=/../"), ("//a/b", "//a/b"), ("/?/../", "/?/../"),
])
def test_the_path_that_matched_goes_on(server, backend, sent, got):
    """Otherwise it would pass as one path here and be taken for another behind us: RFC 3986 6.2.2.3."""
    assert ask(server, backend, first=f"GET {sent} HTTP/1.1").target == got


def test_the_path_of_an_index_file_goes_on(start, backend):
    server = start(server="Indexfile index.app", files={"index.app": "source", "d/index.app": "source"},
                   extra=configured("Match \\.app$", backend)["extra"])
    assert ask(server, backend, first="GET /d/?q HTTP/1.1").target == "/d/index.app?q"


# -- as the configuration wants it


@pytest.mark.parametrize("lines, host", [
    ("", "example.org:8080"), ("Host client", "example.org:8080"), ("Host server", None), ("Host app.local", "app.local"),
])
def test_host(start, backend, lines, host):
    request = ask(start(**configured(lines, backend)), backend)
    assert request.header("Host") == (host or backend.address)
    assert request.header("X-Forwarded-Host") == "example.org:8080"


def test_forwarded_replaces(start, backend):
    request = ask(start(**configured("Forwarded replace", backend)), backend,
                  "X-Forwarded-For: 1.2.3.4", "Forwarded: for=1.2.3.4")
    assert request.header("X-Forwarded-For") == "127.0.0.1"
    assert request.header("Forwarded") == 'for=127.0.0.1;host="example.org:8080";proto=http'


def test_forwarded_off(start, backend):
    request = ask(start(**configured("Forwarded off", backend)), backend, "X-Forwarded-For: 1.2.3.4")
    assert request.header("X-Forwarded-For") == "1.2.3.4"
    assert not request.all("Forwarded") and not request.all("X-Forwarded-Host")


def test_fields_set_and_removed(start, backend):
    request = ask(start(**configured("SetHeader X-Real two  words\nSetHeader Via none\nRemoveHeader Cookie\n"
                                     "RemoveHeader X-Forwarded-For", backend)), backend,
                  "X-Real: mine", "X_Real: mine", "Cookie: a=b", "X-Forwarded-For: 1.2.3.4", "X-Keep: 1")
    assert request.header("X-Real") == "two  words" and not request.all("X_Real")
    assert request.header("Via") == "none" and request.header("X-Keep") == "1"
    assert not request.all("Cookie") and not request.all("X-Forwarded-For")


def test_defaults_and_entries(start, backend):
    request = ask(start(**configured("Host of.entry", backend, defaults="Host of.defaults\nSetHeader X-A d")), backend)
    assert request.header("Host") == "of.entry" and request.header("X-A") == "d"


def test_long_heads(start, backend):
    server = start(server="MaxRequestSize 64K", **configured("", backend))
    lines = [f"X-{n}: " + "v" * 5000 for n in range(10)]
    request = ask(server, backend, *lines)
    assert [request.header(f"X-{n}") for n in range(10)] == ["v" * 5000] * 10


# -- answers


def test_what_is_of_the_backends_connection_stays(start):
    lines = ("Connection: keep-alive, X-Secret\r\nKeep-Alive: timeout=5\r\nX-Secret: 1\r\nProxy-Connection: x\r\n"
             "X-A: 1\r\nX-A: 2\r\nTrailer: X\r\nTE: x\r\nUpgrade: h2\r\n")
    with Backend(each=lambda c, q: c.answer(b"ok", fields=lines)) as backend:
        server = start(**configured("", backend))
        answer = server.request("/")
        assert answer.all("X-A") == ["1", "2"]
        for name in ("X-Secret", "Keep-Alive", "Proxy-Connection", "Trailer", "TE", "Upgrade"):
            assert not answer.all(name), name


@pytest.mark.parametrize("lines", [
    "Connection: keep-alive\r\nConnection: X-Secret\r\n", "Connection: close, X-Secret\r\n",
    "connection: x\r\nConnection: ,, x_secret\r\n",
])
def test_each_line_of_a_backends_connection_counts(start, lines):
    with Backend(each=lambda c, q: c.answer(b"ok", fields=f"X-Secret: 1\r\nX-A: 1\r\n{lines}")) as backend:
        answer = start(**configured("", backend)).request("/")
        assert not answer.all("X-Secret") and answer.all("X-A") == ["1"]


@pytest.mark.parametrize("names, status", [(200, 200), (400, 502)])
def test_an_answer_whose_connection_names_too_much(start, names, status):
    """Each field is looked for in it: with no bound a backend would keep a worker from the others."""
    lines = "".join(f"Connection: {name}\r\n" for name in (",".join(["abc"] * (names // 2)),) * 2)
    with Backend(each=lambda c, q: c.answer(b"ok", fields=lines)) as backend:
        assert start(**configured("", backend)).request("/").status == status


def test_the_sites_own_lines_hold(start):
    with Backend(each=lambda c, q: c.answer(b"ok", fields="X-A: backend\r\nServer: b\r\n")) as backend:
        server = start(host="Header X-A site\nHeader Server", **configured("", backend))
        answer = server.request("/")
        assert answer.all("X-A") == ["site"] and not answer.all("Server")


# -- behind the answer


TRAILED = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\n"
           b"X-Sum: 1\r\nContent-Length: 9\r\nSet-Cookie: a=b\r\nX-Empty:\r\nconnection: x\r\nX-Sum: 2\r\n\r\n")
ASKS = "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, TE\r\nTE: trailers\r\n\r\n"


@pytest.mark.parametrize("step", [1, 7, 100, 1000])
def test_trailers_pass(start, step):
    def each(conn, request):
        assert (request.header("TE"), request.header("Connection")) == ("trailers", "TE")
        for at in range(0, len(TRAILED), step):
            conn.send(TRAILED[at:at + step])
            time.sleep(0.001)

    with Backend(each=each) as backend:
        server = start(server="Workers 1", **configured("", backend))
        with server.connect() as client:
            for _ in range(3):
                client.send(ASKS)
                answer = client.response()
                assert answer.body == b"hello"
                assert answer.trailers == [("X-Sum", "1"), ("X-Empty", ""), ("X-Sum", "2")]
        assert backend.connections == 1


@pytest.mark.parametrize("lines", ["TE: trailers\r\n", "Connection: TE\r\nTE: gzip\r\n", ""])
def test_trailers_that_nobody_asked_for_stay(start, lines):
    def each(conn, request):
        assert not request.all("TE")
        conn.send(TRAILED)

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(f"GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n")
            answer = client.response()
            assert answer.body == b"hello" and not answer.trailers


def test_trailers_without_end(start):
    def each(conn, _):
        conn.send(TRAILED[:-2])
        conn.send(b"X-A: 1\r\n" * 10_000)

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        with server.connect() as client:
            client.send(ASKS)
            with pytest.raises((AssertionError, ConnectionResetError)):
                client.response()


# -- before the answer


def test_early_hints_pass(start):
    def each(conn, _):
        conn.send(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: x\r\n\r\n")
        conn.answer(b"ok")

    with Backend(each=each) as backend:
        server = start(**configured("", backend))
        answer = server.request("/")
        assert [one.status for one in answer.interim] == [102, 103]
        assert answer.interim[1].header("Link") == "</a.css>" and not answer.interim[1].all("Connection")
        with server.connect() as client:
            client.send("GET / HTTP/1.0\r\n\r\n")
            assert not client.response().interim


EXPECTS = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"


def sends_when_told(start, serve):
    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            client.send(EXPECTS)
            assert http.read_head(client.stream).status == 100
            client.send("hello")
            assert client.response().body == b"ok"


def test_expect_is_the_backends_to_answer(start):
    def serve(conn):
        request = conn.head()
        assert request.header("Expect") == "100-continue"
        assert not conn.pending
        conn.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            conn.sock.recv(1)
        conn.sock.settimeout(30)
        conn.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert conn.body(request) == b"hello"
        conn.answer(b"ok")

    sends_when_told(start, serve)


def test_expect_is_refused_before_the_body(start):
    def serve(conn):
        assert conn.head().header("Expect") == "100-continue"
        conn.answer(b"too large", "413 Content Too Large")

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off", backend))
        with server.connect() as client:
            client.send(EXPECTS)
            answer = client.response()
            assert (answer.status, answer.body, answer.interim) == (413, b"too large", [])


def test_expect_of_a_backend_that_does_not_know_it(start):
    def serve(conn):
        request = conn.head()
        assert conn.body(request) == b"hello"
        conn.answer(b"ok")

    sends_when_told(start, serve)


def test_a_backend_that_falls_silent_after_an_early_answer(start):
    """It answers without the body that it was to ask for, and not to the end: its silence ends the answer."""
    def serve(conn):
        conn.head()
        conn.send(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 10\r\n\r\nhalf")
        conn.sock.settimeout(30)
        conn.sock.recv(1)

    with Backend(serve) as backend:
        server = start(**configured("RequestBuffering off\nReadTimeout 1", backend))
        with server.connect() as client:
            client.send(EXPECTS)
            assert http.read_head(client.stream).status == 413
            client.sock.settimeout(30)
            assert client.stream.rest() == b"half"


# -- the PROXY protocol


def proxied(start, version):
    heads = []

    def serve(conn):
        if version == "v1":
            heads.append(conn.line())
        else:
            head = conn.exactly(16)
            heads.append(head + conn.exactly(int.from_bytes(head[14:16], "big")))
        while conn.request():
            conn.answer(b"ok")

    with Backend(serve) as backend:
        server = start(**configured(f"ProxyProtocol {version}", backend))
        with server.connect() as client:
            port = client.sock.getsockname()[1]
            for _ in range(2):
                assert client.request("/").status == 200
        assert backend.connections == 2
        return heads, port, server.port


def test_proxy_protocol_v1(start):
    heads, port, own = proxied(start, "v1")
    assert heads == [b"PROXY TCP4 127.0.0.1 127.0.0.1 %d %d" % (port, own)] * 2


def test_proxy_protocol_v2(start):
    heads, port, own = proxied(start, "v2")
    local = socket.inet_aton("127.0.0.1")
    assert heads == [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + local + local
                     + port.to_bytes(2, "big") + own.to_bytes(2, "big")] * 2


def test_proxy_protocol_to_another_monkey(start, backend):
    inner = start(server="Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1", **configured("", backend))
    outer = start(**configured("ProxyProtocol v2", f"127.0.0.1:{inner.port}"))
    backend.requests.clear()
    with outer.connect() as client:
        assert client.request("/").status == 200
    assert backend.requests[0].header("X-Forwarded-For") == "127.0.0.1, 127.0.0.1"
    assert backend.requests[0].header("Via") == "1.1 monkey, 1.1 monkey"


# -- variables in SetHeader


def test_variables_stand_for_what_the_request_has(start, backend):
    values = {"X-Real-IP": "$remote_addr", "X-Scheme": "$scheme", "X-Host": "$host", "X-Http-Host": "$http_host", "X-Port": "$server_port",
              "X-Uri": "a$uri", "X-Path": "$path", "X-Target": "$request_uri", "X-Query": "$query", "X-Args": "[$args]", "X-Dollar": "$$uri costs $$5"}
    server = start(**configured("\n".join(f"SetHeader {name} {value}" for name, value in values.items()), backend))
    request = ask(server, backend, "X-Real-IP: 192.0.2.1", first="GET /a%0d%0aX-Evil:%201/b%20c?d=%20e HTTP/1.1")
    expected = {"X-Real-IP": "127.0.0.1", "X-Scheme": "http", "X-Host": "example.org", "X-Http-Host": "example.org:8080",
                "X-Port": str(server.port), "X-Uri": "a/a%0D%0AX-Evil:%201/b%20c",
                "X-Path": "/a%0D%0AX-Evil:%201/b%20c", "X-Target": "/a%0d%0aX-Evil:%201/b%20c?d=%20e", "X-Query": "d=%20e", "X-Args": "[d=%20e]",
                "X-Dollar": "$uri costs $5"}
    assert {name: request.header(name) for name in values} == expected
    assert request.header("X-Evil") is None
    assert len([name for name, _ in request.fields if name == "X-Real-IP"]) == 1
