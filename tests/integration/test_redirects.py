# SPDX-License-Identifier: Apache-2.0
"""Redirect of a whole site: `Redirect URL [status]`."""

import pytest

from harness import carriers, http


@pytest.mark.parametrize("line, target, status, location", [
    ("https://example.org/", "/", 301, "https://example.org/"),
    ("https://example.org/", "/a/b.html", 301, "https://example.org/a/b.html"),
    ("https://example.org/", "/a?b=c&d=%20", 301, "https://example.org/a?b=c&d=%20"),
    ("https://example.org/", "/a%20b/%C3%BC", 301, "https://example.org/a%20b/%C3%BC"),
    ("https://example.org/base/", "/a", 301, "https://example.org/base/a"),
    ("https://example.org/page.html", "/a?b", 301, "https://example.org/page.html"),
    ("https://example.org/page.html 302", "/a", 302, "https://example.org/page.html"),
    ("https://example.org/ 303", "/", 303, "https://example.org/"),
    ("https://example.org/ 307", "/x", 307, "https://example.org/x"),
    ("https://example.org/ 308", "/x", 308, "https://example.org/x"),
    ("https://example.org/", "http://localhost?b", 301, "https://example.org/?b"),
    ("/", "//evil.org/", 301, "/evil.org/"),
    ("/", "http://localhost//evil.org/", 301, "/evil.org/"),
])
def test_redirects_a_site(start, line, target, status, location):
    response = start(host=f"Redirect {line}", files={"a": "not served"}).get(target)
    assert response.status == status
    assert response.header("Location") == location


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(host="Redirect https://example.org/")


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
def test_redirects_every_method(server, method):
    assert server.request("/x", method).status == 301


def test_keeps_the_connection(server):
    with server.connect() as connection:
        for number in range(3):
            assert connection.request(f"/{number}").header("Location") == f"https://example.org/{number}"


@pytest.mark.parametrize("target", ["/%0d%0aX-Injected:%20yes", "/?%0d%0aX-Injected:yes", "/%22%3E%3Cscript%3E", "/a%00b"])
def test_nothing_can_be_injected(server, target):
    answer = server.raw(http.request(target, headers={"Connection": "close"}))
    response = http.parse_one(answer)
    assert response.header("X-Injected") is None
    assert b"<script" not in answer


def test_absolute_form_keeps_the_path(server):
    assert server.get("http://localhost/a?b").header("Location") == "https://example.org/a?b"


@pytest.mark.parametrize("target", ["//evil.org/", "/..//evil.org"])
def test_path_stays_below_the_new_site(server, target):
    response = server.get(target)
    if response.status == 301:
        assert response.header("Location").startswith("https://example.org/")


def test_redirect_of_one_site_among_several(start):
    server = start(files={"a.txt": "here"}, sites={"old": "[HOST]\n    ServerName old.example.org\n    Redirect http://new.example.org/\n"})
    assert server.get("/a.txt", host="old.example.org").header("Location") == "http://new.example.org/a.txt"
    assert server.get("/a.txt", host="new.example.org").text == "here"


# -- variables

@pytest.mark.parametrize("line, target, location", [
    ("https://$host/", "/a?b=c", "https://localhost/a?b=c"),
    ("https://$host$request_uri", "/a%20b?c=%20", "https://localhost/a%20b?c=%20"),
    ("https://www.$host$uri", "/dir/%61 b/".replace(" ", "%20"), "https://www.localhost/dir/a%20b/"),
    ("https://example.org/login?next=$request_uri", "/a?b&c", "https://example.org/login?next=/a%3Fb%26c"),
    ("https://example.org/login?next=$uri&q=$query", "/a&b?c&d", "https://example.org/login?next=/a%26b&q=c&d"),
    ("https://example.org/$host/$scheme 302", "/a", "https://example.org/localhost/http"),
    ("/moved$uri", "/a", "/moved/a"),
    ("/$query", "/?/evil.test", "/evil.test"),
    ("/$query", "/?//evil.test/", "/evil.test/"),
])
def test_variables_are_escaped_for_their_place(start, line, target, location):
    if carriers.is_secure() and "//$host" in line:
        pytest.skip("the client is there already")
    found = start(host=f"Redirect {line}").get(target).header("Location")
    assert found == location or found == location.replace("/http", "/https")


def test_only_the_requested_host_is_one(start):
    server = start(host="ServerName a.test\nRedirect https://www.$host/")
    assert server.get("/x", {"Host": "B.test:8080"}).header("Location") == "https://www.B.test/x"
    assert server.get("http://c.test/x", {"Host": "b.test"}).header("Location") == "https://www.c.test/x"
    for host in ("b.test/evil", "b.test@evil", "b.test\\evil", "b.test#evil"):
        assert server.get("/x", {"Host": host}).status == 400


@pytest.mark.connection
@pytest.mark.parametrize("name, status", [("ServerName a.test\n", 301), ("", 400)])
def test_without_a_host_the_site_has_one_or_none(start, name, status):
    """HTTP/1.0 has no Host."""
    server = start(host=f"{name}Redirect https://$host/")
    with server.connect() as connection:
        connection.send(b"GET /x HTTP/1.0\r\n\r\n")
        answer = connection.response()
    assert (answer.status, answer.header("Location")) == (status, "https://a.test/x" if name else None)


@pytest.mark.parametrize("line", [
    "https://$remote_addr/", "https://$query/", "https://a$query", "$host/", "$request_uri", "$scheme:/$host/", "$scheme://$query/",
    "x$scheme://$host/", "https://$hosts/", "https://%{HTTP_HOST}/"])
def test_another_host_of_the_clients_choice_is_refused(start, line):
    server = start(host=f"Redirect {line}", wait=False)
    assert server.expect_exit() != 0
    assert "error: Redirect: " in server.log()


@pytest.mark.parametrize("count, status", [(3, 301), (4, 503)])
def test_a_url_with_its_values_is_bounded(start, count, status):
    """64 KB if all of a value were escaped."""
    target = "/" + "a" * 6999
    response = start(host=f"Redirect https://a.test{'$request_uri' * count}").get(target)
    assert response.status == status
    assert status != 301 or response.header("Location") == "https://a.test" + target * count
