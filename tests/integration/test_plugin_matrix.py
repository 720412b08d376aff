# SPDX-License-Identifier: Apache-2.0
"""Every shipped plugin: none, each alone, all at once; started, asked, reloaded under load, stopped."""

import base64
import hashlib
import pathlib
import subprocess
import threading

import pytest

from harness import certificates, http, process
from harness.config import section

SHA1 = "{SHA1}" + base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
ALICE = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}


def shipped():
    folder = pathlib.Path(process.binary()).parent / "plugins"
    return sorted(path.name.removeprefix("monkey-").removesuffix(".so") for path in folder.glob("monkey-*.so"))


# What each plugin is told to do: files of the configuration directory, and lines of the default site.
def settings(name, tmp_path):
    if name == "auth":
        (tmp_path / "users").write_text(f"alice:{SHA1}\n")
        return {}, section("AUTH", f"Location /private\nUsers {tmp_path}/users")
    if name == "logger":
        return {"plugins/logger/logger.conf": section("LOGGER", f"MasterLog {tmp_path}/master.log")}, ""
    if name == "compress":
        return {"plugins/compress/compress.conf": section("COMPRESS", "MinSize 0")}, ""
    if name == "dirlisting":
        return {}, section("DIRLISTING", "Listing on")
    if name == "mandril":
        return {"plugins/mandril/mandril.conf": section("RULES", "Deny_URL /secret\nDeny_IP 192.0.2.0/24")}, ""
    if name in ("tls", "mbedtls"):
        lines = certificates.issue().lines()
        return {f"plugins/{name}/tls.conf": section("TLS", lines)}, ""
    if name == "proxy_reverse":  # to a port where nobody listens
        return {"plugins/proxy_reverse/proxy_reverse.conf":
                section("PROXY_ENTRY", "ServerList 127.0.0.1:1\nMatch ^/proxied\nStatisticsURL /statistics")}, ""
    if name == "cheetah":
        return {"plugins/cheetah/cheetah.conf": section("CHEETAH", f"Socket {tmp_path}/cheetah")}, ""
    if name == "fastcgi":  # nobody is there
        server = section("FASTCGI_SERVER", f"ServerName app\nServerPath {tmp_path}/nobody")
        location = section("FASTCGI_LOCATION", "Mount /fastcgi\nMatch ^/fastcgi(/|$)")
        return {"plugins/fastcgi/fastcgi.conf": server + location}, ""
    if name == "status":
        return {"plugins/status/status.conf": section("STATUS", "")}, ""
    if name == "cgi":
        return {"plugins/cgi/cgi.conf": section("CGI", "Match ^/cgi-bin/ /bin/sh")}, ""
    return {}, ""


def configured(names, tmp_path):
    root = tmp_path / "root"
    for file in ("index.html", "private/a.txt", "secret/b.txt", "bare/c.txt"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(file)
    (root / "cgi-bin").mkdir(exist_ok=True)
    (root / "cgi-bin/hello").write_text("echo X-A: b; echo; echo hello\n")
    extra, site = {}, section("HOST", f"DocumentRoot {root}")
    for name in names:
        files, lines = settings(name, tmp_path)
        extra.update(files)
        site += lines
    extra["plugins.load"] = section("PLUGINS", "\n".join(f"Load {name}" for name in names))
    extra["sites/default"] = site
    return {"extra": extra}


def check_answers(server, names, tmp_path):
    assert server.get("/").body == b"index.html"
    assert server.get("/nowhere").status == 404
    assert server.get("/private/a.txt").status == (401 if "auth" in names else 200)
    assert server.get("/private/a.txt", headers=ALICE).status == 200
    assert server.get("/secret/b.txt").status == (403 if "mandril" in names else 200)
    assert server.get("/bare/").status == (200 if "dirlisting" in names else 403)
    assert server.get("/fastcgi/a").status == (502 if "fastcgi" in names else 404)
    assert server.get("/proxied").status == (502 if "proxy_reverse" in names else 404)
    assert server.get("/statistics").status == (200 if "proxy_reverse" in names else 404)
    assert server.get("/cgi-bin/hello").text == ("hello\n" if "cgi" in names else "echo X-A: b; echo; echo hello\n")
    if "cheetah" in names:
        assert (tmp_path / "cheetah").is_socket()


def some_requests(server, stop, wrong):
    """Keep-alive requests until told to stop; what is answered otherwise than before is noted."""
    while not stop.is_set():
        try:
            with server.connect() as connection:
                for _ in range(20):
                    connection.send(http.request("/"))
                    answer = connection.response()
                    if answer.status != 200:
                        wrong.append(answer.status)
                    if answer.header("Connection") == "close":
                        break
        except OSError as fault:
            wrong.append(repr(fault))


def combinations():
    names = shipped()
    return [pytest.param([], id="none"), *[pytest.param([name], id=name) for name in names],
            pytest.param(names, id="all"), pytest.param(names[::-1], id="all_backwards")]


@pytest.mark.parametrize("names", combinations())
def test_plugins_together_and_alone(start, tmp_path, names):
    config = configured(names, tmp_path)
    server = start(**config)
    check_answers(server, names, tmp_path)
    stop, wrong = threading.Event(), []
    threads = [threading.Thread(target=some_requests, args=(server, stop, wrong)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        server.reload(**config)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    check_answers(server, names, tmp_path)
    server.stop()  # the fixture looks at its exit code and for reports of sanitizers
    if "logger" in names:
        lines = (tmp_path / "master.log").read_text().splitlines()
        assert any('"GET / HTTP/1.1" 200' in line for line in lines)
        assert any('"GET /nowhere HTTP/1.1" 404' in line for line in lines)
    if "cheetah" in names:
        assert not (tmp_path / "cheetah").exists()


def test_each_plugin_exports_one_symbol():
    if process.is_sanitized():
        pytest.skip("a sanitizer adds symbols")
    for name in shipped():
        file = pathlib.Path(process.binary()).parent / "plugins" / f"monkey-{name}.so"
        symbols = subprocess.run(["nm", "-D", "--defined-only", file], check=True, capture_output=True, text=True)
        assert [line.split()[-1] for line in symbols.stdout.splitlines()] == ["mk_plugin"], name
