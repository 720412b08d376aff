# SPDX-License-Identifier: Apache-2.0
"""dudac package: what is in the file runs where it was unpacked."""

import os
import re
import subprocess
import tarfile

import pytest

from harness import dudac, executable, http
from harness.client import Connection, eventually

pytestmark = [pytest.mark.plain, pytest.mark.once("a program in Python")]


@pytest.fixture
def shop(tmp_path):
    assert dudac.run(tmp_path, "new", "shop", "--template", "upload").returncode == 0
    (tmp_path / "shop" / "html" / "link").symlink_to("/etc/passwd")
    return tmp_path / "shop"


def package(tmp_path, shop, *words):
    done = dudac.run(tmp_path, "package", shop, "-p", "0", "--prefix", tmp_path / "srv" / "shop", *words)
    assert done.returncode == 0, done
    return done.stdout


def get(port, target, method="GET", body=b""):
    with Connection(("127.0.0.1", port)) as connection:
        connection.send(http.request(target, method, headers=[("Connection", "close")], body=body))
        return http.parse_one(connection.rest(), method)


def test_it_runs_where_it_is_unpacked(tmp_path, shop):
    said = package(tmp_path, shop)
    assert f"chown -R monkey {tmp_path}/srv/shop/data" in said
    (tmp_path / "srv").mkdir()
    subprocess.run(["tar", "-C", tmp_path / "srv", "-xf", tmp_path / "shop.tar.gz"], check=True, timeout=30)
    folder = tmp_path / "srv" / "shop"
    unit = (folder / "shop.service").read_text()
    assert f"ReadWritePaths={folder}/data\n" in unit
    if os.geteuid() == 0:  # nobody else may look into the folders of the tests
        with open(folder / "server" / "monkey.conf", "a", encoding="utf-8") as conf:
            conf.write("    User root\n")
    command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
    log = tmp_path / "log"
    with open(log, "wb") as out:
        server = subprocess.Popen(command, env=executable.environment(), stdout=out,
                                  stderr=subprocess.STDOUT)
    try:
        eventually(lambda: "started workers=" in log.read_text() or server.poll() is not None, within=30)
        found = re.search(r"listening address=\S+:(\d+)", log.read_text())
        assert found and server.poll() is None, log.read_text()
        port = int(found[1])
        assert "<title>shop</title>" in get(port, "/shop/").text
        assert get(port, "/shop/files").status == 200
    finally:
        server.terminate()
        server.wait(30)


def test_the_same_service_is_the_same_file(tmp_path, shop):
    package(tmp_path, shop, "-o", "a.tar.gz")
    package(tmp_path, shop, "-o", "b.tar.gz")
    with tarfile.open(tmp_path / "a.tar.gz") as a, tarfile.open(tmp_path / "b.tar.gz") as b:
        members = [(entry.name, entry.mode, entry.size, entry.mtime) for entry in a]
        assert members == [(entry.name, entry.mode, entry.size, entry.mtime) for entry in b]
    names = {name for name, *_ in members}
    assert {"shop/services/shop.duda", "shop/html/index.html", "shop/data", "shop/server/monkey.conf", "shop/shop.service"} <= names
    assert "shop/html/link" not in names  # what a link names is not the service's


def text_in(file, name):
    with tarfile.open(file) as tar:
        return tar.extractfile(name).read().decode()


def test_it_has_the_name_of_the_service(tmp_path, shop):
    makefile = shop / "Makefile.in"
    makefile.write_text(re.sub(r"(?m)^NAME *=.*$", "NAME = store", makefile.read_text()))
    done = dudac.run(tmp_path, "package", shop)
    assert done.returncode == 0 and "store.tar.gz is ready" in done.stdout, done
    assert "Listen 2001\n" in text_in(tmp_path / "store.tar.gz", "store/server/monkey.conf")
    assert "/srv/store/services" in text_in(tmp_path / "store.tar.gz", "store/server/plugins/duda/duda.conf")


def test_settings_and_plugins(tmp_path, shop):
    package(tmp_path, shop, "-M", "Workers=3,listen=127.0.0.1:0,DUDA.WaitTimeout=9", "--load", "compress", "--load", "status")
    file = tmp_path / "shop.tar.gz"
    conf = text_in(file, "shop/server/monkey.conf")
    assert "Workers 3\n" in conf and conf.lower().count("listen") == 1 and "127.0.0.1:0" in conf
    assert "WaitTimeout 9\n" in text_in(file, "shop/server/plugins/duda/duda.conf")
    assert re.findall(r"monkey-(\w+)\.so", text_in(file, "shop/server/plugins.load")) == ["duda", "compress", "status"]


@pytest.mark.parametrize("words, code, why", [(["-M", "HOST.ServerName=x"], 2, "-M takes keys of [SERVER]"),
                                              (["-M", "x"], 2, "-M takes KEY=VALUE"), (["-M", "Port=80"], 2, "-p takes the port"), (["--load", "none"], 1, "there is no plugin")])
def test_what_is_not_understood_makes_no_file(tmp_path, shop, words, code, why):
    done = dudac.run(tmp_path, "package", shop, *words)
    assert done.returncode == code and why in done.stderr
    assert not (tmp_path / "shop.tar.gz").exists()


def unpack(said, tmp_path):
    """Run what was printed to unpack it."""
    commands = [line.strip() for line in said.splitlines() if line.strip().startswith("tar ")]
    assert commands
    for command in commands:
        subprocess.run(command, shell=True, cwd=tmp_path, check=True, timeout=30)


def members(tmp_path):
    with tarfile.open(tmp_path / "shop.tar.gz") as tar:
        return {entry.name: entry.mode for entry in tar}


@pytest.mark.parametrize("words", [[], ["--with-data"]])
def test_data_of_the_other_machine_stays(tmp_path, shop, words):
    """It was made there, and the developer's own is for trials."""
    (shop / "logs").mkdir()
    (shop / "logs" / "messages").write_text("trial")
    (shop / "data").mkdir(exist_ok=True)
    (shop / "data" / "shop.db").write_text("trial")
    said = package(tmp_path, shop, *words)
    has_data = {"shop/data/shop.db", "shop/logs/messages"} & set(members(tmp_path))
    assert has_data == ({"shop/data/shop.db", "shop/logs/messages"} if words else set())
    assert {"shop/data", "shop/logs"} <= set(members(tmp_path))
    there = tmp_path / "srv" / "shop"
    (tmp_path / "srv").mkdir()
    unpack(said, tmp_path)
    assert (there / "data" / "shop.db").exists() == bool(words)
    (there / "data" / "shop.db").write_text("orders")
    (there / "data").chmod(0o700)
    (there / "html" / "index.html").write_text("old")
    unpack(said, tmp_path)
    assert (there / "data" / "shop.db").read_text() == "orders" and (there / "data").stat().st_mode & 0o777 == 0o700
    assert (there / "html" / "index.html").read_text() != "old"


def test_modes_are_those_of_the_files(tmp_path, shop):
    (shop / "conf").mkdir(exist_ok=True)
    (shop / "conf" / "secret").write_text("key")
    (shop / "conf" / "secret").chmod(0o600)
    (shop / "conf" / "hook").write_text("#!/bin/sh\n")
    (shop / "conf" / "hook").chmod(0o4755)
    said = package(tmp_path, shop)
    found = members(tmp_path)
    assert found["shop/conf/secret"] == 0o600 and found["shop/conf/hook"] == 0o755
    assert f"chown -R monkey {tmp_path}/srv/shop/conf {tmp_path}/srv/shop/data" in said  # the server must read it


@pytest.mark.parametrize("words, code, said", [
    ([], 2, "takes one path"),
    (["shop", "--prefix", "srv"], 2, "absolute path"),
    (["shop", "-V", "7"], 2, "-V takes"),
    (["nowhere"], 1, "is not a folder"),
    (["shop", "-o", "/nowhere/shop.tar.gz"], 1, "No such file"),
])
def test_what_cannot_be_packed(tmp_path, shop, words, code, said):
    done = dudac.run(tmp_path, "package", *words)
    assert done.returncode == code and said in done.stderr, done
