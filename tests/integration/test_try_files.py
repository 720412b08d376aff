# SPDX-License-Identifier: Apache-2.0
"""TryFiles: other names for what was asked, tried in order."""

import time

import pytest

from harness import http, process
from harness.backend import Backend, servers
from harness.cgi import make_executable, start_site
from harness.config import Config, section

FILES = {"index.html": "application", "a.txt": "a", "page.html": "page", "dir/index.html": "dir", "empty/x": "", "ünï.html": "uni",
         "maintenance.html": "closed"}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(host="TryFiles $uri $uri/ $uri.html /index.html", files=FILES, handlers="Match \\.php$ echo")


@pytest.mark.parametrize("target, wanted", [
    ("/a.txt", "a"), ("/", "application"), ("/dir/", "dir"), ("/page", "page"), ("/missing", "application"),
    ("/deep/missing/route", "application"), ("/missing?q=1", "application"), ("/%C3%BCn%C3%AF", "uni"), ("/a.txt/", "application")])
def test_first_name_that_exists(server, target, wanted):
    response = server.get(target)
    assert response.status == 200
    assert response.text == wanted


def test_directory_is_redirected_or_its_index_served(server):
    response = server.get("/dir")
    assert response.status == 301 or response.text == "dir"


def test_type_is_that_of_the_file_found(server):
    assert server.get("/missing.txt").header("Content-Type").startswith("text/html")


def test_validators_are_those_of_the_file_found(server):
    tag = server.get("/index.html").header("ETag")
    assert server.get("/missing").header("ETag") == tag
    assert server.get("/missing", {"If-None-Match": tag}).status == 304


@pytest.mark.parametrize("target", ["/.hidden", "/../x", "/%2e%2e/x", "/.git/config"])
def test_hidden_names_stay_hidden(server, target):
    assert server.get(target).status in (403, 404)


def test_post_is_405_where_a_file_answers(server):
    assert server.request("/missing", "POST").status == 405


def test_last_name_may_be_a_status(start):
    server = start(host="TryFiles $uri $uri.html =404", files=FILES)
    assert server.get("/page").text == "page"
    assert server.get("/missing").status == 404


def test_fixed_file_for_everything(start):
    server = start(host="TryFiles /maintenance.html", files=FILES)
    for target in ("/", "/a.txt", "/missing"):
        assert server.get(target).text == "closed"


def test_nothing_found_is_404(start):
    server = start(host="TryFiles $uri /nowhere.html", files=FILES)
    assert server.get("/missing").status == 404


def test_a_name_that_a_handler_owns_is_not_sent_as_a_file(start):
    """Whatever TryFiles leads to is routed once more."""
    server = start(host="TryFiles $uri /front.php", files={"front.php": "the source"}, handlers="Match \\.php$ echo")
    response = server.get("/missing")
    assert "the source" not in response.text
    assert response.text.startswith("GET /missing ")


def test_an_index_that_a_handler_owns_is_not_sent_as_a_file(start):
    server = start(server="Indexfile index.php index.html", files={"index.php": "the source"}, handlers="Match \\.php$ echo")
    response = server.get("/")
    assert "the source" not in response.text
    assert response.text.startswith("GET / ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
@pytest.mark.parametrize("target", ["/", "/dir/", "/no/such/file"])
def test_any_method_reaches_the_handler_of_the_last_resort(start_shared, method, target):
    """Forms and uploads go to an application's address, which is no file; files themselves are for GET and HEAD."""
    server = start_shared(server="Indexfile index.run", host="TryFiles $uri $uri/ /index.run", handlers=r"Match \.run$ echo",
                          files={"index.run": "source", "dir/index.run": "source", "a.txt": "text", "bare/b.txt": "text"})
    answer = server.request(target, method, body=b"a form")
    assert answer.status == 200 and b"a form" in answer.body and b"source" not in answer.body
    refused = {"OPTIONS": (200, 204), "PROPFIND": (501,)}.get(method, (405,))
    assert server.request("/a.txt", method).status in refused
    assert server.request("/bare", method).status in refused


def test_any_method_reaches_the_handler_of_an_index(start_shared):
    server = start_shared(server="Indexfile index.run", handlers=r"Match \.run$ echo",
                          files={"index.run": "source", "bare/b.txt": "text"})
    assert b"a form" in server.request("/", "POST", body=b"a form").body
    for target in ("/bare/", "/bare", "/missing", "/bare/b.txt"):
        assert server.request(target, "POST", body=b"a form").status == 405


# -- queries, and what is no file

SHOW = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\necho \"$SCRIPT_NAME|$QUERY_STRING|$REQUEST_URI|$REQUEST_METHOD\"\ncat\n"


@pytest.mark.socket("a plugin that starts processes is loaded")
@pytest.mark.parametrize("item, target, wanted", [
    ("/index.cgi?q=$uri&$query", "/a%20b/c&d?x=1&y", "/index.cgi|q=/a%20b/c%26d&x=1&y|/a%20b/c&d?x=1&y"),
    ("/index.cgi?$args", "/lost?x=1", "/index.cgi|x=1|/lost?x=1"),
    ("/index.cgi?$query", "/lost", "/index.cgi||/lost"),
    ("/index.cgi?fixed", "/lost?x=1", "/index.cgi|fixed|/lost?x=1"),
    ("/index.cgi", "/lost?x=1", "/index.cgi|x=1|/lost?x=1"),
])
def test_an_item_may_have_a_query(start, item, target, wanted):
    server = start_site(start, {}, handlers="Match \\.cgi$ cgi", host=f"TryFiles $uri {item}", files={"index.cgi": SHOW, "a.txt": "a"})
    make_executable(server, ["index.cgi"])
    answer = server.get(target)
    assert (answer.status, answer.text) == (200, wanted + "|GET\n")
    assert server.get("/a.txt?x").text == "a"
    assert server.request(target, "POST", body=b"form").text == wanted + "|POST\nform"


@pytest.mark.parametrize("item", ["/app/front", "/app/front?from=$uri"])
def test_the_last_item_may_be_a_handlers_alone(start, item):
    server = start(host=f"TryFiles $uri {item}", handlers="Match ^/app/ echo", files={"a.txt": "a"})
    assert server.get("/a.txt").text == "a"
    answer = server.get("/lost")
    assert answer.status == 200 and "/lost" in answer.text
    assert server.get("/.hidden").status == 403


def test_another_item_is_no_handlers_without_a_file(start):
    server = start(host="TryFiles $uri /app/front /index.html", handlers="Match ^/app/ echo", files={"index.html": "front"})
    assert server.get("/lost").text == "front"


@pytest.fixture(scope="module")
def by_host(start_shared):
    files = {"of/a.test/a.txt": "of a", "of/a.test/dir/index.html": "dir of a", "of/index.html": "of nobody", "of/.secret/a.txt": "secret",
             "a.txt": "common", "secret.txt": "beside", "of/127.0.0.1.txt": "of the address"}
    return start_shared(host="TryFiles /of/$host$uri /of/$host$uri/ /of/index.html", files=files)


@pytest.mark.parametrize("host, target, wanted", [
    ("a.test", "/a.txt", "of a"), ("A.Test", "/a.txt", "of a"), ("a.test.:80", "/a.txt", "of a"), ("a.test", "/dir/", "dir of a"),
    ("b.test", "/a.txt", "of nobody"), ("a.test", "/none", "of nobody"),
    ("..", "/secret.txt", "of nobody"), (".", "/a.test/a.txt", "of nobody"), (".secret", "/a.txt", "of nobody"),
    ("..%2f", "/a.txt", "of nobody"), ("%2e%2e", "/secret.txt", "of nobody")])
def test_a_path_may_have_the_host(by_host, host, target, wanted):
    answer = by_host.get(target, {"Host": host})
    assert answer.status == 400 or answer.text == wanted


def test_a_value_that_is_no_name_is_not_found(start):
    server = start(host="TryFiles /v/$query /v/$request_id.txt =410", files={"v/a/b": "b", "v/x": "x", "v/.txt": "hidden", "v/.h": "hidden"})
    assert server.get("/?x").text == "x"
    assert [server.get(f"/?{query}").status for query in ("a/b", "../x", ".h", "", "none")] == [410] * 5


@pytest.mark.socket("a plugin that starts processes is loaded")
def test_a_query_has_values_of_the_request(start):
    server = start_site(start, {}, handlers="Match \\.cgi$ cgi", host="TryFiles $uri /index.cgi?h=$host&s=$scheme&u=$request_uri",
                        files={"index.cgi": SHOW})
    make_executable(server, ["index.cgi"])
    assert server.get("/lost?a=b&c").text.split("|")[1].startswith("h=localhost&s=http")
    assert server.get("/lost?a=b&c").text.split("|")[1].endswith("&u=/lost%3Fa%3Db%26c")


@pytest.mark.parametrize("line", ["$document_root$uri", "$request_uri", "/x/$request_uri", "$host$uri", "$uri /x?a=$", "$uri /x?$uris"])
def test_unknown_variables_are_refused(start, line):
    server = start(host=f"TryFiles {line}", wait=False)
    assert server.expect_exit() != 0
    assert "sites/default:3:14: error: TryFiles: " in server.log()


# ---- a handler by its name ----

NAMED = "Match @app echo"


def test_what_is_no_file_is_for_the_handler_of_that_name(start):
    server = start(host="TryFiles $uri $uri/ @app", handlers=NAMED, files={"a.txt": "a file", "b/index.html": "a folder"})
    assert server.get("/a.txt").text == "a file"
    assert server.get("/b/").text == "a folder"
    assert server.get("/b").header("Location") == "/b/"
    assert "GET /other?x=y" in server.get("/other?x=y").text
    assert "POST /other" in server.request("/other", "POST", body=b"the body").text
    assert server.request("/other", "POST", body=b"the body").text.endswith("the body")


@pytest.mark.connection
def test_a_named_handler_may_wait_for_a_body(start):
    server = start(host="TryFiles $uri @app", handlers=NAMED)
    with server.connect() as connection:
        connection.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nthe ")
        time.sleep(0.1)  # until the handler has said that it waits
        connection.send("body")
        assert b"the body" in http.read_response(connection.stream, "POST").body


def test_no_path_leads_to_it(start):
    server = start(handlers=NAMED, files={"@app": "a file", "x@app/a": "another"})
    assert server.get("/@app").text == "a file"
    assert server.get("/x@app/a").text == "another"
    assert server.get("/none@app").status == 404


def test_handlers_of_paths_come_first(start):
    server = start(host="TryFiles $uri @app", handlers=f"Match ^/own/ echo\n{NAMED}", files={"own/a": "a file"})
    assert "GET /own/a" in server.get("/own/a").text


@pytest.mark.socket  # backends have ports
def test_the_first_of_that_name_is_asked(start, tmp_path):
    with Backend() as backend:
        entry = section("PROXY_ENTRY", f"{servers([backend])}\nMatch @app")
        server = start(host="TryFiles $uri @app", files={"a.txt": "a file"}, extra={
            "plugins.load": section("PLUGINS", f"Load {process.plugin('proxy_reverse')}"),
            "plugins/proxy_reverse/proxy_reverse.conf": entry})
        assert server.get("/a.txt").text == "a file"
        assert server.get("/b?c=d").status == 200
        assert [request.target for request in backend.requests] == ["/b?c=d"]


@pytest.mark.plain  # no connections at all
@pytest.mark.parametrize("host, handlers, fault", [
    ("TryFiles $uri @app", "Match ^/ echo", "TryFiles: no Match line of this site has the name @app"),
    ("TryFiles @app $uri", NAMED, "TryFiles: expected up to 10 of $uri,"),
    ("TryFiles $uri @", NAMED, "TryFiles: expected up to 10 of $uri,"),
])
def test_faults_of_names(tmp_path, host, handlers, fault):
    written = Config(tmp_path)
    written.write(host=host, handlers=handlers)
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode == 1 and fault in result.stdout + result.stderr
