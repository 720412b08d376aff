# SPDX-License-Identifier: Apache-2.0
"""The sites of examples/sites, run as they are written; only where the peers are is another place here."""

import pathlib
import re
import shutil
import subprocess

import pytest

from harness import applications, process, tools
from harness.config import RIGHTS, write_files
from harness.git import Git

SITES = process.TREE / "examples" / "sites"
NAMES = ("cgi", "front-controller", "git", "php", "python")


@pytest.fixture
def run_site(tmp_path):
    """A function that starts a copy of a site, with another text in one of its files, and further files."""
    servers = []

    def run(name, before="Listen", after="Listen", more=None, file="monkey.conf"):
        folder = tmp_path / "site"
        shutil.copytree(SITES / name, folder / "conf")
        listen = "Listen 127.0.0.1:0\n    ErrorLog stderr\n" + "".join(f"    {key} {who}\n" for key, who in RIGHTS.items())
        for path, old, new in ((file, before, after), ("monkey.conf", "Listen 2001\n", listen)):
            text = (folder / "conf" / path).read_text()
            assert text.count(old) == 1, f"{path} of the site {name} has no {old!r} any more"
            (folder / "conf" / path).write_text(text.replace(old, new))
        write_files(folder / "conf", more or {})
        server = process.Server(folder, process.Config(folder))
        servers.append(server)
        return server.wait_until_listening()

    yield run
    for server in servers:
        server.stop()


def skip_without_plugins_of(name):
    text = (SITES / name / "monkey.conf").read_text().lower()
    for plugin in ("auth", "cgi", "fastcgi"):
        if f"[{plugin}" in text and not process.plugin(plugin):
            pytest.skip(f"this build has no plugin {plugin}")


@pytest.mark.parametrize("name", NAMES)
def test_the_configuration_has_no_fault(name, tmp_path):
    skip_without_plugins_of(name)
    shutil.copytree(SITES / name, tmp_path / "conf")
    (tmp_path / "conf" / "users").write_text("")
    done = process.run("--configdir", tmp_path / "conf", "--test")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def php(tmp_path):
    with applications.php_fpm(tmp_path / "php") as peer:
        yield peer


def test_php(run_site, php, tmp_path):
    server = run_site("php", "/run/php/php-fpm.sock", php.address.removeprefix("unix:"))
    first = server.get("/")
    assert "greets you for time 1." in first.text
    cookie = first.header("Set-Cookie").partition(";")[0]
    assert "greets you for time 2." in server.get("/index.php", headers={"Cookie": cookie}).text
    upload = tmp_path / "a <b>.bin"
    upload.write_bytes(bytes(20_000_000))
    sent = tools.run("curl", "--silent", "--show-error", "--form", f"file=@{upload}", f"http://127.0.0.1:{server.port}/")
    assert "Received a &lt;b&gt;.bin, 20000000 bytes." in sent.stdout.decode(), sent.stderr


def test_a_front_controller(run_site, php):
    server = run_site("front-controller", "/run/php/php-fpm.sock",
                      php.address.removeprefix("unix:"))
    for path, status, words in (("/", 200, "<h1>Home"), ("/hello?a=1&b=2", 200, "for /hello with a=1&amp;b=2."),
                                ("/2026/a-post", 200, "<h1>A post"), ("/none", 404, "You asked for /none."),
                                ("/not%20there/x.jpg", 404, "for /not there/x.jpg"), ("/none.php", 404, ""),
                                ("/admin/", 200, "script of its own: /admin/index.php")):
        answer = server.get(path)
        assert answer.status == status and words in answer.text, path
    style = server.get("/assets/style.css")
    assert style.header("Cache-Control") == "max-age=86400" and b"font" in style.body
    assert server.get("/admin").header("Location").endswith("/admin/")
    assert server.request("/hello", "POST", body=b"a=1").status == 200


def test_git(run_site, tmp_path):
    skip_without_plugins_of("git")
    repositories = tmp_path / "repositories"
    git = Git(tmp_path / "home")
    git("init", "--quiet", "--bare", "--initial-branch=main", repositories / "one.git")
    passwords = pathlib.Path(process.binary()).parent / "tools" / "mk_passwd"
    subprocess.run([passwords, "-c", tmp_path / "users", "alice", "secret"], check=True, capture_output=True)
    server = run_site("git", "/srv/git ", f"{repositories} ", {"users": (tmp_path / "users").read_bytes()}, "htdocs/git")
    url = f"http://alice:secret@127.0.0.1:{server.port}/git/one.git"
    work = tmp_path / "work"
    git("clone", "--quiet", url, work)
    git("symbolic-ref", "HEAD", "refs/heads/main", at=work)
    newest = git.commit(work, "a", b"a")
    git("push", "--quiet", "origin", "main", at=work)
    git("clone", "--quiet", url, tmp_path / "copy")
    assert git("rev-parse", "HEAD", at=tmp_path / "copy") == newest
    assert server.get("/git/one.git/info/refs?service=git-upload-pack").status == 401


def test_python(run_site, tmp_path):
    with applications.wsgi(tmp_path / "app", (SITES / "python" / "app.py").read_text()) as peer:
        server = run_site("python", "ServerPath /run/app.sock", "ServerPath " + peer.address.removeprefix("unix:"))
        assert "/hello greets &lt;you&gt;." in server.get("/app/hello?name=%3Cyou%3E").text
        assert "A file." in server.get("/").text


def blocks():
    """The indented blocks of the page, which are said to be parts of the sites."""
    page = (process.TREE / "docs" / "dynamic.md").read_text()
    return re.findall(r"(?m)(?:^    .*\n(?:\n(?=    ))?)+", page)


def test_the_page_shows_what_the_sites_have():
    texts = "\n".join(re.sub(r"(?m)^\s+|^#(?!!).*\n", "", path.read_text()) for name in NAMES
                      for path in (SITES / name).rglob("*") if path.is_file())
    assert len(blocks()) >= 7
    for block in blocks():
        for line in block.splitlines():
            if line.strip() and not line.strip().startswith("# "):
                assert line.strip() in texts, f"docs/dynamic.md has {line.strip()!r}, and no site has"


def test_programs(run_site):
    server = run_site("cgi")
    assert "/any/&lt;path greets you &amp; me." in server.get("/cgi-bin/hello.pl/any/%3Cpath?name=you+%26+me").text
