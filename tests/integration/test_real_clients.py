# SPDX-License-Identifier: Apache-2.0
"""What people use every day: curl and wget."""

import hashlib
import random

import pytest

from harness import http, tools

FILES = {
    "index.html": '<a href="a.html">a</a> <a href="sub/">sub</a> <img src="pic.png">',
    "a.html": '<a href="index.html">back</a> <a href="sub/b.html?x=1&amp;y=2">b</a>',
    "sub/index.html": '<a href="../a.html">up</a> <a href="deep/c%20c.html">c</a>',
    "sub/b.html": "<p>b", "sub/deep/c c.html": "<p>c", "pic.png": b"\x89PNG\r\n\x1a\n" + bytes(500),
    "large.bin": random.Random(1).randbytes(5_000_000),
}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="MaxBodySize 20M", files=FILES, handlers="Match ^/echo echo")


def url(server, path):
    return f"http://127.0.0.1:{server.port}{path}"


def curl(*words):
    result = tools.run("curl", "--silent", "--show-error", "--max-time", "20", *words)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


@pytest.mark.parametrize("options", [[], ["--http1.0"], ["--http1.1"], ["--http0.9"], ["--compressed"], ["--http2"], ["-H", "Connection: close"]])
def test_curl_gets_a_file(server, options):
    assert curl(*options, url(server, "/a.html")).decode() == FILES["a.html"]


def test_curl_head(server):
    assert b"Content-Length: 5000000\r\n" in curl("--head", url(server, "/large.bin"))


def test_curl_reuses_the_connection(server):
    urls = [url(server, path) for path in ("/a.html", "/missing", "/sub/b.html", "/large.bin")]
    words = [word for one in urls for word in ("--output", "/dev/null", one)]
    opened = curl("--write-out", "%{num_connects} ", *words).split()
    assert opened == [b"1", b"0", b"0", b"0"]


def test_curl_continues_a_download(server, tmp_path):
    part = tmp_path / "large.bin"
    part.write_bytes(FILES["large.bin"][:1_234_567])
    curl("--continue-at", "-", "--output", part, url(server, "/large.bin"))
    assert part.read_bytes() == FILES["large.bin"]


def test_curl_uploads_with_expect(server, tmp_path):
    """curl asks with `Expect: 100-continue` for bodies above 1 MB and waits for the answer."""
    upload = tmp_path / "upload"
    upload.write_bytes(FILES["large.bin"])
    answer = curl("-H", "Expect: 100-continue", "--expect100-timeout", "15", "--upload-file", upload, url(server, "/echo"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Expect: 100-continue" in head
    assert hashlib.sha256(body).digest() == hashlib.sha256(FILES["large.bin"]).digest()


def test_curl_uploads_chunked(server, tmp_path):
    upload = tmp_path / "upload"
    upload.write_bytes(FILES["large.bin"])
    answer = curl("-H", "Transfer-Encoding: chunked", "--upload-file", upload, url(server, "/echo"))
    assert answer.endswith(FILES["large.bin"])


def test_curl_sees_413_of_an_upload(server, tmp_path):
    upload = tmp_path / "upload"
    with open(upload, "wb") as large:
        large.truncate(100_000_000)
    result = tools.run("curl", "--silent", "--max-time", "20", "--output", "/dev/null", "--write-out", "%{http_code}",
                       "-H", "Expect:", "--data-binary", f"@{upload}", url(server, "/echo"))
    assert result.stdout == b"413"


def test_curl_posts_a_form(server):
    assert curl("--form", "field=value", url(server, "/echo")).count(b"value") == 1


def test_curl_follows_the_redirect_of_a_directory(server):
    assert curl("--location", url(server, "/sub?x=1")).decode() == FILES["sub/index.html"]


def test_curl_many_in_parallel(server, tmp_path):
    words = []
    for number in range(30):
        words += ["--output", tmp_path / str(number), url(server, f"/large.bin?{number}")]
    curl("--parallel", "--parallel-max", "30", *words)
    for number in range(30):
        assert (tmp_path / str(number)).read_bytes() == FILES["large.bin"]


def test_wget_mirrors_the_site(server, tmp_path):
    result = tools.run("wget", "--recursive", "--level", "9", "--page-requisites", "--no-host-directories", "--quiet", "--tries", "1",
                       "--timeout", "10", "--directory-prefix", tmp_path, "--restrict-file-names=nocontrol", url(server, "/"))
    assert result.returncode == 0, result.stderr.decode()
    for name in ("index.html", "a.html", "sub/index.html", "sub/deep/c c.html", "pic.png"):
        content = FILES[name]
        assert (tmp_path / name).read_bytes() == (content.encode() if isinstance(content, str) else content), name


def test_wget_twice_finds_nothing_new(server, tmp_path):
    """Timestamping uses Last-Modified with If-Modified-Since."""
    words = ["wget", "--timestamping", "--tries", "1", "--timeout", "10", "--directory-prefix", tmp_path, url(server, "/large.bin")]
    assert tools.run(*words).returncode == 0
    second = tools.run(*words)
    assert second.returncode == 0
    assert b"304" in second.stderr or b"not modified" in second.stderr.lower() or b"not retrieving" in second.stderr


def test_wget_continues_a_download(server, tmp_path):
    (tmp_path / "large.bin").write_bytes(FILES["large.bin"][:999_999])
    result = tools.run("wget", "--continue", "--tries", "1", "--timeout", "10", "--directory-prefix", tmp_path, url(server, "/large.bin"))
    assert result.returncode == 0
    assert b"206" in result.stderr
    assert (tmp_path / "large.bin").read_bytes() == FILES["large.bin"]


def test_query_as_browsers_write_it(start):
    """The URL standard leaves these bytes of a query as they are, though RFC 3986 has no place for them."""
    server = start(files={"a.txt": "text"})
    assert server.raw(http.request("/a.txt?family=A|B&x={y}^`", headers={"Connection": "close"})).startswith(
        b"HTTP/1.1 200 ")
