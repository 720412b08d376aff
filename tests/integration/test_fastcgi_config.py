# SPDX-License-Identifier: Apache-2.0
"""FastCGI settings: what is wrong is said, with its place."""

import re

import pytest

from harness import executable, process
from harness.config import Config, section

SERVER = section("FASTCGI_SERVER", "ServerName a\nServerAddr 127.0.0.1:9000")


def check(tmp_path, text, handlers="", server=""):
    written = Config(tmp_path)
    written.write(server=server, handlers=handlers, extra={
        "plugins.load": section("PLUGINS", f"Load {executable.plugin('fastcgi')}"),
        "plugins/fastcgi/fastcgi.conf": text,
    })
    result = process.run("--configdir", written.folder, "--test")
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("address", ["ServerAddr localhost:9000", "ServerAddr [::1]:9000", "ServerPath /run/x.sock",
                                     "ServerPath x.sock", "ServerAddr 10.0.0.1:1"])
def test_addresses(tmp_path, address):
    code, output = check(tmp_path, section("FASTCGI_SERVER", f"ServerName a\n{address}"), "Match ^/ fastcgi")
    assert code == 0, output


@pytest.mark.parametrize("address, is_own", [
    ("ServerAddr 127.0.0.1:9009", True), ("ServerAddr localhost:9009", True), ("ServerAddr 127.0.0.1:9010", False),
    ("ServerPath /tmp/own.sock", True), ("ServerPath /tmp/other.sock", False),
])
def test_an_application_that_is_the_server_itself_is_told(tmp_path, address, is_own):
    lines = "Listen 127.0.0.1:9009\nListen unix:/tmp/own.sock"
    code, output = check(tmp_path, section("FASTCGI_SERVER", f"ServerName a\n{address}"), "Match ^/ fastcgi", lines)
    assert code == 0 and ("is an address of this server, which would ask itself" in output) == is_own, output


@pytest.mark.parametrize("locations, is_told", [
    ("ServerNames a", True), ("ServerNames a b", False), ("", False), (None, False),
])
def test_a_server_that_no_location_uses_is_told(tmp_path, locations, is_told):
    text = SERVER + SERVER.replace("Name a", "Name b").replace("9000", "9001")
    text += "" if locations is None else section("FASTCGI_LOCATION", f"Mount /\n{locations}")
    code, output = check(tmp_path, text, "Match ^/ fastcgi")
    said = "fastcgi.conf:4:1: warning: no [FASTCGI_LOCATION] has this server in its ServerNames"
    assert code == 0 and (said in output) == is_told, output


FAULTS = [
    (section("FASTCGI_SERVER", "ServerAddr 127.0.0.1:9000"), "needs ServerName"),
    (section("FASTCGI_SERVER", "ServerName a\nServerPath unix:/run/x.sock"), "ServerPath: a path without unix:, such as /run/php"),
    (section("FASTCGI_SERVER", "ServerName a\nServerAddr unix:/run/x.sock"), "the path of a unix socket is written in ServerPath"),
    (section("FASTCGI_SERVER", "ServerName a"), "either ServerAddr or ServerPath"),
    (section("FASTCGI_SERVER", "ServerName a\nServerAddr 127.0.0.1:9\nServerPath /a"), "either ServerAddr or ServerPath"),
    (section("FASTCGI_SERVER", "ServerName a\nServerPath /" + "a" * 120), "too long"),
    *[(section("FASTCGI_SERVER", f"ServerName a\nServerAddr {address}"), "host:port")
      for address in ("9000", "a:", ":9000", "a:0", "a:65536", "a:b", "::1:9000", "a:9000x", "a/b:1", "a b:1")],
    (section("FASTCGI_SERVER", "ServerName a\nServerAddr a:1\nMaxConnections 0"), "MaxConnections"),
    (section("FASTCGI_SERVER", "ServerName a\nServerAddr a:1\nReadTimeout 0"), "ReadTimeout"),
    (section("FASTCGI_SERVER", "ServerName a\nServerAddr a:1\nMaxConnection 3"), "MaxConnections"),
    (SERVER + SERVER.replace("Name a", "Name A"), "another server is called"),
    (SERVER + section("FASTCGI_LOCATION", "ServerNames a b"), "no .FASTCGI_SERVER. b"),
    (section("FASTCGI_LOCATION", "Mount /"), r"needs a .FASTCGI_SERVER"),
    (SERVER + section("FASTCGI_LOCATION", "Mount app"), "a path such as"),
    (SERVER + section("FASTCGI_LOCATION", "Mount /app/*"), "a path such as"),
    (SERVER + section("FASTCGI_LOCATION", "ScriptRoot app"), "absolute path"),
    (SERVER + section("FASTCGI_LOCATION", "Match a(b"), "Match|regex|pattern"),
    (SERVER + section("FASTCGI_LOCATION", "LocationName x") * 2, "another location is called"),
    (SERVER + section("FASTCGI_LOCATION", "KeepAlive maybe"), "KeepAlive"),
    ("".join(SERVER.replace("Name a", f"Name a{i}") for i in range(65)) + section("FASTCGI_LOCATION", "Mount /"),
     "more than 64"),
]


@pytest.mark.parametrize(("text", "sentence"), FAULTS)
def test_faults(tmp_path, text, sentence):
    code, output = check(tmp_path, text)
    assert code == 1
    assert re.search(sentence, output), output
    assert "fastcgi.conf:" in output


@pytest.mark.parametrize(("text", "handler", "sentence"), [
    ("", "Match ^/ fastcgi", "needs a [FASTCGI_SERVER]"),
    (SERVER, "Match ^/ fastcgi nowhere", "no [FASTCGI_LOCATION] nowhere"),
    (SERVER, "Match ^/ fastcgi a b", "one location"),
])
def test_faults_of_handler_lines(tmp_path, text, handler, sentence):
    code, output = check(tmp_path, text, handler)
    assert code == 1 and sentence in output, output
    assert "sites/default:" in output
