# SPDX-License-Identifier: Apache-2.0
"""Patterns of long paths, many rules, and patterns that are refused; tests/perf/test_patterns.py counts what they cost."""

import re

import pytest

from harness import executable, fastcgi, process
from harness.config import Config, section

LONGEST = 4095   # of a path
HOSTILE = "/a" * (LONGEST // 2)


@pytest.mark.parametrize("path, script", [
    (HOSTILE, None),
    (HOSTILE[:4000] + ".php" + "/b" * 20, HOSTILE[:4000] + ".php"),
    ("/x.php" + HOSTILE[:4000], "/x.php"),
    ("/.php" * 800, None),
], ids=["none", "behind 4000 bytes", "at the beginning", "hidden"])
def test_a_script_that_is_not_looked_for_is_named_by_the_pattern(start, path, script):
    with fastcgi.Application(lambda call: call.answer(call.params["SCRIPT_NAME"].encode())) as application:
        server = start(**fastcgi.config(application, location="CheckScript off\nKeepAlive on", match=r"/.*\.php(/|$)"))
        answer = server.get(path)
        assert (answer.status, answer.text if script else None) == ((200, script) if script else (404, None))


@pytest.mark.parametrize("rule", ["Deny_URL", "deny_hotlink"])
def test_five_thousand_rules(start, rule):
    lines = "\n".join(f"{rule} /folder-{n:04}/of/secrets" for n in range(5000))
    extra = {"plugins.load": section("PLUGINS", f"Load {executable.plugin('mandril')}"),
             "plugins/mandril/mandril.conf": section("RULES", lines)}
    server = start(extra=extra)
    assert server.get("/x/FOLDER-4999/of/secrets/y", headers={"Referer": "http://elsewhere/"}).status == 403
    assert server.get("/x/folder-5000/of/secrets/y", headers={"Referer": "http://elsewhere/"}).status == 404
    assert server.get("/folder-0" * 450).status == 404


@pytest.mark.parametrize("pattern, at, why", [
    ("(a", 0, r"this \( is not closed"),
    ("/x[a-", 2, r"this \[ is not closed"),
    ("/x[b-a]", 3, "the range ends before it begins"),
    ("/x[[:letter:]]", 3, "there is no class of this name"),
    ("/x|*", 3, "there is nothing to repeat"),
    ("/x{3,2}", 2, "the first number is above the second"),
    (r"(a)\1", 3, "back-references are not supported"),
    (r"/\d+", 1, r"this backslash has no meaning here \(digits are \[0-9\]\)"),
    (r"\bphp", 0, "this backslash has no meaning here"),
    ("/a.{40}b", 0, "it needs too many states"),
    ("/((a{100}){100}){100}", 14, "it is too large"),
    ("(" * 100 + ")" * 100, 65, "there are too many parentheses"),
], ids=range(12))
@pytest.mark.parametrize("where", ["site", "fastcgi"])
def test_a_pattern_that_cannot_be_is_refused_at_its_place(tmp_path, pattern, at, why, where):
    extra = {"plugins.load": section("PLUGINS", f"Load {executable.plugin('fastcgi')}"),
             "plugins/fastcgi/fastcgi.conf":
                 section("FASTCGI_SERVER", "ServerName one\nServerAddr 127.0.0.1:1")
                 + section("FASTCGI_LOCATION", "LocationName one\nServerNames one\n"
                           + (f"Match ok$ {pattern}" if where == "fastcgi" else "Match ok$"))}
    written = Config(tmp_path)
    written.write(handlers=f"Match  {pattern} echo" if where == "site" else "Match a echo", extra=extra)
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode == 1
    column = {"site": len("    Match  "), "fastcgi": len("    Match ok$ ")}[where] + at + 1
    assert re.search(rf":\d+:{column}: error: Match: invalid regular expression \"[^\"\n]*\": {why}", result.stderr), result.stderr


def test_ten_thousand_rules_and_a_thousand_patterns_start(tmp_path):
    words = "\n".join(f"Deny_URL /folder-{n:05}/of/secrets" for n in range(10000))
    patterns = "\n".join(rf"Match ^/[a-z]+/{n}/.*\.(php|cgi)(/|$) echo" for n in range(1000))
    extra = {"plugins.load": section("PLUGINS", f"Load {executable.plugin('mandril')}"),
             "plugins/mandril/mandril.conf": section("RULES", words)}
    written = Config(tmp_path)
    written.write(handlers=patterns, extra=extra)
    assert process.run("--configdir", written.folder, "--test").returncode == 0
