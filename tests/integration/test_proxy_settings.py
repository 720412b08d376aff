# SPDX-License-Identifier: Apache-2.0
"""What plugins/proxy_reverse/ and sites may say, and what is refused with a sentence."""

import json

import pytest

from harness import process
from harness.backend import Backend, configured, proxy
from harness.client import Connection, free_port
from harness.config import Config, section

LOAD = {"plugins.load": section("PLUGINS", "Load proxy_reverse")}
SERVERS = "ServerList 127.0.0.1:1"


def check(tmp_path, text, **kwargs):
    """What --test says."""
    extra = LOAD | {"plugins/proxy_reverse/proxy_reverse.conf": text} | kwargs.pop("extra", {})
    config = Config(tmp_path)
    config.write(extra=extra, **kwargs)
    done = process.run("--configdir", config.folder, "--test")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("lines", [
    *[f"LoadBalancer {name}" for name in (
        "Naive", "First-Alive", "firstalive", "FIRST ALIVE", "RoundRobin", "Round-Robin", "Lockless",
        "LockingRoundRobin", "Locking Round-Robin", "LeastConnections", "least_connections", "SourceHash", "Random2",
        "ConsistentHash", "consistent hash")],
    "LoadBalance naive",
    "MaxAnswerHead 4K", "MaxAnswerHead 1M",
    "HashKey Address", "HashKey URI", "HashKey Header X-Key",
    "HealthCheck /ok", "HealthCheck /ok 500ms", "HealthCheck /ok 2 204", "HealthCheck /ok 1d",
    "AccelRedirect on", "AccelRedirect /files/", "SendfileRoot /srv", "Sticky cookie at", "Sticky off", "StickyKey 0123456789abcdef", "RetryOn 502 503 504", "RetryOn 500", "RetryOn off",
    "SetHeader X-A b c", "RemoveHeader X-A", "Host server", "Rewrite /a /b",
    "ServerList a:1 b [::1]:3 unix:/run/x 10.0.0.1 a:1", "ServerList a:1 b:1 backup",
    "StatisticsURL /status", "StatisticsAllow 10.0.0.0/8 ::1",
    "ProxyProtocol v2", "Transport liana",
])
def test_what_may_be_said(tmp_path, lines):
    status, said = check(tmp_path, section("PROXY_ENTRY", f"Match ^/\n{SERVERS}\n{lines}"))
    assert status == 0, said


@pytest.mark.parametrize("lines, sentence", [
    ("LoadBalancer Fastest", "LoadBalancer: expected Naive, First-Alive, RoundRobin"),
    ("MaxAnswerHead 4095", "MaxAnswerHead"),
    ("MaxAnswerHead 1025K", "MaxAnswerHead"),
    ("HashKey Cookie", "HashKey: expected Address, URI or Header NAME"),
    ("HashKey Header a:b", "HashKey: expected Address, URI or Header NAME"),
    ("HealthCheck ok", "HealthCheck: expected PATH [INTERVAL] [STATUS]"),
    ("HealthCheck /ok 1x", "HealthCheck: expected an interval"),
    ("HealthCheck /ok 10ms", "HealthCheck: expected an interval"),
    ("HealthCheck /ok 2d", "HealthCheck: expected an interval"),
    ("HealthCheck /ok 1 20", "HealthCheck: expected a status"),
    ("HealthCheck /ok 1 200 x", "HealthCheck: expected PATH"),
    ("Sticky at", "Sticky: expected off, or cookie NAME"),
    ("StickyKey short", "StickyKey: expected a text of at least 16 characters"),
    ("AccelRedirect files", "AccelRedirect: expected off, on or a path like /files/"),
    ("RetryOn 501", "RetryOn: expected off, or some of 500, 502, 503 and 504"),
    ("RetryOn 502,503", "RetryOn: expected off, or some of"),
    ("ServerList a:0", "ServerList: expected words like"),
    ("ServerList a:99999", "ServerList: expected words like"),
    ("ServerList a:b", "ServerList: expected words like"),
    ("ServerList backup", "ServerList: expected a server before the word backup"),
    ("ServerList [::1", "ServerList: expected words like"),
    ("ServerList unix:run", "ServerList: expected words like"),
    ("ServerList http://a", "ServerList: expected words like"),
    ("SetHeader X-A", "SetHeader: expected NAME VALUE"),
    ("SetHeader X-A $remote_adr", 'SetHeader: unknown variable "$remote_adr"; did you mean "$remote_addr"?'),
    ("SetHeader X-A ${host}", "SetHeader: ${host} has no value in the environment"),
    ("SetHeader X-A $", 'SetHeader: unknown variable "$"'),
    ("SetHeader Content-Length 1", "SetHeader: expected a field that the proxy does not set itself"),
    ("RemoveHeader Host", "RemoveHeader: expected a field that the proxy does not set itself"),
    ("RemoveHeader a b", "RemoveHeader: expected the name of a field"),
    ("Rewrite /a", "Rewrite: expected two beginnings of paths"),
    ("Rewrite /a/* /b/", "Rewrite: expected two beginnings of paths"),
    ("Host a b", "Host: expected client, server or a host name"),
    ("Host https://a", "Host: expected client, server or a host name"),
    ("StatisticsURL status", "StatisticsURL: expected a path"),
    ("AttemptsCount 0", "AttemptsCount: expected"),
    ("ConnectTimeout 0", "ConnectTimeout: expected"),
    ("ProxyProtocol v3", "ProxyProtocol: expected"),
    ("Transport tls", 'Transport: "tls" needs the plugin of that name, which is not loaded'),
    ("Match (", 'Match: invalid regular expression "("'),
    ("Matches ^/", 'unknown key "Matches" in [PROXY_ENTRY]; did you mean "Match"?'),
])
def test_what_is_refused(tmp_path, lines, sentence):
    status, said = check(tmp_path, section("PROXY_ENTRY", f"Match ^/\n{SERVERS}\n{lines}"))
    assert status == 1 and sentence in said, said
    assert said.count("proxy_reverse.conf:4") == 1 or "Transport" in lines


@pytest.mark.parametrize("text, sentence", [
    (section("PROXY_ENTRY", "Match ^/"), "[PROXY_ENTRY] has no ServerList"),
    (section("PROXY_ENTRY", SERVERS) + section("PROXY_ENTRY", f"Name {SERVERS.split()[1]}\n{SERVERS}"),
     "another [PROXY_ENTRY] has the name"),
    (section("PROXY_ENTRY", f"Name a\n{SERVERS}") * 2, 'another [PROXY_ENTRY] has the name "a"'),
    (section("PROXY_DEFAULTS", "Match ^/"), 'unknown key "Match" in [PROXY_DEFAULTS]'),
    (section("PROXY_DEFAULTS", "KeepAlive x") + section("PROXY_ENTRY", SERVERS) * 2, "KeepAlive: expected"),
])
def test_sections_that_are_refused(tmp_path, text, sentence):
    status, said = check(tmp_path, text)
    assert status == 1 and said.count(sentence) == 1, said


def test_transport_and_proxy_protocol(tmp_path):
    text = section("PROXY_ENTRY", f"Match ^/\n{SERVERS}\nTransport tls\nProxyProtocol v1")
    status, said = check(tmp_path, text, extra={"plugins.load": section("PLUGINS", "Load proxy_reverse\nLoad tls")})
    assert status == 1 and "its header cannot come before a handshake" in said


@pytest.mark.parametrize("lines, sentences", [
    ("ServerList a:1 h2c", []),
    ("ServerList a:1 h2", []),
    ("ServerList h2c a:1 unix:/run/x", []),
    ("ServerList a:1 H2C\nTransport liana", []),
    ("ServerList a:1 h2\nTransport tls", []),
    ("ServerList a:1 h2c\nTransport tls", ["ServerList: h2c is HTTP/2 without TLS, but Transport is tls"]),
    ("ServerList a:1 h2c\nProxyProtocol v1", ["ProxyProtocol: a connection of HTTP/2 is of many clients"]),
    ("ServerList a:1 h2\nProxyProtocol v2", ["ProxyProtocol: a connection of HTTP/2 is of many clients"]),
    ("ServerList h2c", ["ServerList"]),
])
def test_http2(tmp_path, lines, sentences):
    if not process.plugin("tls"):
        pytest.skip("this build has no such plugin")
    text = section("PROXY_ENTRY", f"Match ^/\n{lines}")
    status, said = check(tmp_path, text, extra={"plugins.load": section("PLUGINS", "Load proxy_reverse\nLoad tls")})
    assert (status == 0) == (not sentences) and all(sentence in said for sentence in sentences), said


@pytest.mark.parametrize("listen, server, is_own", [
    ("8123", "127.0.0.1:8123", True), ("8123", "localhost:8123", True), ("8123", "[::1]:8123", True), ("8123", "127.0.0.1:8124", False),
    ("8123", "192.0.2.1:8123", False), ("127.0.0.1:8123", "localhost:8123", True), ("127.0.0.1:8123", "127.0.0.1:8123", True),
    ("127.0.0.2:8123", "127.0.0.1:8123", False), ("unix:/tmp/own.sock", "unix:/tmp/own.sock", True),
    ("unix:/tmp/own.sock", "unix:/tmp/other.sock", False),
])
def test_a_backend_that_is_the_server_itself_is_told(tmp_path, listen, server, is_own):
    status, said = check(tmp_path, section("PROXY_ENTRY", f"Match ^/\nServerList {server}"), server=f"Listen {listen}")
    assert status == 0 and (f"ServerList: {server} is an address of this server" in said) == is_own, said


def test_an_entry_of_a_site_that_answers_nothing(tmp_path):
    status, said = check(tmp_path, "", site=section("PROXY_ENTRY", f"Name a\n{SERVERS}"))
    assert status == 0 and "[PROXY_ENTRY] answers nothing: it has no Match" in said, said


def test_an_entry_that_answers_nothing(tmp_path):
    status, said = check(tmp_path, section("PROXY_ENTRY", SERVERS))
    assert status == 0 and "it has neither Match nor Name" in said


@pytest.mark.parametrize("line, sentence", [
    ("Match ^/ proxy_reverse", "Match: expected proxy_reverse and the Name"),
    ("Match ^/ proxy_reverse b", 'Match: there is no [PROXY_ENTRY] of the name "b"'),
])
def test_handlers_that_are_refused(tmp_path, line, sentence):
    status, said = check(tmp_path, section("PROXY_ENTRY", f"Name a\n{SERVERS}"), handlers=line)
    assert status == 1 and sentence in said


def say(name):
    return Backend(each=lambda c, q: c.answer(name.encode()))


def test_several_patterns_and_entries(start):
    with say("a") as a, say("b") as b:
        text = (section("PROXY_ENTRY", f"Match ^/one\nMatch \\.php$\nServerList {a.address}")
                + section("PROXY_ENTRY", f"Match ^/two\nServerList {b.address}"))
        server = start(files={"x.txt": "file"},
                       extra=LOAD | {"plugins/proxy_reverse/proxy_reverse.conf": text})
        assert [server.get(path).body for path in ("/one", "/two/x.php", "/two", "/x.txt")] == [b"a", b"a", b"b", b"file"]


def test_defaults_give_servers(start):
    with say("a") as a, say("b") as b:
        text = (section("PROXY_DEFAULTS", f"ServerList {a.address}\nLoadBalance naive")
                + section("PROXY_ENTRY", "Match ^/one") + section("PROXY_ENTRY", f"Match ^/two\nServerList {b.address}"))
        server = start(extra=LOAD | {"plugins/proxy_reverse/proxy_reverse.conf": text})
        assert [server.get(path).body for path in ("/one", "/two")] == [b"a", b"b"]


def test_entries_by_name_and_of_sites(start, tmp_path):
    with say("a") as a, say("b") as b:
        text = section("PROXY_DEFAULTS", "SetHeader X-From defaults") + section("PROXY_ENTRY", f"Name a\nServerList {a.address}")
        other = (section("HOST", f"ServerName other\nDocumentRoot {tmp_path}") + section("PROXY_ENTRY", f"Match ^/\nServerList {b.address}"))
        server = start(handlers="Match ^/a proxy_reverse a", sites={"other": other}, files={"b": "file"},
                       extra=LOAD | {"plugins/proxy_reverse/proxy_reverse.conf": text})
        assert server.get("/a").body == b"a" and server.get("/b").body == b"file"
        assert server.get("/b", headers={"Host": "other"}).body == b"b"
        assert b.requests[0].header("X-From") == "defaults"


def test_one_server_in_several_spellings(start):
    """Names have no case, and a port may be left out: it is one backend, with one state and one bound."""
    words = "localhost LOCALHOST:80 localhost:0080 [::1] [::1]:80 unix:/run/x unix:/run/X"
    server = start(extra=proxy(f"Match ^/app\nServerList {words}\nStatisticsURL /stats"))
    entry = json.loads(server.get("/stats?format=json").text)["entries"][0]
    assert [(b["name"], b["weight"]) for b in entry["backends"]] == [
        ("localhost", 3), ("[::1]", 2), ("unix:/run/x", 1), ("unix:/run/X", 1)]


def test_reload_changes_entries_and_keeps_connections(start):
    with say("a") as a, say("b") as b:
        server = start(server="Workers 1", **configured("Match ^/", a))
        with server.connect() as client:
            assert client.request("/").body == b"a"
            server.reload(server="Workers 1", **configured("Match ^/\nSetHeader X-A 1", a))
            assert client.request("/").body == b"a"
            assert a.connections == 1 and a.requests[-1].header("X-A") == "1"
            server.reload(server="Workers 1", **configured("Match ^/", b))
            assert client.request("/").body == b"b"


@pytest.mark.parametrize("handlers, is_said", [("", True), ("Match ^/ proxy_reverse other", True), ("Match ^/ proxy_reverse APP", False)])
def test_a_named_entry_that_no_line_names_is_told(tmp_path, handlers, is_said):
    entries = section("PROXY_ENTRY", f"Name app\n{SERVERS}") + section("PROXY_ENTRY", f"Name other\nMatch ^/other\n{SERVERS}")
    status, said = check(tmp_path, entries, handlers=handlers)
    warning = ("proxy_reverse.conf:1:1: warning: [PROXY_ENTRY] answers nothing: it has no Match, and no line of [HANDLERS] names app")
    assert status == 0 and (warning in said) == is_said and said.count("warning:") == is_said, said


@pytest.mark.parametrize("site, is_said", [("", True), (section("PROXY_ENTRY", "Match ^/b"), False)])
def test_a_default_list_that_no_entry_takes_is_told(tmp_path, site, is_said):
    text = section("PROXY_DEFAULTS", SERVERS) + section("PROXY_ENTRY", f"Match ^/a\n{SERVERS}")
    status, said = check(tmp_path, text, site=site)
    assert status == 0 and ("proxy_reverse.conf:2:16: warning: ServerList: each [PROXY_ENTRY] has one of its own" in said) == is_said, said
    assert said.count("warning:") == is_said, said
