# SPDX-License-Identifier: Apache-2.0
"""A test that failed for want of time runs again alone; a sanitizer's report or a second failure counts."""

import importlib.machinery
import importlib.util
import pathlib
import threading
import time

LOADER = importlib.machinery.SourceFileLoader("runner", str(pathlib.Path(__file__).parents[1] / "test"))
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", LOADER))
LOADER.exec_module(runner)

TESTS = """
import pathlib

def test_good():
    pass

def test_late():
    flag = pathlib.Path(__file__).with_name("flag")
    if not flag.exists():
        flag.touch()
        assert False, "{message}"

def test_bad():
    assert {bad}
"""


def step_of(tmp_path, message="it took too long", bad=True):
    """Its reports are named after the folder, which each test has for itself."""
    (tmp_path / "test_some.py").write_text(TESTS.format(message=message, bad=bad))
    return runner.Step("some step", runner.pytest(str(tmp_path)), limit=60)


def run(*steps):
    return runner.run_steps(list(steps))


def test_what_passes_alone_has_passed_and_is_told(tmp_path, capsys):
    report = run(step_of(tmp_path))
    assert (report.passed, report.failed) == (3, 0)
    first, again = capsys.readouterr().out.splitlines()
    assert "2 passed" in first and "at first failed: test_some.py::test_late" in first
    assert "again: some step" in again and "1 passed" in again
    assert any(line.startswith("at first failed: some step: ") and "it took too long" in line for line in report.failures)


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
        return runner.Outcome(1, 0)

    def doubtful(limit):
        started.set()
        return runner.Outcome(1, 0, doubtful=["test_x"], again=again)

    def again(limit):
        seen.append(set(running))
        return runner.Outcome(1, 0)

    started = threading.Event()
    report = run(runner.Step("doubtful", doubtful), runner.Step("slow", slow),
                 runner.Step("last", lambda limit: runner.Outcome(1, int(bool(seen)))))
    assert seen == [set()]
    assert (report.passed, report.failed) == (4, 0)


def order_of(steps, monkeypatch, network=True):
    """Which steps run together when the one that began first always ends first."""
    monkeypatch.setattr(runner, "own_network", lambda: network)
    pending, running, seen = list(steps), [], []
    while pending or running:
        while step := runner.next_step(pending, running):
            pending.remove(step)
            running.append(step)
        seen.append([step.name for step in running])
        del running[0]
    return seen


def plan():
    return [
        runner.Step("x: build", None, share=runner.ALL),
        runner.Step("y: build", None, share=runner.ALL),
        runner.Step("measure", None, needs="x", share=runner.ALONE),
        runner.Step("x: waits", None, needs="x"),
        runner.Step("y: waits", None, needs="y"),
        runner.Step("y: waits too", None, needs="y"),
        runner.Step("page", None),
    ]


def test_steps_that_wait_run_beside_one_that_works(monkeypatch):
    assert order_of(plan(), monkeypatch) == [
        ["x: build", "page"], ["page", "y: build"], ["y: build", "x: waits"], ["x: waits", "y: waits", "y: waits too"],
        ["y: waits", "y: waits too"], ["y: waits too"], ["measure"]]


def test_without_networks_of_their_own_steps_run_one_after_the_other(monkeypatch):
    assert order_of(plan(), monkeypatch, network=False) == [[step.name] for step in plan()]


def test_what_needs_a_build_that_failed_does_not_run(capsys):
    report = run(runner.Step("x: build", lambda limit: runner.Outcome(0, 1)),
                 runner.Step("x: waits", lambda limit: runner.Outcome(1, 0), needs="x"))
    assert (report.passed, report.failed) == (0, 2)
    assert "not run, because its build failed" in capsys.readouterr().out


def test_each_step_finds_the_build_that_it_needs():
    names = [step.name for step in runner.FAST + runner.MORE]
    assert len(names) == len(set(names))
    for step in runner.FAST + runner.MORE:
        assert not step.needs or f"{step.needs}: build" in names
        assert step.share in (runner.ALL, runner.SOME, runner.ALONE)


def test_a_step_tells_the_time_of_its_processors(tmp_path, capsys):
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    step = runner.Step("busy", runner.command("sh", "-c", f"{runner.PYTHON} -c '{busy}'; true"))
    run(step)
    seconds = float(capsys.readouterr().out.rpartition("CPU ")[2].partition(" s")[0])
    assert 0.3 <= seconds < 2


def test_a_command_that_takes_too_long_is_broken_off_with_its_children(tmp_path):
    code, output, _ = runner.run(["sh", "-c", "echo begun; sleep 60 & sleep 60"], 0.3)
    assert code == -1
    assert output.endswith("broken off after 0.3 s")


def test_many_failures_are_no_accident():
    assert runner.unsteady("".join(f"FAILED a.py::t[{i}] - x\n" for i in range(runner.UNSTEADY_MAX + 1))) == []
    assert runner.unsteady("FAILED a.py::t[x y] - assert 0\nERROR b.py::u\n") == ["a.py::t[x y]", "b.py::u"]


def test_the_end_of_a_run_names_what_failed_and_why(tmp_path):
    step = runner.Step("some step", None)
    failing = step_of(tmp_path, message="SUMMARY: ThreadSanitizer: data race x.c:1").action(60)
    named = runner.reasons("failed", step, failing.text)
    assert any(line.startswith("failed: some step: FAILED ") and "::test_late" in line for line in named)
    assert any("SUMMARY: ThreadSanitizer: data race x.c:1" in line for line in named)
    many = "".join(f"FAILED a.py::t[{i}] - x\n" for i in range(99))
    assert len(runner.reasons("failed", step, many)) == runner.REASONS_MAX + 1
    assert runner.reasons("failed", step, "one\ntwo") == ["failed: some step: one", "failed: some step: two"]
