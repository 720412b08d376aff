# SPDX-License-Identifier: Apache-2.0
"""What a request over HTTP/2 costs: user instructions of a small file, alone in a turn of the loop, and 32 at a time."""

import budgets
import counted
import hpack
import pytest

from harness import executable, process
from harness.config import section
from harness.http2 import END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, WINDOW_UPDATE, frame

FIELDS = (b"\x82\x86"                                   # GET, http
          b"\x41\x09localhost\x44\x06/a.txt"            # :authority and :path, both entered
          b"\x7a\x0d" b"a user agent.")
AGAIN = b"\x82\x86\xc0\xbf\xbe"                         # the same, by numbers
BROWSER = [(":method", "GET"), (":authority", "localhost"), (":scheme", "https"), (":path", "/a.txt"),
           ("sec-ch-ua", '"Chromium";v="130", "Not?A_Brand";v="99"'), ("sec-ch-ua-mobile", "?0"), ("sec-ch-ua-platform", '"Linux"'),
           ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"),
           ("accept", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"), ("sec-fetch-site", "same-origin"),
           ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image"), ("referer", "https://localhost/"),
           ("accept-encoding", "gzip, deflate, br, zstd"), ("accept-language", "en-US,en;q=0.9"), ("cookie", "session=0123456789abcdef0123456789abcdef")]
WIDE = (1 << 30).to_bytes(4, "big")


def begin(connection, fields=FIELDS):
    connection.ids = iter(range(1, 1 << 20, 2))
    connection.send(PREFACE + frame(SETTINGS) + frame(WINDOW_UPDATE, 0, 0, WIDE))
    ask(connection, 1, fields)


def read_frame(connection):
    head = connection.stream.exactly(9)
    connection.stream.exactly(int.from_bytes(head[:3], "big"))
    return head[3], head[4]


def ask(connection, at_once, fields=AGAIN):
    connection.send(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, next(connection.ids), fields) for _ in range(at_once)))
    read_ends(connection, at_once)


def ask_for_others(connection, at_once):
    """The same, but for paths that no table has."""
    ids = [next(connection.ids) for _ in range(at_once)]
    connection.send(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, i, b"\x82\x86\xc0\x04\x0e/a.txt?%07d\xbe" % i) for i in ids))
    read_ends(connection, at_once)


def read_ends(connection, at_once):
    ends = 0
    while ends < at_once:
        kind, flags = read_frame(connection)
        ends += kind < 2 and flags & END_STREAM


def blocks_of_a_browser():
    """The block of its first request, and that of each further one."""
    encoder = hpack.Encoder()
    return [encoder.encode(BROWSER) for _ in range(2)]


def measure(tmp_path, at_once, first, once):
    if process.is_sanitized() or not executable.plugin("http2"):
        pytest.skip("another cost, or no such plugin")
    config = {"server": "Listen 127.0.0.1:0 h2\nWorkers 1\nMaxKeepAliveRequest 1000000", "files": {"a.txt": "Hello, World!"},
              "extra": {"plugins.load": section("PLUGINS", f"Load {executable.plugin('http2')}")}}
    return counted.each(tmp_path, lambda connection: begin(connection, first), once,
                        few=500 // at_once, many=2500 // at_once, **config) / at_once


@pytest.mark.parametrize("at_once", [1, 32])
def test_a_request_stays_in_budget(tmp_path, at_once):
    each = measure(tmp_path, at_once, FIELDS, lambda connection: ask(connection, at_once))
    print(f"{each:.0f} instructions for a request over HTTP/2, {at_once} at a time; budget {budgets.HTTP2[at_once]}, aim {budgets.HTTP2_AIM[at_once]}")
    assert each <= budgets.HTTP2[at_once]


def test_requests_for_other_paths_stay_in_budget(tmp_path):
    each = measure(tmp_path, 32, FIELDS, lambda connection: ask_for_others(connection, 32))
    print(f"{each:.0f} instructions for a request with another path each time over HTTP/2; budget {budgets.HTTP2_OTHERS}")
    assert each <= budgets.HTTP2_OTHERS


def test_a_request_of_a_browser_stays_in_budget(tmp_path):
    first, again = blocks_of_a_browser()
    each = measure(tmp_path, 32, first, lambda connection: ask(connection, 32, again))
    print(f"{each:.0f} instructions for a request with {len(BROWSER)} fields over HTTP/2; budget {budgets.HTTP2_BROWSER}")
    assert each <= budgets.HTTP2_BROWSER
