# SPDX-License-Identifier: Apache-2.0
"""Precompressed: `.br`, `.zst` and `.gz` beside a file, chosen by Accept-Encoding (RFC 9110 12.5.3)."""

import gzip

import pytest

PLAIN = "plain text " * 1000
FILES = {
    "all.txt": PLAIN, "all.txt.br": b"as br" * 10, "all.txt.zst": b"as zst" * 10, "all.txt.gz": gzip.compress(PLAIN.encode()),
    "gz.css": PLAIN, "gz.css.gz": gzip.compress(PLAIN.encode()),
    "none.txt": PLAIN,
    "only.txt.gz": gzip.compress(b"no identity"),
    "dir/index.html": "<p>plain", "dir/index.html.gz": gzip.compress(b"<p>plain"),
}
CODINGS = {"br": FILES["all.txt.br"], "zstd": FILES["all.txt.zst"], "gzip": FILES["all.txt.gz"], None: PLAIN.encode()}


@pytest.fixture(scope="module", params=["", "FDT off"], ids=["cached", "FDT_off"])
def server(start_shared, request):
    return start_shared(server=request.param, host="Precompressed on", files=FILES)


def get(server, target, accept, **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if accept is not None:
        fields["Accept-Encoding"] = accept
    return server.get(target, fields)


@pytest.mark.parametrize("accept, coding", [
    (None, None),
    ("", None),
    ("identity", None),
    ("gzip", "gzip"),
    ("GZIP", "gzip"),
    ("x-gzip", "gzip"),
    ("br", "br"),
    ("zstd", "zstd"),
    ("gzip;q=0", None),
    ("gzip;q=0.0", None),
    ("gzip;q=0.5, br;q=0.4", "gzip"),
    ("gzip;q=0.4, br;q=0.5", "br"),
    ("gzip;q=1.0, br;q=1.0, zstd;q=0.9", "br"),
    ("gzip;q=0.01", "gzip"),
    ("deflate", None),
    ("deflate, gzip", "gzip"),
    ("br;q=0, zstd;q=0, *", "gzip"),
    ("gzip ; q=0.8", "gzip"),
    ("notgzip, gzipped", None),
])
def test_chooses_by_weight(server, accept, coding):
    response = get(server, "/all.txt", accept)
    assert response.status == 200
    assert response.body == CODINGS[coding]
    assert response.header("Content-Encoding") == coding


def test_identity_preferred_is_respected(server):
    response = get(server, "/all.txt", "gzip;q=0.5, identity;q=1")
    assert response.header("Content-Encoding") is None


def test_what_every_browser_sends(server):
    assert get(server, "/all.txt", "gzip, deflate, br, zstd").header("Content-Encoding") in ("br", "zstd")
    assert get(server, "/gz.css", "gzip, deflate, br, zstd").header("Content-Encoding") == "gzip"


def test_type_is_that_of_the_plain_name(server):
    assert get(server, "/gz.css", "gzip").header("Content-Type").startswith("text/css")


@pytest.mark.parametrize("target", ["/all.txt", "/gz.css"])
@pytest.mark.parametrize("accept", [None, "gzip", "identity"])
def test_vary_is_sent_whenever_there_is_a_choice(server, target, accept):
    """RFC 9110 12.5.5: a cache must know, with the plain answer as well."""
    assert "accept-encoding" in get(server, target, accept).tokens("Vary")


def test_etags_differ_by_coding(server):
    """RFC 9110 8.8.3.3"""
    tags = {get(server, "/all.txt", accept).header("ETag") for accept in ("identity", "gzip", "br", "zstd")}
    assert len(tags) == 4


def test_304_for_the_chosen_coding_only(server):
    tag = get(server, "/all.txt", "gzip").header("ETag")
    response = get(server, "/all.txt", "gzip", If_None_Match=tag)
    assert response.status == 304
    assert "accept-encoding" in response.tokens("Vary")
    assert get(server, "/all.txt", "identity", If_None_Match=tag).status == 200


def test_range_counts_bytes_of_the_chosen_coding(server):
    """RFC 9110 14.1.2: ranges are of the encoded representation."""
    response = get(server, "/all.txt", "gzip", Range="bytes=0-9")
    assert response.status == 206
    assert response.body == FILES["all.txt.gz"][:10]
    assert response.header("Content-Encoding") == "gzip"


def test_without_a_compressed_file_the_plain_one(server):
    response = get(server, "/none.txt", "gzip, br")
    assert response.text == PLAIN
    assert response.header("Content-Encoding") is None


def test_compressed_file_alone_does_not_answer_for_the_plain_name(server):
    assert get(server, "/only.txt", "gzip").status == 404


def test_compressed_file_itself_is_a_file(server):
    response = get(server, "/all.txt.gz", "gzip")
    assert response.body == FILES["all.txt.gz"]
    assert response.header("Content-Encoding") is None


def test_index_file_is_chosen_too(server):
    response = get(server, "/dir/", "gzip")
    assert response.header("Content-Encoding") == "gzip"
    assert gzip.decompress(response.body) == b"<p>plain"


def test_head_tells_the_same(server):
    response = server.head("/all.txt", {"Accept-Encoding": "gzip"})
    assert response.header("Content-Encoding") == "gzip"
    assert response.header("Content-Length") == str(len(FILES["all.txt.gz"]))


def test_off_by_default(start):
    server = start(files=FILES)
    response = get(server, "/all.txt", "gzip, br")
    assert response.text == PLAIN
    assert response.header("Vary") is None


def test_compressed_file_that_a_handler_owns_is_not_sent(start):
    """Whatever Precompressed leads to is routed once more: what a handler runs may not leave as it is."""
    server = start(host="Precompressed on", files=FILES, handlers="Match \\.gz$ echo")
    response = get(server, "/all.txt", "gzip")
    assert (response.text, response.header("Content-Encoding")) == (PLAIN, None)
    assert get(server, "/all.txt", "gzip, br;q=0.5").header("Content-Encoding") == "br"


def test_vary_is_sent_beside_the_one_of_the_site(start):
    """A site that varies by Origin as well must not make caches mix the codings."""
    server = start(host="Precompressed on\nHeader Vary Origin", files=FILES)
    assert sorted(get(server, "/all.txt", "gzip").tokens("Vary")) == ["accept-encoding", "origin"]


def test_vary_can_be_removed(start):
    server = start(host="Precompressed on\nHeader Vary", files=FILES)
    assert get(server, "/all.txt", "gzip").header("Vary") is None
