# SPDX-License-Identifier: Apache-2.0
"""X-Sendfile and X-Accel-Redirect of a backend: a file, or another path of the site, in the place of its answer."""

import pytest

from harness import http
from harness.backend import Backend, configured
from harness.client import eventually
from harness.h2_backend import H2Backend
from harness.h2_front import client, front, protocol  # noqa: F401

TEXT = bytes(range(256)) * 40


def orders(value, field="X-Sendfile", fields="", body=b"", status="200 OK"):
    """A backend that answers so."""
    return Backend(each=lambda conn, q: conn.answer(b"" if q.method == "HEAD" else body, status, f"{field}: {value}\r\n{fields}"))


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "private"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.pdf").write_bytes(TEXT)
    (folder / "sub" / "b c.txt").write_text("b")
    (folder / "index.html").write_text("index")
    (folder / ".hidden").write_text("hidden")
    (tmp_path / "secret").write_text("secret")
    return folder


def sending(root, backend, lines="", **kwargs):
    return configured(f"SendfileRoot {root}\n{lines}", backend, **kwargs)


# -- X-Sendfile


@pytest.mark.parametrize("name", ["{root}/a.pdf", "a.pdf", "%61.pdf", "{root}/sub/b%20c.txt", "sub/b%20c.txt"])
@pytest.mark.parametrize("field", ["X-Sendfile", "x-sendfile", "X-LIGHTTPD-send-file"])
def test_files(start, root, name, field):
    with orders(name.format(root=root), field, body=b"nobody sees this") as backend:
        answer = start(**sending(root, backend)).get("/")
        assert answer.status == 200
        assert answer.body == (TEXT if "pdf" in name else b"b")
        assert answer.header(field) is None and answer.header("ETag") and answer.header("Last-Modified")


@pytest.mark.parametrize("name", ["../secret", "{root}/../secret", "%2e%2e/secret", "{root}/%2e%2e/secret", "/etc/passwd", "", "/", "{root}",
                                  "{root}/", "sub", "sub/", "a%00.pdf", "a%", "a.pdf%2f..%2f..%2fsecret", "./a.pdf", "//etc/passwd"])
def test_what_is_no_file_beneath_the_root(start, root, name):
    with orders(name.format(root=root), body=b"secret of the backend") as backend:
        server = start(**sending(root, backend))
        answer = server.get("/")
        assert answer.status == 502 and b"secret" not in answer.body
        server.wait_for_log("proxy answer refused .*X-Sendfile")


@pytest.mark.parametrize("name", ["none", "none/a.pdf", ".hidden", "a.pdf/x"])
def test_what_is_not_there_or_hidden(start, root, name):
    with orders(name) as backend:
        assert start(**sending(root, backend)).get("/").status in (403, 404)


@pytest.mark.parametrize("symlink", ["off", "on"])
def test_links_lead_nowhere_else(start, root, symlink):
    (root / "out").symlink_to("../secret")
    (root / "up").symlink_to("..")
    (root / "in").symlink_to("a.pdf")
    for name, status in (("out", (403, 404, 502)), ("up/secret", (403, 404, 502)), ("in", (200,) if symlink == "on" else (403, 404))):
        with orders(name) as backend:
            answer = start(**sending(root, backend, host=f"SymLink {symlink}")).get("/")
            assert answer.status in status and b"secret" not in answer.body
            assert answer.status != 200 or answer.body == TEXT


def test_ranges_and_conditions(start, root):
    with orders("a.pdf") as backend:
        server = start(**sending(root, backend))
        whole = server.get("/")
        part = server.get("/", {"Range": "bytes=1000-1999"})
        assert (part.status, part.body) == (206, TEXT[1000:2000])
        assert part.header("Content-Range") == f"bytes 1000-1999/{len(TEXT)}"
        several = server.get("/", {"Range": "bytes=0-9,100-109"})
        assert several.status == 206 and several.header("Content-Type").startswith("multipart/byteranges")
        assert server.get("/", {"Range": "bytes=99999-"}).status == 416
        assert server.get("/", {"If-None-Match": whole.header("ETag")}).status == 304
        assert server.get("/", {"If-Match": '"other"'}).status == 412
        assert server.get("/", {"Range": "bytes=0-9", "If-Range": '"other"'}).body == TEXT


def test_fields_that_stay(start, root):
    fields = ("Content-Type: image/x-own\r\nContent-Disposition: attachment; filename=own\r\nCache-Control: private\r\n"
              "Expires: Thu, 01 Jan 2037 00:00:00 GMT\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nETag: \"own\"\r\nX-Own: 1\r\n")
    with orders("a.pdf", fields=fields) as backend:
        server = start(**sending(root, backend))
        for answer in (server.get("/"), server.get("/", {"Range": "bytes=0-9"}), server.head("/")):
            assert answer.header("Content-Type") == "image/x-own"
            assert answer.header("Content-Disposition") == "attachment; filename=own"
            assert answer.header("Cache-Control") == "private"
            assert answer.header("Expires") == "Thu, 01 Jan 2037 00:00:00 GMT"
            assert answer.all("Set-Cookie") == ["a=1", "b=2"]
            assert answer.header("ETag") != '"own"' and answer.header("X-Own") is None
        many = server.get("/", {"Range": "bytes=0-9,100-109"})
        assert many.header("Content-Type").startswith("multipart/byteranges")


def test_an_error_page_has_its_own_type(start, root):
    with orders("none", fields="Content-Type: image/x-own\r\nContent-Disposition: attachment\r\n") as backend:
        answer = start(**sending(root, backend)).get("/")
        assert answer.status == 404 and answer.header("Content-Disposition") is None
        assert answer.header("Content-Type").startswith("text/html")


def test_head(start, root):
    with orders("a.pdf") as backend:
        answer = start(**sending(root, backend)).head("/")
        assert answer.status == 200 and answer.header("Content-Length") == str(len(TEXT)) and answer.body == b""


def test_other_methods_are_refused(start, root):
    with orders("a.pdf") as backend:
        assert start(**sending(root, backend)).request("/", "POST", body=b"x").status == 502


@pytest.mark.parametrize("status", ["404 Not Found", "302 Found", "500 No"])
def test_an_error_is_no_order(start, root, status):
    with orders("a.pdf", body=b"mine", status=status) as backend:
        answer = start(**sending(root, backend)).get("/")
        assert answer.status == int(status[:3]) and answer.body == b"mine" and answer.header("X-Sendfile") is None


@pytest.mark.parametrize("lines", ["", "AccelRedirect off"])
def test_without_the_key_it_is_no_order(start, root, lines):
    with orders(f"{root}/a.pdf", body=b"mine", fields="X-Accel-Redirect: /index.html\r\n") as backend:
        answer = start(**configured(lines, backend)).get("/")
        assert answer.body == b"mine" and answer.header("X-Sendfile") is answer.header("X-Accel-Redirect") is None


def test_a_body_that_does_not_end_is_not_read(start, root):
    ended = []

    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nX-Sendfile: a.pdf\r\n\r\n")
        while True:
            conn.send(b"x" * 65536)

    def watched(conn):
        try:
            serve(conn)
        except OSError:
            ended.append(True)

    with Backend(watched) as backend:
        assert start(**sending(root, backend)).get("/").body == TEXT
        assert eventually(lambda: ended)


def test_a_connection_is_kept_when_its_body_came(start, root):
    with orders("a.pdf", body=b"short") as backend:
        server = start(server="Workers 1", **sending(root, backend))
        with server.connect() as connection:
            for _ in range(4):
                assert connection.request("/").body == TEXT
        assert backend.connections == 1


def test_a_backend_that_is_killed_meanwhile(start, root):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nX-Sendfile: a.pdf\r\nContent-Length: 1000\r\n\r\n")
        conn.reset()

    with Backend(serve) as backend:
        server = start(**sending(root, backend))
        assert server.get("/").status in (200, 502)


@pytest.mark.connection("two at once")
def test_two_at_once_and_a_reload(start, root):
    with orders("a.pdf") as backend:
        config = sending(root, backend)
        server = start(**config)
        with server.connect() as one, server.connect() as two:
            for _ in range(2):
                one.send(http.request("/"))
                two.send(http.request("/", headers={"Range": "bytes=0-9"}))
                assert one.response().body == TEXT and two.response().body == TEXT[:10]
                server.reload(**config)


def test_a_sticky_cookie_comes_along(start, root):
    with orders("a.pdf", fields="Set-Cookie: a=1\r\n") as backend:
        answer = start(**sending(root, backend, "Sticky cookie at")).get("/")
        assert [value.split("=")[0] for value in answer.all("Set-Cookie")] == ["a", "at"] and answer.body == TEXT


# -- X-Accel-Redirect


FILES = {"public.txt": "public", "files/a.txt": "file", "files/sub/b c.txt": "b"}


def moving(backend, how, match="Match ^/app", **kwargs):
    return configured(f"{match}\nAccelRedirect {how}", backend, files=FILES, **kwargs)


@pytest.mark.parametrize("how, target, body", [
    ("on", "/public.txt", "public"), ("on", "/files/a.txt", "file"), ("on", "/files/sub/b%20c.txt?q=1", "b"),
    ("/files/", "/files/a.txt", "file"), ("/files/", "/files/sub/b%20c.txt", "b"), ("/files/sub/", "/files/sub/b%20c.txt", "b"),
])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_paths_of_the_site(start, how, target, body, method):
    fields = "Content-Type: text/x-own\r\nSet-Cookie: a=1\r\n"
    with orders(target, "X-Accel-Redirect", fields, b"nobody sees this") as backend:
        server = start(**moving(backend, how))
        answer = server.request("/app", method, body=b"x" if method == "POST" else b"")
        assert (answer.status, answer.text) == (200, body)
        assert answer.header("Content-Type") == "text/x-own" and answer.all("Set-Cookie") == ["a=1"]
        assert answer.header("X-Accel-Redirect") is None
        part = server.get("/app", {"Range": "bytes=0-0"})
        assert (part.status, part.text) == (206, body[0])


def test_nobody_else_gets_what_is_beneath(start):
    with orders("/files/a.txt", "X-Accel-Redirect") as backend:
        server = start(**moving(backend, "/files/", match="Match ^/"))
        for path in ("/files/a.txt", "/files/", "/%66iles/a.txt", "/x/../files/a.txt", "//files/a.txt", "/files/none"):
            assert server.get(path).status == 404, path
        assert not backend.requests
        assert server.get("/").text == "file"


@pytest.mark.parametrize("how, target", [
    ("on", "http://example.org/"), ("on", "//example.org/"), ("on", "public.txt"), ("on", ""), ("on", "/a/../public.txt"),
    ("on", "/%2e%2e/public.txt"), ("on", "/a%00"), ("/files/", "/public.txt"), ("/files/", "/files/../public.txt"),
    ("/files/", "/filesystem"), ("/files/", "/files/"),
])
def test_what_is_no_path_of_it(start, how, target):
    with orders(target, "X-Accel-Redirect", body=b"mine") as backend:
        server = start(**moving(backend, how))
        answer = server.get("/app")
        assert answer.status == 502 and answer.body != b"mine"
        server.wait_for_log("proxy answer refused .*X-Accel-Redirect")


def test_a_backend_that_leads_to_itself(start):
    with orders("/app", "X-Accel-Redirect") as backend:
        server = start(**moving(backend, "on"))
        assert server.get("/app").status == 502
        assert len(backend.requests) <= 11


def test_a_path_of_another_entry(start):
    from harness.backend import proxy, servers
    with orders("/two/x?y=1", "X-Accel-Redirect") as one, Backend(each=lambda conn, q: conn.answer(f"{q.method} {q.target}".encode())) as two:
        server = start(extra=proxy(f"Match ^/one\n{servers([one])}\nAccelRedirect on", f"Match ^/two\n{servers([two])}"))
        assert server.request("/one", "POST", body=b"x").text == "GET /two/x?y=1"


def test_what_is_not_there(start):
    with orders("/none.txt", "X-Accel-Redirect", "Content-Type: text/x-own\r\n") as backend:
        answer = start(**moving(backend, "on")).get("/app")
        assert answer.status == 404 and answer.header("Content-Type").startswith("text/html")


@pytest.mark.connection("a request that is still coming")
def test_while_the_client_still_uploads(start):
    def serve(conn):
        conn.head()
        conn.send(b"HTTP/1.1 200 OK\r\nX-Accel-Redirect: /public.txt\r\nContent-Length: 0\r\n\r\n")
        conn.ended()

    with Backend(serve) as backend:
        server = start(**configured("Match ^/app\nAccelRedirect on\nRequestBuffering off", backend, files=FILES))
        with server.connect() as connection:
            connection.send("POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345")
            assert connection.response("POST").text == "public"


def test_backends_and_clients_of_http2(start, root, protocol):  # noqa: F811
    def each(peer, request):
        peer.answer(request.stream, b"none", fields=[("x-sendfile", "a.pdf"), ("content-type", "image/x-own")])

    with H2Backend(each=each) as backend:
        server = start(**front(f"SendfileRoot {root}", backend))
        with client(server, protocol) as connection:
            for _ in range(3):
                answer = connection.request("/")
                assert (answer.status, answer.body, answer.header("Content-Type")) == (200, TEXT, "image/x-own")
            assert connection.request("/", headers={"Range": "bytes=1-3"}).body == TEXT[1:4]
