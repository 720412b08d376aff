# SPDX-License-Identifier: Apache-2.0
"""Settings by path: [LOCATION], and the same keys in [HOST]."""

import os
import re
import select

import pytest

from harness import carriers, plugins, process
from harness.client import eventually
from harness.config import Config, section

FILES = {"a.txt": "root", "api/a.txt": "api", "api/v2/a.txt": "v2", "apix/a.txt": "apix", "index.html": "welcome",
         "api/start.htm": "start", "api/x y.txt": "blank", "img/a.css": "css"}


def location(*lines):
    return section("LOCATION", "\n".join(lines))


def load(*names):
    return {"plugins.load": section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in names))}


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration and returns what --test, or another option, says of it."""
    def of(*options, **config):
        written = Config(tmp_path)
        written.write(**config)
        result = process.run("--configdir", written.folder, *(options or ["--test"]))
        return result.stdout + result.stderr
    return of


# ---- which location ----

@pytest.fixture(scope="module")
def nested(start_shared):
    return start_shared(files=FILES, host="Header X-Place site\nHeader X-Site yes", site=(
        location("Path /api/v2/", "Header X-Place v2")
        + location("Path /api", "Header X-Place api", "Header X-Api yes")
        + location("Match \\.css$", "Header X-Kind style")
        + location("Match ^/api/v2/|\\.css$", "Header X-Kind second")))


@pytest.mark.parametrize("target, place", [
    ("/a.txt", "site"),
    ("/api/a.txt", "api"),
    ("/api", "api"),
    ("/api/", "api"),
    ("/apix/a.txt", "site"),
    ("/api/v2/a.txt", "v2"),
    ("/api/v2", "v2"),
    ("/%61pi/a.txt", "api"),
    ("/api%2fa.txt", "api"),
    ("//api//a.txt", "api"),
    ("/x/../api/a.txt", "api"),
    ("/x/%2e%2e/api/a.txt", "api"),
    ("/api/../a.txt", "site"),
    ("/api/%2e%2E/apix/a.txt", "site"),
    ("/api/./v2/../a.txt", "api"),
    ("/API/nothing", "api"),
    ("/api/nothing", "api"),
    ("/api?/x", "api"),
])
def test_nearest_path_of_whole_segments(nested, target, place):
    assert nested.get(target).all("X-Place") == [place]


@pytest.mark.parametrize("target, kind", [
    ("/img/a.css", "style"), ("/IMG/A.CSS", "style"), ("/api/v2/a.txt", "second"), ("/api/v2/x.css", "style"), ("/api/a.txt", None),
])
def test_first_expression_that_matches(nested, target, kind):
    assert nested.get(target).header("X-Kind") == kind


def test_inner_location_inherits_from_the_outer_one(nested):
    answer = nested.get("/api/v2/a.txt")
    assert (answer.header("X-Place"), answer.header("X-Api"), answer.header("X-Site")) == ("v2", "yes", "yes")
    assert nested.get("/a.txt").header("X-Api") is None


def test_expression_and_path_hold_together(nested):
    answer = nested.get("/api/v2/none.css")
    assert (answer.status, answer.header("X-Place"), answer.header("X-Kind")) == (404, "v2", "style")


def test_locations_of_a_host_are_its_own(start, tmp_path):
    other = tmp_path / "other"
    (other / "api").mkdir(parents=True)
    (other / "api/a.txt").write_text("other")
    server = start(files=FILES, site=location("Path /api", "Header X-Place default"), sites={
        "other": f"[HOST]\n    ServerName other.example\n    DocumentRoot {other}\n    Indexfile a.txt\n"
                 "[LOCATION]\n    Path /api\n    Header X-Place other\n"})
    answer = server.get("/api/a.txt", {"Host": "other.example"})
    assert (answer.body, answer.all("X-Place")) == (b"other", ["other"])
    assert server.get("/api/", {"Host": "other.example"}).body == b"other"
    assert server.get("/api/a.txt").all("X-Place") == ["default"]
    assert server.get("/api/").status == 403


def test_location_of_all_paths(start):
    server = start(files=FILES, site=location("Path /", "Header X-Place all"))
    assert [server.get(target).header("X-Place") for target in ("/", "/a.txt", "/api/v2/a.txt")] == ["all"] * 3


# ---- each key, by path and for a site ----

def test_header_takes_the_place_of_the_sites(start):
    server = start(files=FILES, host="Header Server mine\nHeader X-A 1\nHeader X-A 2",
                   site=location("Path /api", "Header X-A 3", "Header Server"))
    assert server.get("/a.txt").all("X-A") == ["1", "2"]
    assert server.get("/api/a.txt").all("X-A") == ["3"]
    assert server.get("/api/a.txt").header("Server") is None


def test_cache_control(start):
    server = start(files=FILES, host="CacheControl * no-store\nCacheControl *.css max-age=1",
                   site=location("Path /img", "CacheControl *.css max-age=60"))
    assert server.get("/a.txt").header("Cache-Control") == "no-store"
    assert server.get("/img/a.css").header("Cache-Control") == "max-age=60"


@pytest.mark.parametrize("lines", [{"host": "Indexfile start.htm"}, {"site": location("Path /api", "Indexfile none start.htm")}])
def test_index_file(start, lines):
    server = start(files=FILES, server="Indexfile a.txt", **lines)
    assert server.get("/api/").body == b"start"
    assert server.get("/").body == (b"root" if "site" in lines else b"welcome") or server.get("/").status == 403


@pytest.mark.parametrize("server, lines, wanted", [
    ("SymLink off", {"site": location("Path /api", "SymLink on")}, (404, 200)),
    ("SymLink on", {"site": location("Path /api", "SymLink off")}, (200, 404)),
    ("SymLink off", {"host": "SymLink on"}, (200, 200)),
    ("SymLink on", {"host": "SymLink off", "site": location("Path /api", "SymLink on")}, (404, 200)),
])
def test_symlink(start, server, lines, wanted):
    started = start(files=FILES, server=server, **lines)
    for folder in ("", "api/"):
        os.symlink("a.txt", started.config.root / f"{folder}link.txt")
    found = [started.get(target).status for target in ("/link.txt", "/api/link.txt")]
    assert [status == 200 for status in found] == [status == 200 for status in wanted]


def test_try_files(start):
    server = start(files=FILES, host="TryFiles $uri /a.txt", site=(
        location("Path /api", "TryFiles $uri /api/a.txt") + location("Path /apix", "TryFiles $uri =410")))
    assert server.get("/none").body == b"root"
    assert server.get("/api/none").body == b"api"
    assert server.get("/api/v2/none").body == b"api"
    assert server.get("/apix/none").status == 410


def test_redirect_and_its_end(start):
    server = start(files=FILES, host="Redirect https://example.org/", site=location("Path /api", "Redirect off"))
    assert server.get("/a.txt").header("Location") == "https://example.org/a.txt"
    assert server.get("/api/a.txt").body == b"api"


def test_precompressed(start):
    server = start(files={**FILES, "a.txt.gz": b"zipped", "api/a.txt.gz": b"zipped"}, site=location("Path /api", "Precompressed on"))
    asked = {"Accept-Encoding": "gzip"}
    assert [server.get(target, asked).body for target in ("/a.txt", "/api/a.txt")] == [b"root", b"zipped"]


BODY = b"x" * 2000


@pytest.mark.parametrize("lines, root, api", [
    ({"site": location("Path /api", "MaxBodySize 4K")}, 413, 200),
    ({"host": "MaxBodySize 4K", "site": location("Path /api", "MaxBodySize 1K")}, 200, 413),
    ({"host": "MaxBodySize 4K"}, 200, 200),
])
@pytest.mark.parametrize("chunked", [False, True])
def test_max_body_size(start, lines, root, api, chunked):
    if chunked and carriers.is_by_request():
        pytest.skip("chunks are HTTP/1's")
    server = start(files=FILES, server="MaxBodySize 1K", handlers="Match /echo$ echo", **lines)
    fields = {"Transfer-Encoding": "chunked"} if chunked else {}
    body = b"7d0\r\n" + BODY + b"\r\n0\r\n\r\n" if chunked else BODY
    assert [server.request(target, "POST", headers=fields, body=body).status for target in ("/echo", "/api/echo")] == [root, api]


@pytest.mark.parametrize("lines", [{"host": "HandlerTimeout 200ms"}, {"site": location("Path /wait/9", "HandlerTimeout 200ms")}])
def test_handler_timeout(start, lines):
    server = start(files=FILES, server="HandlerTimeout 60", handlers="Match ^/wait waits", extra={"plugins.load": plugins.load("waits")}, **lines)
    assert server.get("/wait/9/60000", timeout=30).status in (500, 504)


@pytest.mark.connection
@pytest.mark.parametrize("lines", [{"host": "BodyTimeout 200ms"}, {"site": location("Path /api", "BodyTimeout 200ms")}])
def test_body_timeout(start, lines):
    server = start(files=FILES, server="BodyTimeout 60", handlers="Match /echo$ echo", **lines)
    with server.connect(timeout=30) as connection:
        connection.send(b"POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        connection.rest()  # is closed


@pytest.mark.connection
@pytest.mark.parametrize("lines", [{"host": "MinRate 1G"}, {"site": location("Path /api", "MinRate 1G")}])
def test_min_rate(start, lines):
    """Each byte is in time, and all of them are not."""
    server = start(files=FILES, server="BodyTimeout 500ms\nMinRate 0", handlers="Match /echo$ echo", **lines)
    with server.connect() as connection:
        connection.send(b"POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(1000):
            connection.send(b"x")
            if select.select([connection.sock], [], [], 0.02)[0]:
                break
        connection.rest_until_cut()  # is closed


@pytest.mark.parametrize("lines, shown", [
    ({"site": location("Path /api", "Listing on")}, (403, 200, 200)),
    ({"site": location("Path /api", "Listing on") + location("Path /api/v2", "Listing off")}, (403, 200, 403)),
    ({"host": "Listing on", "site": location("Path /api", "Listing off") + location("Path /api/v2", "Listing on")}, (200, 403, 200)),
    ({"site": section("DIRLISTING", "Listing on") + location("Path /api", "Listing off")}, (200, 403, 403)),
])
@pytest.mark.skipif(not process.plugin("dirlisting"), reason="dirlisting is not built")
def test_listing(start, lines, shown):
    server = start(files=FILES, server="Indexfile none", extra=load("dirlisting"), **lines)
    assert tuple(server.get(target).status for target in ("/img/", "/api/", "/api/v2/")) == shown
    assert tuple(server.head(target).status for target in ("/img/", "/api/", "/api/v2/")) == shown


def test_handler(start):
    server = start(files=FILES, site=location("Path /a.i", "Handler echo") + location("Match \\.do$", "Handler echo"),
                   handlers="Match ^/never echo")
    answered = [server.request(target, "POST", body=b"x").status == 200 for target in ("/a.i/x", "/a.i", "/axi/x", "/b/x.do", "/x.txt")]
    assert answered == [True, True, False, True, False]


def test_handler_of_a_site_needs_no_root(start):
    server = start(host="#DocumentRoot\nHandler echo", handlers="Match ^/never echo")
    assert server.request("/x", "POST", body=b"1").status == 200


# ---- other paths ----

def test_index_file_is_of_its_own_location(start):
    server = start(files=FILES, host="Indexfile start.htm", site=(
        location("Path /api", "Header X-Place api", "CacheControl * max-age=1") + location("Match \\.htm$", "Header X-Kind page")))
    answer = server.get("/api/")
    assert (answer.body, answer.header("X-Place"), answer.header("X-Kind")) == (b"start", "api", "page")
    assert answer.header("Cache-Control") == "max-age=1"


def test_fallback_file_is_of_its_own_location(start):
    server = start(files=FILES, host="TryFiles $uri /api/a.txt", site=location("Path /api", "Header X-Place api"))
    answer = server.get("/none")
    assert (answer.body, answer.header("X-Place")) == (b"api", "api")


def test_link_beneath_a_location_without_links_is_not_an_index(start):
    server = start(files=FILES, server="SymLink on", host="Indexfile link.htm", site=location("Match \\.htm$", "SymLink off"))
    os.symlink("start.htm", server.config.root / "api/link.htm")
    assert server.get("/api/").status != 200


@pytest.mark.skipif(not process.plugin("rewrite"), reason="rewrite is not built")
def test_rewritten_path_is_of_another_location(start):
    rules = section("REWRITE", "Rewrite ^/short/(.*)$ /api/$1\nRewrite ^/locked/(.*)$ /secret/$1")
    server = start(files={**FILES, "secret/a.txt": "secret"}, extra=load("rewrite", "mandril"), site=rules + (
        location("Path /api", "Header X-Place api") + location("Path /short", "Header X-Place short")
        + location("Path /secret", "Deny all")))
    answer = server.get("/short/a.txt")
    assert (answer.body, answer.header("X-Place")) == (b"api", "api")
    if not carriers.is_asked():  # the program itself is not denied
        assert server.get("/locked/a.txt").status == 403


# ---- Allow and Deny ----

needs_peer = pytest.mark.skipif(carriers.has_pipes(), reason="there is no address")


@needs_peer
@pytest.mark.parametrize("lines, let_in", [
    (["Deny all"], False),
    (["Deny 127.0.0.0/8"], False),
    (["Deny 10.0.0.0/8 ::1"], True),
    (["Allow 127.0.0.1"], True),
    (["Allow 10.0.0.0/8 192.168.0.0/16"], False),
    (["Allow 127.0.0.1", "Deny all"], True),
    (["Deny all", "Allow 127.0.0.1"], False),
    (["Allow unix", "Deny all"], False),
])
def test_addresses_of_a_location(start, lines, let_in):
    server = start(files=FILES, extra=load("mandril"), site=location("Path /api", *lines))
    assert server.get("/a.txt").status == 200
    assert server.get("/api/a.txt").status == (200 if let_in else 403)


@needs_peer
def test_inner_lines_take_the_place_of_the_outer_ones(start):
    server = start(files=FILES, host="Deny all", extra=load("mandril"),
                   site=location("Path /api", "Allow 127.0.0.1") + location("Path /api/v2", "Header X-Place v2")
                   + location("Match \\.css$", "Allow all"))
    assert [server.get(target).status for target in ("/a.txt", "/api/a.txt", "/api/v2/a.txt", "/img/a.css")] == [403, 200, 200, 200]


@needs_peer
@pytest.mark.parametrize("target", ["/admin;x/a", "/x%5c..%5cadmin%5ca", "/admin./a", "/x;/../admin/a", "/ADMIN/a", "/%61dmin/a", "//admin/a"])
def test_denied_however_the_path_is_read(start, target):
    server = start(files=FILES, extra=load("mandril"), site=location("Path /admin", "Deny all") + location("Path /x", "Header X-A 1"))
    assert server.get(target).status == 403
    assert server.get("/administer").status == 404


@needs_peer
def test_refusal_names_its_line(start):
    server = start(files=FILES, extra=load("mandril"), site=location("Path /api", "Deny all") + location("Path /apix", "Allow ::1"))
    since = len(server.log())
    assert server.get("/api/a.txt").status == 403
    server.wait_for_log(r"request refused by=\S*sites/default:\d+", since)
    assert server.get("/apix/a.txt").status == 403
    server.wait_for_log(r'request refused by="no Allow line"', since)


# ---- the log ----

@pytest.mark.parametrize("lines", [{"host": "AccessLog off"}, {"site": location("Path /api", "AccessLog off")}])
def test_access_log(start, tmp_path, lines):
    log, errors = tmp_path / "access.log", tmp_path / "errors.log"
    extra = {**load("logger"), "plugins/logger/logger.conf": section("LOGGER", "FlushTimeout 0")}
    site = section("LOGGER", f"AccessLog {log}\nErrorLog {errors}") + lines.get("site", "")
    server = start(files=FILES, extra=extra, host=lines.get("host", ""), site=site)
    assert server.get("/api/a.txt").status == 200
    assert server.get("/api/none").status == 404
    assert server.get("/a.txt").status == 200
    eventually(lambda: "/api/none" in errors.read_text())
    if "site" in lines:
        eventually(lambda: "/a.txt" in log.read_text())
    assert "/api" not in log.read_text()
    assert ("/a.txt" in log.read_text()) == ("site" in lines)


def test_logs_elsewhere(start, tmp_path):
    names = ("access", "errors", "api", "api-errors")
    access, errors, api, api_errors = logs = [tmp_path / f"{name}.log" for name in names]
    extra = {**load("logger"), "plugins/logger/logger.conf": section("LOGGER", "FlushTimeout 0")}
    places = (location("Path /api", f"AccessLog {api}", f"ErrorLog {api_errors}") + location("Path /api/v2", "AccessLog on", "ErrorLog off")
              + location("Path /img", "AccessLog off"))
    server = start(files=FILES, extra=extra, site=section("LOGGER", f"AccessLog {access}\nErrorLog {errors}") + places)
    for target in ("/a.txt", "/none", "/api/a.txt", "/api/none", "/api/v2/a.txt", "/api/v2/none", "/img/a.css", "/img/none", "/index.html"):
        server.get(target)
    assert eventually(lambda: "/index.html" in access.read_text() and "/api/none" in api_errors.read_text() and
                      "/img/none" in errors.read_text())

    def has(log):
        return set(re.findall(r"(?:GET )(/\S*)", log.read_text()))

    assert "/api/v2/none" not in errors.read_text() and "/img/none" in errors.read_text()
    assert has(access) >= {"/a.txt", "/api/v2/a.txt", "/index.html"}
    assert "/api/a.txt" in api.read_text() and "/api/a.txt" not in access.read_text() and "/img" not in access.read_text()
    assert "/v2" not in api.read_text() and "/v2" not in api_errors.read_text()
    assert all(log.exists() for log in logs)
    server.reload(files=FILES, extra=extra, site=section("LOGGER", f"AccessLog {access}"))
    server.get("/api/start.htm")
    assert eventually(lambda: "/api/start.htm" in access.read_text())


# ---- configurations ----

@pytest.mark.plain
@pytest.mark.parametrize("site, line, message", [
    (location("Header A b"), 1, "needs either Path or Match"),
    (location("Path /a", "Match ^/b"), 1, "needs either Path or Match"),
    (location("Path api"), 2, "Path: expected a path such as /api"),
    (location("Path /../b"), 2, "Path: expected a path"),
    (location("Path /a") + location("Path /A/"), 3, "another [LOCATION] has its Path"),
    (location("Match (x"), 2, 'Match: invalid regular expression "(x"'),
    (location("Path /a", "Haeder A b"), 3, 'unknown key "Haeder" in [LOCATION]; did you mean "Header"?'),
    (location("Path /a", "Timeout 3"), 3, "it belongs to [SERVER]"),
    (location("Path /a", "DocumentRoot /"), 3, "it belongs to [HOST]"),
    (location("Path /a", "MaxBodySize much"), 3, "MaxBodySize: expected"),
    (location("Path /a", "TryFiles $uri @app"), 3, "no Match line of this site has the name @app"),
    (location("Path /a", "Handler nothing"), 3, 'Handler: "nothing" needs the plugin of that name'),
    (location("Path /a", "SymLink on", "SymLink off"), 4, "SymLink is set twice"),
])
def test_fault_once_with_its_line(check, site, line, message):
    """Beside locations of which it is a part several times."""
    more = location("Path /a/deep", "Header A b") + location("Match x$", "Header A b") + location("Match y$", "Header A b")
    said = check(site=site + more)
    first = len(section("HOST", "DocumentRoot x").splitlines())
    assert said.count(message) == 1, said
    assert f"sites/default:{first + line}:" in said


@pytest.mark.plain
@pytest.mark.parametrize("lines, message", [
    (["Deny 300.1.1.1"], "Deny: expected addresses"), (["Allow 10.0.0.1/8"], "Allow: expected addresses"), (["Allow"], "Allow: expected"),
    (["Internal perhaps"], "Internal: expected"), (["Handler mandril"], "Handler: mandril answers no requests"),
])
def test_faults_of_a_plugin(check, lines, message):
    said = check(site=location("Path /a", *lines) + location("Match x$", "Header A b"), extra=load("mandril"))
    assert said.count(message) == 1, said


@pytest.mark.plain
def test_too_many_locations(check):
    said = check(site="".join(location(f"Path /{i}") for i in range(40)) + "".join(location(f"Match {i}$") for i in range(30)))
    assert "too many [LOCATION] sections" in said
    assert "configuration is fine" not in said


@pytest.mark.plain
def test_many_locations(start):
    server = start(files=FILES, site="".join(location(f"Path /{i}/{i}", f"Header X-Place p{i}") for i in range(1000)))
    assert server.get("/999/999/x").header("X-Place") == "p999"
    assert server.get("/0/0/x").header("X-Place") == "p0"


@pytest.mark.plain
def test_dump_reads_back(check, tmp_path):
    config = {"files": FILES, "host": "Deny 10.0.0.0/8\nIndexfile a b\nMaxBodySize 2M", "extra": load("mandril"),
              "site": location("Path /api", "Header X-A 1", "Deny all") + location("Match \\.css$", "SymLink on")}
    said = check("--dump", **config)
    for line in ("[LOCATION]", "    Path /api\n", "    Deny all\n", "    Deny 10.0.0.0/8\n", "    Indexfile a b\n", "    MaxBodySize 2M\n",
                 "    Match \\.css$\n", "    SymLink on\n"):
        assert line in said, said
    assert said.count("[LOCATION]") == 2
    assert "/sites/default:" in said.split("    Path /api\n")[0].splitlines()[-1]
    only = check("--dump", "LOCATION", **config)
    assert only.count("[LOCATION]") == 2 and "[HOST]" not in only


def test_reload(start):
    server = start(files=FILES, site=location("Path /api", "Header X-Place 1"), extra=load("mandril"))
    assert server.get("/api/a.txt").header("X-Place") == "1"
    server.reload(site=location("Path /api/v2", "Header X-Place 2"), extra=load("mandril"))
    assert server.get("/api/a.txt").header("X-Place") is None
    assert server.get("/api/v2/a.txt").header("X-Place") == "2"
    server.reload(extra=load("mandril"))
    assert server.get("/api/v2/a.txt").header("X-Place") is None
