# SPDX-License-Identifier: Apache-2.0
"""Sections of plugins: where they may stand, what sites inherit, and which route is asked first."""

import re

import pytest

from harness import plugins, process
from harness.config import Config


@pytest.fixture
def serve(start):
    """serve(site, file): a server whose default site has these sections beside [HOST]; file is the plugin's."""
    def serve(site="", file="", handlers=""):
        extra = {"plugins.load": plugins.load("sections")}
        if file:
            extra["plugins/sections/any.conf"] = file
        server = start(handlers=handlers, extra=extra, sites={})
        if site:
            with open(server.conf / "sites" / "default", "a", encoding="ascii") as default:
                default.write(site)
            server.reload()
        return server
    return serve


def run(tmp_path, action, site="", file=""):
    written = Config(tmp_path)
    written.write(extra={"plugins.load": plugins.load("sections"), "plugins/sections/any.conf": file})
    with open(written.folder / "sites" / "default", "a", encoding="ascii") as default:
        default.write(site)
    return process.run("--configdir", written.folder, action)


FILE = "[SHARED]\n    Word file\n    Number 11\n    List a b\n    Custom 1\n    Custom 2\n"

INHERITED = [
    ("nothing anywhere", "", "", "word=- path=- number=7 list=x,y custom=0 written=no"),
    ("only the file", "", FILE, "word=file path=- number=11 list=a,b custom=2 written=no"),
    ("only the site", "[SHARED]\n    Number 3\n", "", "word=- path=- number=3 list=x,y custom=0 written=yes"),
    ("both", "[SHARED]\n    Word site\n", FILE, "word=site path=- number=11 list=a,b custom=2 written=yes"),
    ("the default said again", "[SHARED]\n    Number 7\n", FILE, "word=file path=- number=7 list=a,b custom=2 written=yes"),
    ("another spelling", "[SHARED]\n    Count 5\n", FILE, "word=file path=- number=5 list=a,b custom=2 written=yes"),
    ("repeated ones as a whole", "[SHARED]\n    List c\n    List d\n    Custom x\n", FILE,
     "word=file path=- number=11 list=c,d custom=1 written=yes"),
    ("continued", "[SHARED]\n    Number 5\n[SHARED]\n    Word more\n", FILE, "word=more path=- number=5 list=a,b custom=2 written=yes"),
]


@pytest.mark.parametrize("site, file, answer", [pytest.param(*rest, id=name) for name, *rest in INHERITED])
def test_a_site_inherits_what_it_does_not_say(serve, site, file, answer):
    assert serve(site, file).get("/shared").body.decode() == answer


def test_relative_paths_begin_at_the_configuration(serve):
    server = serve("[SHARED]\n    Path some/file\n")
    assert f" path={server.conf}/some/file " in server.get("/shared").body.decode()


def test_routes_are_asked_in_their_order(serve):
    """[HANDLERS], then the site's sections, then the plugin's file; one that passes lets the next answer."""
    server = serve("[EACH]\n    Match /b\n    Text site\n[EACH]\n    Match /b\n    Text too late\n[EACH]\n    Match /d\n    Text -\n",
                   "[EACH]\n    Match /\n    Text file\n", "Match /a sections handler\nMatch /d sections -\nMatch /d$ sections end")
    answers = {path: server.get(path).body for path in ("/a", "/b", "/c", "/d", "/dx", "/b/a")}
    assert answers == {"/a": b"handler", "/b": b"site", "/c": b"file", "/d": b"end", "/dx": b"file", "/b/a": b"handler"}


FAULTS = [
    ("in a site", "[SHARED]\n    Number 100\n", "", r"sites/default:\d+:12: error: Number: expected a whole number from 1 to 99"),
    ("in the file", "", "[SHARED]\n    Number 0\n", r"plugins/sections/any\.conf:2:12: error: Number: expected"),
    ("misspelt", "", "[SHARED]\n    Numbr 1\n", r"any\.conf:2:5: error: unknown key \"Numbr\" in \[SHARED\]; did you mean \"Number\"\?"),
    ("of a parser", "[SHARED]\n    Custom !\n", "", r"sites/default:\d+:12: error: Custom: expected something without !, got \"!\""),
    ("of a check", "[EACH]\n    Text x\n", "", r"sites/default:\d+:1: error: \[EACH\] needs a Match"),
    ("of a route", "", "[EACH]\n    Match (\n", r"any\.conf:1:1: error: Match: invalid regular expression \"\(\""),
    ("unknown section", "", "[SHRAED]\n", r"any\.conf:1:1: error: unknown section \[SHRAED\]; did you mean \[SHARED\]\?"),
    ("of the core", "", "[HOST]\n    DocumentRoot /\n", r"any\.conf:1:1: error: unknown section \[HOST\]"),
]


@pytest.mark.parametrize("site, file, fault", [pytest.param(*rest, id=name) for name, *rest in FAULTS])
def test_a_fault_has_its_place(tmp_path, site, file, fault):
    result = run(tmp_path, "--test", site, file)
    assert result.returncode == 1
    assert re.search(fault, result.stderr), result.stderr
    assert result.stderr.count("error:") == 1, result.stderr


def test_a_fault_of_the_file_is_told_once_however_many_sites_inherit(tmp_path):
    written = Config(tmp_path)
    site = "[HOST]\n    ServerName {}\n    DocumentRoot /\n[SHARED]\n    Word x\n"
    written.write(sites={name: site.format(name) for name in "abc"},
                  extra={"plugins.load": plugins.load("sections"), "plugins/sections/any.conf": "[SHARED]\n    Number 0\n"})
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode == 1
    assert result.stderr.count("error:") == 1, result.stderr


def test_dump_shows_what_is_in_force(tmp_path):
    result = run(tmp_path, "--dump", "[EACH]\n    Match /x\n[SHARED]\n    Number 5\n", FILE)
    assert result.returncode == 0, result.stderr
    text = re.sub(r"# \S*/(\w+(\.conf)?):", r"# \1:", result.stdout)
    file = text[text.index("# plugins/sections/"):text.index("sites/default\n")]
    assert "[SHARED]\n    # any.conf:2\n    Word file\n" in file
    site = text[text.index("sites/default\n"):]
    assert "[EACH]\n    # default:4\n    Match /x\n    # default\n    Text no text\n" in site
    assert "    # any.conf:2\n    Word file\n    # default:6\n    Number 5\n    # any.conf:4\n    List a b\n" in site


def test_a_file_that_is_no_configuration_is_left_alone(serve):
    server = serve(file="[SHARED]\n    Word file\n")
    (server.conf / "plugins" / "sections" / "README").write_text("no section\n")
    (server.conf / "plugins" / "others").mkdir()
    (server.conf / "plugins" / "others" / "x.conf").write_text("[NONSENSE]\n")
    server.reload(expect="configuration reloaded")
    assert b"word=file" in server.get("/shared").body
