# SPDX-License-Identifier: Apache-2.0
"""On which sites a plugin acts: by its section, by a Match line that only switches it on, by its own word."""

import pytest

from harness import plugins

SITE = "[HOST]\n    ServerName {}\n    Redirect http://elsewhere/\n{}"


def acting(start, **sections):
    """The names of the sites, of those given by name -> text, on which the plugin acts."""
    server = start(sites={name: SITE.format(name, text) for name, text in sections.items()},
                   extra={"plugins.load": plugins.load("acts")})
    answers = {name: server.get("/", host=name) for name in sections}
    assert all(answer.status == 301 or answer.body == b"acts" for answer in answers.values())
    return {name for name, answer in answers.items() if answer.status == 200}


CASES = [
    ("nothing said", {"a": "", "b": ""}, set()),
    ("a section", {"a": "[ACTS]\n", "b": ""}, {"a"}),
    ("a section that says no", {"a": "[ACTS]\n    Off on\n", "b": "[ACTS]\n"}, {"b"}),
    ("switched on", {"a": "[HANDLERS]\n    Match / acts\n", "b": ""}, {"a"}),
    ("switched on for other paths", {"a": "[HANDLERS]\n    Match ^/x acts\n", "b": ""}, set()),
    ("switched on by one of two lines", {"a": "[HANDLERS]\n    Match ^/x acts\n    Match ^/$ acts\n", "b": ""}, {"a"}),
    ("switched on elsewhere", {"a": "[HANDLERS]\n    Match / acts\n", "b": "[ACTS]\n"}, {"a"}),
]


@pytest.mark.parametrize("sites, expected", [pytest.param(*rest, id=name) for name, *rest in CASES])
def test_where_a_plugin_acts(start, sites, expected):
    assert acting(start, **sites) == expected
