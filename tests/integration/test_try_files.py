# SPDX-License-Identifier: Apache-2.0
"""TryFiles: other names for what was asked, tried in order."""

import pytest

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
