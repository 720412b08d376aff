# SPDX-License-Identifier: Apache-2.0
"""Virtual hosts: which site answers for which name (RFC 9110 7.2, RFC 9112 3.2)."""

import pytest

from harness import http

NAMES = {"one": "one.example.org ONE.example.net", "wild": "*.example.org", "deeper": "*.deep.example.org", "exact": "a.deep.example.org", "ip": "127.0.0.1"}


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    sites = {}
    for site, names in NAMES.items():
        root = tmp_path_factory.mktemp(site)
        (root / "who.txt").write_text(site)
        sites[site] = f"[HOST]\n    ServerName {names}\n    DocumentRoot {root}\n"
    sites[".ignored"] = sites["backup~"] = "[HOST]\n    this is no configuration\n"
    return start_shared(host="ServerName default.example.org", files={"who.txt": "default"}, sites=sites)


@pytest.mark.parametrize("host, site", [
    ("one.example.org", "one"),
    ("ONE.Example.ORG", "one"),
    ("one.example.net", "one"),
    ("one.example.org.", "one"),
    ("one.example.org:8080", "one"),
    ("one.example.org.:8080", "one"),
    ("one.example.org:", "one"),
    ("two.example.org", "wild"),
    ("TWO.EXAMPLE.ORG:1", "wild"),
    ("a.b.example.org", "wild"),
    ("b.deep.example.org", "deeper"),
    ("a.deep.example.org", "exact"),
    ("example.org", "default"),
    ("badexample.org", "default"),
    (".example.org", "default"),
    pytest.param("default.example.org", "default", id="exact name before wildcard"),
    ("unknown.net", "default"),
    ("one.example.org.evil.net", "default"),
    ("127.0.0.1", "ip"),
    ("127.0.0.1:2001", "ip"),
    ("[::1]:2001", "default"),
    pytest.param("", "default", marks=pytest.mark.connection("no host is empty in HTTP/2")),
])
def test_name_chooses_the_site(server, host, site):
    assert server.get("/who.txt", host=host).text == site


def test_host_of_an_absolute_target_wins(server):
    """RFC 9112 3.2.2"""
    assert server.get("http://one.example.org/who.txt", host="two.example.org").text == "one"
    assert server.get("http://two.example.org:80/who.txt", host="one.example.org").text == "wild"
    assert server.get("http://unknown.net/who.txt", host="one.example.org").text == "default"


@pytest.mark.connection("HTTP/1.0")
def test_http_1_0_without_host_gets_the_default_site(server):
    assert http.parse_one(server.raw(b"GET /who.txt HTTP/1.0\r\n\r\n")).text == "default"


def test_each_request_of_a_connection_chooses_anew(server):
    with server.connect() as connection:
        for host, site in (("one.example.org", "one"), ("x.example.org", "wild"), ("y.net", "default")) * 3:
            assert connection.request("/who.txt", host=host).text == site


def test_pipelined_requests_choose_each_their_site(server):
    hosts = ["one.example.org", "x.example.org", "y.net", "a.deep.example.org"]
    data = b"".join(http.request("/who.txt", host=host) for host in hosts)
    with server.connect() as connection:
        connection.send(data)
        assert [connection.response().text for _ in hosts] == ["one", "wild", "default", "exact"]


def test_the_same_path_of_two_sites_is_not_confused(server):
    """The file table knows more than the path."""
    for _ in range(5):
        assert server.get("/who.txt", host="one.example.org").text == "one"
        assert server.get("/who.txt", host="unknown.net").text == "default"


def test_a_site_may_not_be_escaped_by_its_name(server):
    for host in ("../default", "..", "one.example.org/../x"):
        response = http.parse_one(server.raw(http.request("/who.txt", host=host, headers={"Connection": "close"})))
        assert response.status == 400 or response.text == "default"
