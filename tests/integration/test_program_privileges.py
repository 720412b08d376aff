# SPDX-License-Identifier: Apache-2.0
"""Started as root with User: the serving process has no rights left."""

import os
import re

import pytest

from harness import process
from harness.client import eventually
from harness.program import (NOBODY, as_nobody, children, free_low_port, needs_root, open_folder,  # noqa: F401
                             serving_pid, start_open, status)


def ids(pid):
    found = status(pid)
    return found["Uid"].split(), found["Gid"].split(), found["Groups"].split()


@needs_root
@pytest.mark.parametrize("user", ["nobody", str(NOBODY)])
def test_every_thread_is_somebody_else(start_open, user):  # noqa: F811
    server = start_open(server=f"User {user}", files={"a.txt": "text"})
    serving = serving_pid(server.pid)
    assert ids(server.pid)[0] == ["0"] * 4
    assert eventually(lambda: len(os.listdir(f"/proc/{serving}/task")) >= 3)
    for thread in os.listdir(f"/proc/{serving}/task"):
        found = status(f"{serving}/task/{thread}")
        assert found["Uid"].split() == [str(NOBODY)] * 4
        assert found["Gid"].split() == [str(NOBODY)] * 4
        assert set(found["Groups"].split()) <= {str(NOBODY)}
        assert int(found["CapEff"], 16) == int(found["CapPrm"], 16) == int(found["CapAmb"], 16) == 0
        assert found["NoNewPrivs"] == "1" or process.is_sanitized()  # whose own thread began before
    assert server.get("/a.txt").text == "text"


@needs_root
def test_number_without_an_account(start_open):  # noqa: F811
    server = start_open(server="User 54321")
    assert ids(serving_pid(server.pid)) == (["54321"] * 4, ["54321"] * 4, ["54321"])


@needs_root
def test_supplementary_groups_are_those_of_the_account(start_open):  # noqa: F811
    """And not those of who started it."""
    join = ["/bin/sh", "-c", "exec \"$@\"", "sh"]
    os.setgroups([0, 4, 27])
    try:
        server = start_open(server="User nobody", wrapper=join)
    finally:
        os.setgroups([])
    assert set(ids(serving_pid(server.pid))[2]) <= {str(NOBODY)}


@needs_root
@pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer must be able to trace")
def test_memory_is_hidden_from_others_of_the_same_user(start_open):  # noqa: F811
    server = start_open(server="User nobody")
    assert os.stat(f"/proc/{serving_pid(server.pid)}/mem").st_uid == 0


def mem_owner(pid):
    """Of /proc/PID/mem: the process's own user when others of it may read its memory and it may dump core."""
    return os.stat(f"/proc/{pid}/mem").st_uid


@needs_root
@pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer must be able to trace")
@pytest.mark.parametrize("keeper", [True, False])
@pytest.mark.parametrize("lines, owner", [("", 0), ("CoreDumps off", 0), ("CoreDumps on", NOBODY)])
def test_memory_and_rights_are_kept_with_and_without_a_keeper(start_open, keeper, lines, owner):  # noqa: F811
    """A script with the server's user once read the private key of TLS from /proc/PID/mem."""
    server = start_open(server=f"User nobody\n{lines}", wrapper=() if keeper else as_nobody())
    serving = serving_pid(server.pid) if keeper else server.pid
    assert status(serving)["NoNewPrivs"] == "1"
    assert mem_owner(serving) == owner
    assert {mem_owner(f"{serving}/task/{thread}") for thread in os.listdir(f"/proc/{serving}/task")} == {owner}


@needs_root
@pytest.mark.parametrize("user", ["nobody-of-that-name", "-1", "4294967295", "4294967296", "12x", "0x10"])
def test_unknown_user(start_open, user):  # noqa: F811
    server = start_open(server=f"User {user}", wait=False)
    assert server.expect_exit() == 1
    assert user in server.log() and not server.addresses


@needs_root
def test_ports_below_1024(start_open):  # noqa: F811
    port = free_low_port()
    server = start_open(server=f"Listen 127.0.0.1:{port}\nUser nobody", files={"a.txt": "text"})
    assert server.port == port
    assert server.get("/a.txt").text == "text"


@needs_root
def test_log_that_only_root_may_make(start_open, open_folder):  # noqa: F811
    folder = open_folder / "logs"
    folder.mkdir(mode=0o700)
    server = start_open(server=f"ErrorLog {folder}/a.log\nUser nobody", wait=False)
    assert eventually(lambda: (folder / "a.log").exists() and "started" in (folder / "a.log").read_text())
    assert (folder / "a.log").stat().st_mode & 0o777 == 0o640
    server.stop()


@needs_root
@pytest.mark.parametrize("what", ["log", "directory"])
def test_planted_link_does_not_lead_root_astray(start_open, open_folder, what):  # noqa: F811
    """The user of the server owns the folder of the log, and was taken over once."""
    secret = open_folder / "secret"
    secret.mkdir(mode=0o700)
    (secret / "a.log").write_text("precious\n")
    folder = open_folder / "logs"
    folder.mkdir()
    link = folder / ("a.log" if what == "log" else "sub")
    link.symlink_to(secret / "a.log" if what == "log" else secret)
    os.lchown(link, NOBODY, NOBODY)
    os.chown(folder, NOBODY, NOBODY)
    name = folder / "a.log" if what == "log" else folder / "sub" / "a.log"
    server = start_open(server=f"ErrorLog {name}\nUser nobody", wait=False)
    assert server.expect_exit() == 1
    assert (secret / "a.log").read_text() == "precious\n"
    assert str(name) in server.log()


@needs_root
def test_user_root_is_one_process(start_open):  # noqa: F811
    server = start_open(server="User root")
    assert children(server.pid) == []


@needs_root
def test_root_without_user_becomes_nobody_and_says_so(start_open):  # noqa: F811
    server = start_open(server="#User", files={"a.txt": "text"})
    assert ids(serving_pid(server.pid))[0] == [str(NOBODY)] * 4
    assert re.search(r"becomes nobody.*User root", server.log())
    assert server.get("/a.txt").text == "text"


@needs_root
def test_document_root_that_the_user_may_not_enter_is_named(start_open, open_folder):  # noqa: F811
    shut = open_folder / "shut"
    (shut / "site" / "www").mkdir(parents=True)
    shut.chmod(0o700)
    server = start_open(server="#User", host=f"DocumentRoot {shut}/site/www")
    said = server.wait_for_log(rf"DocumentRoot {shut}/site/www.*")[0]
    assert f"user nobody may not enter {shut} " in said and "chmod" in said and "User" in said
    checked = process.run("--configdir", server.conf, "--test")
    assert checked.returncode == 0
    assert f"user nobody may not enter {shut} " in checked.stderr
    assert server.get("/a.txt").status == 404


@needs_root
def test_nothing_is_said_of_a_root_that_can_be_read(start_open):  # noqa: F811
    server = start_open(server="User nobody")
    assert "may not" not in server.log()
    checked = process.run("--configdir", server.conf, "--test")
    assert checked.returncode == 0 and "may not" not in checked.stderr


@needs_root
def test_file_that_the_user_may_not_read_is_named(start_open):  # noqa: F811
    server = start_open(server="User nobody", files={"a.txt": "text", "b\"\n.txt": "text", "d/c.txt": "text"})
    (server.root / "a.txt").chmod(0o600)
    (server.root / "b\"\n.txt").chmod(0o600)
    (server.root / "d").chmod(0o700)
    (server.root / "link").symlink_to("a.txt")
    assert server.get("/a.txt").status == 403
    server.wait_for_log(r'may not be read by user nobody.*"/a\.txt"')
    assert server.get("/d/c.txt").status == 403
    server.wait_for_log(r'may not be read by user nobody.*"/d/c\.txt"')
    assert server.get("/b%22%0a.txt").status == 403
    server.wait_for_log(r'may not be read by user nobody.*"/b%22%0A\.txt"')
    since = len(server.log())
    assert server.get("/link").status == 403
    assert "may not be read" not in server.log()[since:]


@needs_root
def test_option_names_the_user(start_open):  # noqa: F811
    server = start_open(server="User root", arguments=["--user", "nobody"])
    assert ids(serving_pid(server.pid))[0] == [str(NOBODY)] * 4


@needs_root
@pytest.mark.parametrize("user, uid", [([], NOBODY), (["--user", "root"], 0), (["-u", "54321"], 54321)])
def test_one_shot_of_root(open_folder, user, uid):  # noqa: F811
    (open_folder / "site").mkdir()
    (open_folder / "site" / "a.txt").write_text("text")
    config = process.Config(open_folder)
    config.write()
    server = process.Server(open_folder, config, arguments=["-o", open_folder / "site", "-p", "127.0.0.1:0", *user])
    try:
        server.wait_until_listening()
        serving = serving_pid(server.pid) if uid else server.pid
        assert ids(serving)[0] == [str(uid)] * 4
        assert server.get("/a.txt").text == "text"
    finally:
        server.stop()


@needs_root
@pytest.mark.parametrize("user, said", [("daemon", True), ("root", False), ("nobody", False), (str(NOBODY), False)])
def test_without_root_it_stays_who_it_is(start_open, open_folder, user, said):  # noqa: F811
    server = start_open(server=f"User {user}", files={"a.txt": "text"}, wrapper=as_nobody())
    assert bool(re.search(f"User {user} has no effect", server.log())) == said
    assert children(server.pid) == []
    assert server.get("/a.txt").text == "text"


def may_raise_limits():
    """A container often takes CAP_SYS_RESOURCE from its root."""
    effective = int(status("self")["CapEff"], 16)
    return bool(effective >> 24 & 1)


@needs_root
@pytest.mark.skipif(not may_raise_limits(), reason="even root may not raise a hard limit here")
def test_descriptors_beyond_the_hard_limit(start_open):  # noqa: F811
    """Root raises it, and the server keeps it."""
    server = start_open(server="User nobody\nFDLimit 3000", wrapper=["sh", "-c", "ulimit -n 2000; exec \"$@\"", "sh"])
    for pid in (server.pid, serving_pid(server.pid)):
        limits = open(f"/proc/{pid}/limits").read()
        assert re.search(r"Max open files\s+3000\s+3000", limits)


@needs_root
def test_descriptors_that_cannot_be_had(start_open):  # noqa: F811
    server = start_open(server="FDLimit 3000", files={"a.txt": "text"},
                        wrapper=["sh", "-c", "ulimit -n 2000; exec \"$@\"", "sh", *as_nobody()])
    assert "FDLimit 3000" in server.log()
    assert re.search(r"Max open files\s+2000\s+2000", open(f"/proc/{server.pid}/limits").read())
    assert server.get("/a.txt").text == "text"


@needs_root
def test_soft_limit_is_raised_unasked(start_open):  # noqa: F811
    server = start_open(wrapper=["sh", "-c", "ulimit -n 2000; ulimit -S -n 100; exec \"$@\"", "sh"])
    assert re.search(r"Max open files\s+2000\s+2000", open(f"/proc/{server.pid}/limits").read())
