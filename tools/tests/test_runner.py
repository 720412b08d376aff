# SPDX-License-Identifier: Apache-2.0
"""
A test that failed beside others runs again alone, twice at most; a sanitizer's report or a third failure counts. What is
named in the list of unsteady tests does not fail a run.
"""

import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys
import threading
import time

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools"))

from testing import commands, integration, reasons, schedule  # noqa: E402  behind the path that finds them

LOADER = importlib.machinery.SourceFileLoader("plan", str(TREE / "tools" / "test"))
plan = importlib.util.module_from_spec(importlib.util.spec_from_loader("plan", LOADER))
LOADER.exec_module(plan)


@pytest.fixture(autouse=True)
def files_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "COSTS", tmp_path / "costs.json")
    monkeypatch.setattr(integration, "LOGS", tmp_path)
    monkeypatch.setattr(integration, "side_by_side", list)  # three tests need no processes beside each other


TESTS = """
import pathlib

def test_good():
    pass

def test_late():
    tries = pathlib.Path(__file__).with_name("tries")
    tries.touch()
    number = tries.stat().st_size
    tries.write_text("x" * (number + 1))
    assert number >= {late}, "{message}"

def test_bad():
    assert {bad}
"""


def step_of(tmp_path, message="it took too long", bad=True, late=1):
    """late: how often test_late fails."""
    (tmp_path / "test_some.py").write_text(TESTS.format(message=message, bad=bad, late=late))
    return schedule.Step("some step", integration.pytest(str(tmp_path)), limit=60)


def run(*steps):
    return schedule.run_steps(list(steps))


def test_what_passes_alone_has_passed_and_is_told(tmp_path, capsys):
    report = run(step_of(tmp_path))
    assert (report.passed, report.failed) == (3, 0)
    first, again = capsys.readouterr().out.splitlines()
    assert "2 passed" in first and "at first failed: test_some.py::test_late" in first
    assert "again: some step" in again and "1 passed" in again
    assert any(line.startswith("at first failed: some step: ") and "it took too long" in line for line in report.failures)
    assert [line for line in report.failures if line.startswith("unsteady: ") and "::test_late passed" in line]


def test_what_passes_the_third_time_has_passed(tmp_path):
    report = run(step_of(tmp_path, late=2))
    assert (report.passed, report.failed) == (3, 0)


def test_what_fails_three_times_has_failed(tmp_path):
    report = run(step_of(tmp_path, late=3))
    assert (report.passed, report.failed) == (2, 1)
    assert any(line.startswith("failed: some step: ") and "it took too long" in line for line in report.failures)
    assert not any(line.startswith("unsteady: ") for line in report.failures)


def listed(tmp_path, monkeypatch, *names, **tests):
    """A step whose tests stand in the list of unsteady ones."""
    monkeypatch.setattr(integration, "unsteady", lambda: list(names))
    monkeypatch.setattr(integration, "INTEGRATION", str(tmp_path))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return step_of(tmp_path, **tests)


def test_what_is_listed_as_unsteady_is_asked_alone_and_fails_nothing(tmp_path, monkeypatch, capsys):
    report = run(listed(tmp_path, monkeypatch, "test_some.py::test_bad", bad=False, late=0))
    assert (report.passed, report.failed) == (2, 0)
    first, again = capsys.readouterr().out.splitlines()
    assert "2 passed" in first and "at first failed" not in first
    assert "as tests/unsteady.txt says they may" in again and "test_some.py::test_bad" in again


def test_what_is_listed_as_unsteady_and_passes_counts(tmp_path, monkeypatch, capsys):
    report = run(listed(tmp_path, monkeypatch, "test_some.py::test_late"))
    assert (report.passed, report.failed) == (3, 0)
    assert "as tests/unsteady.txt says" not in capsys.readouterr().out


def test_what_is_listed_and_ends_a_server_counts(tmp_path, monkeypatch):
    step = listed(tmp_path, monkeypatch, "test_some.py::test_late", message="the server ended in this test", late=9)
    assert run(step).failed == 1


def test_the_list_of_unsteady_tests_is_short_and_names_tests_that_exist():
    assert len(integration.unsteady()) <= 10
    for line in filter(lambda line: line.strip() and line[0] != "#", integration.UNSTEADY.read_text().splitlines()):
        name, day, _ = line.split(None, 2)
        file, _, test = name.partition("::")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", day), line
        assert f"def {test.partition('[')[0]}(" in (TREE / "tests" / "integration" / file).read_text(), line


def test_what_fails_again_has_failed(tmp_path, capsys):
    report = run(step_of(tmp_path, bad=False))
    assert (report.passed, report.failed) == (2, 1)
    assert any(line.startswith("failed: some step: ") and "test_bad" in line for line in report.failures)


def test_what_a_sanitizer_found_is_not_tried_again(tmp_path, capsys):
    report = run(step_of(tmp_path, message="SUMMARY: ThreadSanitizer: data race"))
    assert (report.passed, report.failed) == (2, 1)
    assert "again" not in capsys.readouterr().out


def test_the_second_try_finds_nothing_else_running(tmp_path, capsys):
    running, seen = set(), []

    def slow(limit):
        running.add("slow")
        assert started.wait(60)
        time.sleep(0.1)  # the doubtful test has failed by now; its second try is not to begin
        running.discard("slow")
        return commands.Outcome(1, 0)

    def doubtful(limit):
        started.set()
        return commands.Outcome(1, 0, doubtful=["test_x"], again=again)

    def again(limit):
        seen.append(set(running))
        return commands.Outcome(1, 0)

    started = threading.Event()
    report = run(schedule.Step("doubtful", doubtful), schedule.Step("slow", slow),
                 schedule.Step("last", lambda limit: commands.Outcome(1, int(bool(seen)))))
    assert seen == [set()]
    assert (report.passed, report.failed) == (4, 0)


def order_of(steps, monkeypatch, network=True):
    """Which steps run together when the one that began first always ends first."""
    monkeypatch.setattr(schedule, "own_network", lambda: network)
    pending, running, seen = list(steps), [], []
    while pending or running:
        while step := schedule.next_step(pending, running):
            pending.remove(step)
            running.append(step)
        seen.append([step.name for step in running])
        del running[0]
    return seen


def some_plan():
    return [
        schedule.Step("x: build", None, share=schedule.ALL),
        schedule.Step("y: build", None, share=schedule.ALL),
        schedule.Step("measure", None, needs="x", share=schedule.ALONE),
        schedule.Step("x: waits", None, needs="x"),
        schedule.Step("y: waits", None, needs="y"),
        schedule.Step("y: waits too", None, needs="y"),
        schedule.Step("page", None),
    ]


def test_steps_that_wait_run_beside_one_that_works(monkeypatch):
    assert order_of(some_plan(), monkeypatch) == [
        ["x: build", "page"], ["page", "y: build"], ["y: build", "x: waits"], ["x: waits", "y: waits", "y: waits too"],
        ["y: waits", "y: waits too"], ["y: waits too"], ["measure"]]


def test_without_networks_of_their_own_steps_run_one_after_the_other(monkeypatch):
    assert order_of(some_plan(), monkeypatch, network=False) == [[step.name] for step in some_plan()]


def test_what_needs_a_build_that_failed_does_not_run(capsys):
    report = run(schedule.Step("x: build", lambda limit: commands.Outcome(0, 1)),
                 schedule.Step("x: waits", lambda limit: commands.Outcome(1, 0), needs="x"))
    assert (report.passed, report.failed) == (0, 2)
    assert "not run, because its build failed" in capsys.readouterr().out


def test_each_step_finds_the_build_that_it_needs():
    names = [step.name for step in plan.GATE + plan.MORE]
    assert len(names) == len(set(names))
    for step in plan.GATE + plan.MORE:
        assert not step.needs or f"{step.needs}: build" in names
        assert step.share in (schedule.ALL, schedule.SOME, schedule.ALONE)


def test_a_step_tells_the_time_of_its_processors(tmp_path, capsys):
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    step = schedule.Step("busy", commands.command("sh", "-c", f"{integration.PYTHON} -c '{busy}'; true"))
    run(step)
    seconds = float(capsys.readouterr().out.rpartition("CPU ")[2].partition(" s")[0])
    assert 0.3 <= seconds < 2


def test_a_command_that_takes_too_long_is_broken_off_with_its_children(tmp_path):
    code, output, _ = commands.run(["sh", "-c", "echo begun; sleep 60 & sleep 60"], 0.3)
    assert code == -1
    assert output.endswith("broken off after 0.3 s")


def test_many_failures_are_no_accident():
    assert integration.doubtful_ones("".join(f"FAILED a.py::t[{i}] - x\n" for i in range(integration.DOUBTFUL_MAX + 1))) == []
    assert integration.doubtful_ones("FAILED a.py::t[x y] - assert 0\nERROR b.py::u\n") == ["a.py::t[x y]", "b.py::u"]
    assert len(integration.doubtful_ones("".join(f"ERROR a.py::t[{i:03}] - the server is late\n" for i in range(500)))) == 500


def test_the_end_of_a_run_names_what_failed_and_why(tmp_path):
    step = schedule.Step("some step", None)
    failing = step_of(tmp_path, message="SUMMARY: ThreadSanitizer: data race x.c:1").action(60)
    named = reasons.reasons("failed", step, failing.text)
    assert any(line.startswith("failed: some step: FAILED ") and "::test_late" in line for line in named)
    assert any("SUMMARY: ThreadSanitizer: data race x.c:1" in line for line in named)
    many = "".join(f"FAILED a.py::t[{i}] - x\n" for i in range(99))
    assert len(reasons.reasons("failed", step, many)) == reasons.REASONS_MAX + 1
    assert reasons.reasons("failed", step, "one\ntwo") == ["failed: some step: one", "failed: some step: two"]


def test_a_table_names_the_rows_that_are_above_their_bound():
    step = schedule.Step("sizes", None)
    table = "    is  most  aim\nfiles    2 KB  1 KB  1 KB  above\nmemory   1 KB  1 KB  1 KB\n    libmonkey.so   2 KB\n"
    assert reasons.reasons("failed", step, table) == ["failed: sizes: files    2 KB  1 KB  1 KB  above"]


def test_a_sanitizers_report_names_the_first_frame_of_ours():
    step = schedule.Step("asan", None)
    report = """ERROR: AddressSanitizer: heap-use-after-free on address 0x1
    #0 0x55aa in memcpy (/usr/lib/libasan.so+0x1)
    #1 0x55ab in mk_conn_run ../src/server/h1/conn.c:77:5
SUMMARY: AddressSanitizer: heap-use-after-free (/usr/lib/libasan.so+0x1) in memcpy
"""
    assert "failed: asan: in mk_conn_run at src/server/h1/conn.c:77:5" in reasons.reasons("failed", step, report)


def test_a_failed_build_names_the_line_of_the_compiler():
    step = schedule.Step("release: build", None)
    text = "x\n../src/base/heap.c:7:1: error: unknown type name 'in'\n   7 | in x;\nninja: build stopped\n"
    assert reasons.reasons("failed", step, text) == ["failed: release: build: ../src/base/heap.c:7:1: error: unknown type name 'in'"]


def test_each_line_tells_how_long_the_others_will_take(tmp_path, capsys):
    (tmp_path / "costs.json").write_text(json.dumps({"long": 6000}))
    steps = [schedule.Step(name, commands.command("true")) for name in ("short", "long")]
    report = schedule.Report(steps)
    report.add(steps[0], schedule.timed(steps[0].action, 10))
    assert re.search(r"; \d+ min left\)$", capsys.readouterr().out)
    report.add(steps[1], schedule.timed(steps[1].action, 10))
    assert "left" not in capsys.readouterr().out


def test_the_gate_names_what_the_whole_run_adds():
    report = schedule.Report([])
    assert any("make test-all adds" in line and "lint" in line for line in plan.closing_lines(report, 61, whole_gate=True))
    assert list(plan.closing_lines(report, 61, whole_gate=False))[-1] == "0 passed, 0 failed"


def test_the_gate_runs_nothing_that_measures():
    assert all(step.share != schedule.ALONE for step in plan.GATE)
