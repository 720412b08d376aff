# SPDX-License-Identifier: Apache-2.0
"""The plugin `rewrite`: redirects by rule and by map, and addresses that an application has under other names."""

import re

import pytest

from harness import carriers, certificates, cgi, process, secured
from harness.client import free_port
from harness.config import Config, section

if not process.plugin("rewrite"):
    pytest.skip("rewrite needs PCRE2, which is not there for this build", allow_module_level=True)

def loads(*names):
    return section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in names))


LOADED = {"plugins.load": loads("rewrite")}


def rules(*lines):
    return section("REWRITE", "\n".join(lines))


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration and returns what --test says of it, and whether it is fine."""
    def of(*lines, **config):
        written = Config(tmp_path)
        written.write(site=rules(*lines), extra=LOADED, **config)
        result = process.run("--configdir", written.folder, "--test")
        return result.stdout + result.stderr, result.returncode == 0
    return of


def location(server, target, **fields):
    answer = server.get(target, fields)
    assert 300 <= answer.status < 400, answer
    return answer.header("Location")


SCRIPT = """#!/bin/sh
printf 'Content-Type: text/plain\\n\\n%s %s?%s\\n' "$REQUEST_METHOD" "$SCRIPT_NAME" "$QUERY_STRING"
cat
"""
SCHEME, PORT = ("https", 443) if carriers.is_secure() else ("http", 80)
needs_cgi = pytest.mark.skipif(not process.plugin("cgi"), reason="cgi is not built")


def application(start, *lines, names=("index.php",), files=None, **config):
    """A site with these programs, which answer with the request as they see it."""
    server = cgi.start_site(start, {}, handlers="Match \\.php(/|$) cgi", files={**dict.fromkeys(names, SCRIPT), **(files or {})},
                            extra=cgi.load("rewrite"), site=rules(*lines), **config)
    cgi.make_executable(server, names)
    return server


# ---- redirects ----

@pytest.mark.parametrize("line, asked, wanted", [
    ("Redirect /old /new", "/old", "/new"),
    ("Redirect /old /new", "/old?a=b&c", "/new?a=b&c"),
    ("Redirect /old /new", "/old?", "/new?"),
    ("Redirect /old /new?x=y", "/old?a=b", "/new?x=y"),
    ("Redirect /old /new#part", "/old?a=b", "/new?a=b#part"),
    ("Redirect /old /new?$query", "/old?a=b", "/new?a=b"),
    ("Redirect /old/* /new/$1", "/old/a/b.html?c", "/new/a/b.html?c"),
    ("Redirect /old/* /new/$1", "/old/", "/new/"),
    ("Redirect /old/* /new?of=$1", "/old/a&b=c/d", "/new?of=a%26b%3Dc%2Fd"),
    ("Redirect ^/a/([0-9]+)/(.*)$ /b/$2/$1", "/a/7/x", "/b/x/7"),
    ("Redirect ^/a/(\\d+)$ /b/$1", "/A/7", "/b/7"),
    ("Redirect \\.php$ /scripts$path", "/x/a.php", "/scripts/x/a.php"),
    ("Redirect ^/blog(?!/new) /blog/new$path", "/blog/x", "/blog/new/blog/x"),
    ("Redirect ^/(a)?(b)?c /$1-$2", "/bc", "/-b"),
    ("Redirect /x https://www.test/y", "/x", "https://www.test/y"),
    ("Redirect ^/ https://www.test$path", "/a%20b", "https://www.test/a%20b"),
    ("Redirect ^/ https://$host$path", "/a", "https://shop.test/a"),
    ("Redirect ^/ $scheme://www.$host$path", "/a", f"{SCHEME}://www.shop.test/a"),
    ("Redirect ^/ https://$host:8443/?from=$remote_addr&port=$server_port", "/a",
     r"https://shop\.test:8443/\?from=(127\.0\.0\.1&port=\d+|unknown&port=)"),
])
def test_a_redirect_leads_where_its_rule_says(start, line, asked, wanted):
    found = location(start(site=rules(line), extra=LOADED), asked, Host="shop.test:8080")
    assert found == wanted or re.fullmatch(wanted, found), found


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_has_the_status_that_is_written(start, status):
    server = start(site=rules(f"Redirect /old /new {status}"), extra=LOADED)
    assert server.get("/old").status == status
    assert server.request("/old", "POST", body=b"x").status == status
    assert server.head("/old").status == status


def test_the_first_rule_that_matches_decides(start):
    server = start(site=rules("Redirect /a/x /first", "Redirect /a/* /second", "Redirect ^/b /third"), extra=LOADED)
    assert [location(server, path) for path in ("/a/x", "/a/y", "/b")] == ["/first", "/second", "/third"]


def test_other_paths_are_served(start):
    server = start(site=rules("Redirect /old /new", "Redirect /old/* /new/$1"), extra=LOADED, files={"older": "served"})
    assert server.get("/older").text == "served"
    assert server.get("/none").status == 404


@pytest.mark.parametrize("asked, wanted", [
    ("/go//evil.test/x", "/evil.test/x"),
    ("/go/%2fevil.test", None),
    ("/go/%5cevil.test", "/%5Cevil.test"),
    ("/go/%0d%0aSet-Cookie:a=b", None),
    ("/go/a%3fb%23c", "/a%3Fb%23c"),
])
def test_a_path_cannot_name_another_host_nor_leave_the_path(start, asked, wanted):
    answer = start(site=rules("Redirect ^/go(.*)$ $scheme://$host/x 302" if wanted is None else "Redirect ^/go(.*)$ /$1"),
                   extra=LOADED).get(asked)
    assert answer.header("Set-Cookie") is None
    assert wanted is None or answer.header("Location") == wanted


def test_a_value_in_the_host_stays_there(start):
    server = start(site=rules("Redirect ^/to/(.*)$ https://$1.example.org/"), extra=LOADED)
    assert location(server, "/to/evil.test/x") == "https://evil.test%2Fx.example.org/"
    assert location(server, "/to/a@evil.test%3f") == "https://a%40evil.test%3F.example.org/"


def test_a_request_that_is_there_already_is_served(start):
    server = start(site=rules(f"Redirect ^/ {SCHEME}://$host/here"), extra=LOADED,
                   files={"here": "served"})
    assert location(server, "/a", Host="shop.test") == f"{SCHEME}://shop.test/here"
    assert server.get("/here", {"Host": "shop.test"}).text == "served"
    assert server.get("/here", {"Host": f"shop.test:{PORT}"}).text == "served"
    assert location(server, "/here", Host="shop.test:8080") == f"{SCHEME}://shop.test/here"


def test_a_redirect_that_is_not_sent_lets_the_next_rule_decide(start):
    server = start(site=rules(f"Redirect ^/ {SCHEME}://$host$path", "Rewrite ^/a$ /b", "Redirect /c /d"), extra=LOADED,
                   files={"b": "served"})
    assert server.get("/a", {"Host": "shop.test"}).text == "served"
    assert location(server, "/c", Host="shop.test") == "/d"


@pytest.mark.parametrize("asked", ["/sub/a%2fb", "//sub//a%2Fb", "/sub/./%61/b", "/sub/x/../a/b", "/sub/a/b?x=%c3%a4", "/sub/a/b?"])
@pytest.mark.parametrize("variables", ["$host$path", "$host$request_uri", "$host$path#top"])
def test_an_address_in_another_encoding_is_there_already(start, asked, variables):
    server = start(site=rules(f"Redirect ^/ {SCHEME}://{variables}"), extra=LOADED, files={"sub/a/b": "served"})
    answer = server.get(asked, {"Host": "shop.test"})
    assert answer.status == 200 and answer.text == "served"


def test_other_queries_are_other_addresses(start):
    server = start(site=rules(f"Redirect ^/ {SCHEME}://$host$path?a=%c3%a4"), extra=LOADED, files={"b": "served"})
    assert location(server, "/b", Host="shop.test") == f"{SCHEME}://shop.test/b?a=%c3%a4"
    assert location(server, "/b?a=%c3", Host="shop.test") == f"{SCHEME}://shop.test/b?a=%c3%a4"
    assert server.get("/b?a=%C3%A4", {"Host": "shop.test"}).text == "served"


@pytest.mark.connection
def test_the_target_is_redirected_as_it_was_sent(start):
    server = start(site=rules("Redirect /login /in?next=$request_uri", "Redirect ^/ https://$host$request_uri"), extra=LOADED)
    for asked in ("/", "/a%2fb", "//sub//", "/%c3%a4?q=%c3%a4&r", "/a?b[]=c|d", "/.", "//evil.test/"):
        assert location(server, asked, Host="shop.test") == f"https://shop.test{asked}"
    assert location(server, "/login?a&b", Host="shop.test") == "/in?next=%2Flogin%3Fa%26b"
    for asked, wanted in (("http://shop.test//a?b", "//a?b"), ("http://shop.test", ""), ("http://shop.test?b", "?b")):
        with server.connect() as connection:
            connection.send(f"GET {asked} HTTP/1.1\r\nHost: shop.test\r\n\r\n")
            assert connection.response().header("Location") == f"https://shop.test{wanted}"


def test_a_target_as_it_was_sent_names_no_other_host(start):
    server = start(site=rules("Redirect ^/ /$request_uri?x"), extra=LOADED)
    assert location(server, "//evil.test/") == "/evil.test/?x"


@pytest.mark.connection
def test_a_client_without_a_host_gets_the_name_of_the_site(start):
    server = start(host="ServerName shop.test", site=rules("Redirect ^/ https://$host$path"), extra=LOADED)
    with server.connect() as connection:
        connection.send("GET /a HTTP/1.0\r\n\r\n")
        assert b"Location: https://shop.test/a\r\n" in connection.rest()


def test_pages_for_errors_are_not_redirected(start):
    server = start(site=rules("Redirect /lost.html /elsewhere"), error_pages="404 lost.html", extra=LOADED,
                   files={"lost.html": "lost"})
    answer = server.get("/none")
    assert (answer.status, answer.text) == (404, "lost")


# ---- rewrites ----

def test_a_rewrite_is_answered_by_the_other_path(start):
    server = start(site=rules("Rewrite ^/old\\.html$ /new.html"), extra=LOADED, files={"new.html": "new"})
    assert server.get("/old.html").text == "new"


@needs_cgi
def test_a_script_sees_the_other_path(start):
    server = application(start, "Rewrite ^/tag/(.*)$ /index.php?tag=$1")
    assert server.get("/tag/a%20b&c/d").text == "GET /index.php?tag=a%20b%26c%2Fd\n"


@needs_cgi
def test_method_and_body_stay(start):
    server = application(start, "Rewrite ^/api/(.*)$ /index.php?of=$1&$query")
    wanted = "POST /index.php?of=a&b=c\nthe body"
    assert server.request("/api/a?b=c", "POST", body=b"the body").text == wanted


@needs_cgi
@pytest.mark.connection
def test_a_body_stays_that_comes_later(start):
    server = application(start, "Rewrite ^/api/(.*)$ /index.php?of=$1&$query")
    wanted = "POST /index.php?of=a&b=c\nthe body"
    assert server.request("/api/a?b=c", "POST", body=b"the body", headers={"Expect": "100-continue"}).text == wanted
    assert server.request("/api/a?b=c", "POST", headers={"Transfer-Encoding": "chunked"}, body=b"8\r\nthe body\r\n0\r\n\r\n").text \
        == wanted


@needs_cgi
def test_a_query_stays_unless_the_target_has_one(start):
    server = application(start, "Rewrite ^/a$ /index.php", "Rewrite ^/b$ /index.php?")
    assert server.get("/a?q=1").text == "GET /index.php?q=1\n"
    assert server.get("/b?q=1").text == "GET /index.php?\n"


def test_a_rewritten_path_is_not_rewritten_again(start):
    server = start(site=rules("Rewrite ^/(.*)$ /sub/$1", "Redirect ^/sub/ /elsewhere"), extra=LOADED,
                   files={"sub/a": "once", "sub/sub/a": "twice"})
    assert server.get("/a").text == "once"
    assert server.get("/sub/a").text == "twice"


def test_rules_for_paths_hold_for_both_paths(start):
    server = start(site=rules("Rewrite ^/open/(.*)$ /secret/$1", "Rewrite ^/secret/(.*)$ /files/$1"), extra={
        "plugins.load": loads("mandril", "rewrite"),
        "plugins/mandril/rules.conf": section("RULES", "Deny_URL /secret")}, files={"secret/a": "no", "files/a": "no"})
    assert server.get("/open/a").status == 403
    assert server.get("/secret/a").status == 403


@pytest.mark.parametrize("asked", ["/x/..%2f..%2fetc/passwd", "/x/..", "/x/a%00b"])
def test_a_rewritten_path_stays_within_the_site(start, asked):
    server = start(site=rules("Rewrite ^/x/(.*)$ /files/$1"), extra=LOADED, files={"a": "outside"})
    answer = server.get(asked)
    assert answer.status in (400, 403, 404) and "outside" not in answer.text and "root:" not in answer.text


# The rules that DokuWiki and WordPress publish for other servers.

@needs_cgi
@pytest.mark.parametrize("asked, wanted", [
    ("/_media/wiki:a.png?w=200", "/lib/exe/fetch.php?media=wiki%3Aa.png&w=200"),
    ("/_detail/b.png", "/lib/exe/detail.php?media=b.png&"),
    ("/_export/pdf/start", "/doku.php?do=export_pdf&id=start&"),
    ("/wiki:syntax?do=edit", "/doku.php?id=/wiki%3Asyntax&do=edit"),
    ("/", "/doku.php?"),
])
def test_the_rules_of_dokuwiki(start, asked, wanted):
    server = application(
        start, "Rewrite ^/_media/(.*) /lib/exe/fetch.php?media=$1&$query",
        "Rewrite ^/_detail/(.*) /lib/exe/detail.php?media=$1&$query",
        "Rewrite ^/_export/([^/]+)/(.*) /doku.php?do=export_$1&id=$2&$query", "Rewrite ^/$ /doku.php",
        names=("doku.php", "lib/exe/fetch.php", "lib/exe/detail.php"), files={"lib/a.css": "css"},
        host="TryFiles $uri $uri/ /doku.php?id=$uri&$query")
    assert server.get(asked).text == f"GET {wanted}\n"
    assert server.get("/lib/a.css").text == "css"


@needs_cgi
def test_the_rules_of_a_network_of_wordpress(start):
    server = application(
        start, "Redirect ^(/[_0-9a-zA-Z-]+)?/wp-admin$ /$1/wp-admin/",
        "Rewrite ^(?:/[_0-9a-zA-Z-]+)?(/wp-(?:content|admin|includes).*) /$1", "Rewrite ^/[_0-9a-zA-Z-]+(/.*\\.php)$ /$1",
        names=("index.php", "wp-login.php"), files={"wp-content/a.css": "css"}, host="TryFiles $uri $uri/ /index.php?$query")
    assert location(server, "/blog/wp-admin") == "/blog/wp-admin/"
    assert location(server, "/wp-admin") == "/wp-admin/"
    assert server.get("/blog/wp-content/a.css").text == "css"
    assert server.request("/blog/wp-login.php", "POST", body=b"log=in").text == "POST /wp-login.php?\nlog=in"
    assert server.get("/2026/11/hello?x=y").text == "GET /index.php?x=y\n"


# ---- maps ----

def with_map(tmp_path, text, *lines):
    (tmp_path / "moved").write_text(text)
    return {"site": rules(f"RedirectMap {tmp_path}/moved", *lines), "extra": LOADED}


def test_a_map_leads_from_old_addresses_to_new_ones(start, tmp_path):
    server = start(**with_map(tmp_path, "# moved in 2025\n\n/a /b\n/c%20d   https://www.test/e?f=g 302\n\t/?p=7 /posts/7\r\n"
                              "/x?id=1 /one\n/x /other 308\n/last /line", "Redirect ^/$ /rest"))
    for asked, status, wanted in (("/a", 301, "/b"), ("/c%20d", 302, "https://www.test/e?f=g"), ("/?p=7", 301, "/posts/7"),
                                  ("/x?id=1", 301, "/one"), ("/x?id=2", 308, "/other"), ("/x", 308, "/other"),
                                  ("/last", 301, "/line"), ("/?p=8", 301, "/rest?p=8"), ("/x%3fid=1", 404, None)):
        answer = server.get(asked)
        assert (answer.status, answer.header("Location")) == (status, wanted), asked


@pytest.mark.parametrize("text, line, fault", [
    ("/a /b\na /b\n", 2, "expected a path, a path or URL to which it has moved, and perhaps a status"),
    ("/a\n", 1, "expected a path, a path or URL"),
    ("/a /b 301 x\n", 1, "expected a path, a path or URL"),
    ("/a /b 404\n", 1, "a status is one of 301 302 303 307 308"),
    ("/a //b\n", 1, "the new address is neither a path nor a URL"),
    ("/a b\n", 1, "the new address is neither a path nor a URL"),
    ("/a /ä\n", 1, "the new address is neither a path nor a URL"),
    ("/a/* /b\n", 1, "a map has single paths: Redirect has those with a * at their end"),
    ("/a%2 /b\n", 1, "the old address has a % without two hexadecimal digits"),
    ("/a%00 /b\n", 1, "the old address has a % without two"),
    ("/a%3Fb /b\n", 1, "the old address has a % without two"),
    (f"/{'a' * 8000} /b\n", 1, "an address has more than 8000 bytes"),
    ("/a /b\n/c /d\n/%61 /e\n", 3, "the old address is there already, in line 1"),
])
def test_faults_of_a_map_name_their_line(check, tmp_path, text, line, fault):
    (tmp_path / "moved").write_text(text)
    output, is_fine = check(f"RedirectMap {tmp_path}/moved")
    assert not is_fine and f"{tmp_path}/moved:{line}:1: error: RedirectMap: {fault}" in output, output


def test_a_map_that_cannot_be_read_is_a_fault(check, tmp_path):
    output, is_fine = check("RedirectMap /none/such")
    assert not is_fine and re.search(r"sites/default:4:\d+: error: RedirectMap: /none/such: ", output), output


def test_a_map_of_a_hundred_thousand_lines(start, tmp_path):
    count = 100_000
    server = start(**with_map(tmp_path, "".join(f"/old/{n} /new/{n * 7}\n" for n in range(count))))
    for n in (0, 1, 777, 50_000, count - 1):
        assert location(server, f"/old/{n}") == f"/new/{n * 7}"
    assert server.get(f"/old/{count}").status == 404


def test_a_reload_reads_rules_and_maps_again(start, tmp_path):
    server = start(**with_map(tmp_path, "/a /b\n", "Redirect /x /y"))
    server.reload(**with_map(tmp_path, "/a /c\n", "Redirect /x /z"))
    assert (location(server, "/a"), location(server, "/x")) == ("/c", "/z")


# ---- faults and bounds ----

@pytest.mark.parametrize("line, fault", [
    ("Redirect /a", "Redirect: expected a path or a regular expression, a target, and perhaps a status"),
    ("Redirect /a /b 301 x", "Redirect: expected a path or a regular expression"),
    ("Redirect /a /b 200", "Redirect: expected one of 301 302 303 307 308 after the target"),
    ("Redirect /a b", "a target begins with a slash or a scheme such as https://"),
    ("Redirect /a //b", "a target begins with a slash or a scheme such as https://"),
    ("Redirect /a $1", "a target begins with a slash or a scheme"),
    ("Redirect /a javascript:x", "a target begins with a slash or a scheme"),
    ("Redirect /a /ä", "a target has no blanks and no bytes that a URL cannot have"),
    ("Redirect /a /$nobody", "Redirect: unknown variable \"$nobody\"; monkey.conf(5) lists those there are"),
    ("Redirect /a /$", "Redirect: unknown variable \"$\""),
    ("Redirect /a/*/b /c", "Redirect: expected a path with `*` at its end alone"),
    ("Redirect /a/.* /c", "Redirect: \"/a/.*\": a regular expression begins with ^"),
    ("Redirect /a$ /c", "Redirect: \"/a$\": a regular expression begins with ^"),
    ("Redirect \"/a\" /c", "Redirect: \"\"/a\"\": a path or pattern has no quotes around it"),
    ("Redirect /a /$1", "Redirect: $1 has no group: $1 is what `*` stands for"),
    ("Redirect /a/* /$2", "Redirect: $2 has no group: $1 is what `*` stands for"),
    ("Redirect ^/(a)(b) /$3", "Redirect: $3 has no group: the expression has 2"),
    ("Redirect ^/(a /b", "Redirect: the regular expression is wrong at its byte 5: missing closing parenthesis"),
    ("Redirect ^/\\C /b", "Redirect: the regular expression is wrong at its byte"),
    (f"Redirect ^/{'a' * 2000} /b", "Redirect: the regular expression is wrong at its byte 1: pattern string is longer than"),
    (f"Redirect ^{'(' * 51}a{')' * 51} /b", "parentheses are too deeply nested"),
    (f"Redirect ^/ /{'$path/' * 17}", "a target has at most 32 variables and texts"),
    ("Rewrite ^/a https://b.test/", "Rewrite: expected a regular expression and a path of this site"),
    ("Rewrite ^/a /b 301", "Rewrite: expected a regular expression and a path of this site"),
    ("Redirect /a /a/../b?x\n    Redirect /b /c\n    Redirect /c /b", "Redirect: a client that follows it comes back to it"),
    ("Redirect ^/loop /loop", "Redirect: a client that follows it comes back to it"),
    ("Rewirte ^/a /b", "did you mean \"Rewrite\"?"),
])
def test_faults_of_rules(check, line, fault):
    output, is_fine = check(line)
    assert not is_fine and fault in output, output


@pytest.mark.parametrize("line, warning", [
    ("Redirect ^/(.*)$ /en/$1", "Redirect: a client that follows it comes back to it, if $1 is \"x\""),
    ("Redirect ^/(.*)$ https://$1", "Redirect: whoever makes a link to this site chooses the host of \"https://$1\""),
    ("Redirect ^/(.*)$ https://$1/x", "Redirect: whoever makes a link to this site chooses the host"),
    ("Rewrite ^/a$ /b\nRedirect ^/ https://$host$request_uri",
     "Redirect: paths of the Rewrite in line 4 are not led to https: write this line before it"),
])
def test_doubtful_rules_are_told(check, line, warning):
    output, is_fine = check(line)
    assert is_fine and warning in output, output


@pytest.mark.parametrize("line", ["Redirect ^/(?!en/)(.*)$ /en/$1", "Redirect ^/(.*)$ https://$1.example.org/", "Redirect /a /b",
                                  "Redirect ^/ https://$host$path", "Redirect ^/ https://$host:$server_port$path",
                                  "Redirect ^/ https://$host$request_uri\nRewrite ^/a$ /b", "Rewrite ^/a$ /b\nRedirect ^/c https://$host/",
                                  f"Redirect ^/a$ /{'$path/' * 15}x"])
def test_others_are_not(check, line):
    output, is_fine = check(line)
    assert is_fine and output.startswith("configuration is fine\n"), output


def test_an_expensive_expression_ends_and_is_reported(start):
    server = start(site=rules("Rewrite ^/(a+)+$ /b"), extra=LOADED, files={"c": "served"})
    answer = server.get("/" + "a" * 40 + "!")
    assert answer.status == 500
    server.wait_for_log("a regular expression takes too long for this path by=.*sites/default:4")
    assert server.get("/c").text == "served"


@pytest.mark.plain
@pytest.mark.skipif(not process.plugin("tls"), reason="tls is not built")
def test_clients_in_the_clear_are_led_to_tls(start):
    port = free_port()
    config = secured.config(certificates.issue().lines(), server="Listen 127.0.0.2:0")
    config["server"] = config["server"].replace("127.0.0.1:0", f"127.0.0.1:{port}")
    config["site"] = config.get("site", "") + rules(f"Redirect ^/ https://localhost:{port}$path 308")
    config["extra"]["plugins.load"] += "    Load rewrite\n"
    server = start(**config)
    plain = next(address for address in server.addresses if address.startswith("127.0.0.2"))
    with server.connect(("127.0.0.2", int(plain.rpartition(":")[2]))) as connection:
        assert connection.request("/a.txt?x=1").header("Location") == f"https://localhost:{port}/a.txt?x=1"
    assert secured.ask(server, host=f"localhost:{port}").body == b"text"
