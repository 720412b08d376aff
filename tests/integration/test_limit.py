# SPDX-License-Identifier: Apache-2.0
"""The plugin `limit`: requests a second and at a time, by client."""

import re
import time

import pytest

from harness import http2, process
from harness.client import Connection, eventually
from harness.config import Config, section
from harness.http2 import CANCEL, RST_STREAM, Frames, frame
from harness.shell import ask

FILES = {"index.html": "<p>hello", "a.txt": "a", "api/b.txt": "b", "large.bin": b"x" * 30_000_000}


def loads(*names):
    return {"plugins.load": section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in names))}


def limited(*lines, names=("limit",), **config):
    return {"files": FILES, "extra": loads(*names), "site": section("LIMIT", "\n".join(lines)), **config}


def statuses(server, count, target="/a.txt", **kwargs):
    return [server.request(target, **kwargs).status for _ in range(count)]


# ---- requests a second ----

def test_a_burst_is_allowed_and_the_next_request_refused(start):
    server = start(**limited("Rate all address 1/h burst=3"))
    assert statuses(server, 3) == [200] * 3
    answer = server.get("/a.txt")
    assert answer.status == 429
    assert 3590 <= int(answer.header("Retry-After")) <= 3600


def test_a_request_is_allowed_again_after_the_time_told(start):
    server = start(**limited("Rate all address 15/m"))
    assert statuses(server, 2) == [200, 429]
    again = int(server.get("/a.txt").header("Retry-After"))
    assert 1 <= again <= 4
    time.sleep(again + 0.1)
    assert server.get("/a.txt").status == 200


def test_connections_that_are_kept_alive_are_counted_by_request(start):
    server = start(**limited("Rate all address 1/h burst=5"))
    with server.connect() as connection:
        seen = [connection.request("/a.txt").status for _ in range(7)]
    assert seen == [200] * 5 + [429] * 2


def test_all_workers_have_one_account(start):
    server = start(server="Workers 4", **limited("Rate all address 1/h burst=20"))
    seen = statuses(server, 60)
    assert seen.count(200) == 20 and seen.count(429) == 40


def test_an_index_file_is_not_counted_again(start):
    server = start(**limited("Rate all address 1/h burst=4"))
    assert statuses(server, 5, "/") == [200] * 4 + [429]


def test_streams_of_http2_are_counted(start):
    if not process.plugin("http2"):
        pytest.skip("this build has no http2")
    server = start(server="Listen 127.0.0.1:0 h2", **limited("Rate all address 1/h burst=3", names=("limit", "http2")))
    with Frames(("127.0.0.1", server.port)) as client:
        seen = []
        for stream in (1, 3, 5, 7):
            client.send(client.head(stream, "/a.txt"))
            seen.append(client.answer(stream)[0])
    assert seen == [200] * 3 + [429]


# ---- rules of places ----

def place(*lines):
    return section("LOCATION", "\n".join(lines))


def test_a_location_has_rules_of_its_own(start):
    """One account wherever a line holds: in the location, in one inside it, and where an expression holds as well."""
    server = start(files=FILES, site=place("Path /lim", "Rate api all 1/h burst=3") + place("Path /lim/deep", "Header X-A b") + place("Match css$", "Header X-A c"))
    seen = [server.get(target).status for target in ("/lim", "/lim/deep/x", "/lim/x.css", "/lim/x", "/lim/deep/y", "/LIM/z", "/lim;x/y", "/x/..;/lim/y")]
    assert seen == [404] * 3 + [429] * 5
    assert statuses(server, 3, "/a.txt") == [200] * 3


def test_inner_rules_take_the_place_of_the_outer_ones(start):
    server = start(files=FILES, host="Rate site all 1/h burst=2", site=place("Path /lim", "Rate api all 1/h burst=1")
                   + section("LIMIT", "Rate post all 1/h POST"))
    assert statuses(server, 3) == [200, 200, 429]
    assert [server.get("/lim").status for _ in range(2)] == [404, 429]
    assert [server.request("/lim", "POST").status for _ in range(2)] == [429, 429]


def test_accounts_of_places_stay_over_a_reload(start):
    config = {"files": FILES, "site": place("Path /lim", "Rate api all 1/h burst=2")}
    server = start(**config)
    assert server.get("/lim").status == 404
    server.reload(**config)
    assert [server.get("/lim").status for _ in range(2)] == [404, 429]


def test_dry_run_and_exempt_of_the_section_hold_in_places(start):
    server = start(files=FILES, site=section("LIMIT", "DryRun on\nExempt 10.0.0.0/8") + place("Path /lim", "Rate api all 1/h"))
    assert [server.get("/lim").status for _ in range(3)] == [404] * 3
    server.reload(files=FILES, site=section("LIMIT", "Exempt 127.0.0.0/8") + place("Path /lim", "Rate api all 1/h"))
    assert [server.get("/lim").status for _ in range(3)] == [404] * 3


@pytest.mark.parametrize("site", [
    place("Path /a", "Rate r all 1/s") + place("Path /b", "Rate r all 1/s"),
    section("LIMIT", "Rate r all 1/s") + place("Path /b", "Concurrent R all 1")])
def test_a_name_is_one_rules_in_the_whole_site(start, site):
    server = start(files=FILES, site=site, wait=False)
    assert server.expect_exit() != 0
    assert "another rule of this site has the name" in server.log()


# ---- keys ----

def get_from(server, source, target="/a.txt"):
    with Connection(("127.0.0.1", server.port), source=source) as connection:
        return connection.request(target).status


@pytest.mark.parametrize("key, other", [("address", 200), ("net=32", 200), ("net=24", 429), ("all", 429), ("path", 429)])
def test_clients_that_share_an_account(start, key, other):
    server = start(**limited(f"Rate r {key} 1/h"))
    assert get_from(server, "127.0.0.1") == 200
    assert get_from(server, "127.0.0.1") == 429
    assert get_from(server, "127.0.0.2") == other
    assert get_from(server, "127.0.1.1") == (429 if key in ("all", "path") else 200)


def test_a_match_line_limits_the_rules_to_its_paths(start):
    server = start(handlers="Match ^/api/ limit", **limited("Rate r address 1/h"))
    assert statuses(server, 2) == [200, 200]
    assert statuses(server, 2, "/api/b.txt") == [200, 429]


def test_clients_of_ipv6_are_counted(start):
    server = start(server="Listen [::1]:0", **limited("Rate r address 1/h"))
    with Connection(("::1", server.port)) as connection:
        assert [connection.request("/a.txt").status for _ in range(2)] == [200, 429]


def test_clients_of_unix_sockets_have_no_address(start, tmp_path):
    server = start(server=f"Listen unix:{tmp_path}/sock", **limited("Rate r address 1/h", "Rate login all 1/h /api/*"))
    asked = ["/a.txt", "/a.txt", "/api/b.txt", "/api/b.txt"]
    with Connection(f"{tmp_path}/sock") as connection:
        assert [connection.request(path).status for path in asked] == [200, 200, 200, 429]


def test_each_path_may_have_an_account(start):
    server = start(**limited("Rate r path 1/h"))
    assert [server.get(path).status for path in ("/a.txt", "/a.txt", "/api/b.txt")] == [200, 429, 200]


@pytest.mark.parametrize("key, fields", [
    ("field=X-Api-Key", lambda value: {"X-Api-Key": value}),
    ("cookie=sid", lambda value: {"Cookie": f"a=b; sid={value}; c=d"}),
])
def test_values_have_accounts_and_none_is_counted_by_address(start, key, fields):
    server = start(**limited(f"Rate r {key} 1/h"))
    asked = [fields("one"), fields("one"), fields("two"), {}, {}, {"Cookie": "xsid=three"}]
    assert [server.get("/a.txt", f).status for f in asked] == [200, 429, 200, 200, 429, 429]


def test_address_of_the_proxy_header_counts(start):
    server = start(server="Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1", **limited("Rate r address 1/h"))
    request = b"GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    seen = [server.raw(b"PROXY TCP4 %s 127.0.0.1 1 2\r\n" % ip + request)[9:12] for ip in
            (b"192.0.2.1", b"192.0.2.1", b"192.0.2.2")]
    assert seen == [b"200", b"429", b"200"]


@pytest.mark.parametrize("exempt, last", [("127.0.0.0/8", 200), ("::1 127.0.0.1", 200), ("10.0.0.0/8", 429)])
def test_exempt_networks(start, exempt, last):
    server = start(**limited("Rate r address 1/h", f"Exempt {exempt}"))
    assert statuses(server, 2) == [200, last]


# ---- methods and paths ----

@pytest.mark.parametrize("scope, target, method, is_counted", [
    ("/api/*", "/api/b.txt", "GET", True), ("/api/*", "/API/b.txt", "GET", True), ("/api/*", "/a.txt", "GET", False),
    ("/a.txt", "/a.txt", "GET", True), ("/a.txt", "/%61.txt", "GET", True), ("/a.txt", "/a.txt;x", "GET", True),
    ("/a.txt", "/a.txt/", "GET", True), ("/a.txt", "/a.txt%2f", "GET", True), ("/a.txt/", "/a.txt", "GET", True),
    ("/a.txt", "/a.txt/b", "GET", False), ("/api/*", "/api", "GET", False),
    ("/a.txt", "/a.txt2", "GET", False), ("POST", "/a.txt", "GET", False), ("POST GET", "/a.txt", "GET", True),
    ("POST /a.txt", "/a.txt", "POST", True), ("*.txt", "/api/B.TXT", "GET", True), ("*.txt", "/a.txt/", "GET", True), ("/*/b.txt", "/api/b.txt", "GET", True),
    ("/*/b.txt", "/a.txt", "GET", False), ("^/A[.]txt$", "/a.txt", "GET", True), ("GET ^/a/", "/a.txt", "GET", False),
])
def test_a_rule_is_for_methods_and_paths(start, scope, target, method, is_counted):
    server = start(**limited(f"Rate r address 1/h {scope}"))
    assert (429 in statuses(server, 2, target, method=method)) == is_counted


# ---- requests at a time ----

def hold(server, source=None):
    """A request whose handler waits for its body."""
    connection = Connection(("127.0.0.1", server.port), source=source)
    connection.send(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
    assert connection.sock.recv(12) == b"HTTP/1.1 100"
    return connection


def with_handler(*lines, **config):
    return limited(*lines, handlers="Match ^/echo echo", **config)


def test_requests_at_a_time_until_the_client_closes_the_connection(start):
    server = start(**with_handler("Concurrent r address 2"))
    with hold(server), hold(server):
        answer = server.get("/a.txt")
        assert (answer.status, answer.header("Retry-After")) == (429, "1")
        assert get_from(server, "127.0.0.2") == 200
    eventually(lambda: server.get("/a.txt").status == 200)


def test_a_request_that_the_server_gives_up_is_released(start):
    server = start(server="BodyTimeout 1", **with_handler("Concurrent r address 1"))
    with hold(server):
        assert server.get("/a.txt").status == 429
        eventually(lambda: server.get("/a.txt").status == 200, within=20)


def test_ended_requests_and_errors_are_released(start):
    server = start(**limited("Concurrent r address 1"))
    with server.connect() as connection:
        assert [connection.request(path).status for path in ("/a.txt", "/none", "/a.txt", "/none", "/a.txt")] == [
            200, 404, 200, 404, 200]


def test_a_stream_that_is_reset_is_released(start):
    if not process.plugin("http2"):
        pytest.skip("this build has no http2")
    server = start(server="Listen 127.0.0.1:0 h2", **limited("Concurrent r address 1", names=("limit", "http2")))
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(client.head(1, "/large.bin"), client.head(3, "/a.txt"))
        assert client.until(http2.HEADERS, stream=3).fields[b":status"] == b"429"
        client.send(frame(RST_STREAM, stream=1, payload=CANCEL.to_bytes(4, "big")))
        eventually(lambda: server.get("/a.txt").status == 200)


def test_a_running_request_counts_after_a_reload(start):
    config = with_handler("Concurrent r address 1")
    server = start(**config)
    with hold(server):
        assert server.get("/a.txt").status == 429
        server.reload(expect="reloaded", **config)
        assert server.get("/a.txt").status == 429
    eventually(lambda: server.get("/a.txt").status == 200)


# ---- reload, dry run, log ----

def test_a_reload_keeps_the_account_and_changes_the_number(start):
    server = start(**limited("Rate r address 1/h burst=3"))
    assert statuses(server, 4) == [200] * 3 + [429]
    server.reload(expect="reloaded", **limited("Rate r address 1/h burst=3"))
    assert server.get("/a.txt").status == 429
    server.reload(expect="reloaded", **limited("Rate r address 1/h burst=5"))
    assert statuses(server, 3) == [200, 200, 429]


def test_a_rule_of_another_name_begins_anew(start):
    server = start(**limited("Rate r address 1/h"))
    assert statuses(server, 2) == [200, 429]
    server.reload(expect="reloaded", **limited("Rate s address 1/h"))
    assert statuses(server, 2) == [200, 429]


def test_dry_run_only_logs(start):
    server = start(**limited("Rate r address 1/h", "DryRun on"))
    assert statuses(server, 5) == [200] * 5
    server.wait_for_log(r"request would be refused limit=r by=\S+default:\d+ unlogged=0")


def test_the_log_has_few_lines_of_many_refusals(start):
    server = start(**limited("Rate r address 1/h"))
    assert statuses(server, 50).count(429) == 49
    server.wait_for_log("request refused limit=r")
    assert 1 <= len(re.findall("request refused limit=r", server.log())) <= 5


def test_metrics(start, tmp_path):
    if not process.plugin("cheetah"):
        pytest.skip("this build has no cheetah")
    extra = {**loads("limit", "cheetah"), "plugins/cheetah/cheetah.conf": section("CHEETAH", f"Socket {tmp_path}/shell")}
    server = start(**{**limited("Rate r address 1/h burst=2", "Concurrent c all 5"), "extra": extra})
    statuses(server, 5)
    text = ask(tmp_path / "shell", "metrics")
    for line in ('allowed_total{site="",rule="r"} 2', 'refused_total{site="",rule="r"} 3', 'keys{site="",rule="r"} 1',
                 'allowed_total{site="",rule="c"} 2', 'evictions_total{site="",rule="r"} 0'):
        assert re.sub(r'site="[^"]*"', 'site=""', text).count(f"monkey_limit_{line}\n") == 1, text


# ---- --test ----

@pytest.mark.parametrize("line, sentence", [
    ("Rate r adress 1/s", r'got "adress", did you mean address\?'),
    ("Rate r net 1/s", "expected address, net="),
    ("Rate r net=33 1/s", "prefix lengths"),
    ("Rate r net=24,129 1/s", "prefix lengths"),
    ("Rate r field= 1/s", "the name of a field"),
    ("Rate r address", "a rate such as"),
    ("Rate r address 0/s", "a rate such as"),
    ("Rate r address 1000001/s", "a rate such as"),
    ("Rate r address 1/d", "a rate such as"),
    ("Rate r address 1/s burst=0", "a rate such as"),
    ("Rate r address 1/s burts=3", "up to 8 methods"),
    ("Rate r address 1/s /a/.*", r"a regular expression begins with \^"),
    ("Rate r address 1/s /a /b", "one path"),
    ("Rate r address 1/s A B C D E F G H I", "up to 8 methods"),
    ("Rate r! address 1/s", "a name for the rule"),
    ("Rate", "Rate"),
    ("Concurrent r address x", "a number of requests"),
    ("Exempt 10.0.0.0/33", "addresses or networks"),
    ("Rate r address 1/s\nConcurrent R all 2", "another rule has the name r, in line"),
    ("Keys 7", "Keys"),
    ("Rat r address 1/s", r"did you mean .?Rate"),
    ("\n".join(f"Rate r{i} all 1/s" for i in range(65)), "at most 64 rules"),
])
def test_faults_are_told_with_their_place(tmp_path, line, sentence):
    config = Config(tmp_path)
    config.write(site=section("LIMIT", line), extra=loads("limit"))
    result = process.run("--configdir", config.folder, "--test")
    text = result.stdout + result.stderr
    assert result.returncode != 0, text
    assert re.search(r"sites/default:\d+", text), text
    assert re.search(sentence, text), text
