# SPDX-License-Identifier: Apache-2.0
"""`Answer` of [HOST] and [LOCATION], and the handler `answer`: what the configuration says itself."""

import functools
import json
import re

import pytest

from harness import carriers, http, process
from harness.config import section
from harness.http2 import Frames

pytestmark = pytest.mark.skipif(not process.plugin("answer"), reason="answer is not built")
FILES = {"a.txt": "root", "old/a.txt": "old", "old/kept/a.txt": "kept", "closed.html": "closed for a while"}


def location(*lines):
    return section("LOCATION", "\n".join(lines))


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration and returns what --test says of it."""
    return functools.partial(process.said_of, tmp_path)


# ---- what is answered ----

@pytest.mark.parametrize("value, status, kind, body", [
    ('200 "ok"', 200, "text/plain; charset=utf-8", "ok"),
    ("200 ok", 200, "text/plain; charset=utf-8", "ok"),
    ('200 "two words\\n"', 200, "text/plain; charset=utf-8", "two words\n"),
    ('200 "\\"\\\\\\t"', 200, "text/plain; charset=utf-8", '"\\\t'),
    ('200 ""', 200, "text/plain; charset=utf-8", ""),
    ('200 it costs $5 and $$', 200, "text/plain; charset=utf-8", "it costs $5 and $"),
    ('201 {"made": true}', 201, "text/plain; charset=utf-8", '{"made": true}'),
    ('410 "gone for good"', 410, "text/plain; charset=utf-8", "gone for good"),
    ('503 "later"', 503, "text/plain; charset=utf-8", "later"),
    ("200", 200, None, ""),
    ("204", 204, None, ""),
    ("410", 410, "text/html; charset=utf-8", None),
    ("503", 503, "text/html; charset=utf-8", None),
    ("599", 599, "text/html; charset=utf-8", None),
])
def test_each_form(start, value, status, kind, body):
    server = start(files=FILES, site=location("Path /old", f"Answer {value}"))
    answer = server.get("/old/a.txt")
    assert (answer.status, answer.header("Content-Type")) == (status, kind)
    assert str(status) in answer.text if body is None else answer.text == body
    assert server.get("/old").status == server.get("/OLD/x").status == status
    assert server.get("/older").status == 404 and server.get("/a.txt").text == "root"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_every_method_is_answered(start_shared, method):
    server = start_shared(files=FILES, site=location("Path /old", 'Answer 200 "five!"') + location("Path /gone", "Answer 410"))
    answer = server.request("/old/x", method, body=b"a form" if method == "POST" else b"")
    assert (answer.status, answer.header("Content-Length")) == (200, "5")
    assert answer.body == (b"" if method == "HEAD" else b"five!")
    assert server.request("/gone", method).status == 410


@pytest.mark.connection
def test_head_keeps_the_connection(start):
    server = start(files=FILES, site=location("Path /old", 'Answer 200 "text of $path"'))
    with server.connect() as connection:
        assert connection.request("/old/x", "HEAD").header("Content-Length") == "14"
        assert connection.request("/old/x").text == "text of /old/x"
        assert connection.request("/a.txt").text == "root"


@pytest.mark.connection
def test_client_that_still_uploads_reads_the_answer(start):
    """The body is not read; the connection lingers until the client has the answer."""
    server = start(files=FILES, server="MaxBodySize 100M", site=location("Path /old", 'Answer 410 "gone"'))
    with server.connect() as connection:
        connection.send(b"POST /old/x HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 100000)
        answer = connection.response("POST")
        assert (answer.status, answer.text) == (410, "gone")
    assert server.get("/old").status == 410


@pytest.mark.connection
def test_pipelined_requests_and_two_at_once(start):
    server = start(files=FILES, site=location("Path /old", 'Answer 200 "$path"'))
    with server.connect() as one, server.connect() as other:
        one.send(http.request("/old/1") + http.request("/old/2"))
        other.send(http.request("/old/3") + http.request("/a.txt"))
        assert [answer.text for answer in one.responses("GET", "GET")] == ["/old/1", "/old/2"]
        assert [answer.text for answer in other.responses("GET", "GET")] == ["/old/3", "root"]


def test_over_http2(start):
    if not process.plugin("http2"):
        pytest.skip("this build has no http2")
    server = start(server="Listen 127.0.0.1:0 h2", files=FILES, extra={"plugins.load": section("PLUGINS", "Load http2")},
                   site=location("Path /old", 'Answer 200 "$path?$query"') + location("Path /gone", "Answer 410"))
    seen = []
    with Frames(("127.0.0.1", server.port)) as client:
        for stream, target, method in ((1, "/old/x?y", "GET"), (3, "/gone", "GET"), (5, "/old", "HEAD")):
            client.send(client.head(stream, target, method))
            seen.append(client.answer(stream))
    assert seen[0] == (200, b"/old/x?y") and seen[1][0] == 410 and seen[2] == (200, b"")


# ---- variables ----

@pytest.mark.parametrize("text, target, wanted", [
    ("$path", "/v/a%20b", "/v/a%20b"),
    ("$query", "/v?x=1&y", "x=1&y"),
    ("$request_uri", "/v/%61?x=%20", "/v/%61?x=%20"),
    ("$host $scheme", "/v", "localhost http"),
    ("[$query]", "/v", "[]"),
    ('{"path": "$path", "query": "$query"}', "/v/%22,%22x?%22%5c", '{"path": "/v/%22,%22x", "query": "%22%5c"}'),
])
def test_variables(start, text, target, wanted):
    server = start(files=FILES, site=location("Path /v", f"Answer 200 {text}"))
    answer = server.get(target)
    assert answer.text == wanted
    assert answer.header("X-Content-Type-Options") == "nosniff"


@pytest.mark.parametrize("target", ["/v/<script>alert(1)</script>", "/v/%3Cscript%3E", "/v?<script>", "/v?%3Cscript%3E", "/v/\"x\"", "/v?'x'"])
def test_a_text_that_is_html_or_json_is_not_broken_out_of(start_shared, target):
    server = start_shared(files=FILES, site=location("Path /v", "Header Content-Type text/html", "Answer 200 \"<a title='$path'>$query $request_uri</a>\""))
    answer = server.get(target)
    if answer.status == 400:  # such a byte is no part of a target
        return
    assert answer.header("Content-Type") == "text/html"
    inside = answer.text[len("<a title='"):-len("</a>")]
    assert "<" not in inside and '"' not in inside and inside.count("'") == 1, answer.text


def test_a_type_and_further_fields_are_headers(start):
    server = start(files=FILES, site=location("Path /v", "Header Content-Type application/json", "Header Retry-After 5", 'Answer 503 {"late": true}'))
    answer = server.get("/v")
    assert (answer.header("Content-Type"), answer.header("Retry-After"), json.loads(answer.text)) == ("application/json", "5", {"late": True})


def test_values_of_a_client_have_no_limit_but_the_requests(start):
    """64 times a target of 8,000 bytes is more than the memory of a request."""
    server = start(files=FILES, site=location("Path /v", "Answer 200 " + "$request_uri" * 60))
    assert server.get("/v").text == "/v" * 60
    assert server.get("/v?" + "x" * 7900).status == 503
    assert server.get("/v").status == 200


# ---- among others ----

def test_inner_places_and_off(start):
    server = start(files=FILES, site=location("Path /old", "Answer 410") + location("Path /old/kept", "Answer off")
                   + location("Path /old/kept/not", "Answer 404") + location("Match \\.css$", "Header X-A b"))
    found = [server.get(target).status for target in ("/old", "/old/a.css", "/old/kept/a.txt", "/old/kept/x.css", "/old/kept/not/x", "/a.txt")]
    assert found == [410, 410, 200, 404, 404, 200]


def test_a_whole_site(start):
    """It needs no folder then; what a place answers otherwise goes on."""
    server = start(host="#DocumentRoot\nAnswer 410", site=location("Path /health", 'Answer 200 "ok"'))
    assert [server.get(target).status for target in ("/", "/x", "/health")] == [410, 410, 200]


def test_maintenance_with_a_page_of_the_sites_own(start):
    server = start(files=FILES, host="Answer 503\nHeader Retry-After 600", error_pages="503 /closed.html")
    answer = server.get("/a.txt")
    assert (answer.status, answer.text, answer.header("Retry-After")) == (503, "closed for a while", "600")


def test_it_ends_a_redirect_around_it(start):
    server = start(files=FILES, host="Redirect https://example.org/", site=location("Path /health", 'Answer 200 "ok"'))
    assert server.get("/a.txt").header("Location") == "https://example.org/a.txt"
    assert server.get("/health").text == "ok"


@pytest.mark.parametrize("handlers, target, status", [
    ("Match ^/h$ answer 200 text", "/h", 200), ("Match ^/h$ answer 410", "/h", 410), ("Match ^/h$ answer 410", "/hx", 404),
    ("Match ^/h$ answer 410\nMatch ^/ echo", "/h", 410),
])
def test_as_a_handler(start, handlers, target, status):
    assert start(files=FILES, handlers=handlers).get(target).status == status


def test_it_comes_before_handlers_of_the_site(start):
    server = start(files=FILES, handlers="Match ^/ echo", site=location("Path /old", "Answer 410"))
    assert server.get("/old").status == 410 and server.get("/a.txt").status == 200


@pytest.mark.skipif(not process.plugin("mandril"), reason="mandril is not built")
@pytest.mark.skipif(carriers.has_pipes(), reason="there is no address")
def test_rules_come_first(start):
    server = start(files=FILES, site=location("Path /v", 'Answer 200 "secret"', "Deny all"))
    assert server.get("/v").status == 403


def test_a_reload_changes_it(start):
    server = start(files=FILES, site=location("Path /v", 'Answer 200 "one"'))
    assert server.get("/v").text == "one"
    server.reload(files=FILES, site=location("Path /v", 'Answer 200 "two"'))
    assert server.get("/v").text == "two"
    server.reload(files=FILES)
    assert server.get("/v").status == 404


# ---- configurations ----

@pytest.mark.plain
@pytest.mark.parametrize("value, message", [
    ("", "Answer: expected a status from 200 to 299 or from 400 to 599, and perhaps a text"),
    ("199", "expected a status from 200"), ("600", "expected a status from 200"), ("text", "expected a status from 200"),
    ("200ok", "expected a status from 200"),
    ("301 /x", "Answer: 301 is no answer of a text: write Redirect for it"),
    ("206 x", "206 is no answer of a text: a part of a file is sent for Range alone"),
    ("401", "401 is no answer of a text: [AUTH] and [JWT] ask for a user"), ("405", "405 is no answer of a text"),
    ("204 text", "an answer 204 has no text"), ("205 text", "an answer 205 has no text"),
    ('200 "open', "a text that ends with the quote"), ('200 "a"b"', "a text that ends with the quote"), ('200 "\\x"', "a text that ends with the quote"),
    ('200 "\\"', "a text that ends with the quote"),
    ("200 $hosts", 'Answer: unknown variable "$hosts"; did you mean "$host"?'),
])
def test_faults_name_their_remedy(check, value, message):
    said = check(site=location("Path /v", f"Answer {value}") + location("Path /v/w", "Header A b"))
    assert said.count(message) == 1, said
    assert re.search(r"sites/default:5:\d+: error: ", said), said


@pytest.mark.plain
def test_a_line_behind_one_of_all_paths_is_reported(check):
    assert "Match: no request comes here, since line" in check(handlers="Match ^/ answer 410\nMatch ^/x answer 200 x")
    assert "off" in check(handlers="Match ^/ answer off")


@pytest.mark.plain
def test_return_of_others_is_explained(check):
    assert "Answer or Redirect do this" in check(site=location("Path /v", "return 410"))
