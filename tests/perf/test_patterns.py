# SPDX-License-Identifier: Apache-2.0
"""What patterns and rules of paths cost: one pass over the path, in instructions, whatever the pattern and however hostile the path."""

import pytest

import counted
from harness import executable, process
from harness.config import section

LONGEST = 4095   # of a path
HOSTILE = "/a" * (LONGEST // 2)
A_BYTE = 120     # instructions: reading takes 50 and a pass 10; a pass for each place of the path would be thousands

pytestmark = [pytest.mark.slow, pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build has other costs")]


def cost(tmp_path, path, status=404, **config):
    """Instructions of one request."""
    def ask(connection):
        assert connection.request(path).status == status

    return counted.each(tmp_path, ask, ask, few=1, many=9, server="Workers 1\nTimeout 600\nKeepAliveTimeout 600", **config)


@pytest.mark.parametrize("pattern", [r"/.*\.php", "a.*b", "(.*/)*x$", "(a|/|aa)*x", "a" * 500 + "b", "([^/]*/){1,8}x$",
                                     "/a/[^.]*/a/.*/b$", "(/a){50}b"], ids=range(8))
def test_a_long_path_is_looked_at_once(tmp_path, pattern):
    assert cost(tmp_path, HOSTILE, handlers=f"Match {pattern} echo") < A_BYTE * LONGEST


def test_twenty_patterns_and_a_long_path(tmp_path):
    handlers = "\n".join(rf"Match /.*\.php{n} echo" for n in range(20))
    assert cost(tmp_path, HOSTILE, handlers=handlers) < 20 * A_BYTE * LONGEST


@pytest.mark.parametrize("path", [HOSTILE, "/.php" * 800], ids=["none", "hidden"])
def test_a_script_that_is_not_looked_for_is_named_in_the_same_pass(tmp_path, path):
    """Each part of the path was compared from its beginning: 8 s."""
    extra = {"plugins.load": section("PLUGINS", f"Load {executable.plugin('fastcgi')}"),
             "plugins/fastcgi/fastcgi.conf":
                 section("FASTCGI_SERVER", "ServerName one\nServerAddr 127.0.0.1:1")
                 + section("FASTCGI_LOCATION", "LocationName one\nServerNames one\nCheckScript off\nMatch /.*\\.php(/|$)")}
    assert cost(tmp_path, path, extra=extra) < 2 * A_BYTE * LONGEST


@pytest.mark.parametrize("path", [HOSTILE, "/folder-0" * 450], ids=["another", "beginnings"])
@pytest.mark.parametrize("rule", ["Deny_URL", "deny_hotlink"])
def test_five_thousand_rules_cost_one_pass(tmp_path, rule, path):
    """Each rule was a pass: 6 ms."""
    lines = "\n".join(f"{rule} /folder-{n:04}/of/secrets" for n in range(5000))
    extra = {"plugins.load": section("PLUGINS", f"Load {executable.plugin('mandril')}"),
             "plugins/mandril/mandril.conf": section("RULES", lines)}
    assert cost(tmp_path, path, extra=extra) < 2 * A_BYTE * LONGEST
