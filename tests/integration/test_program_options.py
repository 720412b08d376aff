# SPDX-License-Identifier: Apache-2.0
"""The command line."""

import os
import re
import shutil
import subprocess

import pytest

from harness import process
from harness.client import Connection, eventually, free_port
from harness.config import Config
from harness.executable import AS_ROOT

OPTIONS = """
    -c --configdir -s --serverconf -S --sites-conf-dir -P --plugins-conf-dir -l --plugin-load-conf-file
    -m --mimes-conf-file -o --one-shot -p --port -w --workers -I --pid-file -u --user --transport -D --daemon
    -B --balancing-mode -T --allow-shared-sockets -t --test --json --dump --changed -b --build -v --version -h --help --make-cert
    --explain -X --method -H --header --from
""".split()


@pytest.fixture
def config(tmp_path):
    config = Config(tmp_path)
    config.write()
    return config


def dump(config, *arguments, **kwargs):
    result = process.run("-c", config.folder, "--dump", *arguments, **kwargs)
    assert result.returncode == 0, result.stderr
    return result.stdout


def value_in(text, key):
    """The line of a setting with the comment before it, which tells its origin; blanks as one."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    found = [f"{line} {origin}" for origin, line in zip(lines, lines[1:]) if line.startswith(key + " ")]
    assert len(found) == 1, f"{key}: {found}"
    return found[0]


def refused(*arguments):
    """Refused with one sentence on stderr, which is returned."""
    result = process.run(*arguments)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def test_help_has_every_option():
    result = process.run("--help")
    assert result.returncode == 0 and result.stderr == ""
    words = result.stdout.replace(",", " ").split()
    assert [option for option in OPTIONS if option not in words] == []


def test_version_and_build():
    for option in ("-v", "--version"):
        assert process.run(option).stdout == "monkey 2.0.0\n"
    facts = process.run("-b").stdout
    assert "compiler" in facts and "liana" in facts
    paths = dict(re.findall(r"^(modules|conf) +(/\S+)$", facts, re.M))
    assert paths["conf"] == str(process.TREE / "conf") and paths["modules"].endswith("/monkey/plugins")


@pytest.mark.parametrize("arguments, word", [
    (["-x"], "-x"),
    (["--unheard-of"], "--unheard-of"),
    (["--test=yes"], "--test=yes"),
    (["--port"], "--port"),
    (["-c"], "-c"),
    (["-tc"], "-tc"),
    (["conf"], "conf"),
    (["-t", "--", "more"], "more"),
    (["--make-cert"], "--make-cert"),
])
def test_unknown_or_incomplete_option(arguments, word):
    assert word in refused(*arguments)


def test_output_that_cannot_be_written(config):
    with open("/dev/full", "w") as full:
        result = subprocess.run([process.binary(), "-c", str(config.folder), "--dump"], stdout=full,
                                stderr=subprocess.PIPE, env=process.environment(), timeout=30)
    assert result.returncode == 1
    assert b"No space left" in result.stderr


def test_test_says_fine(config):
    result = process.run("-c", config.folder, "-t")
    assert (result.returncode, result.stdout) == (0, "configuration is fine\n")


def test_test_tells_every_problem(config):
    config.write(server="Tiemout 5\nWorkers many", host="Heeder X 1")
    result = process.run("--configdir", config.folder, "--test")
    assert result.returncode == 1 and result.stdout == ""
    assert all(word in result.stderr for word in ("Tiemout", "many", "Heeder"))


def test_test_knows_the_user(config):
    config.write(server="User nobody-of-that-name")
    result = process.run("-c", config.folder, "-t")
    assert result.returncode == 1 and "nobody-of-that-name" in result.stderr


def test_missing_configuration(tmp_path):
    result = process.run("-c", tmp_path / "none", "-t")
    assert result.returncode == 1 and "monkey.conf" in result.stderr


@pytest.mark.parametrize("arguments, key, value", [
    (["-p", "127.0.0.1:8181"], "Listen", "127.0.0.1:8181"),
    (["--port=8181"], "Listen", "8181"),
    (["-w", "3"], "Workers", "3"),
    (["-I", "/run/other.pid"], "PidFile", "/run/other.pid"),
    (["-B"], "Scheduler", "Fair"),
    (["-T"], "SharedSockets", "on"),
    (["--transport", "liana"], "TransportLayer", "liana"),
])
def test_option_overrides_the_file(config, arguments, key, value):
    config.write(server="Listen 127.0.0.1:1\nPidFile /run/x.pid\nWorkers 1\nScheduler ReusePort")
    line = value_in(dump(config, *arguments), key)
    assert line.startswith(f"{key} {value}")
    assert "command line" in line


def test_port_may_be_repeated(config):
    text = dump(config, "-p", "127.0.0.1:8181", "-p", "[::1]:8181")
    assert "127.0.0.1:8181" in text and "[::1]:8181" in text and "127.0.0.1:0" not in text


@pytest.mark.parametrize("arguments, word", [
    (["-p", "eighty"], "eighty"),
    (["-p", "70000"], "70000"),
    (["-w", "-1"], "-1"),
    (["--transport", "nosuchtransport"], "nosuchtransport"),
])
def test_wrong_value_is_told_with_its_origin(config, arguments, word):
    result = process.run("-c", config.folder, "-t", *arguments)
    assert result.returncode == 1
    assert word in result.stderr and "command line" in result.stderr


def test_relative_names_count_from_here(config):
    assert "/here.pid" in value_in(dump(config, "-I", "here.pid", cwd=config.folder.parent), "PidFile")
    result = process.run("-c", config.folder.name, "-t", cwd=config.folder.parent)
    assert result.returncode == 0, result.stderr


def test_parts_are_looked_for_in_the_configuration_directory_first(config, tmp_path):
    text = (config.folder / "monkey.conf").read_text()
    (config.folder / "other.conf").write_text(text + "    MaxHeaders 7\n")
    (tmp_path / "other.conf").write_text("nonsense")
    assert value_in(dump(config, "-s", "other.conf", cwd=tmp_path), "MaxHeaders").startswith("MaxHeaders 7")
    (config.folder / "other.conf").rename(tmp_path / "third.conf")
    assert value_in(dump(config, "-s", "third.conf", cwd=tmp_path), "MaxHeaders").startswith("MaxHeaders 7")


def test_sites_elsewhere(config, tmp_path):
    shutil.move(config.folder / "sites", tmp_path / "hosts")
    assert process.run("-c", config.folder, "-t").returncode == 1
    assert process.run("-c", config.folder, "-S", tmp_path / "hosts", "-t").returncode == 0


def test_build_tree_brings_its_own_configuration(config, tmp_path):
    (tmp_path / "build-x").mkdir()
    shutil.copy(process.binary(), tmp_path / "build-x" / "monkey")
    env = process.environment({"LD_LIBRARY_PATH": process.binary().rpartition("/")[0]})
    result = subprocess.run([tmp_path / "build-x" / "monkey", "--dump"], env=env, capture_output=True, text=True,
                            timeout=30, cwd="/")
    assert result.returncode == 0, result.stderr
    assert str(config.folder) in result.stdout


def test_one_shot_serves_a_directory(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    port = free_port()
    server = subprocess.Popen([process.binary(), "-o", ".", "-p", f"127.0.0.1:{port}", *AS_ROOT], cwd=tmp_path,
                              env=process.environment(), stderr=subprocess.DEVNULL)
    try:
        def ask():
            try:
                with Connection(("127.0.0.1", port)) as connection:
                    return connection.request("/a.txt")
            except ConnectionRefusedError:
                return None
        answer = eventually(ask)
        assert answer and answer.text == "text"
    finally:
        server.terminate()
        assert server.wait(30) == 0


def test_one_shot_lists_directories_where_it_can(tmp_path):
    """An executable that has no plugins anywhere says so once, and serves all the same."""
    if "dirlisting" in process.run("--build").stdout:
        pytest.skip("the plugin is inside")
    alone = tmp_path / "monkey"
    shutil.copy(process.binary(), alone)
    missing = subprocess.run([alone, "-o", tmp_path, "--test"], env=process.environment(), capture_output=True, text=True,
                             timeout=30)
    assert missing.returncode == 0, missing.stderr
    assert missing.stderr.count("warning: the server runs without dirlisting: ") == 1, missing.stderr
    found = process.run("-o", tmp_path, "--test")
    assert found.returncode == 0 and "warning" not in found.stderr, found.stderr


def test_make_cert_needs_a_plugin(tmp_path):
    if "tls" in process.run("--build").stdout:
        pytest.skip("the plugin is inside")
    shutil.copy(process.binary(), tmp_path / "monkey")
    result = subprocess.run([tmp_path / "monkey", "--make-cert", tmp_path / "made"], env=process.environment(),
                            capture_output=True, text=True, timeout=30)
    assert (result.returncode, result.stdout) == (1, "")
    assert "--make-cert needs the plugin tls or mbedtls; cannot load" in result.stderr
    assert not (tmp_path / "made").exists()


def test_make_cert_of_too_many_names(tmp_path):
    names = [f"{number}.test" for number in range(65)]
    assert "more than 64 names" in refused("--make-cert", tmp_path / "made", *names)


def test_one_shot_of_what_is_no_directory(tmp_path):
    result = process.run("-o", tmp_path / "none", "-p", "127.0.0.1:0")
    assert result.returncode == 1 and str(tmp_path / "none") in result.stderr


def test_port_in_use(start, config):
    server = start()
    result = process.run("-c", config.folder, "-p", f"127.0.0.1:{server.port}")
    assert result.returncode == 1
    assert f"127.0.0.1:{server.port}" in result.stderr and "another process" in result.stderr


@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
def test_starts_without_standard_descriptors(config, tmp_path, closed):
    """A log or a socket in the place of stderr would get what is meant for it."""
    config.write(server=f"ErrorLog {tmp_path}/log")
    shell = "exec \"$@\" " + " ".join(f"{fd}>&-" for fd in closed)
    server = subprocess.Popen(["/bin/sh", "-c", shell, "sh", process.binary(), "-c", str(config.folder)],
                              env=process.environment())
    try:
        assert eventually(lambda: (tmp_path / "log").exists() and "listening" in (tmp_path / "log").read_text())
        for fd in closed:
            assert os.readlink(f"/proc/{server.pid}/fd/{fd}") == "/dev/null"
    finally:
        server.terminate()
        assert server.wait(30) == 0
