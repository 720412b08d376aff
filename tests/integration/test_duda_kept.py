# SPDX-License-Identifier: Apache-2.0
"""The journal, the metrics and the caches of a service of level 3."""

import json

import pytest

from harness import duda, process
from harness.client import eventually
from harness.shell import ask


@pytest.fixture
def place(tmp_path):
    return tmp_path / "shell"


@pytest.fixture
def server(start, tmp_path, place):
    (tmp_path / "logs").mkdir()
    duda.build(tmp_path / "services", "kept", level=3)
    config = duda.config(tmp_path / "services", duda.service("kept", LogDir=tmp_path / "logs"),
                         extra={"plugins/cheetah/cheetah.conf": f"[CHEETAH]\n    Socket {place}\n"})
    config["extra"]["plugins.load"] += f"    Load {process.plugin('cheetah')}\n"
    return start(**config)


def test_a_cache_is_of_all_workers(server):
    assert server.get("/kept/page/a").status == 404
    assert server.request("/kept/page/a", "PUT", body=b"one").body == b"0"
    assert [server.get("/kept/page/a").body for _ in range(8)] == [b"3 one"] * 8
    assert server.request("/kept/page/a", "PUT", body=b"x" * 50000).body == b"-1"
    assert server.request("/kept/page/b", "PUT", body=b"two").body == b"0"
    assert [server.request("/kept/page/b", "DELETE").body for _ in range(2)] == [b"0", b"-1"]


def test_a_value_may_have_a_time_of_its_own(server):
    """The others stay for the hour of the cache."""
    for key, ms in (("brief", 20), ("long", 3600000), ("ever", 0)):
        assert server.request(f"/kept/brief/{key}?ms={ms}", "PUT").body == b"0"
    assert server.request("/kept/page/usual", "PUT", body=b"one").body == b"0"
    assert eventually(lambda: server.get("/kept/page/brief").status == 404)
    assert [server.get(f"/kept/page/{key}").body for key in ("long", "ever", "usual")] == [b"5 brief", b"5 brief", b"3 one"]


def test_wrong_calls_do_nothing(server, place):
    assert server.get("/kept/wrong").body == b"1"
    assert 'monkey_duda_kept_asked{site="' in ask(place, "metrics")


def test_metrics_are_those_of_the_server(server, place):
    for _ in range(3):
        assert server.get("/kept/count").body == b"counted"
    found = {line.split("{")[0] + line.partition("le=")[2].partition("}")[0]: line.split()[-1]
             for line in ask(place, "metrics").splitlines() if line.startswith("monkey_duda_kept_")}
    prefix = "monkey_duda_kept_"
    assert found[prefix + "asked"] == "3" and found[prefix + "level"] == "2.5"
    assert found[prefix + 'taken_seconds_bucket"0.0025"'] == "0" and found[prefix + 'taken_seconds_bucket"0.005"'] == "3"
    assert found[prefix + 'taken_seconds_bucket"10"'] == "3" and found[prefix + 'taken_seconds_bucket"+Inf"'] == "6"
    assert found[prefix + "taken_seconds_count"] == "6" and float(found[prefix + "taken_seconds_sum"]) == pytest.approx(180.009)
    assert "# HELP monkey_duda_kept_asked Requests that were counted.\n# TYPE monkey_duda_kept_asked counter" in ask(place, "metrics")


def test_lines_of_the_journal_are_json(server, tmp_path):
    file = tmp_path / "logs" / "kept.log"
    assert server.get("/kept/report?path=a%22%0Ab").body == b"0 -1"
    assert eventually(lambda: file.exists() and file.read_text().count("\n") == 3)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert all(line.pop("time").endswith("Z") for line in lines)
    assert lines == [{"level": "info", "event": "visit", "path": 'a"\nb', "none": None}, {"level": "warn", "event": "warning"},
                     {"level": "error", "event": "error"}]
