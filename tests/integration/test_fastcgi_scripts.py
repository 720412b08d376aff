# SPDX-License-Identifier: Apache-2.0
"""FastCGI: which path is which script, and what is never run or sent as text."""

import pytest

from harness import fastcgi
from harness.client import eventually

PHP = r"\.php(/|$)"
FILES = {
    "index.php": "<?php secret", "app.php": "<?php secret", "a/index.php": "<?php secret", "a/b.php": "<?php secret",
    "upload/evil.jpg": "<?php evil", ".hidden.php": "<?php secret", "plain.txt": "plain", "dir.php/x.txt": "x",
    "Upper.PHP": "<?php secret",
}
NAMES = ("SCRIPT_NAME", "PATH_INFO", "SCRIPT_FILENAME", "PATH_TRANSLATED", "DOCUMENT_ROOT", "REQUEST_URI", "QUERY_STRING")


def tell(call):
    lines = [f"{name}={call.params[name]}" for name in NAMES if name in call.params]
    call.answer("\n".join(lines).encode())


@pytest.fixture(scope="module")
def application():
    with fastcgi.Application(tell) as application:
        yield application


@pytest.fixture(scope="module")
def server(start_shared, application):
    server = start_shared(**fastcgi.config(application, location="KeepAlive on", match=PHP, files=FILES),
                          server="Indexfile index.php", host="TryFiles $uri $uri/ /index.php")
    (server.root / "link.php").symlink_to(server.root / "upload" / "evil.jpg")
    return server


@pytest.fixture(scope="module")
def strict(start_shared, application):
    """Without TryFiles."""
    server = start_shared(**fastcgi.config(application, location="KeepAlive on", match=PHP, files=FILES))
    (server.root / "link.php").symlink_to(server.root / "upload" / "evil.jpg")
    return server


def seen(answer):
    assert answer.status == 200, answer
    return dict(line.split("=", 1) for line in answer.text.splitlines())


@pytest.mark.parametrize(("target", "script", "info"), [
    ("/app.php", "/app.php", None),
    ("/app.php?a=b", "/app.php", None),
    ("/app.php/", "/app.php", "/"),
    ("/app.php/more/x.php", "/app.php", "/more/x.php"),
    ("/a/b.php/c", "/a/b.php", "/c"),
    ("/a/../app.php", "/app.php", None),
    ("/%61pp.php/%2e%2e/app.php", "/app.php", None),
    ("/Upper.PHP", "/Upper.PHP", None),
    ("/", "/index.php", None),
    ("/a/", "/a/index.php", None),
    ("/a/b.php", "/a/b.php", None),
])
def test_the_script_and_what_follows_it(server, target, script, info):
    answer = seen(server.get(target))
    assert answer["SCRIPT_NAME"] == script
    assert answer["SCRIPT_FILENAME"] == f"{server.root}{script}"
    assert answer.get("PATH_INFO") == info
    assert answer.get("PATH_TRANSLATED") == (f"{server.root}{info}" if info else None)
    assert answer["REQUEST_URI"] == target


@pytest.mark.parametrize("target", ["/post/42?x=1", "/a/nowhere", "/nowhere.html"])
def test_a_front_controller_answers_for_what_is_no_file(server, target):
    answer = seen(server.get(target))
    assert answer["SCRIPT_NAME"] == "/index.php"
    assert answer["REQUEST_URI"] == target
    assert answer["QUERY_STRING"] == target.partition("?")[2]


def test_files_are_files(server):
    assert server.get("/plain.txt").body == b"plain"
    assert server.get("/upload/evil.jpg").body == b"<?php evil"


@pytest.mark.parametrize("target", [
    "/upload/evil.jpg/x.php", "/upload/evil.jpg/.php", "/upload/evil.jpg%00.php", "/nowhere.php", "/nowhere.php/app.php",
    "/.hidden.php", "/.hidden.php/x", "/dir.php", "/dir.php/", "/dir.php/x.php", "/app.php%00", "/app.php%20",
    "/app.php.", "/app.phpx", "/link.php", "/../app.php", "/a//.php", "/app.php%5c..",
])
def test_nothing_is_run_or_sent(strict, application, target):
    before = application.requests
    answer = strict.get(target)
    assert answer.status in (400, 403, 404, 301), answer
    assert b"secret" not in answer.body and b"evil" not in answer.body
    assert application.requests == before


@pytest.mark.parametrize("path", ["/app.php", "/app%2ephp", "/app%2Ephp/", "//app.php", "/./app.php", "/a/%2e%2e/app.php"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PROPFIND"])
def test_no_way_of_asking_gives_the_source(strict, path, method):
    answer = strict.request(path, method, headers={"Range": "bytes=0-3"})
    assert b"secret" not in answer.body and answer.status in (200, 404, 501)
    if answer.status == 200 and method != "HEAD":
        assert seen(answer)["SCRIPT_NAME"] == "/app.php"


def test_a_script_that_goes_and_comes(strict):
    script = strict.root / "new.php"
    assert strict.get("/new.php").status == 404
    script.write_text("<?php secret")
    assert seen(strict.get("/new.php/a"))["SCRIPT_NAME"] == "/new.php"
    script.unlink()
    assert eventually(lambda: strict.get("/new.php/a").status == 404, every=0.1)


def test_no_source_when_the_application_is_down(start):
    with fastcgi.Application(tell) as application:
        config = fastcgi.config(application, location="KeepAlive on", match=PHP, files=FILES)
    server = start(**config, server="Indexfile index.php")
    for target in ("/app.php", "/", "/a/"):
        assert server.get(target).status == 502


def test_another_root_of_the_application(start, application):
    server = start(**fastcgi.config(application, location="ScriptRoot /srv/app/", match=PHP, files=FILES))
    answer = seen(server.get("/a/b.php/c"))
    assert answer["SCRIPT_FILENAME"] == "/srv/app/a/b.php"
    assert answer["DOCUMENT_ROOT"] == "/srv/app"
    assert answer["PATH_TRANSLATED"] == "/srv/app/c"
    assert server.get("/nowhere.php").status == 404


def test_scripts_that_are_not_here(start, application):
    server = start(**fastcgi.config(application, location="ScriptRoot /srv/app\nCheckScript off", match=PHP,
                                    files={"upload/evil.jpg": "<?php evil"}))
    answer = seen(server.get("/far/away.php/c"))
    assert (answer["SCRIPT_NAME"], answer["PATH_INFO"]) == ("/far/away.php", "/c")
    assert answer["SCRIPT_FILENAME"] == "/srv/app/far/away.php"
    answer = seen(server.get("/upload/evil.jpg/x.php"))
    assert answer["SCRIPT_FILENAME"] == "/srv/app/upload/evil.jpg/x.php"  # never the picture
    assert server.get("/.secret.php").status == 404


def test_a_location_for_all_sites(start, application, tmp_path):
    locations = "[FASTCGI_LOCATION]\n    Match \\.php(/|$)\n    Match ^/app/ ^/bin/\n    CheckScript off\n"
    extra = {"plugins/fastcgi/fastcgi.conf": fastcgi.settings(application, locations=locations)}
    config = fastcgi.config(application, extra=extra)
    del config["handlers"]
    server = start(**config, sites={"b": f"[HOST]\n    ServerName b.example\n    DocumentRoot {tmp_path}\n"})
    assert seen(server.get("/x.php"))["SCRIPT_NAME"] == "/x.php"
    assert seen(server.get("/x.php", headers={"Host": "b.example"}))["SCRIPT_FILENAME"] == f"{tmp_path}/x.php"
    assert server.get("/other").status == 404


def test_handlers_choose_among_locations(start):
    with fastcgi.Application(lambda call: call.answer(b"one")) as one, \
            fastcgi.Application(lambda call: call.answer(b"two")) as two:
        locations = ("[FASTCGI_LOCATION]\n    LocationName first\n    ServerNames app0\n    Mount /\n"
                     "[FASTCGI_LOCATION]\n    LocationName second\n    ServerNames app1\n    Mount /\n")
        extra = {"plugins/fastcgi/fastcgi.conf": fastcgi.settings(one, two, locations=locations)}
        config = fastcgi.config(extra=extra)
        config["handlers"] = "Match ^/2 fastcgi Second\nMatch ^/ fastcgi"
        server = start(**config)
        assert (server.get("/1").body, server.get("/2").body) == (b"one", b"two")
