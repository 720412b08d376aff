# SPDX-License-Identifier: Apache-2.0
"""Access rules: addresses, paths, hot links."""

import textwrap

import pytest

from harness import process
from harness.client import Connection
from harness.config import Config, section

FILES = {"index.html": "<p>hello", "public.txt": "public", "private/key.txt": "secret", "images/a.png": "png"}


def rules(*sections):
    return "".join(section("RULES", textwrap.dedent(lines)) for lines in sections)


def configured(*sections, **kwargs):
    extra = {"plugins.load": section("PLUGINS", "Load mandril"),
             "plugins/mandril/mandril.conf": rules(*sections)}
    return {"files": FILES, "extra": extra, **kwargs}


def is_let_in(server, source="127.0.0.1"):
    """Does a client with this address get an answer?"""
    try:
        with Connection(("127.0.0.1", server.port), source=source) as connection:
            connection.send(b"GET /public.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return connection.rest().startswith(b"HTTP/1.1 200")
    except ConnectionResetError:
        return False


# -- patterns


@pytest.mark.parametrize("rule, refused, others", [
    ("Deny_URL ^/public\\.txt$", ["/public.txt", "/PUBLIC.txt", "/%70ublic.txt"], ["/private/key.txt", "/images/a.png"]),
    ("Deny_URL ^/(a|images)/", ["/images/a.png"], ["/public.txt"]),
    ("Deny_URL *.txt", ["/public.txt", "/public.txt/", "/private/key.txt", "/private/key.txt;x"], ["/", "/images/a.png"]),
    ("Deny_URL /pri*", ["/private/key.txt"], ["/public.txt"]),
    ("Deny_URL /images/\nDeny_URL *.txt", ["/images/a.png", "/public.txt"], ["/"]),
    ("Deny_URL ..\\", [], ["/public.txt"]),
    ("Deny_URL ~", ["/public.txt~"], ["/public.txt"]),
])
def test_patterns_of_paths(start, rule, refused, others):
    server = start(**configured(rule))
    for path in refused:
        assert server.get(path).status == 403, path
    for path in others:
        assert server.get(path).status == 200, path


def test_a_text_with_a_star_is_still_a_part_of_a_path(start):
    server = start(**configured("Deny_URL /**/"))
    assert server.get("/a/**/b").status == 403


def test_hot_links_by_pattern(start):
    server = start(**configured("deny_hotlink *.png"))
    assert server.get("/images/a.png", {"Referer": "http://other.test/"}).status == 403
    assert server.get("/public.txt", {"Referer": "http://other.test/"}).status == 200


def said_of(tmp_path, *sections, **kwargs):
    config = Config(tmp_path)
    config.write(**configured(*sections, **kwargs))
    result = process.run("--configdir", config.folder, "--test")
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("text", ["\\.php$", "/(a|b)/", "/admin/.*", "/info.php$", "/id/\\d+", "/v[0-9]", "\"/admin\""])
def test_texts_that_deny_nothing_are_errors(tmp_path, text):
    code, output = said_of(tmp_path, f"Deny_URL {text}")
    assert code == 1 and "mandril.conf:2:14: error: Deny_URL: " in output, output
    assert ("begins with ^" in output) == (text[0] != '"'), output


@pytest.mark.parametrize("lines, handlers, code", [
    ("Allow_IP 10.0.0.0/8", "Match ^/admin/ mandril", 1),
    ("Allow_IP 10.0.0.0/8\nDeny_URL /x", "Match ^/admin/ mandril", 0),
    ("DryRun on\nAllow_IP 10.0.0.0/8", "Match ^/admin/ mandril", None),
    ("Allow_IP 10.0.0.0/8", "", None),
    ("Deny_IP 10.0.0.0/8\nDeny_URL /x", "Match ^/admin/ mandril", None),
])
def test_a_match_line_does_not_limit_addresses(tmp_path, lines, handlers, code):
    result, output = said_of(tmp_path, lines, handlers=handlers)
    assert result == (code or 0), output
    assert ("write Allow in a [LOCATION] with that Match" in output) == (code is not None), output


# -- addresses


@pytest.mark.parametrize("lines, let_in", [
    ("Deny_IP 127.0.0.1", False),
    ("IP 127.0.0.0/8", False),
    ("Deny_IP 127.0.0.2", True),
    ("Deny_IP 10.0.0.0/8\nDeny_IP ::1", True),
    ("Allow_IP 127.0.0.1\nDeny_IP 127.0.0.0/8", True),
    ("Deny_IP 127.0.0.0/8\nAllow_IP 127.0.0.1", False),   # the first in the order written
    ("Allow_IP 10.0.0.0/8", False),                       # Allow_IP alone drops the rest
    ("Allow_IP 127.0.0.0/8", True),
    ("Allow_IP 10.0.0.0/8\nDeny_IP 10.1.0.0/16", True),   # not alone
    ("Deny_IP 0.0.0.0/0", False),
    ("Deny_IP ::/0", False),                              # IPv4 is a part of it
    ("DryRun on\nDeny_IP 127.0.0.1", True),
    ("URL /private", True),
])
def test_address_rules(start, lines, let_in):
    server = start(**configured(lines))
    assert is_let_in(server) == let_in


def test_order_goes_on_through_the_sections(start):
    server = start(**configured("Allow_IP 127.0.0.2", "Deny_IP 127.0.0.0/8"))
    assert is_let_in(server, "127.0.0.2")
    assert not is_let_in(server, "127.0.0.1")


def test_ipv6_peer_is_dropped(start):
    server = start(server="Listen [::1]:0", **configured("Deny_IP ::1"))
    with pytest.raises((ConnectionResetError, ConnectionError, AssertionError)):
        with Connection(("::1", server.port)) as connection:
            connection.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert connection.rest()


def test_address_of_the_proxy_header_counts(start):
    server = start(server="Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1", **configured("Deny_IP 192.0.2.0/24"))
    request = b"GET /public.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    assert server.raw(b"PROXY TCP4 198.51.100.1 127.0.0.1 1 2\r\n" + request).startswith(b"HTTP/1.1 200")
    try:
        assert server.raw(b"PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n" + request) == b""
    except ConnectionResetError:
        pass


def test_client_of_a_unix_socket_has_no_address(start, tmp_path):
    server = start(server=f"Listen unix:{tmp_path}/sock", **configured("Deny_IP ::/0"))
    with Connection(f"{tmp_path}/sock") as connection:
        connection.send(b"GET /public.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert connection.rest().startswith(b"HTTP/1.1 200")


# -- paths


@pytest.mark.parametrize("target", [
    "/private/key.txt", "/%70rivate/key.txt", "//private/key.txt", "/x/../private/key.txt", "/./private/key.txt",
    "/PRIVATE/key.txt", "/x/%2e%2e/private/key.txt", "/private%2Fkey.txt", "/private", "/private/", "/a/private",
])
def test_every_spelling_of_a_path_is_refused(start_shared, target):
    server = start_shared(**configured("URL /private"))
    assert server.get(target).status == 403


@pytest.mark.parametrize("target", ["/", "/public.txt", "/?/private", "/priv/ate"])
def test_other_paths_are_served(start_shared, target):
    server = start_shared(**configured("URL /private"))
    assert server.get(target).status in (200, 404)


def test_rule_that_names_an_index_file_holds_for_its_directory(start):
    server = start(**configured("Deny_URL /index.html"))
    assert server.get("/").status == 403


def test_dry_run_only_logs(start):
    server = start(**configured("DryRun on\nURL /private"))
    assert server.get("/private/key.txt").status == 200
    server.wait_for_log(r"request would be refused by=\S+mandril.conf:3")


# -- hot links


@pytest.mark.parametrize("referer, status", [
    (None, 200),
    ("http://localhost/page", 200),
    ("http://LOCALHOST:8080/", 200),
    ("https://www.example.org/", 200),        # a ServerName of the site
    ("https://a.example.net/", 200),          # *.example.net
    ("https://user@www.example.org/", 200),
    ("https://example.net/", 403),
    ("https://elsewhere.example/", 403),
    ("https://www.example.org.elsewhere.example/", 403),
    ("https://elsewhere.example/?www.example.org", 403),
    ("https://elsewhere.example\\@localhost/", 403),
    ("https://localhost@elsewhere.example/", 403),
    ("about:blank", 403),
    ("//localhost/", 403),
])
def test_hot_links(start_shared, referer, status):
    server = start_shared(host="ServerName www.example.org *.example.net", **configured("deny_hotlink /images"))
    headers = {"Referer": referer} if referer else {}
    assert server.get("/images/a.png", headers=headers).status == status
    assert server.get("/public.txt", headers=headers).status == 200


# -- configuration


@pytest.mark.parametrize("lines, said", [
    ("Deny_IP 10.0.0.0/33", r"mandril.conf:2:13: error: Deny_IP: expected an address or a network"),
    ("Allow_IP example.org", r"mandril.conf:2:14: error: Allow_IP: expected an address"),
    ("DenyIP 10.0.0.0/8", r'mandril.conf:2:5: error: unknown key "DenyIP" in \[RULES\]; did you mean "Deny_IP"'),
    ("DryRun perhaps", r"mandril.conf:2:12: error: DryRun: expected"),
])
def test_faults_have_their_place(tmp_path, lines, said):
    config = process.Config(tmp_path)
    config.write(**configured(lines))
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert __import__("re").search(said, checked.stdout + checked.stderr), checked.stdout + checked.stderr


def test_rules_change_on_reload(start):
    server = start(**configured("Deny_IP 10.0.0.0/8"))
    assert is_let_in(server)
    server.config.write(**configured("Deny_IP 127.0.0.0/8"))
    server.reload()
    assert not is_let_in(server)


def test_rules_without_the_plugin_are_a_warning(tmp_path):
    config = process.Config(tmp_path)
    config.write(files=FILES, extra={"plugins/mandril/mandril.conf": rules("Deny_URL /private")})
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 0
    assert 'mandril.conf:1:1: warning: [RULES] has no effect, because the plugin "mandril" is not loaded' in (
        checked.stdout + checked.stderr)


def test_files_that_lie_ready_without_a_setting_are_none(tmp_path):
    config = process.Config(tmp_path)
    config.write(files=FILES, extra={"plugins/mandril/mandril.conf": "[RULES]\n    # Deny_URL /private\n"})
    checked = process.run("--configdir", config.folder, "--test")
    assert (checked.returncode, "RULES" in checked.stdout + checked.stderr) == (0, False)


def test_a_match_line_limits_the_rules_of_paths(start):
    server = start(**configured("URL /private\nURL txt", handlers="Match ^/private/ mandril"))
    assert [server.get(path).status for path in ("/private/key.txt", "/public.txt")] == [403, 200]
