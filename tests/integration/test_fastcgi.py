# SPDX-License-Identifier: Apache-2.0
"""FastCGI: requests go to an application, and its answers come back."""

import pytest

from harness import fastcgi, http
from harness.client import eventually


def echo(call):
    """What was asked, line by line, and the body."""
    lines = "".join(f"{name}={value}\n" for name, value in sorted(call.params.items()))
    body = call.body()
    call.answer(lines.encode("latin-1") + b"\n" + body)


def variables(answer):
    head = answer.body.partition(b"\n\n")[0].decode("latin-1")
    return dict(line.split("=", 1) for line in head.splitlines())


@pytest.fixture(params=["tcp", "unix"])
def address(request, tmp_path):
    return {"path": tmp_path / "app.sock"} if request.param == "unix" else {}


@pytest.mark.parametrize("keep", ["off", "on"])
def test_answers_by_either_socket(start, address, keep):
    with fastcgi.Application(echo, **address) as application:
        server = start(**fastcgi.config(application, location=f"Mount /\nKeepAlive {keep}"))
        with server.connect() as connection:
            for i in range(5):
                answer = connection.request(f"/a%20b/{i}?x={i}")
                assert answer.status == 200
                assert answer.header("Content-Type") == "text/plain"
                assert answer.framing == "length"
                seen = variables(answer)
                assert seen["PATH_INFO"] == f"/a b/{i}"
                assert seen["SCRIPT_NAME"] == ""
                assert seen["QUERY_STRING"] == f"x={i}"
                assert seen["REQUEST_URI"] == f"/a%20b/{i}?x={i}"
        assert application.accepted == (1 if keep == "on" else 5)


def test_says_how_the_connection_is_used(start):
    seen = []

    def note(call):
        seen.append(call.keeps)
        call.answer()

    with fastcgi.Application(note) as application:
        assert start(**fastcgi.config(application)).get("/").status == 200
        assert start(**fastcgi.config(application, location="Mount /\nKeepAlive on")).get("/").status == 200
    assert seen == [False, True]


def test_a_mount_is_the_script_name(start):
    with fastcgi.Application(echo) as application:
        server = start(**fastcgi.config(application, location="Mount /app/", match="^/app"))
        seen = variables(server.get("/app/x/y"))
        assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == ("/app", "/x/y")
        assert "PATH_INFO" not in variables(server.get("/app"))
        assert server.get("/apple").status == 404


def test_posts_a_body(start):
    with fastcgi.Application(echo) as application:
        server = start(**fastcgi.config(application))
        answer = server.request("/", "POST", body=b"a=1&b=2", headers={"Content-Type": "application/x-form"})
        seen = variables(answer)
        assert (seen["CONTENT_LENGTH"], seen["CONTENT_TYPE"]) == ("7", "application/x-form")
        assert answer.body.endswith(b"\n\na=1&b=2")


def test_a_chunked_body_gets_a_length(start):
    body = bytes(range(256)) * 1000

    def check(call):
        assert call.params["CONTENT_LENGTH"] == str(len(body))
        assert "HTTP_TRANSFER_ENCODING" not in call.params
        assert call.body() == body
        call.answer(b"right")

    with fastcgi.Application(check) as application:
        server = start(**fastcgi.config(application))
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for at in range(0, len(body), 10000):
                piece = body[at:at + 10000]
                connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            connection.send("0\r\n\r\n")
            assert connection.response("POST").body == b"right"


@pytest.mark.connection("Expect")
def test_expect_continue(start):
    with fastcgi.Application(echo) as application:
        server = start(**fastcgi.config(application))
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            head = http.read_head(connection.stream)
            assert head.status == 100
            connection.send("abc")
            answer = connection.response("POST")
            assert answer.status == 200 and answer.body.endswith(b"\n\nabc")


def test_head_and_statuses_without_a_body(start):
    def answer(call):
        status = call.params["QUERY_STRING"]
        call.answer(b"not to be seen", f"Status: {status}\r\nX-Seen: 1\r\n\r\n".encode())

    with fastcgi.Application(answer) as application:
        server = start(**fastcgi.config(application, location="Mount /\nKeepAlive on"))
        with server.connect() as connection:
            for method, status in (("HEAD", 200), ("GET", 204), ("GET", 304), ("HEAD", 404), ("GET", 404)):
                seen = connection.request(f"/?{status}", method)
                assert (seen.status, seen.header("X-Seen")) == (status, "1")
                assert seen.body == (b"not to be seen" if (method, status) == ("GET", 404) else b"")
        assert eventually(lambda: application.open <= 1)
        assert application.accepted == 1


def test_fields_of_the_application(start):
    def answer(call):
        call.answer(b"", b"Status: 201 Made\nSet-Cookie: a=1\nSet-Cookie: b=2\nConnection: close\n"
                         b"Location: http://elsewhere/\n\n")

    with fastcgi.Application(answer) as application:
        server = start(**fastcgi.config(application))
        with server.connect() as connection:
            for _ in range(2):
                seen = connection.request("/")
                assert seen.status == 201
                assert seen.all("Set-Cookie") == ["a=1", "b=2"]
                assert seen.header("Location") == "http://elsewhere/"
                assert seen.header("Connection") is None


def test_a_local_redirect_is_followed_here(start):
    def answer(call):
        call.answer(b"", b"Location: /here.txt\r\n\r\n")

    with fastcgi.Application(answer) as application:
        server = start(**fastcgi.config(application, match="^/go", location="Mount /go"), files={"here.txt": "here"})
        with server.connect() as connection:
            assert connection.request("/go").body == b"here"
            assert connection.request("/go", "POST", body=b"x").body == b"here"


def test_params_of_the_location(start):
    with fastcgi.Application(echo) as application:
        server = start(**fastcgi.config(
            application, location="Mount /\nParam APP_ENV  production mode\nParam SERVER_SOFTWARE mine"))
        seen = variables(server.get("/"))
        assert (seen["APP_ENV"], seen["SERVER_SOFTWARE"]) == ("production mode", "mine")


def test_more_variables_than_a_record_holds(start):
    fields = {f"X-Long-{i}": "v" * 7000 for i in range(8)}

    with fastcgi.Application(echo) as application:
        config = fastcgi.config(application)
        server = start(**config, server="MaxRequestSize 128")
        seen = variables(server.get("/", headers=fields))
        assert all(seen[f"HTTP_X_LONG_{i}"] == "v" * 7000 for i in range(8))
        assert server.get("/", headers={f"X-Long-{i}": "v" * 7000 for i in range(12)}).status == 431
