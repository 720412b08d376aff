# SPDX-License-Identifier: Apache-2.0
"""The plugin `file`: files in place of handlers that follow, and folders that lie elsewhere."""

import re

import pytest

from harness import process
from harness.backend import Backend, servers
from harness.config import Config, section

def loads(*names):
    return section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in names))


LOADED = {"plugins.load": loads("file")}


def loaded(**files):
    return {**LOADED, **files}


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "elsewhere"
    for name, text in {"a.txt": "0123456789", "index.html": "the index", "b/index.html": "below", ".secret": "no",
                       "b/.git/config": "no"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def faults(tmp_path):
    """faults(...) writes a configuration and returns what --test says of it."""
    def of(**config):
        written = Config(tmp_path)
        written.write(**config)
        result = process.run("--configdir", written.folder, "--test")
        assert result.returncode == 1
        return result.stdout + result.stderr
    return of


def aliases(*lines):
    return section("FILE", "\n".join(f"Alias {line}" for line in lines))


# ---- Match ... file ----

def beside_an_application(start):
    return start(handlers="Match ^/static/ file\nMatch ^/ echo", extra=LOADED,
                 files={"static/a.css": "a { }", "static/sub/index.html": "sub", "a.css": "not asked for"})


def test_files_stand_beside_an_application(start):
    server = beside_an_application(start)
    assert server.get("/static/a.css").text == "a { }"
    assert server.get("/static/a.css").header("Content-Type") == "text/css; charset=utf-8"
    assert "GET /a.css" in server.get("/a.css").text
    assert "POST /static" in server.request("/static", "POST", body=b"x").text


def test_what_is_no_file_is_no_request_for_the_application(start):
    server = beside_an_application(start)
    assert server.get("/static/none.css").status == 404
    assert server.get("/static/.hidden").status == 403
    assert server.request("/static/a.css", "POST", body=b"x").status == 405


def test_files_are_those_of_the_site(start):
    server = beside_an_application(start)
    assert server.get("/static/a.css", {"Range": "bytes=0-0"}).text == "a"
    assert server.head("/static/a.css").header("Content-Length") == "5"
    tag = server.get("/static/a.css").header("ETag")
    assert server.get("/static/a.css", {"If-None-Match": tag}).status == 304
    assert server.get("/static/sub").header("Location") == "/static/sub/"
    assert server.get("/static/sub/").text == "sub"


def test_an_entry_of_the_proxy_leaves_them_alone(start):
    with Backend() as backend:
        server = start(handlers="Match ^/static/ file", files={"static/a.txt": "of the site"},
                       extra={"plugins.load": loads("file", "proxy_reverse"), "plugins/proxy_reverse/proxy_reverse.conf":
                              section("PROXY_ENTRY", f"{servers([backend])}\nMatch ^/")})
        assert server.get("/static/a.txt").text == "of the site"
        assert server.get("/static/none").status == 404
        assert server.get("/other").status == 200


def test_a_site_that_has_no_files_has_none_here(start):
    server = start(sites={"old": "[HOST]\n    ServerName old.test\n    Redirect http://new.test/\n"
                                 "[HANDLERS]\n    Match ^/static/ file\n"}, extra=LOADED)
    assert server.get("/static/a", {"Host": "old.test"}).header("Location") == "http://new.test/static/a"


# ---- Alias ----

def test_an_alias_shows_a_folder_that_lies_elsewhere(start, docs):
    server = start(site=aliases(f"/docs {docs}"), extra=LOADED, files={"docs/a.txt": "of the site", "a.txt": "the site's"})
    assert server.get("/docs/a.txt").text == "0123456789"
    assert server.get("/docs/").text == "the index"
    assert server.get("/docs/b/").text == "below"
    assert server.get("/docs/a.txt", {"Range": "bytes=3-4"}).text == "34"
    tag = server.get("/docs/a.txt").header("ETag")
    assert server.get("/docs/a.txt", {"If-None-Match": tag}).status == 304
    assert server.get("/docs/none").status == 404
    assert server.request("/docs/a.txt", "PUT", body=b"x").status == 405
    assert server.get("/a.txt").text == "the site's"


@pytest.mark.parametrize("path", ["/.well-known", "/.well-known/acme-challenge"])
def test_an_alias_of_a_well_known_path(start, docs, path):
    """Certificate authorities ask there, and all sites may have one folder for that."""
    server = start(site=aliases(f"{path} {docs}"), extra=LOADED)
    assert server.get(f"{path}/a.txt").text == "0123456789"
    assert server.get(f"{path}/.secret").status == 403


@pytest.mark.parametrize("asked, location", [
    ("/docs", "/docs/"), ("/docs?a=b&c", "/docs/?a=b&c"), ("/docs?", "/docs/?"), ("/docs/b", "/docs/b/"),
    ("//docs", "/docs/"), ("/x/..//docs", "/docs/"), ("/%64ocs", "/docs/"),
])
def test_folders_have_a_slash_at_the_end(start, docs, asked, location):
    server = start(site=aliases(f"/docs/ {docs}"), extra=LOADED)
    answer = server.get(asked)
    assert (answer.status, answer.header("Location")) == (301, location)


@pytest.mark.parametrize("path", ["/docs/.secret", "/docs/b/.git/config", "/docs/../root.txt", "/docs/%2e%2e/root.txt",
                                  "/docs/b/..%2f..%2froot.txt", "/docs/link", "/docs/away/root.txt"])
def test_nothing_else_is_shown(start, docs, tmp_path, path):
    (tmp_path / "root.txt").write_text("outside")
    (docs / "link").symlink_to(tmp_path / "root.txt")
    (docs / "away").symlink_to(tmp_path)
    server = start(site=aliases(f"/docs {docs}"), extra=LOADED)
    answer = server.get(path)
    assert answer.status in (400, 403, 404) and "outside" not in answer.text


@pytest.mark.parametrize("path", ["/docsx", "/docs.txt", "/DOCS/a.txt", "/v1x0/a.txt"])
def test_an_alias_is_of_whole_segments_as_they_are_written(start, docs, path):
    server = start(site=aliases(f"/docs {docs}", f"/v1.0 {docs}"), extra=LOADED, files={"docsx": "x", "docs.txt": "x"})
    assert "0123456789" not in server.get(path).text
    assert server.get("/v1.0/a.txt").text == "0123456789"


def test_the_root_may_be_an_alias(start, docs):
    server = start(site=aliases(f"/ {docs}"), extra=LOADED, files={"of-the-site.txt": "x"})
    assert server.get("/a.txt").text == "0123456789"
    assert server.get("/").text == "the index"
    assert server.get("/of-the-site.txt").status == 404


def test_an_alias_for_all_sites(start, docs, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.txt").write_text("the site's own")
    server = start(sites={"other": f"[HOST]\n    ServerName other.test\n    DocumentRoot {tmp_path}\n{aliases(f'/docs {own}')}"},
                   extra=loaded(**{"plugins/file/debian.conf": aliases(f"/docs {docs}", f"/more {docs}")}))
    assert server.get("/docs/a.txt").text == "0123456789"
    assert server.get("/docs/a.txt", {"Host": "other.test"}).text == "the site's own"
    assert server.get("/more/a.txt", {"Host": "other.test"}).text == "0123456789"


def test_rules_hold_for_an_alias(start, docs, tmp_path):
    server = start(site=aliases(f"/docs {docs}"), extra=loaded(**{
        "plugins.load": loads("file", "mandril"), "plugins/mandril/rules.conf": section("RULES", "Deny_URL /docs/b")}))
    assert server.get("/docs/b/").status == 403
    assert server.get("/docs/a.txt").status == 200


def test_a_reload_changes_aliases(start, docs):
    server = start(site=aliases(f"/docs {docs}"), extra=LOADED)
    server.reload(site=aliases(f"/papers {docs}"), extra=LOADED)
    assert server.get("/papers/a.txt").text == "0123456789"
    assert server.get("/docs/a.txt").status == 404


@pytest.mark.parametrize("line, fault", [
    ("docs /usr", "Alias: expected a path such as /docs and a folder such as /usr/share/doc, got \"docs /usr\""),
    ("/docs", "Alias: expected a path such as /docs and a folder"),
    ("/a//b /usr", "Alias: expected a path"),
    ("/a/../b /usr", "Alias: expected a path"),
    ("/a%20b /usr", "Alias: expected a path"),
    ("/.git /usr", "Alias: expected a path"),
    ("/.well-known/../b /usr", "Alias: expected a path"),
    ("/.well-known/.. /usr", "Alias: expected a path"),
    ("/docs usr/share", "Alias: expected the path of a folder after /docs/, got \"usr/share\""),
    ("/docs /none/such", "Alias: expected the path of a folder after /docs/, got \"/none/such\""),
    ("/docs /etc/passwd", "Alias: expected the path of a folder after /docs/, got \"/etc/passwd\""),
])
def test_faults_of_an_alias(faults, line, fault):
    assert fault in faults(site=aliases(line), extra=LOADED)


def test_a_path_has_one_alias(faults):
    assert re.search(r"sites/default:5:11: error: Alias: /docs/ leads to /usr already, by .*sites/default:4",
                     faults(site=aliases("/docs /usr", "/docs/ /var"), extra=LOADED))
