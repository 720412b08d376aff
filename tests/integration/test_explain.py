# SPDX-License-Identifier: Apache-2.0
"""`--explain URL`: who would answer, and why, with the lines of the configuration; nothing runs, listens or is connected."""

import base64
import hashlib
import itertools
import json
import os
import re
import shlex
import socket

import pytest

from harness import plugins, process
from harness.config import Config, section

PLUGINS = ("answer", "auth", "cgi", "dirlisting", "file", "jwt", "limit", "mandril", "proxy_reverse", "rewrite")
MISSING = [name for name in PLUGINS if not process.plugin(name)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not in this build: {MISSING}")

SHA1 = "{SHA1}" + base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
FILES = {"index.html": "welcome", "a.txt": "text", "a.css": "css", "docs/index.html": "docs", "empty/b.txt": "b", "private/a.txt": "p",
         "office/a.txt": "o", "new/a.txt": "moved here", "run.cgi": "#!/bin/sh\ntouch ran\n", ".hidden": "h", "404.html": "sorry"}
SITE = (
    section("LOCATION", "Path /docs\nHeader X-Place docs")
    + section("LOCATION", "Path /office\nAllow 10.0.0.0/8")
    + section("LOCATION", "Path /closed\nAnswer 410")
    + section("AUTH", "Location /private\nTitle Staff\nUsers {users}")
    + section("LIMIT", "Rate each address 5/s /a.txt")
    + section("REWRITE", "Rewrite ^/old/(.*)$ /new/$1\nRedirect /gone /a.txt 308")
    + section("FILE", "Alias /elsewhere {elsewhere}")
    + section("DIRLISTING", "Listing on")
    + section("PROXY_ENTRY", "Match ^/app/\nServerList 127.0.0.1:{port} 127.0.0.1:1")
)


class Site:
    def __init__(self, folder):
        users, elsewhere = folder / "users", folder / "elsewhere"
        users.write_text(f"alice:{SHA1}\n")
        elsewhere.mkdir()
        (elsewhere / "c.txt").write_text("c")
        self.backend = socket.create_server(("127.0.0.1", 0))
        self.backend.setblocking(False)
        self.config = Config(folder)
        self.config.write(
            server="Listen 127.0.0.1:8080\nListen 127.0.0.1:8081\nErrorLog " + str(folder / "error.log"),
            host="ServerName www.test\nHeader X-Site www\nCacheControl *.css max-age=60",
            handlers="Match \\.cgi$ cgi",
            error_pages="404 /404.html",
            site=SITE.format(users=users, elsewhere=elsewhere, port=self.backend.getsockname()[1]),
            sites={"old": "[HOST]\n    ServerName old.test *.old.test\n    Redirect http://www.test/ 301\n",
                   "new": "[HOST]\n    ServerName new.test\n    Redirect https://www.test$request_uri 302\n"},
            files=FILES,
            extra={"plugins/mandril/mandril.conf": section("RULES", "Deny_IP 192.0.2.0/24\nDeny_URL /secret"),
                   "plugins.load": section("PLUGINS", "Load mandril")})
        os.chmod(self.config.root / "run.cgi", 0o755)

    def ask(self, url, *options):
        return process.run("--configdir", self.config.folder, "--explain", url, *options)

    def line(self, file, text):
        """FILE:LINE of the line of a configuration file that has this text."""
        path = self.config.folder / file
        found = [i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line]
        assert len(found) == 1, f"{text} in {path}: {found}"
        return f"{path}:{found[0]}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("explain"))
    yield made
    made.backend.close()


def steps(text):
    """(what, rest) of each step."""
    body = text.partition("\n\n")[2]
    return [(line.split()[0], line.split(None, 1)[1] if " " in line.strip() else "") for line in body.splitlines() if line[:1] != " "]


def the(text, what):
    found = [rest for name, rest in steps(text) if name == what]
    assert len(found) == 1, f"{what}: {found} in\n{text}"
    return found[0]


def last(text, what):
    return [rest for name, rest in steps(text) if name == what][-1]


def answered(site, url, *options, code):
    result = site.ask(url, *options)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


def test_a_file(site):
    text = answered(site, "http://www.test:8080/a.css", code=0)
    assert text.startswith("GET http://www.test:8080/a.css, from 127.0.0.1\n\n")
    assert the(text, "address") == f"127.0.0.1:8080, by port 8080  ({site.line('monkey.conf', '8080')})"
    assert the(text, "site") == f"www.test, by the name www.test  ({site.line('sites/default', 'ServerName')})"
    assert the(text, "file") == f"answers with 200: {site.config.root}/a.css  ({site.line('sites/default', 'DocumentRoot')})"
    assert the(text, "answer") == "200 OK"
    assert f"X-Site: www  ({site.line('sites/default', 'X-Site')})" in text
    assert f"Cache-Control: max-age=60  ({site.line('sites/default', 'CacheControl')})" in text
    assert "Content-Type: text/css" in text


def test_a_location_and_an_index_file(site):
    text = answered(site, "http://www.test/docs/", code=0)
    assert "since no Listen line has port 80" in the(text, "address")
    assert the(text, "location") == f"Path /docs  ({site.line('sites/default', 'Path /docs')})"
    assert the(text, "path").startswith("/docs/index.html, an index file")
    assert f"X-Place: docs  ({site.line('sites/default', 'X-Place')})" in text


def test_a_folder_without_its_slash(site):
    text = answered(site, "/docs", code=0)
    assert the(text, "folder").startswith("redirects with 301: a slash is to follow: /docs/")


def test_a_listing(site):
    text = answered(site, "/empty/", code=0)
    assert ("dirlisting", "would answer") in steps(text)
    assert the(text, "answer") == "what its handler says"


def test_a_password(site):
    text = answered(site, "http://www.test/private/a.txt", code=1)
    assert the(text, "auth") == (f"refuses with 401: users of {site.config.folder.parent}/users alone, for Location /private  "
                                 f"({site.line('sites/default', 'Location /private')})")
    assert 'WWW-Authenticate: Basic realm="Staff"' in text
    for password, code in (("secret", 0), ("wrong", 1)):
        credentials = base64.b64encode(f"alice:{password}".encode()).decode()
        answered(site, "/private/a.txt", "-H", f"Authorization: Basic {credentials}", code=code)


def test_an_address(site):
    refused = answered(site, "/office/a.txt", code=1)
    assert last(refused, "mandril").startswith("refuses with 403: request refused")
    text = answered(site, "/office/a.txt", "--from", "10.1.2.3", code=0)
    assert last(text, "mandril") == f"passes: Allow and Deny of this place  ({site.line('sites/default', 'Allow 10')})"
    closed = answered(site, "/a.txt", "--from", "192.0.2.7", code=1)
    assert the(closed, "mandril") == f"closes the connection: connection dropped  ({site.line('plugins/mandril/mandril.conf', 'Deny_IP')})"
    assert the(closed, "answer") == "none"


def test_a_rule_about_paths(site):
    text = answered(site, "/SECRET/x", code=1)
    assert f"({site.line('plugins/mandril/mandril.conf', 'Deny_URL')})" in last(text, "mandril")


def test_a_rate(site):
    text = answered(site, "/a.txt", code=0)
    assert the(text, "limit") == f"passes: Rate each address 5/s /a.txt  ({site.line('sites/default', 'Rate each')})"
    assert the(answered(site, "/a.css", code=0), "limit") == "passes"


def test_a_rewrite(site):
    text = answered(site, "/old/a.txt", code=0)
    said = [rest for what, rest in steps(text) if what == "rewrite"]
    assert said == [f"gives it another path: Rewrite ^/old/(.*)$ /new/$1  ({site.line('sites/default', 'Rewrite ^')})", "passes"]
    assert the(text, "path") == "/new/a.txt, in place of the one before"
    assert f"{site.config.root}/new/a.txt" in the(text, "file")


def test_redirects(site):
    text = answered(site, "/gone", code=0)
    assert the(text, "rewrite").startswith("redirects with 308: Redirect /gone /a.txt 308")
    text = answered(site, "http://sub.old.test/x?y=z", code=0)
    assert the(text, "site").startswith("old.test, by the name *.old.test")
    assert the(text, "redirect") == f"redirects with 301: to http://www.test/x?y=z  ({site.line('sites/old', 'Redirect')})"


def test_a_redirect_with_variables(site):
    text = answered(site, "http://new.test:8080/docs/x?y=z", code=0)
    assert the(text, "redirect") == f"redirects with 302: to https://www.test/docs/x?y=z  ({site.line('sites/new', 'Redirect')})"


def test_an_answer_that_the_configuration_has(site):
    text = answered(site, "http://www.test:8080/closed/x", code=1)
    assert "410 Gone" in text and the(text, "handler").startswith("answer, ") and "refuses with 410" in text, text


def test_a_backend_that_is_not_asked(site):
    text = answered(site, "/app/x", "-X", "POST", code=0)
    assert the(text, "handler") == f"proxy_reverse, for ^/app/  ({site.line('sites/default', 'Match ^/app/')})"
    port = site.backend.getsockname()[1]
    assert the(text, "proxy_reverse").startswith(f"would answer: one of 127.0.0.1:{port}, 127.0.0.1:1  (")
    assert the(text, "answer") == "what its handler says"
    with pytest.raises(BlockingIOError):
        site.backend.accept()


def test_a_script_that_is_not_run(site):
    text = answered(site, "/run.cgi", code=0)
    assert the(text, "cgi").startswith(f"would answer: runs {site.config.root}/run.cgi")
    assert not (site.config.root / "ran").exists()


def test_a_folder_that_lies_elsewhere(site):
    text = answered(site, "/elsewhere/c.txt", code=0)
    assert the(text, "file").startswith(f"answers with 200: /elsewhere shows {site.config.folder.parent}/elsewhere")


def test_an_unknown_host(site):
    assert "the default one: no ServerName has other.test" in the(answered(site, "http://other.test/", code=0), "site")


def test_what_is_not_there(site):
    text = answered(site, "/none.txt", code=1)
    assert the(text, "file").startswith(f"refuses with 404: no such file: {site.config.root}/none.txt")
    assert the(text, "page").startswith("/404.html")
    assert "dot file" in the(answered(site, "/.hidden", code=1), "file")
    assert the(answered(site, "/a.txt", "-X", "BREW", code=1), "answer").startswith("501")


@pytest.mark.parametrize("url, status, why", [
    ("/a%00b", 400, "malformed escape or NUL"),      # RFC 3986 2.1
    ("/../../etc/passwd", 403, "climbs above the root"),
    ("/a\x01b", 400, "bad request target"),          # RFC 9112 3.2
    ("/a b", 400, ""),                               # RFC 9112 3.2: no blank in a target
    ("/" + "a" * 9000, 414, "target too long"),      # RFC 9112 3
    ("/a\r\nX: y", 400, ""),
    ("http://user@www.test/", 400, ""),              # RFC 9110 4.2.4
], ids=range(7))
def test_hostile_urls_get_the_server_s_answer(site, url, status, why):
    text = answered(site, url, code=1)
    assert the(text, "answer").startswith(str(status)) and why in text
    assert not re.search(r"[^\n -~]", text), "control bytes are escaped"


def test_nobody_listens(site):
    assert the(answered(site, "http://www.test:9/", code=1), "address") == "nobody answers: no Listen line has port 9"


def test_json(site):
    text = answered(site, "http://www.test:8081/private/a.txt", "--json", "--from", "2001:db8::1", code=1)
    said = json.loads(text)
    assert (said["method"], said["from"], said["status"], said["handler"]) == ("GET", "2001:db8::1", 401, False)
    auth = [step for step in said["steps"] if step["step"] == "auth"]
    assert auth[0]["verdict"] == "refuses with 401" and auth[0]["file"].endswith("sites/default") and auth[0]["line"] > 0
    assert {"name": "X-Site", "value": "www"}.items() <= [f for f in said["fields"] if f["name"] == "X-Site"][0].items()
    closed = json.loads(answered(site, "/", "--json", "--from", "192.0.2.1", code=1))
    assert closed["status"] is None and closed["fields"] == []
    assert json.loads(answered(site, "/\x7f\"\\", "--json", code=1))["status"] == 400
    assert json.loads(answered(site, "/app/", "--json", code=0))["handler"] is True


@pytest.mark.parametrize("options", [
    ("ftp://www.test/",), ("www.test",), ("",), ("http:///x",),
    ("/", "--from", "somewhere"), ("/", "-H", "no field"), ("/", "-H", "A: b\r\nC: d"), ("/", "more"), ("/", "--frm"),
])
def test_faulty_use(site, options):
    result = site.ask(*options)
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stdout == "" and result.stderr.splitlines()[-1].startswith("monkey: ")


def test_faulty_use_without_a_url(site):
    assert process.run("--explain").returncode == 2
    assert process.run("--configdir", site.config.folder, "-X", "GET", "--test").returncode == 2


def test_the_server_agrees(start, tmp_path):
    """What was explained is what happens."""
    server = start(files=FILES, host="Header X-Site www", site=section("REWRITE", "Rewrite ^/old/(.*)$ /new/$1\nRedirect /gone /a.txt 308"))
    for target in ("/", "/a.txt", "/docs", "/empty/", "/old/a.txt", "/gone", "/none", "/.hidden", "/a%00"):
        said = json.loads(process.run("--configdir", server.conf, "--explain", target, "--json").stdout)
        answer = server.get(target)
        assert said["status"] == answer.status, target


def test_the_page(tmp_path):
    """docs/explain.md has what the program prints."""
    page = (process.TREE / "docs" / "explain.md").read_text()
    config = Config(tmp_path)
    text = re.search(r"```conf\n(.*?)```", page, re.S)[1].replace("/srv/www", str(config.root))
    config.write(extra={"monkey.conf": text, "users": f"alice:{SHA1}\n", "sites/default": None, "plugins.load": None})
    commands = re.findall(r"^    monkey (--explain .*?)\n\n```text\n(.*?)```", page, re.S | re.M)
    assert len(commands) == 3
    for command, expected in commands:
        said = process.run("--configdir", config.folder, *shlex.split(command)).stdout
        assert said.replace(str(config.folder), "/etc/monkey").replace(str(config.root), "/srv/www") == expected


def test_a_plugin_in_each_stage(tmp_path):
    config = Config(tmp_path)
    config.write(handlers="Match ^/[dp] explains", files={"dir/a": "", "p.txt": "p"}, extra={"plugins.load": plugins.load("explains")})

    def ask(target, code):
        result = process.run("--configdir", config.folder, "--explain", target)
        assert result.returncode == code, result.stdout + result.stderr
        return result.stdout, [rest for what, rest in steps(result.stdout) if what == "explains"]

    text, said = ask("/data", 0)
    assert said == ["passes: looks at\\x0a/data", "would answer: no data", "may change fields and body of the answer"]
    assert the(text, "handler").startswith("explains, for ^/[dp]  (")
    text, said = ask("/p.txt", 0)
    assert said[1] == "declines: no data" and the(text, "answer") == "200 OK"
    text, said = ask("/c", 1)
    assert said == ["closes the connection: looks at\\x0a/c"] and the(text, "answer") == "none"
    config.write(files={"dir/a": ""}, extra={"plugins.load": plugins.load("explains")})
    text, said = ask("/dir/", 1)
    assert the(text, "folder") == "without an index file: /dir/" and "refuses with 451" in said


@pytest.mark.slow
@pytest.mark.limit(600)
def test_without_memory(site, allocations):
    """Allocation 1, 2, ... fails: an explanation, or a sentence and code 1."""
    for number in itertools.count(1):
        allocations.arm(number)
        result = process.run("--configdir", site.config.folder, "--explain", "/docs/", env=allocations.environment)
        assert result.returncode in (0, 1), f"allocation {number}: {result.returncode}\n{result.stdout}{result.stderr}"
        assert result.stdout or result.stderr, f"allocation {number}"
        if not allocations.failed:
            break
    assert number > 20, "hardly any allocation was seen: is the helper preloaded?"


def test_no_log_is_written(site):
    answered(site, "/a.txt", code=0)
    assert not (site.config.folder.parent / "error.log").exists()
