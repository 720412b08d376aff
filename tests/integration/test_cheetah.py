# SPDX-License-Identifier: Apache-2.0
"""The shell: each command in words and in JSON, its bounds, where it listens, and reloads."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import time

import pytest

from harness import process, turns
from harness.client import PATIENCE, eventually, free_port
from harness.shell import Shell, ask, configured, refused

COMMANDS = {"help": r"\h", "config": r"\f", "plugins": r"\g", "status": r"\s", "uptime": r"\u", "vhosts": r"\v",
            "workers": r"\w", "clear": r"\c", "quit": r"\q", "connections": None, "metrics": None, "loglevel": None,
            "reload": None, "proxy": None}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("cheetah") / "shell"


@pytest.fixture
def server(start_shared, place, shared_servers):
    if shared_servers:
        return shared_servers[0]
    return start_shared(**configured(place, host="ServerName www.example.org *.example.net"))


# -- commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_in_words_and_in_json(server, place, name):
    words = ask(place, name)
    assert words.endswith("\n") or name == "clear"
    assert not words.startswith("error")
    for line in (f"{name} --json", f"--json {name}", *([f"{COMMANDS[name]} --json"] if COMMANDS[name] else [])):
        answer = json.loads(ask(place, line))
        assert isinstance(answer, dict) and "error" not in answer and "truncated" not in answer


def test_short_forms_say_the_same(server, place):
    for name in ("help", "plugins", "vhosts"):
        assert ask(place, COMMANDS[name]) == ask(place, name)
    assert ask(place, r"\?") == ask(place, "help")
    assert "\\" * 2 not in ask(place, "help")  # as they are typed


def test_help_lists_every_command(server, place):
    listed = json.loads(ask(place, "help --json"))["commands"]
    assert {row["command"].split()[0]: row["short"] or None for row in listed} == COMMANDS


def test_vhosts_have_names_and_root(server, place):
    sites = json.loads(ask(place, r"\v --json"))["vhosts"]
    assert sites == [{"site": 0, "root": str(server.root), "names": "www.example.org *.example.net"}]


def test_config_is_what_is_in_force(server, place):
    rows = json.loads(ask(place, "config --json"))["config"]
    settings = {row["key"]: row["value"] for row in rows}
    assert settings["Workers"] == "2" and settings["Listen"].startswith("127.0.0.1")
    assert re.search(r"^  Workers +2$", ask(place, "config"), re.M)


def test_plugins_are_listed(server, place):
    rows = json.loads(ask(place, "plugins --json"))["plugins"]
    row, = [row for row in rows if row["name"] == "cheetah"]
    assert row["file"] == "built in" or row["file"].endswith("monkey-cheetah.so")


def test_status_counts_requests(server, place):
    before = json.loads(ask(place, "status --json"))
    assert server.get("/").status == 200
    after = json.loads(ask(place, "status --json"))
    assert after["pid"] == server.pid
    assert after["requests"] == before["requests"] + 1
    assert after["bytes_out"] > before["bytes_out"]
    workers = json.loads(ask(place, "workers --json"))["workers"]
    assert len(workers) == 2
    assert sum(row["requests"] for row in workers) == after["requests"]


def test_connections_of_all_workers_are_shown(server, place):
    clients = [server.connect() for _ in range(20)]
    for client in clients:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.response().status == 200
    answer = json.loads(ask(place, "connections --json"))
    ports = {row["port"] for row in answer["connections"]}
    assert {client.sock.getsockname()[1] for client in clients} <= ports
    row = next(row for row in answer["connections"] if row["port"] == clients[0].sock.getsockname()[1])
    assert (row["peer"], row["requests"], row["transport"]) == ("127.0.0.1", 1, "liana")
    assert answer["total"] == answer["shown"] == len(answer["connections"])
    words = ask(place, "connections")
    assert f"total: {answer['total']}\n" in words and " 127.0.0.1 " in words
    for client in clients:
        client.close()


@pytest.mark.parametrize("line, said", [
    ("statsu", 'error: unknown command "statsu"; did you mean "status"?\n'),
    ("frobnicate", 'error: unknown command "frobnicate"; help lists them\n'),
    ("\x1b[2J\xff", 'error: unknown command "\\x1b[2J\\xc3\\xbf"; help lists them\n'),
    ("status now", "error: status takes no parameter\n"),
    ("loglevel info info", "error: loglevel takes one parameter at most\n"),
    ("proxy drain a b c", "error: proxy takes three parameters at most\n"),
    ("proxy drain a b", "error: the plugin proxy_reverse is not loaded\n"),
    ("a b c d e f g h", 'error: unknown command "a"; help lists them\n'),
    ("", ""), ("   \t ", ""), ("\r", ""), ("--json", ""),
])
def test_lines_that_are_no_command(server, place, line, said):
    assert ask(place, line) == said


def test_error_is_an_object_in_json(server, place):
    assert json.loads(ask(place, "what\"\\\x01 --json"))["error"].startswith('unknown command "what"\\\x01"')


def test_levels_are_set_and_shown(server, place):
    assert ask(place, "loglevel") == "level: info\n"
    assert ask(place, "loglevel debug") == "level: debug\n"
    assert json.loads(ask(place, "loglevel trace:conn --json"))["level"] == "debug"
    assert "components: trace:conn\n" in ask(place, "loglevel")
    assert ask(place, "loglevel loud").startswith("error: expected error, warn, info")
    assert ask(place, "loglevel info").startswith("level: info\n")


# -- metrics


def test_metrics_are_prometheus_text(server, place):
    server.get("/missing")
    text = ask(place, "metrics")
    assert re.search(r'^monkey_refusals_total\{worker="[01]",reason="not_found"\} [1-9]', text, re.M)
    assert re.search(r'^monkey_build_info\{version="[\d.]+"\} 1$', text, re.M)
    sample = re.compile(r'^[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? \d+$')
    names = re.findall(r"^# TYPE (\S+) (?:counter|gauge)$", text, re.M)
    assert len(names) == len(set(names)) > 10
    for line in text.splitlines():
        assert line.startswith("# ") or sample.match(line), line


def test_metrics_in_json_are_the_same_samples(server, place):
    samples = json.loads(ask(place, "metrics --json"))["metrics"]
    lines = [line for line in ask(place, "metrics").splitlines() if not line.startswith("#")]
    assert len(samples) == len(lines)
    assert {"worker", "reason", "value"} <= set(next(s for s in samples if s["name"] == "monkey_closes_total"))


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool of Prometheus")
def test_prometheus_accepts_the_metrics(server, place):
    checked = subprocess.run(["promtool", "check", "metrics"], input=ask(place, "metrics"), text=True,
                             capture_output=True, timeout=30, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


# -- bounds


def test_longest_line_and_longer(server, place):
    longest = "status" + " " * 1018
    assert ask(place, longest).startswith("version: ")
    too_long = "error: a line has at most 1024 bytes\n"
    assert ask(place, longest + " ") == too_long
    assert ask(place, "x" * 100000, "quit").startswith(too_long + "quit: ")
    assert ask(place, "x" * 2048, "y" * 1025).count(too_long) == 2


def test_line_without_end_counts_when_no_more_comes(server, place):
    with Shell(place) as shell:
        shell.send(b"loglevel")
        shell.sock.shutdown(socket.SHUT_WR)
        assert shell.to_the_end() == b"level: info\n"


def test_line_in_pieces(server, place):
    with Shell(place) as shell:
        for byte in b"loglevel\n":
            shell.send(bytes([byte]))
            time.sleep(0.005)
        assert shell.line() == "level: info\n"


def test_many_lines_at_once_are_answered_in_order(server, place):
    answer = ask(place, *["loglevel", "connections --json", "nothing"] * 100)
    lines = answer.splitlines()
    assert len(lines) == 300
    assert lines[::3] == ["level: info"] * 100
    assert all("total" in json.loads(line) for line in lines[1::3])


def test_quit_ends_the_session(server, place):
    assert ask(place, "quit", "status").splitlines() == ["quit: end the session; the server continues"]


def test_seventeenth_session_is_turned_away(start, tmp_path):
    start(**configured(tmp_path / "shell"))
    with contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(Shell(tmp_path / "shell")) for _ in range(16)]
        assert all("uptime" in shell.ask("uptime") for shell in sessions)
        with Shell(tmp_path / "shell") as one_more:
            assert one_more.to_the_end() == b"error: there are 16 sessions already\n"
        sessions[0].send("quit")
        sessions[0].line()
        assert sessions[0].to_the_end() == b""
        with Shell(tmp_path / "shell") as one_more:
            assert one_more.ask("loglevel") == {"level": "info"}
        for shell in sessions[1:]:
            assert shell.ask("loglevel") == {"level": "info"}


def test_reader_that_is_slow_keeps_nobody_waiting(server, place):
    with Shell(place) as slow:
        slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sock.setblocking(False)
        sent = 0
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:  # it never reads, so one day its lines are not taken any more
            try:
                sent += slow.sock.send(b"metrics\n" * 128)
            except BlockingIOError:
                ticks = server.cpu_ticks()
                time.sleep(0.5)
                if server.cpu_ticks() - ticks < 10:
                    break
        else:
            pytest.fail(f"the shell took {sent} bytes of somebody who does not read")
        assert ask(place, "loglevel") == "level: info\n"
        assert server.get("/").status == 200
        slow.sock.settimeout(30)
        assert slow.read_until(rb"monkey_reloads_total \d+\n")


def are_all_places_free(place):
    """Can there be 16 sessions, or are some of those that left still waiting to be noticed?"""
    with contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(Shell(place)) for _ in range(16)]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for shell in sessions:
                shell.send("loglevel")
            return all(shell.line() == "level: info\n" for shell in sessions)
    return False


def test_client_that_leaves_before_the_answer(server, place):
    before = server.open_descriptors()
    for _ in range(50):
        with Shell(place) as shell, contextlib.suppress(BrokenPipeError):  # when there were 16 already
            shell.send("connections\nmetrics\nconnections")
    assert eventually(lambda: are_all_places_free(place))
    assert eventually(lambda: server.open_descriptors() <= before)


def test_idle_sessions_cost_no_time(server, place):
    with Shell(place) as shell, Shell(place) as half:
        shell.ask("uptime")
        half.send("upt")
        assert turns.made_in(1, lambda: ask(place, "metrics")) <= turns.FEW


# -- where it listens


def test_socket_is_for_its_user_only(server, place):
    ask(place, "uptime")
    mode = place.stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600


def test_mode_does_not_hang_on_the_umask(start, tmp_path):
    before = os.umask(0)
    try:
        start(**configured(tmp_path / "shell"))
        ask(tmp_path / "shell", "uptime")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "shell").stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_other_user_is_turned_away_whatever_the_mode(start, tmp_path_factory):
    folder = pathlib.Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    try:
        folder.chmod(0o755)
        start(**configured(folder / "shell"))
        ask(folder / "shell", "uptime")
        (folder / "shell").chmod(0o666)
        code = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(30)\n"
                "sys.stdout.write(s.recv(200).decode())")
        asked = subprocess.run(["/usr/bin/python3", "-c", code, str(folder / "shell")], user=65534, text=True,
                               capture_output=True, timeout=30, check=False)
        assert asked.stdout == "error: this user has no access to the shell\n", asked.stderr
        assert ask(folder / "shell", "loglevel") == "level: info\n"
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_socket_is_of_the_user_that_the_server_becomes(start):
    folder = pathlib.Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    try:
        folder.chmod(0o755)
        for owner in (0, 65534):  # a folder of root's is where a keeper makes it
            os.chown(folder, owner, -1)
            server = start(**configured(folder / "shell", server="User nobody"))
            assert ask(folder / "shell", "loglevel") == "level: info\n"
            found = (folder / "shell").stat()
            assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o600)
            server.stop()
            assert not (folder / "shell").exists()
        os.chown(folder, 1, -1)  # whoever owns it could put something else in the place of what root makes
        assert "Permission denied" in refused(start, **configured(folder / "shell", server="User nobody"))
    finally:
        shutil.rmtree(folder)


def asked_by(path, uid, groups=()):
    """The first words that an account is told."""
    code = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(30)\n"
            "try: s.sendall(b'loglevel\\n')\nexcept ConnectionError: pass\n"
            "s.shutdown(socket.SHUT_WR); sys.stdout.write(s.recv(200).decode())")
    done = subprocess.run(["/usr/bin/python3", "-c", code, path], user=uid, group=uid, extra_groups=list(groups), text=True,
                          capture_output=True, timeout=30, check=False)
    return done.stdout or done.stderr.strip().rpartition("\n")[2]


@pytest.fixture
def open_folder():
    folder = pathlib.Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_group(start, open_folder):
    server = start(**configured(open_folder / "shell", f"Socket {open_folder}/shell\nGroup daemon", server="User nobody"))
    server.wait_for_log("shell at=")
    found = (open_folder / "shell").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (65534, 1, 0o660)
    for uid, groups in ((0, ()), (65534, ()), (1, ()), (4711, (1,))):
        assert "level: info" in asked_by(open_folder / "shell", uid, groups), (uid, groups)
    assert "Permission" in asked_by(open_folder / "shell", 4711)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("group", ["", "Group daemon"])
def test_user_of_scripts_proves_nothing(start, open_folder, group):
    """A script reloaded the server, or read its metrics, by the shell."""
    if not process.plugin("cgi"):
        pytest.skip("this build has no cgi")
    config = configured(open_folder / "shell", f"Socket {open_folder}/shell\n{group}", server="User nobody")
    config["extra"]["plugins.load"] += f"    Load {process.plugin('cgi')}\n"
    server = start(**config)
    server.wait_for_log("shell at=")
    assert "error: scripts run as this user too" in asked_by(open_folder / "shell", 65534, (1,))
    assert "level: info" in asked_by(open_folder / "shell", 0)
    if group:
        assert "level: info" in asked_by(open_folder / "shell", 4711, (1,))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_default_place_of_a_server_that_became_another_user(start, open_folder):
    """As the shipped unit has it: a folder of root's, and a User. --test called it fine, and it did not start."""
    wrapper = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && mkdir /run/monkey && exec "$@"', "sh"]
    port = free_port()
    server = start(**configured(None, server=f"User nobody\nListen 127.0.0.1:{port}", wrapper=wrapper,
                                env={"XDG_RUNTIME_DIR": str(open_folder)}))
    server.wait_for_log("shell at=/run/monkey/")
    assert ask(f"/proc/{server.pid}/root/run/monkey/cheetah.{port}", "loglevel") == "level: info\n"


def test_socket_goes_with_the_server(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        shell.ask("uptime")
        server.stop()
        assert shell.to_the_end() == b""
    assert not (tmp_path / "shell").exists()


def test_socket_of_a_dead_server_is_replaced(start, tmp_path):
    first = start(**configured(tmp_path / "shell"))
    ask(tmp_path / "shell", "uptime")
    first.kill()
    assert (tmp_path / "shell").exists()
    start(**configured(tmp_path / "shell"))
    assert ask(tmp_path / "shell", "loglevel") == "level: info\n"


def test_second_server_on_the_same_socket_is_refused(start, tmp_path):
    start(**configured(tmp_path / "shell"))
    ask(tmp_path / "shell", "uptime")
    assert re.search(r'the plugin "cheetah" cannot start: another server uses \S+/shell',
                     refused(start, **configured(tmp_path / "shell")))
    assert ask(tmp_path / "shell", "loglevel") == "level: info\n"


def test_other_files_are_left_alone(start, tmp_path):
    (tmp_path / "shell").write_text("mine")
    assert "exists and is not a socket" in refused(start, **configured(tmp_path / "shell"))
    assert (tmp_path / "shell").read_text() == "mine"
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert "exists and is not a socket" in refused(start, **configured(tmp_path / "link"))
    assert not (tmp_path / "elsewhere").exists()


def test_folder_that_is_missing(start, tmp_path):
    assert re.search(r"cannot listen at \S+/none/shell: No such file", refused(start, **configured(tmp_path / "none/shell")))


def test_check_of_a_configuration_opens_nothing(tmp_path):
    config = process.Config(tmp_path)
    config.write(**configured(tmp_path / "shell"))
    assert process.run("--configdir", config.folder, "--test").returncode == 0
    assert not (tmp_path / "shell").exists()


@pytest.mark.parametrize("lines, said", [
    ("Listen NOWHERE", r"cheetah.conf:2:12: error: Listen: expected"),
    ("Sockets /x", r'cheetah.conf:2:5: error: unknown key "Sockets" in \[CHEETAH\]; did you mean "Socket"'),
    ("Group no-such-group", r'Group: there is no group "no-such-group"'),
    ("Socket /" + "x" * 107, r"Socket: a path of at most 107 bytes is needed"),
])
def test_faults_have_their_place(tmp_path, lines, said):
    config = process.Config(tmp_path)
    config.write(**configured(None, lines))
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert re.search(said, checked.stdout + checked.stderr), checked.stdout + checked.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root has another place")
def test_default_place_is_the_user_s(start, tmp_path):
    server = start(env={"XDG_RUNTIME_DIR": str(tmp_path)}, **configured(None))
    assert ask(tmp_path / f"cheetah.{server.port}", "loglevel") == "level: info\n"


@pytest.mark.skipif(os.geteuid() != 0 or os.path.exists("/run/monkey"), reason="needs root without /run/monkey")
def test_default_place_that_is_missing(start):
    assert "set Socket in [CHEETAH]" in refused(start, **configured(None))


@pytest.mark.skipif(os.geteuid() != 0 or os.path.exists("/run/monkey"), reason="needs root without /run/monkey")
def test_a_check_warns_of_a_default_place_that_is_missing(tmp_path):
    config = process.Config(tmp_path)
    config.write(**configured(None))
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 0
    assert 'warning: the plugin "cheetah" cannot start: there is neither' in checked.stdout + checked.stderr


# -- reload


def test_session_outlives_a_reload_that_it_asked_for(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        for count in (1, 2, 3):
            assert shell.ask("reload") == {"reload": "done"}
            assert shell.ask("status")["reloads"] == count
        assert eventually(lambda: shell.ask("status")["configurations"] == 1)
        inode = (tmp_path / "shell").stat().st_ino
        assert ask(tmp_path / "shell", "loglevel") == "level: info\n"
        server.reload(expect="reloaded")
        assert (tmp_path / "shell").stat().st_ino == inode
        assert shell.ask("status")["reloads"] == 4


def test_reload_that_fails_leaves_the_shell(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        shell.ask("uptime")
        server.config.write(**configured(tmp_path / "none/shell"))
        told = shell.ask("reload")
        assert told["reload"].startswith("failed") and "cannot listen at" in told["found"][0]["found"]
        assert shell.ask("status")["reloads"] == 0
        assert ask(tmp_path / "shell", "loglevel") == "level: info\n"


def test_reload_that_fails_is_told_with_all_faults(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        server.config.write(**configured(tmp_path / "shell"), server="Tiemout 5\nMaxHeaders many")
        told = shell.ask("reload")
        assert told["reload"].startswith("failed")
        assert [re.sub(r".*/|:\d+(?=:)", "", row["found"], count=2).split(";")[0] for row in told["found"]] == [
            'monkey.conf:5: error: unknown key "Tiemout" in [SERVER]',
            'monkey.conf:16: error: MaxHeaders: expected a whole number from 1 to 10000, got "many"',
            "the configuration has errors"]
        assert "Tiemout" in ask(tmp_path / "shell", "reload")
        assert shell.ask("status")["reloads_failed"] == 2
        metrics = {row["name"]: row["value"] for row in shell.ask("metrics")["metrics"]}
        assert (metrics["monkey_reloads_total"], metrics["monkey_reloads_failed_total"]) == (0, 2)
        server.config.write(**configured(tmp_path / "shell"))
        assert shell.ask("reload") == {"reload": "done"}


def test_reload_can_move_the_shell(start, tmp_path):
    server = start(**configured(tmp_path / "shell"))
    with Shell(tmp_path / "shell") as shell:
        shell.ask("uptime")
        server.reload(expect="reloaded", **configured(tmp_path / "other"))
        assert shell.to_the_end() == b""
        assert ask(tmp_path / "other", "loglevel") == "level: info\n"
        assert eventually(lambda: not (tmp_path / "shell").exists())


def test_many_at_once_while_it_reloads(start, tmp_path):
    server = start(server="Workers 3", **configured(tmp_path / "shell"))
    shells = [Shell(tmp_path / "shell") for _ in range(12)]
    for turn in range(10):
        for i, shell in enumerate(shells):
            shell.send(("connections", "metrics", "config", "reload", "vhosts")[(turn + i) % 5] + " --json")
    for shell in shells:
        for _ in range(10):
            assert "error" not in json.loads(shell.line())
        shell.close()
    assert server.get("/").status == 200
