# SPDX-License-Identifier: Apache-2.0
"""Compressed answers (plugin compress): which ones, by which coding, and what their heads say."""

import re
import subprocess

import pytest

from harness import compression, http
from harness.compression import CODINGS, configured, plain
from harness.config import section

PAGE = "".join(f"<p>paragraph {number} of a page that is not short\n" for number in range(3000))  # 136 KB
FILES = {"page.html": PAGE, "small.html": "<p>small", "picture.png": PAGE, "app.js": PAGE, "edge.txt": "x" * 1024, "under.txt": "x" * 1023,
         "index.html": PAGE, "empty.txt": ""}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(**configured(files=FILES))


def get(server, target="/page.html", accept="gzip", method="GET", **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if accept is not None:
        fields["Accept-Encoding"] = accept
    return server.request(target, method, headers=fields)


def assert_compressed(response, coding="gzip", text=PAGE):
    assert response.status == 200
    assert response.header("Content-Encoding") == coding
    assert "accept-encoding" in response.tokens("Vary")
    assert plain(response).decode() == text


def assert_plain(response, text=PAGE, varies=True):
    assert response.status == 200
    assert response.header("Content-Encoding") is None
    assert response.tokens("Vary") == (["accept-encoding"] if varies else [])
    assert response.text == text


# ---- which coding

@pytest.mark.parametrize("accept, coding", [
    ("gzip", "gzip"), ("br", "br"), ("zstd", "zstd"), ("x-gzip", "gzip"), ("*", "br"),
    ("gzip, deflate, br, zstd", "br"),
    ("gzip;q=1.0, br;q=0.9", "gzip"),
    ("zstd, gzip;q=0.5", "zstd"),
    ("br;q=0, *", "gzip"),
    ("GZIP ; q=0.3", "gzip"),
    ("gzip;q=0.5, identity;q=0.6", None),
    ("identity", None), ("deflate", None), ("gzip;q=0", None), ("", None), (None, None),
])
def test_chooses_by_weight_then_by_its_own_order(server, accept, coding):
    response = get(server, accept=accept)
    if coding:
        assert_compressed(response, coding)
        assert len(response.body) < len(PAGE) / 5
    else:
        assert_plain(response)


def test_order_of_the_configuration(start):
    server = start(**configured("Encodings zstd gzip", files=FILES))
    assert_compressed(get(server, accept="br, gzip, zstd"), "zstd")
    assert_compressed(get(server, accept="br, gzip"), "gzip")
    assert_plain(get(server, accept="br"))


def test_several_lines_of_accept_encoding_are_one(server):
    data = http.request("/page.html", headers=[("Accept-Encoding", "deflate"), ("Accept-Encoding", "br;q=0.1"), ("Accept-Encoding", "gzip"),
                                               ("Connection", "close")])
    assert_compressed(http.parse_one(server.raw(data)), "gzip")


# ---- which answers

@pytest.mark.parametrize("target, varies", [("/small.html", False), ("/picture.png", False), ("/under.txt", False), ("/empty.txt", False)])
def test_leaves_small_ones_and_other_types(server, target, varies):
    assert_plain(get(server, target), FILES[target[1:]], varies)


def test_from_the_smallest_size_on(server):
    assert_compressed(get(server, "/edge.txt"), text="x" * 1024)


def test_types_and_size_of_the_configuration(start):
    server = start(**configured("Types image/* application/javascript\nMinSize 0", files=FILES))
    assert_compressed(get(server, "/picture.png"))
    assert_compressed(get(server, "/app.js"))
    assert_plain(get(server, "/page.html"), varies=False)


def test_large_error_pages_too(start):
    server = start(**configured(files={**FILES, "lost.html": PAGE}, error_pages="404 lost.html"))
    response = get(server, "/nowhere")
    assert response.status == 404
    assert response.header("Content-Encoding") == "gzip" and plain(response).decode() == PAGE


@pytest.mark.parametrize("line", ["Header Content-Encoding other", "Header Cache-Control 'public, no-transform'", "Header Cache-Control No-Transform",
                                  "Header Set-Cookie a=b"])
def test_leaves_what_must_not_be_changed(start, line):
    server = start(**configured(host=line.replace("'", ""), files=FILES))
    response = get(server)
    assert response.text == PAGE and "gzip" not in response.tokens("Content-Encoding")
    assert response.header("Vary") is None


def test_cookies_on(start):
    server = start(**configured("Cookies on", host="Header Set-Cookie a=b", files=FILES))
    assert_compressed(get(server))


@pytest.mark.parametrize("vary, expected", [("Origin", "Origin, Accept-Encoding"), ("*", "*"), ("accept-encoding, Origin", "accept-encoding, Origin")])
def test_adds_to_vary(start, vary, expected):
    server = start(**configured(host=f"Header Vary {vary}", files=FILES))
    for accept in ("gzip", None):
        assert get(server, accept=accept).header("Vary") == expected


def test_a_site_turns_it_off_or_changes_it(start):
    sites = {name: f"[HOST]\n    ServerName {name}\n    DocumentRoot ROOT\n[COMPRESS]\n    {line}\n"
             for name, line in (("off.test", "Encodings off"), ("zstd.test", "Encodings zstd"), ("scripts.test", "Types application/javascript"))}
    server = start(**configured("Encodings gzip", files=FILES))
    sites = {name: text.replace("ROOT", str(server.config.root)) for name, text in sites.items()}
    server.reload(**configured("Encodings gzip", files=FILES, sites=sites))
    assert_compressed(get(server, accept="zstd, gzip"))
    assert_plain(get(server, accept="zstd, gzip", Host="off.test"), varies=False)
    assert_compressed(get(server, accept="zstd, gzip", Host="zstd.test"), "zstd")
    assert_plain(get(server, accept="gzip", Host="scripts.test"), varies=False)
    assert_compressed(get(server, "/app.js", accept="gzip", Host="scripts.test"))


def test_loading_alone_compresses_nothing(start):
    server = start(files=FILES, extra={"plugins.load": compression.load()})
    assert_plain(get(server), varies=False)


def test_lines_of_handlers_choose_paths(start):
    server = start(files=FILES, handlers="Match ^/page compress", extra={"plugins.load": compression.load()})
    assert_compressed(get(server))
    assert_plain(get(server, "/app.js"), varies=False)


def test_precompressed_files_come_first(start):
    server = start(**configured(host="Precompressed on", files={**FILES, "page.html.gz": b"as it is " * 200}))
    response = get(server, accept="gzip, br;q=0.5")
    assert response.body == b"as it is " * 200 and response.header("Accept-Ranges") == "bytes"
    assert_compressed(get(server, "/app.js"))
    assert get(server, "/app.js").header("Vary") == "Accept-Encoding"


# ---- what its head says

def test_head_has_the_fields_of_get(server):
    for target in ("/page.html", "/small.html", "/picture.png"):
        fields = [[(name, value) for name, value in get(server, target, method=method).fields if name.lower() != "date"]
                  for method in ("GET", "HEAD")]
        assert fields[0] == fields[1], target
    assert get(server, method="HEAD").body == b""


def test_validators(server):
    whole, packed = get(server, accept=None), get(server)
    tag = whole.header("ETag")
    assert not tag.startswith("W/") and packed.header("ETag") == "W/" + tag
    assert whole.header("Accept-Ranges") == "bytes" and packed.header("Accept-Ranges") is None
    assert packed.header("Content-Length") is None


@pytest.mark.parametrize("accept", ["gzip", None])
@pytest.mark.parametrize("conditions, answered", [
    ("W/{tag}", "W/{tag}"), ("{tag}", "{tag}"), ("W/{tag}, {tag}", "{tag}"), ('"other", W/{tag}', "W/{tag}"), ("*", "{tag}")])
def test_not_modified_by_weak_tags(server, accept, conditions, answered):
    """RFC 9110 13.1.2, 15.4.5"""
    tag = get(server, accept=None).header("ETag")
    response = get(server, accept=accept, If_None_Match=conditions.format(tag=tag))
    assert response.status == 304
    assert response.header("ETag") == answered.format(tag=tag)
    assert response.header("Vary") == "Accept-Encoding"
    assert response.header("Content-Encoding") is None


def test_not_modified_pictures_vary_not(server):
    tag = get(server, "/picture.png").header("ETag")
    response = get(server, "/picture.png", If_None_Match=tag)
    assert (response.status, response.header("Vary"), response.header("ETag")) == (304, None, tag)


def test_other_tags_get_it_compressed(server):
    assert_compressed(get(server, If_None_Match='W/"other"'))


# ---- ranges

@pytest.mark.parametrize("ranges, lengths", [("bytes=0-99", [100]), ("bytes=-5", [5])])
def test_ranges_are_of_the_plain_file(server, ranges, lengths):
    response = get(server, Range=ranges)
    assert response.status == 206
    assert response.header("Content-Encoding") is None
    assert response.header("Vary") == "Accept-Encoding"
    assert not response.header("ETag").startswith("W/")
    assert len(response.body) == lengths[0]
    start, end = map(int, response.header("Content-Range").split()[1].split("/")[0].split("-"))
    assert response.text == PAGE[start:end + 1]


def test_several_ranges_are_of_the_plain_file(server):
    response = get(server, Range="bytes=0-9,100-109")
    assert response.status == 206 and response.header("Content-Encoding") is None
    assert response.header("Vary") == "Accept-Encoding"
    assert PAGE[100:110].encode() in response.body


def test_a_weak_tag_continues_nothing(server):
    """RFC 9110 13.1.5: bytes of two representations are never joined."""
    tag = get(server).header("ETag")
    assert_compressed(get(server, Range="bytes=100-", If_Range=tag))
    assert get(server, Range="bytes=100-", If_Range=tag.removeprefix("W/")).status == 206


def test_ranges_of_pictures_are_as_ever(server):
    response = get(server, "/picture.png", Range="bytes=5-9")
    assert (response.status, response.text, response.header("Vary")) == (206, PAGE[5:10], None)


# ---- how it comes

@pytest.mark.plain
def test_framing_of_both_versions(server):
    with server.connect() as client:
        for _ in range(3):
            response = client.request("/page.html", headers={"Accept-Encoding": "br"})
            assert_compressed(response, "br")
            assert response.framing == "chunked" and response.keeps_connection
    data = http.request("/page.html", version="1.0", headers={"Accept-Encoding": "gzip", "Connection": "keep-alive"})
    response = http.parse_one(server.raw(data))
    assert_compressed(response)
    assert response.framing == "close" and not response.keeps_connection


@pytest.mark.plain
def test_pipelined(server):
    data = b"".join(http.request("/page.html", headers={"Accept-Encoding": coding}) for coding in CODINGS * 3)
    with server.connect() as client:
        client.send(data)
        for coding in CODINGS * 3:
            assert_compressed(client.response(), coding)


@pytest.mark.plain
@pytest.mark.parametrize("coding", CODINGS)
def test_curl_reads_it(server, coding):
    out = subprocess.run(["curl", "-s", "--compressed", "-H", f"Accept-Encoding: {coding}", f"http://127.0.0.1:{server.port}/page.html",
                          f"http://127.0.0.1:{server.port}/app.js"], capture_output=True, check=True, timeout=30).stdout
    assert out.decode() == PAGE * 2


@pytest.mark.parametrize("coding", CODINGS)
def test_large_files(start, coding):
    text = "".join(f"{number * 7919 % 1000003:x} " for number in range(700_000))
    server = start(**configured(files={"large.txt": text}))
    assert_compressed(get(server, "/large.txt", coding), coding, text)


# ---- the configuration

@pytest.mark.plain
@pytest.mark.parametrize("line, sentence", [
    ("Encodings gzip deflate", "Encodings: expected br, gzip, zstd or off, got deflate"),
    ("Encodings gzip br gzip", "Encodings: gzip is there twice"),
    ("Encodings gzip off", "Encodings: expected br, gzip, zstd or off, got off"),
    ("Types html", r"Types: expected text/html, text/\*, \*\+json or \*, got html"),
    ("Level 0", "Level"), ("Level 10", "Level"), ("BusyLevel 0", "BusyLevel"), ("Cookies perhaps", "Cookies"), ("MinSize -1", "MinSize"),
    ("Nothing on", "Nothing"),
])
@pytest.mark.parametrize("place", ["file", "site"])
def test_wrong_lines_are_reported_once(start, line, sentence, place):
    kwargs = configured(line if place == "file" else "Level 2", site="" if place == "file" else section("COMPRESS", line))
    server = start(wait=False, **kwargs)
    assert server.expect_exit() == 1
    found = [row for row in server.log().splitlines() if "error: " in row]
    assert len(found) == 1 and re.search(sentence, found[0]), server.log()
    assert ("compress.conf:2" if place == "file" else "sites/default:") in found[0]
