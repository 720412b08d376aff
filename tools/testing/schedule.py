# SPDX-License-Identifier: Apache-2.0
"""The steps of a test run: which may run beside each other, and one line for each when it ends."""

import concurrent.futures
import json
import os
import time

from testing.commands import LOGS, Outcome, own_network
from testing.reasons import reasons

SHOWN_LINES = 400
ALL, SOME, ALONE = 1.0, 0.5, 2.0  # of the processors that a step keeps busy; ALONE: it measures, so it has the machine
SHARES_MAX = 1.5  # of steps at the same time: more than there is, because those that take SOME often wait
COSTS = LOGS / "costs.json"  # of the last run


class Step:
    """needs: the kind of build that must have ended before. cost: about how many seconds of a processor it takes."""

    def __init__(self, name, action, needs=None, limit=600, share=SOME, cost=10):
        self.name, self.action, self.needs, self.limit, self.share, self.cost = name, action, needs, limit, share, cost


def read_costs():
    try:
        return json.loads(COSTS.read_text())
    except (OSError, ValueError):
        return {}


def minutes(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(0, seconds):.0f} s"


class Clock:
    """How long the steps that have not ended will take: by what they took last time, or by what their plan says."""

    def __init__(self, steps):
        known = read_costs()
        self.costs = {step.name: known.get(step.name, step.cost) for step in steps}
        self.left, self.done, self.began = sum(self.costs.values()), 0, time.monotonic()

    def ended(self, step):
        self.left, self.done = self.left - self.costs[step.name], self.done + self.costs[step.name]

    def seconds_left(self):
        expected = 1 / os.cpu_count()
        pace = (time.monotonic() - self.began) / self.done if self.done > 60 else expected
        return self.left * pace


def show(outcome):
    if not outcome.text:
        return
    lines = outcome.text.rstrip().splitlines()
    if len(lines) > SHOWN_LINES:
        lines = [f"... ({len(lines) - SHOWN_LINES} lines left out)", *lines[-SHOWN_LINES:]]
    print("\n".join(f"    {line}" for line in lines), flush=True)


class Report:
    """The lines of a run, its counts, and what is to be said once more at its end."""

    def __init__(self, steps):
        self.total, self.number, self.passed, self.failed, self.failures = len(steps), 0, 0, 0, []
        self.clock, self.costs = Clock(steps), read_costs()

    def add(self, step, outcome, name=None):
        """name: of a second try."""
        self.passed, self.failed = self.passed + outcome.passed, self.failed + outcome.failed
        doubtful = ", ".join(test.rpartition("/")[2] for test in outcome.doubtful)
        told = [f"{outcome.passed:5} passed", f"{outcome.failed} failed" if outcome.failed else "", outcome.note,
                f"at first failed: {doubtful}" if doubtful else ""]
        left = ""
        if not name:
            self.number += 1
            self.clock.ended(step)
            self.costs[step.name] = round(max(outcome.cpu, outcome.seconds * step.share), 1)
            left = f"; {minutes(self.clock.seconds_left())} left" if self.number < self.total else ""
        place = " " * 7 if name else f"[{self.number:2}/{self.total}]"
        print(f"{place} {name or step.name:<36}" + ", ".join(filter(None, told)),
              f"({outcome.seconds:.1f} s, CPU {outcome.cpu:.1f} s{left})", flush=True)
        if outcome.doubtful:
            self.failures += reasons("at first failed", step, outcome.text)
        self.failures += [f"unsteady: {step.name}: {test} passed when it was asked again; tests/unsteady.txt is to name it"
                          for test in outcome.unsteady]
        if outcome.failed:
            show(outcome)
            self.failures += reasons("failed", step, outcome.text)

    def keep_costs(self):
        LOGS.mkdir(exist_ok=True)
        COSTS.write_text(json.dumps(self.costs, indent=1))


def timed(action, limit):
    began = time.monotonic()
    outcome = action(limit)
    outcome.seconds = time.monotonic() - began
    return outcome


def not_run(limit):
    return Outcome(0, 1, note="not run, because its build failed")


def next_step(pending, running):
    """The first of those pending whose build has ended and that finds enough of the processors."""
    missing = {step.name for step in [*pending, *running]}
    share = sum(step.share for step in running)
    together = SHARES_MAX if own_network() else 0
    for step in pending:
        if f"{step.needs}: build" not in missing and (not running or share + step.share <= together):
            return step
    return None


def run_steps(steps):
    report, pending, running, broken, doubtful = Report(steps), list(steps), {}, set(), []
    with concurrent.futures.ThreadPoolExecutor(len(steps)) as pool:
        while pending or running:
            while step := next_step(pending, running.values()):
                pending.remove(step)
                action = not_run if step.needs in broken else step.action
                running[pool.submit(timed, action, step.limit)] = step
            ended, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ended:
                step, outcome = running.pop(future), future.result()
                report.add(step, outcome)
                if outcome.again:
                    doubtful.append((step, outcome.again))
                if outcome.failed and step.name.endswith(": build"):
                    broken.add(step.name.partition(":")[0])
    for step, again in doubtful:  # now nothing else runs
        report.add(step, timed(again, step.limit), f"again: {step.name}")
    report.keep_costs()
    return report
