# SPDX-License-Identifier: Apache-2.0
"""python -m monkey: what PEP 3333 asks of a server."""

import json
import re

import pytest

from harness import http, python

# wsgiref's validator is on both sides of each of these; `raw` is beside it.
APPLICATION = r'''
    import json
    import sys
    from wsgiref.validate import validator

    TEXT = [("Content-Type", "text/plain")]

    CALLS = {
        "injection-by-status": ("200 OK\r\nX: y", []),
        "injection-by-value": ("200 OK", [("X", "a\r\nSet-Cookie: b=1")]),
        "injection-by-line-feed": ("200 OK", [("X", "a\nb")]),
        "injection-by-name": ("200 OK", [("X: a\r\nY", "b")]),
        "nul": ("200 OK", [("X", "a\0b")]),
        "beyond-latin-1": ("200 OK", [("X", "\u20ac")]),
        "empty-name": ("200 OK", [("", "a")]),
        "blank-in-name": ("200 OK", [("X y", "a")]),
        "connection": ("200 OK", [("Connection", "close")]),
        "transfer-encoding": ("200 OK", [("Transfer-Encoding", "chunked")]),
        "length-no-number": ("200 OK", [("Content-Length", "one")]),
        "length-negative": ("200 OK", [("Content-Length", "-1")]),
        "length-huge": ("200 OK", [("Content-Length", "9" * 30)]),
        "status-short": ("20 OK", []),
        "status-interim": ("100 Continue", []),
        "status-far": ("999 Far", []),
        "status-number": (200, []),
        "status-bytes": (b"200 OK", []),
        "headers-tuple": ("200 OK", ()),
        "header-list": ("200 OK", [["X", "y"]]),
        "header-bytes": ("200 OK", [("X", b"y")]),
        "header-three": ("200 OK", [("X", "y", "z")]),
        "exc-info": ("200 OK", [], 5),
        "good": ("200", [("X", "")]),
    }

    class Blocks:
        """An iterable that says on stderr when it is closed."""
        def __init__(self, *blocks, fails=False):
            self.blocks, self.fails = iter(blocks), fails
        def __iter__(self):
            return self
        def __next__(self):
            block = next(self.blocks, None)
            if block is None and self.fails:
                raise LookupError("in the middle")
            if block is None:
                raise StopIteration
            return block
        def close(self):
            print("closed", file=sys.stderr, flush=True)

    def checked(environ, start_response):
        path = environ["PATH_INFO"]
        if path == "/post":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH", 0)))
            start_response("201 Created", TEXT + [("Content-Length", str(len(body)))])
            return [body]
        if path == "/blocks":
            start_response("200 OK", TEXT)
            return Blocks(b"one ", b"", b"two ", b"three")
        if path == "/write":
            write = start_response("200 OK", TEXT)
            write(b"written ")
            return [b"returned"]
        if path == "/nothing":
            start_response("204 No Content", [])
            return []
        start_response("200 OK", [("Content-Type", "application/json"), ("X-Latin", "caf\xe9")])
        known = {name: value for name, value in environ.items() if isinstance(value, str)}
        return [json.dumps(known).encode()]

    def raw(environ, start_response):
        path = environ["PATH_INFO"]
        if path == "/raw/raises":
            raise ValueError("told in the log")
        if path == "/raw/raises-late":
            start_response("200 OK", TEXT + [("Content-Length", "100")])
            return Blocks(b"begun", fails=True)
        if path == "/raw/replaced":
            start_response("200 OK", TEXT)
            try:
                raise KeyError("a reason")
            except KeyError:
                start_response("503 Later", TEXT, sys.exc_info())
            return [b"sorry"]
        if path == "/raw/replaced-late":
            write = start_response("200 OK", TEXT)
            write(b"begun")
            try:
                raise KeyError("a late reason")
            except KeyError:
                start_response("503 Later", TEXT, sys.exc_info())
            return [b"never"]
        if path == "/raw/too-long":
            start_response("200 OK", TEXT + [("Content-Length", "4")])
            return Blocks(b"123", b"456", b"789")
        if path == "/raw/too-short":
            start_response("200 OK", TEXT + [("Content-Length", "10")])
            return Blocks(b"123")
        if path == "/raw/no-start":
            return [b"nothing was started"]
        if path == "/raw/exit":
            sys.exit(7)
        if path == "/raw/lines":
            body = environ["wsgi.input"]
            lines = [body.readline().decode(), body.read(3).decode(), [line.decode() for line in body]]
            start_response("200 OK", TEXT)
            return [json.dumps(lines).encode()]
        try:
            start_response(*CALLS[path.rpartition("/")[2]])
        except Exception as error:
            start_response("200 OK", TEXT)
            return [f"{type(error).__name__}: {error}".encode()]
        return [b"accepted"]

    validated = validator(checked)

    def application(environ, start_response):
        return (raw if environ["PATH_INFO"].startswith("/raw/") else validated)(environ, start_response)
'''


@pytest.fixture(scope="module")
def server(python_package, tmp_path_factory):
    with python.programs(tmp_path_factory.mktemp("wsgi"), python_package) as serve:
        yield serve(APPLICATION, "--threads", "3", "--script-name", "/shop")


def environ(server, target="/environ", **kwargs):
    return json.loads(server.request(target, **kwargs).body)


def test_environ_is_that_of_the_request(server):
    known = environ(server, "/a%20b/%c3%a9?x=%20y&z", headers=[("Host", "example.org"), ("X-Word", "one"), ("X-Word", "two"),
                                                                ("Cookie", "a=1"), ("Cookie", "b=2")], host=None)
    assert known["REQUEST_METHOD"] == "GET"
    assert (known["SCRIPT_NAME"], known["PATH_INFO"]) == ("", "/a b/\u00c3\u00a9")
    assert known["QUERY_STRING"] == "x=%20y&z"
    assert known["REQUEST_URI"] == "/a%20b/%c3%a9?x=%20y&z"
    assert known["HTTP_HOST"] == "example.org"
    assert (known["HTTP_X_WORD"], known["HTTP_COOKIE"]) == ("one, two", "a=1; b=2")
    assert known["REMOTE_ADDR"] == "127.0.0.1" and int(known["REMOTE_PORT"]) > 0
    assert (known["SERVER_NAME"], known["SERVER_PORT"]) == ("127.0.0.1", str(server.port))
    assert (known["SERVER_PROTOCOL"], known["wsgi.url_scheme"]) == ("HTTP/1.1", "http")
    assert "CONTENT_LENGTH" not in known and "CONTENT_TYPE" not in known


def test_a_script_name_is_cut_off(server):
    assert [environ(server, target)[name] for target in ("/shop/a", "/shopping", "/shop")
            for name in ("SCRIPT_NAME", "PATH_INFO")] == ["/shop", "/a", "", "/shopping", "/shop", ""]


def test_fields_that_could_be_taken_for_others_are_left_out(server):
    known = environ(server, headers={"X_Word": "forged", "Proxy": "http://evil.example", "X-Latin": "caf\u00e9"})
    assert "HTTP_X_WORD" not in known and "HTTP_PROXY" not in known
    assert known["HTTP_X_LATIN"] in ("caf\u00e9", "caf\u00c3\u00a9")


def test_fields_of_the_connection_are_left_out(server):
    """A framework that sees Transfer-Encoding looks for chunks in a body that has none any more."""
    fields = {"Transfer-Encoding": "chunked", "TE": "trailers", "Trailer": "X-End", "Expect": "100-continue",
              "Connection": "keep-alive, X-Word, TE", "Keep-Alive": "timeout=5", "Proxy-Connection": "keep-alive", "X-Word": "kept"}
    known = json.loads(server.request("/environ", "POST", headers=fields, body=http.chunked(b"body")).body)
    assert known["CONTENT_LENGTH"] == "4"
    assert [name for name in known if name.startswith("HTTP_")] == ["HTTP_HOST", "HTTP_X_WORD"]


def test_a_field_of_the_answer_has_latin_1(server):
    assert server.get("/environ").header("X-Latin") in ("caf\u00e9", b"caf\xe9".decode("latin-1"))


@pytest.mark.parametrize("body", [b"", b"x", b"some text" * 100_000], ids=["empty", "small", "large"])
def test_a_body_comes_back(server, body):
    answer = server.request("/post", "POST", body=body)
    assert (answer.status, answer.body) == (201, body)


def test_a_chunked_body_has_a_length(server):
    head = "POST /post HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = http.parse_one(server.raw(head.encode() + http.chunked(b"one", b" and ", b"two")))
    assert answer.body == b"one and two"


def test_lines_of_a_body(server):
    answer = server.request("/raw/lines", "POST", body=b"first\nsecond\nthird\nfourth")
    assert json.loads(answer.body) == ["first\n", "sec", ["ond\n", "third\n", "fourth"]]


def test_blocks_come_in_order_and_are_closed_once(server):
    since = len(server.log())
    assert server.get("/blocks").body == b"one two three"
    server.wait_for_log("closed", since)
    assert server.log()[since:].count("closed") == 1


def test_write_comes_before_the_iterable(server):
    assert server.get("/write").body == b"written returned"


def test_no_content(server):
    answer = server.get("/nothing")
    assert (answer.status, answer.body) == (204, b"")
    assert answer.header("Content-Length") is None


@pytest.mark.parametrize("path", ["/environ", "/blocks", "/write"])
def test_head_has_no_body(server, path):
    with server.connect() as connection:
        connection.send(http.request(path, "HEAD") + http.request("/environ", headers={"Connection": "close"}))
        first, second = connection.responses("HEAD", "GET")
        assert (first.status, second.status) == (200, 200)


def test_a_connection_is_kept(server):
    with server.connect() as connection:
        for _ in range(3):
            assert connection.request("/post", "POST", body=b"again").body == b"again"


def test_an_exception_is_500_and_a_line(server):
    since = len(server.log())
    assert server.get("/raw/raises").status == 500
    assert re.search(r"level=error .*wsgi: the application raised ValueError\('told in the log'\) path='/raw/raises'", server.log()[since:])
    assert "Traceback" in server.log()[since:]


def test_an_exception_after_the_head_breaks_the_answer_off(server):
    since = len(server.log())
    assert http.is_cut_off(server.raw_until_cut(http.request("/raw/raises-late")))
    server.wait_for_log("closed", since)
    assert "LookupError" in server.log()[since:]


def test_exit_ends_the_request_alone(server):
    assert server.get("/raw/exit").status == 500
    assert server.get("/environ").status == 200


def test_start_response_replaces_a_head_that_was_not_sent(server):
    answer = server.get("/raw/replaced")
    assert (answer.status, answer.body) == (503, b"sorry")


def test_start_response_raises_the_reason_again_when_it_is_too_late(server):
    since = len(server.log())
    assert http.is_cut_off(server.raw_until_cut(http.request("/raw/replaced-late")))
    server.wait_for_log("a late reason", since)


def test_bytes_beyond_the_length_are_cut(server):
    since = len(server.log())
    assert server.get("/raw/too-long").body == b"1234"
    server.wait_for_log("more bytes than its Content-Length", since)
    server.wait_for_log("closed", since)
    assert server.log()[since:].count("closed") == 1


def test_bytes_that_are_missing_break_the_answer_off(server):
    since = len(server.log())
    assert http.is_cut_off(server.raw_until_cut(http.request("/raw/too-short")))
    server.wait_for_log("fewer bytes than its Content-Length", since)


def test_an_application_without_start_response(server):
    since = len(server.log())
    assert server.get("/raw/no-start").status == 500
    assert "did not call start_response" in server.log()[since:]


@pytest.mark.parametrize("call, answer", [
    *((name, "ValueError") for name in (
        "injection-by-status", "injection-by-value", "injection-by-line-feed", "injection-by-name", "nul", "beyond-latin-1", "empty-name",
        "blank-in-name", "connection", "transfer-encoding", "length-no-number", "length-negative", "length-huge", "status-short",
        "status-interim", "status-far")),
    *((name, "TypeError") for name in (
        "status-number", "status-bytes", "headers-tuple", "header-list", "header-bytes", "header-three", "exc-info")),
    ("good", "accepted"),
])
def test_a_wrong_head_is_refused(server, call, answer):
    assert server.get(f"/raw/call/{call}").body.decode().startswith(answer)
