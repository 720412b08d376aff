# SPDX-License-Identifier: Apache-2.0
"""The contest of web servers (bench/contest): a case of it from the start of the servers to the page."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from harness import executable
from harness.page import Page

pytestmark = [
    pytest.mark.once("a program in Python"),
    pytest.mark.plain,
    pytest.mark.slow,
    pytest.mark.timed,
    pytest.mark.skipif(not os.access(executable.TREE / "build" / "tools" / "wr", os.X_OK), reason="wr is not built"),
]

CONTEST = executable.TREE / "bench" / "contest" / "contest"


def contest(tmp_path, *words, code=0):
    done = subprocess.run([CONTEST, "--quick", "--out", tmp_path / "out", "--monkey", executable.binary(),
                           "--wr", executable.TREE / "build" / "tools" / "wr", *words],
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads((tmp_path / "out" / "results.json").read_text()), (tmp_path / "out" / "contest.html").read_text()


def test_two_servers_take_turns_and_are_on_the_page(tmp_path):
    results, page = contest(tmp_path, "--case", "pipe16", "--server", "monkey", "--server", "nginx", "--rounds", "2")
    runs = results["cases"]["pipe16"]
    assert sorted((run["target"], run["round"]) for run in runs) == [(name, n) for name in ("monkey", "nginx") for n in (1, 2)]
    for run in runs:
        assert run["figures"]["requests"] > 100 and run["figures"]["cpu_us_per_request"] > 0, run
        assert not {"failed", "errors", "died", "uncounted"} & set(run["flags"]), run
    assert results["servers"]["nginx"]["size_kb"] > results["servers"]["monkey"]["size_kb"] > 50
    shown = Page(page)
    assert not shown.open and all(address.startswith("#") for address in shown.outside)
    assert "16 requests pipelined" in shown.text and "nginx" in shown.text
    assert "2 rounds instead of five" in shown.text and "a look, not a result" in shown.text


def test_http2_is_measured_where_a_server_offers_it(tmp_path):
    if not shutil.which("h2load"):
        pytest.skip("h2load is not installed")
    results, page = contest(tmp_path, "--case", "h2", "--server", "monkey", "--server", "nginx")
    [run] = results["cases"]["h2"]      # not ours, which does not offer it
    assert run["target"] == "nginx" and run["figures"]["requests"] > 0 and not {"failed", "errors"} & set(run["flags"]), run
    assert results["generators"]["h2"]["version"].startswith("h2load") and "(h2load" in Page(page).text


def test_cases_of_many_steps_are_for_full_contests():
    """They have another command where their generator is not installed."""
    script = "import sys; sys.path.insert(0, sys.argv[1]); import disciplines; case = disciplines.CASES['f200k-fine']\n" \
             "import shutil; shutil.which = lambda name: name == 'wrk'\n" \
             "print(case.is_long, len(case.steps), case.generator().split()[0], disciplines.CASES['site'].generator())"
    done = subprocess.run(["/usr/bin/python3", "-c", script, CONTEST.parent], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.strip() == "True 91 wrk None", done.stdout + done.stderr


def test_a_server_with_errors_has_no_rank(tmp_path):
    """Nor are two of which neither was seen to be less on different ranks."""
    folder = pathlib.Path(executable.TREE) / "bench" / "contest"
    script = "import sys; sys.path.insert(0, sys.argv[1]); import ranking\n" \
             "run = lambda name, cpu, *flags: dict(target=name, round=1, concurrency=0, flags=list(flags)," \
             " figures=dict(cpu_us_per_request=cpu, errors=len(flags)))\n" \
             "rows = ranking.cpu([run('a', 1, 'failed'), run('b', 2), run('c', 3), run('b', 4), run('d', 9)], 0)\n" \
             "print([(row.server, row.rank) for row in rows])"
    done = subprocess.run(["/usr/bin/python3", "-c", script, folder], capture_output=True, text=True, timeout=30, check=False)
    # c is between two rounds of b, so it was not seen to differ
    assert done.stdout.strip() == "[('a', None), ('b', 1), ('c', 1), ('d', 3)]", done.stdout + done.stderr


def test_every_file_of_a_server_is_executable_and_names_what_it_follows():
    for path in sorted((CONTEST.parent / "servers").iterdir()):
        text = path.read_text()
        if path.suffix:
            continue
        assert os.access(path, os.X_OK), path
        for word in ("version)", "can)", "files)", "start)"):
            assert word in text, (path, word)
