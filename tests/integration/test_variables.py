# SPDX-License-Identifier: Apache-2.0
"""Variables of settings: the same list in fields of answers, fields for backends, redirects, rewrites and log formats."""

import json
import re

import pytest

from harness import certificates, process, secured
from harness.backend import Backend, configured
from harness.config import Config, section
from harness.logs import wait_for_lines

NAMES = ["uri", "path", "request_uri", "query", "args", "host", "http_host", "scheme", "remote_addr", "remote_port", "server_port",
         "request_id", "tls_version", "tls_client_subject"]
FORMAT = "FlushTimeout 0\nFormat "
needs_rewrite = pytest.mark.skipif(not process.plugin("rewrite"), reason="rewrite is not built")


def loads(*names):
    return section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in names))


def logged(line, *plugins, site="", **config):
    """What start() is to be given for a site with a log of this format."""
    return dict(config, site=site + section("LOGGER", "AccessLog access.log"), extra={
        "plugins.load": loads("logger", *plugins), "plugins/logger/logger.conf": section("LOGGER", f"{FORMAT}{line}"),
        **config.get("extra", {})})


def last_line(server, count=1):
    return wait_for_lines(server.conf / "access.log", count)[-1]


# -- one list

PLACES = {
    "Header": lambda text: {"host": f"Header X-A {text}"},
    "SetHeader": lambda text: configured(f"SetHeader X-A {text}", "127.0.0.1:1"),
    "Redirect": lambda text: {"site": section("REWRITE", f"Redirect /a https://{text}/"), "extra": {"plugins.load": loads("rewrite")}},
    "Rewrite": lambda text: {"site": section("REWRITE", f"Rewrite ^/a$ /x{text}"), "extra": {"plugins.load": loads("rewrite")}},
    "Format": lambda text: logged(f"'{text}'"),
    "Format json": lambda text: logged(f"json key={text}"),
}


def check(tmp_path, place, text, env=None):
    if "re" == place[:2].lower() and not process.plugin("rewrite"):
        pytest.skip("rewrite is not built")
    written = Config(tmp_path)
    written.write(**PLACES[place](text))
    result = process.run("--configdir", written.folder, "--test", env=env)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("place", PLACES)
def test_each_name_is_known_in_each_place(tmp_path, place):
    for name in NAMES:
        code, text = check(tmp_path, place, f"${name}")
        assert code == 0, (name, text)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("wrong, near", [("$hosts", "$host"), ("$remote_adr", "$remote_addr"), ("$Scheme", "$scheme"),
                                         ("$tls_client_subjekt", "$tls_client_subject")])
def test_an_unknown_name_is_an_error_with_the_nearest_one(tmp_path, place, wrong, near):
    code, text = check(tmp_path, place, wrong)
    assert code == 1
    assert re.search(rf'^\S+:\d+:\d+: error: {place.split()[0]}: unknown variable "\{wrong}"; did you mean "\{near}"\?$', text, re.M), text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("wrong, shown", [("$nothing_like_it", "$nothing_like_it"), ("${host", "${"), ("${}", "${")])
def test_an_unknown_name_without_a_near_one(tmp_path, place, wrong, shown):
    code, text = check(tmp_path, place, wrong)
    assert code == 1
    assert f'{place.split()[0]}: unknown variable "{shown}"; monkey.conf(5) lists those there are' in text


def test_pieces_are_bounded(tmp_path):
    assert check(tmp_path, "Header", "$host" * 64)[0] == 0
    code, text = check(tmp_path, "Header", "$host" * 65)
    assert code == 1 and "Header: expected at most 64 variables and texts between them" in text


# -- the environment

@pytest.mark.parametrize("place", PLACES)
def test_the_environment_is_read(tmp_path, place):
    code, text = check(tmp_path, place, "${NODE}", env={"NODE": "a1"})
    assert code == 0 and text.startswith("configuration is fine\n"), text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("env, why", [({}, "${NODE} has no value in the environment"),
                                      ({"NODE": ""}, "${NODE} has no value in the environment"),
                                      ({"NODE": "a\r\nX-Evil: 1"}, "${NODE} is too long or has control characters in the environment"),
                                      ({"NODE": "a\x7f"}, "${NODE} is too long or has control characters in the environment"),
                                      ({"NODE": "a" * 4097}, "${NODE} is too long or has control characters in the environment")])
def test_a_value_that_the_environment_has_not(tmp_path, place, env, why):
    code, text = check(tmp_path, place, "${NODE}", env=env)
    assert code == 1 and f"error: {place.split()[0]}: {why}" in text


def test_values_of_the_environment_are_sent(start):
    server = start(host="Header X-Node at ${NODE} for $host\nHeader X-Fixed ${NODE}$$", files={"a": "x"}, env={"NODE": "$host%{x}"},
                   **logged("json node=${NODE} $host"))
    answer = server.get("/a", host="x.test")
    assert (answer.header("X-Node"), answer.header("X-Fixed")) == ("at $host%{x} for x.test", "$host%{x}$")
    assert json.loads(last_line(server)) == {"node": "$host%{x}", "host": "x.test"}


def test_a_site_moves_where_the_environment_says(start):
    server = start(host="Redirect ${BASE}/ 302", env={"BASE": "https://new.test"})
    assert server.get("/a?b").header("Location") == "https://new.test/a?b"


def test_a_redirect_of_a_site_has_those_of_a_request_too(start):
    server = start(host="Redirect ${BASE}/$host$uri 302", env={"BASE": "https://new.test"})
    assert server.get("/a%20b?c", host="x.test").header("Location") == "https://new.test/x.test/a%20b"


@needs_rewrite
def test_a_rule_leads_where_the_environment_says(start):
    server = start(site=section("REWRITE", "Redirect /a ${BASE}$path 302\nRewrite ^/b$ ${FOLDER}/c"), files={"d/c": "text"},
                   env={"BASE": "https://new.test", "FOLDER": "/d"}, extra={"plugins.load": loads("rewrite")})
    assert server.get("/a").header("Location") == "https://new.test/a"
    assert server.get("/b").text == "text"


# -- values

@pytest.mark.socket("a port is looked at")
def test_the_port_of_a_client(start):
    server = start(host="Header X-Port $remote_port", files={"a": "x"}, **logged("json $remote_port $remote_addr p=$server_port"))
    with server.connect() as connection:
        port = str(connection.sock.getsockname()[1])
        assert connection.request("/a").header("X-Port") == port
    assert json.loads(last_line(server)) == {"remote_port": port, "remote_addr": "127.0.0.1", "p": str(server.port)}


@pytest.mark.socket("its connections are plain")
def test_what_a_plain_connection_has_not(start):
    server = start(host="Header X-Version v$tls_version\nHeader X-Subject $tls_client_subject", files={"a": "x"},
                   **logged("json $tls_version $tls_client_subject"))
    answer = server.get("/a")
    assert (answer.header("X-Version"), answer.header("X-Subject")) == ("v", None)
    assert json.loads(last_line(server)) == {"tls_version": None, "tls_client_subject": None}


@pytest.mark.skipif(not process.plugin("tls"), reason="tls is not built")
@pytest.mark.parametrize("subject, shown", [("/O=Tests/CN=client", "O=Tests,CN=client"),
                                            ("/O=Tests/CN=a\"\\\\b", None)])
def test_who_a_client_is(start, subject, shown):
    """A subject is a text of somebody else: it ends no line and no quotes."""
    lines = certificates.issue().lines("CheckClientCert optional", f"CAFile {certificates.authority().certificate}")
    config = secured.config(lines, plugin="tls", host="Header X-Client <$tls_client_subject> $tls_version", **logged(
        "'\"$tls_client_subject\" $tls_version'", "tls"))
    config["extra"]["plugins.load"] = loads("logger", "tls")
    server = start(**config)
    context = certificates.trusting(version=secured.TLS13, as_client=certificates.client(subject))
    field = secured.ask(server, context=context).header("X-Client")
    line = last_line(server)
    assert field.endswith("> TLSv1.3") and line.endswith('" TLSv1.3')
    assert shown is None or (field, line) == (f"<{shown}> TLSv1.3", f'"{shown}" TLSv1.3')
    assert line.count('"') == 2


# -- hostile values

EVIL = [  # target, decoded path
    ("/a%0d%0aX-Evil:%201", "/a\r\nX-Evil: 1"),
    ("/%22,%22status%22:200,%22x%22:%22", '/","status":200,"x":"'),
    ("/%ff%fe%1b%5b31m", "/\udcff\udcfe\x1b[31m"),
    ("/%3Cscript%3E?%0a%22%3e", "/<script>"),
    ("//evil.test/%2e%2e//x", "/x"),
]


@needs_rewrite
@pytest.mark.parametrize("target, path", EVIL)
def test_no_path_leaves_its_place(start, target, path):
    server = start(host="Header X-Path <$path> <$query>", **logged(
        "json $path $request_uri $query", "rewrite", site=section("REWRITE", "Redirect ^/ /to$path?was=$request_uri 302")))
    answer = server.get(target)
    assert answer.header("X-Evil") is None and answer.status == 302
    assert re.fullmatch(r"/to/[!-~]*\?was=[!-~]*", answer.header("Location"))
    assert re.fullmatch(r"</[ -~]*> <[ -~]*>", answer.header("X-Path"))
    line = last_line(server)
    assert line.isascii() and line.isprintable()
    assert json.loads(line)["path"].encode("latin-1") == path.encode("utf-8", "surrogateescape")


@pytest.mark.socket("its bytes are those of HTTP/1")
@pytest.mark.parametrize("host", [b'a"b', b"a\\b", b"a b", b"a\x01b", b"a\xffb", b"a/b", b"<a>", b"a\tb", b"a@b", b"[::1", b"a%22b"])
def test_no_host_leaves_its_place(start, host):
    """RFC 9112 section 3.2: what is no host is refused, and no variable has it."""
    server = start(host="Header X-Host ($host) ($http_host)", **logged("json $host $http_host status"))
    answer = server.raw_until_cut(b"GET /none HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
    head = answer.partition(b"\r\n\r\n")[0]
    line = last_line(server)
    assert head.split(b" ")[1] in (b"400", b"404") and head.count(b"X-Host: ") <= 1
    assert not any(bad in head for bad in (b"\"", b"\\", b"\x01", b"\xff", b"<a>"))
    assert line.isascii() and line.isprintable() and json.loads(line)["status"] in (400, 404)


@pytest.mark.socket("a backend is behind it")
@pytest.mark.parametrize("target, path", EVIL)
def test_no_value_leaves_a_field_of_a_backend(start, target, path):
    with Backend() as backend:
        server = start(**configured("SetHeader X-Path <$path> $query\nSetHeader X-Subject $tls_client_subject", backend))
        assert server.get(target, headers={"X-Subject": "CN=evil"}).status == 200
    request = backend.requests[0]
    assert request.header("X-Evil") is None and re.fullmatch(r"</[ -~]*> [ -~]*", request.header("X-Path") + " ")
    assert request.all("X-Subject") in ([""], [])
