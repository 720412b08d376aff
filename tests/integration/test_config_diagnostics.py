# SPDX-License-Identifier: Apache-2.0
"""`--test`: every fault of every file in one run, each with its place, its line and what was expected."""

import re

import pytest

from harness import process
from harness.config import Config, section


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration, runs --test and returns (exit code, output)."""
    def check(**config):
        written = Config(tmp_path)
        written.write(**config)
        result = process.run("--configdir", written.folder, "--test")
        return result.returncode, result.stdout + result.stderr
    return check


def test_good_configuration_passes(check):
    code, _ = check(host="Header X-A b", handlers="Match ^/echo echo", error_pages="404 404.html")
    assert code == 0


FAULTS = [
    ("misspelt key", {"server": "Tiemout 5"}, "monkey.conf", r"Tiemout.*Timeout"),
    ("unknown key", {"server": "Frobnicate 5"}, "monkey.conf", r"Frobnicate"),
    ("not a boolean", {"server": "KeepAlive maybe"}, "monkey.conf", r"KeepAlive.*maybe|maybe"),
    ("not a number", {"server": "Workers many"}, "monkey.conf", r"Workers"),
    ("not a time", {"server": "Timeout 5 parsecs"}, "monkey.conf", r"Timeout"),
    ("not a size", {"server": "MaxBodySize huge"}, "monkey.conf", r"MaxBodySize"),
    ("negative", {"server": "MaxHeaders -1"}, "monkey.conf", r"MaxHeaders"),
    ("above the range", {"server": "Workers 100000"}, "monkey.conf", r"Workers.*256|256"),
    ("not a name of the list", {"server": "Scheduler Unfair"}, "monkey.conf", r"Fair.*ReusePort"),
    ("key twice", {"server": "Timeout 5\nTimeout 6"}, "monkey.conf", r"Timeout"),
    ("unknown section", {"extra": {"monkey.conf": "[SERVRE]\n    Workers 1\n"}}, "monkey.conf", r"SERVRE.*SERVER"),
    ("section not closed", {"extra": {"monkey.conf": "[SERVER\n    Workers 1\n"}}, "monkey.conf", r"\]"),
    ("key outside a section", {"extra": {"monkey.conf": "    Workers 1\n"}}, "monkey.conf", r"section"),
    ("other indentation", {"extra": {"monkey.conf": "[SERVER]\n    Workers 1\n  Timeout 5\n"}}, "monkey.conf", r"indent"),
    ("key without value", {"server": "Timeout"}, "monkey.conf", r"Timeout"),
    ("key of [HOST]", {"host": "DocumentRot /"}, "sites/default", r"DocumentRot.*DocumentRoot"),
    ("document root missing", {"host": "DocumentRoot /no/such/dir"}, "sites/default", r"/no/such/dir"),
    ("not a CPU", {"server": "CPUAffinity 0 x"}, "monkey.conf", r"CPUAffinity.*\"x\""),
    ("not a host name", {"host": "ServerName a.*.b"}, "sites/default", r"ServerName.*a\.\*\.b"),
    ("not a status", {"error_pages": "99 x.html"}, "sites/default", r"99"),
    ("not a redirect status", {"host": "Redirect / 200"}, "sites/default", r"200|301"),
    ("unknown plugin", {"handlers": "Match x nosuchplugin"}, "sites/default", r"nosuchplugin"),
    ("plugin of a later release", {"handlers": "Match x cgi"}, "sites/default", r"cgi"),
    ("not a pattern", {"handlers": "Match [ echo"}, "sites/default", r"Match"),
    ("fault in a further site", {"sites": {"other": "[HOST]\n    Nope 1\n"}}, "sites/other", r"Nope"),
    ("not a type", {"extra": {"monkey.mime": "[MIMETYPES]\n    html nonsense\n"}}, "monkey.mime", r"nonsense"),
    ("plugin to load", {"extra": {"plugins.load": "[PLUGINS]\n    Load /no/such/plugin.so\n"}}, "plugins.load", r"/no/such/plugin.so"),
    ("include of nothing", {"extra": {"monkey.conf": "@INCLUDE nowhere.conf\n[SERVER]\n    Workers 1\n"}}, "monkey.conf", r"nowhere.conf"),
    ("control byte", {"server": "PidFile /tmp/\x01"}, "monkey.conf", r""),
]


@pytest.mark.parametrize("config, file, hint", [pytest.param(*rest, id=name) for name, *rest in FAULTS])
def test_fault_has_place_and_hint(check, config, file, hint):
    code, output = check(**config)
    assert code == 1
    lines = [line for line in output.splitlines() if re.search(rf"{re.escape(file)}:\d+:\d+: ", line)]
    assert lines, output
    assert any(re.search(hint, line, re.I) for line in lines), output


def test_place_is_right(check):
    text = "[SERVER]\n    Workers 1\n    # a comment\n    Tiemout 15\n"
    _, output = check(extra={"monkey.conf": text})
    assert re.search(r"monkey\.conf:4:5: ", output), output
    assert "    Tiemout 15" in output


def test_place_of_a_document_root_is_its_line(check):
    text = "[HOST]\n    ServerName a.b\n[ERROR_PAGES]\n    404 x\n[HOST]\n    DocumentRoot /no/such/dir\n"
    _, output = check(sites={"other": text})
    assert re.search(r"sites/other:6:18: error: DocumentRoot: /no/such/dir: ", output), output


def test_a_name_of_two_sites_is_told_with_both(check):
    site = "[HOST]\n    DocumentRoot /\n    ServerName {}\n"
    _, output = check(sites={"one": site.format("a.b *.c"), "two": site.format("x *.C A.B")})
    for name in ("a.b", ".c"):
        told = re.search(rf'sites/(one|two):3:16: error: ServerName: "{re.escape(name)}" belongs to \S+/sites/(one|two) too', output)
        assert told and told[1] != told[2], output


def test_place_counts_crlf_lines(check):
    text = "[SERVER]\r\n    Workers 1\r\n    Tiemout 15\r\n"
    _, output = check(extra={"monkey.conf": text})
    assert re.search(r"monkey\.conf:3:5: ", output), output


def test_place_of_a_fault_in_an_included_file(check):
    code, output = check(extra={"monkey.conf": "@INCLUDE more/*.conf\n", "more/a.conf": "[SERVER]\n    Oops 1\n"})
    assert code == 1
    assert re.search(r"more/a\.conf:2:5: ", output), output


def test_include_cycle_is_a_fault(check):
    code, output = check(extra={"monkey.conf": "@INCLUDE a.conf\n", "a.conf": "@INCLUDE monkey.conf\n"})
    assert code == 1
    assert re.search(r"(monkey|a)\.conf:1:", output), output


def test_all_faults_of_all_files_in_one_run(check):
    code, output = check(
        server="Tiemout 5\nWorkers many\nKeepAlive maybe", host="DocumentRot /x\nRedirect / 999", handlers="Match x nosuchplugin",
        sites={"a": "[HOST]\n    Nope 1\n", "b": "[HSOT]\n    ServerName b\n"}, extra={"monkey.mime": "[MIMETYPES]\n    html nonsense\n"})
    assert code == 1
    for word in ("Tiemout", "Workers", "KeepAlive", "DocumentRot", "Redirect", "nosuchplugin", "Nope", "HSOT", "nonsense"):
        assert word in output, f"{word} is missing in:\n{output}"


def test_faults_keep_the_server_from_starting(start):
    server = start(server="Tiemout 5\nKeepAlive maybe", wait=False)
    assert server.expect_exit() != 0
    assert "Tiemout" in server.log() and "maybe" in server.log()
    assert "listening" not in server.log()


def test_bytes_of_a_line_are_shown_escaped(check):
    """A configuration that somebody else wrote must not speak to the terminal."""
    _, output = check(server="ErrorLog stderr\nTiemout \x1b[31mred")
    assert "\x1b" not in output


def test_names_are_known_in_any_case_and_blanks_are_trimmed(check):
    text = "[server]\n\tworkers 1   \n\tKEEPALIVE Yes\t\n\tlisten 127.0.0.1:0\n"
    code, output = check(extra={"monkey.conf": text})
    assert code == 0, output


@pytest.mark.parametrize("value", ["on", "off", "yes", "no", "true", "false", "ON", "No", "True"])
def test_booleans(check, value):
    assert check(server=f"KeepAlive {value}")[0] == 0


@pytest.mark.parametrize("value", ["15", "500ms", "15s", "2m", "1h", "1d"])
def test_times(check, value):
    assert check(server=f"Timeout {value}")[0] == 0


@pytest.mark.parametrize("value", ["100000", "64K", "8M", "1G", "0"])
def test_sizes(check, value):
    assert check(server=f"MaxBodySize {value}")[0] == 0


def test_missing_default_site_is_a_fault(check, tmp_path):
    written = Config(tmp_path)
    written.write()
    (written.folder / "sites" / "default").unlink()
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode == 1
    assert "default" in result.stdout + result.stderr


def test_missing_directory_is_a_fault(tmp_path):
    result = process.run("--configdir", tmp_path / "nowhere", "--test")
    assert result.returncode == 1
    assert "nowhere" in result.stdout + result.stderr


def test_section_of_an_absent_plugin_is_not_ignored(check):
    """It is named, as a fault or as a warning."""
    _, output = check(sites={"a": section("HOST", "ServerName a\nDocumentRoot /") + section("CGI", "Match x")})
    assert "CGI" in output
