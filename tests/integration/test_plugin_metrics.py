# SPDX-License-Identifier: Apache-2.0
"""What plugins count is in the shell's metrics and, in brief, in its status."""

import json
import shutil
import subprocess

import pytest

from harness import plugins, process
from harness.shell import ask

NAME = "monkey_measure_requests_total"


@pytest.fixture
def place(start, tmp_path):
    place = tmp_path / "shell"
    server = start(server="Workers 1", files={"a.txt": "a"}, extra={
        "plugins.load": plugins.load("measure") + f"    Load {process.plugin('cheetah')}\n",
        "plugins/cheetah/cheetah.conf": f"[CHEETAH]\n    Socket {place}\n"})
    assert [server.get("/a.txt").status for _ in range(3)] == [200] * 3
    return place


def test_samples_of_a_plugin_have_their_family_once(place):
    lines = ask(place, "metrics").splitlines()
    at = lines.index(f"# HELP {NAME} Requests seen.")
    assert lines[at + 1:at + 7] == [
        f"# TYPE {NAME} counter",
        NAME + r'{place="a \"b\" \\c\n?",empty=""} 3',
        NAME + '{place="second",empty=""} 3',
        "# HELP monkey_measure_seconds A part of a second.",
        "# TYPE monkey_measure_seconds gauge",
        "monkey_measure_seconds 0.0625",
    ]


def test_samples_of_a_plugin_in_json(place):
    samples = [s for s in json.loads(ask(place, "metrics --json"))["metrics"] if "measure" in s["name"]]
    assert samples == [
        {"name": NAME, "place": 'a "b" \\c\n\u00ff', "empty": "", "value": 3},
        {"name": NAME, "place": "second", "empty": "", "value": 3},
        {"name": "monkey_measure_seconds", "value": 0.0625},
    ]


def test_status_shows_what_is_brief(place):
    status = json.loads(ask(place, "status --json"))
    assert [row["metric"] for row in status["plugins"]] == [NAME, NAME]
    assert status["plugins"][1]["labels"] == 'place="second",empty=""'
    assert status["plugins"][1]["value"] == 3
    words = ask(place, "status")
    assert "plugins:\n" in words and "monkey_measure_seconds" not in words


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool of Prometheus")
def test_prometheus_accepts_them(place):
    checked = subprocess.run(["promtool", "check", "metrics"], input=ask(place, "metrics"), text=True,
                             capture_output=True, timeout=30, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
