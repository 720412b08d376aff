# SPDX-License-Identifier: Apache-2.0
"""plugins.load: what is loaded, and what is refused with its place and a sentence."""

import ctypes
import os
import pathlib
import re
import shutil
import signal

import pytest

from harness import plugins, process
from harness.config import Config


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration, runs --test and returns (exit code, output)."""
    def check(**config):
        written = Config(tmp_path)
        written.write(**config)
        result = process.run("--configdir", written.folder, "--test")
        return result.returncode, result.stdout + result.stderr
    return check


REFUSED = {
    "odd_major": r"version 77 of the plugin interface; this server has version 1",
    "odd_name": r"an invalid name",
    "odd_small": r"its description has 8 bytes",
    "odd_no_symbol": r"does not export mk_plugin",
    "odd_empty": r"does not export mk_plugin",
    "odd_unresolved": r"mk_there_is_no_such_function",
}


@pytest.mark.parametrize("name, sentence", REFUSED.items())
def test_what_is_no_plugin_is_refused(check, name, sentence):
    code, output = check(extra={"plugins.load": plugins.load(name)})
    assert code == 1
    assert re.search(rf"plugins\.load:2:10: error: Load: .*monkey-{name}\.so.*{sentence}", output), output


@pytest.mark.parametrize("content, sentence", [(None, "No such file"), (b"", "short"), (b"not an object", "short|ELF|invalid")],
                         ids=["missing", "empty", "text"])
def test_a_file_that_cannot_be_loaded_is_refused_with_the_reason(check, tmp_path, content, sentence):
    plugins.path("life")
    file = tmp_path / "monkey-x.so"
    if content is not None:
        file.write_bytes(content)
    code, output = check(extra={"plugins.load": f"[PLUGINS]\n    Load {file}\n"})
    assert code == 1
    assert re.search(rf"plugins\.load:2:10: error: Load: cannot load \"{re.escape(str(file))}\": .*({sentence})", output), output


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["fifo", "folder"])
def test_what_is_no_file_is_not_waited_for(check, tmp_path, make):
    plugins.path("life")
    make(tmp_path / "monkey-x.so")
    code, output = check(extra={"plugins.load": f"[PLUGINS]\n    Load {tmp_path}/monkey-x.so\n"})
    assert code == 1
    assert "it is not a file" in output, output


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["fifo", "folder"])
def test_a_file_of_rules_that_is_none_is_not_passed_over(tmp_path, make):
    written = Config(tmp_path)
    written.write(extra={"plugins.load": plugins.load("life"), "plugins/life/a.conf": ""})
    make(written.folder / "plugins" / "life" / "b.conf")
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode == 1
    assert re.search(r"life/b\.conf.*(not a file|a directory)", result.stdout + result.stderr)


def test_a_plugin_twice_is_one_fault(check):
    code, output = check(extra={"plugins.load": plugins.load("life", "sections", "life")})
    assert code == 1
    assert len(re.findall(r"error:", output)) == 1
    assert re.search(r"plugins\.load:4:10: error: Load: the plugin \"life\" is loaded already", output), output


def test_a_plugin_by_name_must_bear_it(check, tmp_path):
    """By its path a plugin may have any file name, but a name promises what is found."""
    code, _ = check(extra={"plugins.load": plugins.load("odd_other_name")})
    assert code == 0


def test_a_relative_path_begins_at_the_configuration(check, tmp_path):
    copy = tmp_path / "beside" / "monkey-life.so"
    copy.parent.mkdir()
    shutil.copy(plugins.path("life"), copy)
    code, output = check(extra={"plugins.load": "[PLUGINS]\n    Load ../beside/monkey-life.so\n"})
    assert code == 0, output


def test_liana_may_be_listed(check):
    code, output = check(extra={"plugins.load": "[PLUGINS]\n    Load liana\n    Load monkey-liana.so\n    Load liana\n"})
    assert code == 0, output


def test_a_name_that_is_nowhere_is_refused(check):
    code, output = check(extra={"plugins.load": "[PLUGINS]\n    Load there_is_none\n"})
    assert code == 1
    assert re.search(r"plugins\.load:2:10: error: Load: cannot load \".*monkey-there_is_none\.so\"", output), output


def test_more_plugins_than_there_may_be_are_refused(check):
    lines = "".join("    Load liana\n" for _ in range(65))
    code, output = check(extra={"plugins.load": "[PLUGINS]\n" + lines})
    assert code == 1
    assert re.search(r"plugins\.load:66:10: error: Load: .*at most 64", output), output


class Section(ctypes.Structure):
    """The beginning of struct mk_section_spec."""
    _fields_ = [("sizes", ctypes.c_size_t * 2), ("name", ctypes.c_char_p)]


class Plugin(ctypes.Structure):
    """The beginning of struct mk_plugin."""
    _fields_ = [("size", ctypes.c_size_t), ("major", ctypes.c_uint), ("name", ctypes.c_char_p), ("about", ctypes.c_char_p),
                ("sections", ctypes.POINTER(ctypes.POINTER(Section)))]


def sections():
    """Of the tables of the plugins that were built, as the server finds them."""
    for file in sorted(pathlib.Path(process.binary()).parent.glob("plugins/monkey-*.so")):
        plugin = ctypes.POINTER(Plugin).in_dll(ctypes.CDLL(file), "mk_plugin").contents
        at = 0
        while plugin.sections and plugin.sections[at]:
            yield plugin.sections[at].contents.name.decode()
            at += 1


def test_a_section_loads_the_plugin_that_has_it(check):
    of_plugins = {"DUDA", "WEB_SERVICE"}
    if process.is_sanitized():  # its runtime ends a program in which it does not come first
        pytest.skip("plugins with a sanitizer")
    try:
        of_plugins |= set(sections()) - {"LOCATION"}  # the server's own, to which plugins add keys
    except OSError:
        pytest.skip("plugins of another size of pointers")
    for section in of_plugins:
        _, output = check(sites={"more": f"[HOST]\n    DocumentRoot /\n[{section}]\n    Whatever 1\n"})
        unknown = f'sites/more:4:5: error: unknown key "Whatever" in [{section}]' in output
        is_missing = "linked statically" in output and f"sites/more:3:1: error: [{section}] needs the plugin " in output
        assert unknown or is_missing or f"sites/more:3:1: error: [{section}] is for all sites: " in output, output


def test_a_section_for_all_sites_is_a_fault_in_one(check):
    code, output = check(sites={"more": "[HOST]\n    DocumentRoot /\n[LIFE]\n    Tag x\n"},
                         extra={"plugins.load": plugins.load("life")})
    assert code == 1
    assert re.search(r"sites/more:3:1: error: \[LIFE\] is for all sites: it belongs above the first \[HOST\] of monkey\.conf, "
                     r"or in plugins/life/", output), output


def test_any_other_section_is_a_fault(check):
    code, output = check(sites={"more": "[HOST]\n    DocumentRoot /\n[SHRAED]\n    Number 1\n"},
                         extra={"plugins.load": plugins.load("sections")})
    assert code == 1
    assert re.search(r"sites/more:3:1: error: unknown section \[SHRAED\]; did you mean \[SHARED\]\?", output), output


@pytest.mark.parametrize("handlers, sentence", [
    ("Match ^/x secti", r'"secti" needs the plugin of that name: cannot load "\S+/monkey-secti\.so": No such file'),
    ("Match ^/x liaan here", r'"liaan" needs the plugin of that name: cannot load'),
    ("Match ^/x liana", r"liana answers no requests"),
    ("Match ^/x sections", r"sections takes one parameter"),
    ("Match ^/x life a", r"life takes no parameters"),
    ("Match [ sections here", r'invalid regular expression "\['),
], ids=["absent", "of no plugin", "no handler", "parameters", "no parameters", "pattern"])
def test_a_match_line_that_a_plugin_refuses(check, handlers, sentence):
    code, output = check(handlers=handlers, extra={"plugins.load": plugins.load("sections", "life")})
    assert code == 1
    assert re.search(rf"sites/default:\d+:\d+: error: Match: .*{sentence}", output), output


def test_a_plugin_of_the_first_header_runs(start):
    """It knows nothing of what came later, and the server nothing of what stands behind its description."""
    server = start(handlers="Match ^/old old", extra={"plugins.load": plugins.load("old"),
                                                      "plugins/old/a.conf": "[OLD]\n    Times 3\n"})
    assert server.get("/old").body == b"/old old 3"
    server.signal(signal.SIGUSR1)
    server.wait_for_log("logs reopened")
    server.reload(expect="configuration reloaded")
    assert server.get("/older").body == b"/older old 3"
