# SPDX-License-Identifier: Apache-2.0
"""
Integration tests as steps, and what becomes of those that fail beside others: they are asked again alone, twice at
most, unless a sanitizer has spoken or a server has ended. Tests of tests/unsteady.txt are asked alone from the start,
and their failures are named and not counted.
"""

import functools
import importlib.util
import os
import pathlib
import re
import xml.etree.ElementTree

from testing.commands import LOGS, TREE, Outcome, directory, own_network, run

PYTHON = "/usr/bin/python3"
PROGRESS = re.compile(r"^[.sxXFE]+ +\[ *\d+%\]\n", re.M)
# A sanitizer's report, or a server that ended by a signal or in the middle of a test: neither is the machine's fault.
VETO = re.compile(r"Sanitizer: |runtime error: |the server ended in this test|exit code -\d+")
FAILED = re.compile(r"^(FAILED|ERROR) (\S+?\.py)(::.+?)(?: - .*)?$", re.M)
DOUBTFUL_MAX = 40
TRIES = 2  # alone, after the one beside others
TESTS_A_CORE = 2  # at the same time: tests of a server wait more than they work
INTEGRATION = "tests/integration"
UNSTEADY = TREE / "tests" / "unsteady.txt"


@functools.cache
def unsteady():
    """The tests of the list, as pytest names them in the folder of the integration tests."""
    lines = UNSTEADY.read_text().splitlines() if UNSTEADY.exists() else []
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


@functools.cache
def side_by_side():
    """What makes pytest run several tests at the same time."""
    return ["-n", str(TESTS_A_CORE * os.cpu_count())] if importlib.util.find_spec("xdist") else []


def pytest_once(arguments, report, limit, env):
    """What became of the tests that pytest chooses; all failures count."""
    report.unlink(missing_ok=True)
    arguments = [PYTHON, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    code, output, cpu = run([*own_network(), *arguments], limit, **env)
    output = PROGRESS.sub("", output)
    if not report.exists():
        return Outcome(0, 1, output, cpu=cpu)
    suites = xml.etree.ElementTree.parse(report).getroot().iter("testsuite")
    totals = [{key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")} for suite in suites]
    tests, failures, errors, skipped = (sum(t[k] for t in totals) for k in ("tests", "failures", "errors", "skipped"))
    failed = failures + errors
    if code not in (0, 5) and failed == 0:  # 5: nothing was selected
        failed = 1
    return Outcome(max(0, tests - failed - skipped), failed, output, f"{skipped} skipped" if skipped else "", cpu)


def failed_ones(output):
    return sorted({file + test for _, file, test in FAILED.findall(output)})


def doubtful_ones(output):
    """
    Tests that may have failed because of what ran beside them: a few, and nothing that vetoes a second try. A server that did
    not start in time takes all tests of its file along, which count as one.
    """
    causes = {file if kind == "ERROR" else file + test for kind, file, test in FAILED.findall(output)}
    return failed_ones(output) if len(causes) <= DOUBTFUL_MAX and not VETO.search(output) else []


def ask_again(names, report, limit, env):
    """Those tests alone, and once more those that fail. The Outcome of the last try of each."""
    passed, cpu, steady = 0, 0.0, []
    for number in range(1, TRIES + 1):
        outcome = pytest_once(names, report.with_suffix(f".again{number}.xml"), limit, env)
        passed, cpu = passed + outcome.passed, cpu + outcome.cpu
        still = doubtful_ones(outcome.text) if outcome.failed else []
        steady += [name for name in names if name not in still]
        if not still:
            break
        names = still
    outcome.passed, outcome.cpu, outcome.unsteady = passed, cpu, [] if outcome.failed and not still else steady
    return outcome


def ask_unsteady(selection, report, limit, env):
    """The listed tests that this step would run, alone. Failures are a note."""
    outcome = pytest_once(selection, report.with_suffix(".unsteady.xml"), limit, env)
    names = failed_ones(outcome.text) if outcome.failed else []
    if VETO.search(outcome.text) or (outcome.failed and not names):
        return outcome
    if names:
        again = ask_again(names, report.with_suffix(".unsteady"), limit, env)
        outcome.passed, outcome.cpu, names = outcome.passed + again.passed, outcome.cpu + again.cpu, doubtful_ones(again.text) if again.failed else []
        if again.failed and not names:
            return again
    outcome.failed, outcome.text = 0, ""
    outcome.note = "failed, as tests/unsteady.txt says they may: " + ", ".join(names) if names else outcome.note
    return outcome


def together(first, second):
    if not first:
        return second
    passed, failed = first.passed + second.passed, first.failed + second.failed
    outcome = Outcome(passed, failed, first.text + second.text, ", ".join(filter(None, (first.note, second.note))), first.cpu + second.cpu)
    outcome.unsteady = first.unsteady + second.unsteady
    return outcome


def pytest(folder, kind=None, marks=None, carrier=None, alone=False):
    """
    An action for a step. carrier: what the connections of the tests are, as in harness/carriers.py. alone: one test
    after the other.
    """
    parts = [pathlib.Path(folder).name, kind or "any", (marks or "all").replace(" ", "-"), carrier or "plain"]
    report = LOGS / f"{'-'.join(parts)}.xml"
    env = {"MONKEY": str(directory(kind) / "monkey")} if kind else {}
    env |= {"CARRIER": carrier} if carrier else {}
    marked = ["-m", marks] if marks else []
    listed = unsteady() if folder == INTEGRATION else []
    chosen = [*([] if alone else side_by_side()), *marked, *(f"--deselect={name}" for name in listed), folder]

    def action(limit):
        LOGS.mkdir(exist_ok=True)
        outcome = pytest_once(chosen, report, limit, env)
        doubtful = doubtful_ones(outcome.text) if outcome.failed else []
        if doubtful:
            report.with_suffix(".first.log").write_text(outcome.text)
            outcome.failed, outcome.doubtful = 0, doubtful
        if doubtful or listed:
            def again(limit):
                asked = ask_again(doubtful, report, limit, env) if doubtful else None
                if not listed:
                    return asked
                return together(asked, ask_unsteady([*marked, *(f"{folder}/{name}" for name in listed)], report, limit, env))
            outcome.again = again
        return outcome
    return action
