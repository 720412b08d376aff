# SPDX-License-Identifier: Apache-2.0
"""Directories and configuration files of services, and the server's helpers."""

import pytest

from harness import duda

GOOD = "# of the test\n[FIRST]\n    Name  some words \n    number 42\n    yes ON\n    no off\n    list one two  three\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("folders")
    for name in ("data", "conf"):
        (root / name).mkdir()
    (root / "conf/good.conf").write_text(GOOD)
    (root / "conf/bad.conf").write_text("[FIRST]\nname value\n")
    (root / "conf/plain").write_text("plain text")
    return root


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory, folders):
    services = tmp_path_factory.mktemp("services")
    duda.build(services, "obj_files", level=2)
    section = duda.service("obj_files", DataDir=folders / "data", ConfDir=folders / "conf")
    return start_shared(**duda.config(services, section, server="Workers 2\n"))


def test_an_old_path_stays_valid(server, folders):
    old = f"{folders}/data/"
    assert server.get("/obj_files/data").body.decode().splitlines() == [
        old, f"{old}a.txt", "-1 -1 0", old, "/tmp/", "/tmp/a.txt", "0"]


def test_a_configuration_is_read(server):
    assert server.get("/obj_files/conf").body.decode().splitlines() == [
        "some words 42 1 0 -1 1", "[one][two][three]", "1 1 1", "plain text|1"]


def test_a_bad_configuration_is_logged(server):
    server.get("/obj_files/conf")
    assert "bad.conf: line 2: a key that is not indented" in server.log()


def test_the_server_is_known(server):
    answer = server.get("/obj_files/server")
    assert (answer.status, answer.header("X-Added"), answer.body) == (201, "yes", b"2 1 1")


def test_the_dashboard_shows_the_service(server, folders):
    assert server.get("/obj_files/dash").header("Location").endswith("/obj_files/dash/")
    page = server.get("/obj_files/dash/")
    assert page.header("Content-Type").startswith("text/html")
    assert f"<td>{folders}/data/\n" in page.body.decode() and "<td>obj_files\n" in page.body.decode()
