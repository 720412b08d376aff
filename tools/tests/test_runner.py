# SPDX-License-Identifier: Apache-2.0
"""What failed for want of time is run again; what a sanitizer found, or what fails again, is not forgiven."""

import importlib.machinery
import importlib.util
import pathlib

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


def run(tmp_path, message="it took too long", bad=True):
    (tmp_path / "test_some.py").write_text(TESTS.format(message=message, bad=bad))
    return runner.pytest(str(tmp_path))(60)


def test_what_passes_alone_has_passed_and_is_told(tmp_path):
    outcome = run(tmp_path)
    assert (outcome.passed, outcome.failed) == (3, 0)
    assert "test_late" in outcome.note
    assert "it took too long" in outcome.first_text


def test_what_fails_again_has_failed(tmp_path):
    outcome = run(tmp_path, bad=False)
    assert (outcome.passed, outcome.failed) == (2, 1)
    assert "test_bad" in outcome.text


def test_what_a_sanitizer_found_is_not_tried_again(tmp_path):
    outcome = run(tmp_path, message="SUMMARY: ThreadSanitizer: data race")
    assert (outcome.passed, outcome.failed) == (2, 1)


def test_many_failures_are_no_accident():
    assert runner.unsteady("".join(f"FAILED a.py::t[{i}] - x\n" for i in range(runner.UNSTEADY_MAX + 1))) == []
    assert runner.unsteady("FAILED a.py::t[x y] - assert 0\nERROR b.py::u\n") == ["a.py::t[x y]", "b.py::u"]


def test_the_end_of_a_run_names_what_failed_and_why(tmp_path):
    step = runner.Step("some step", None)
    named = runner.reasons("failed", step, run(tmp_path, message="SUMMARY: ThreadSanitizer: data race x.c:1").text)
    assert any(line.startswith("failed: some step: FAILED ") and "::test_late" in line for line in named)
    assert any("SUMMARY: ThreadSanitizer: data race x.c:1" in line for line in named)
    many = "".join(f"FAILED a.py::t[{i}] - x\n" for i in range(99))
    assert len(runner.reasons("failed", step, many)) == runner.REASONS_MAX + 1
    assert runner.reasons("failed", step, "one\ntwo") == ["failed: some step: one", "failed: some step: two"]
