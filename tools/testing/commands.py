# SPDX-License-Identifier: Apache-2.0
"""Commands of a test run: each ends in time, with its children, and gives an Outcome."""

import contextlib
import functools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import threading

TREE = pathlib.Path(__file__).resolve().parents[2]
LOGS = TREE / "build-logs"
COMPILED = LOGS / "compiled"  # what tests compile, tests/integration/harness/compiled.py
DIRS = {"release": "build"}
NOT_FOR_STEPS = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONDONTWRITEBYTECODE")
REASON_LENGTH = 300  # characters of a line that says why a test failed
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1:halt_on_error=1:ignore_noninstrumented_modules=1",
}


class Outcome:
    """
    How many passed and failed, what to show of the failures, and the seconds of the processors. doubtful: tests
    that are asked again, alone, when all steps have ended: again(limit) does it.
    """

    def __init__(self, passed, failed, text="", note="", cpu=0.0, doubtful=(), again=None):
        self.passed, self.failed, self.text, self.note, self.cpu = passed, failed, text, note, cpu
        self.doubtful, self.again, self.unsteady = doubtful, again, []


def directory(kind):
    return TREE / DIRS.get(kind, f"build-{kind}")


@functools.cache
def fresh_seed():
    """One for the whole run: a second try of a random test is about the same events."""
    return str(random.SystemRandom().randrange(1 << 32))


def environment(**extra):
    env = {key: value for key, value in os.environ.items() if key not in NOT_FOR_STEPS}
    return {"TEST_SEED": fresh_seed(), **env, "LC_ALL": "C.UTF-8", "COLUMNS": str(REASON_LENGTH), "COMPILED": str(COMPILED),
            "PYTHONPYCACHEPREFIX": str(LOGS / "python"), **extra}


def run(arguments, limit, **env):
    """Exit code, all output and seconds of the processors of a command, ended with its children when it takes too long."""
    process = subprocess.Popen([str(a) for a in arguments], cwd=TREE, env=environment(**env), text=True,
                               errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    late = threading.Event()

    def break_off():
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, break_off)
    timer.start()
    with process.stdout:
        output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)  # Popen's own wait() does not tell the processors' time
    timer.cancel()
    process.returncode = -1 if late.is_set() else os.waitstatus_to_exitcode(status)
    if late.is_set():
        output += f"\nbroken off after {limit} s"
    return process.returncode, output, usage.ru_utime + usage.ru_stime


@functools.cache
def own_network():
    """What to put before a command so that it has ports of its own; nothing when we may not (only root may)."""
    words = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    return words if run([*words, "true"], 10)[0] == 0 else []


def command(*arguments, **env):
    """An action for a step: one command, which counts as one."""
    def action(limit):
        code, output, cpu = run(arguments, limit, **env)
        return Outcome(int(code == 0), int(code != 0), output, cpu=cpu)
    return action


def count_cases(test):
    """Passed and failed cases of one line of Meson's log; a program that is no cmocka test is one case."""
    output = test.get("stdout", "") + "\n" + test.get("stderr", "")
    passed = len(re.findall(r"^\[ {7}OK \] ", output, re.M))
    failed = sum(map(int, re.findall(r"^\[  FAILED  \] (?:\S+: )?(\d+) test\(s\)", output, re.M)))
    is_well = test["result"] in ("OK", "EXPECTEDFAIL", "SKIP")
    if passed + failed == 0 or (not is_well and failed == 0):
        return passed + is_well, failed + (not is_well)
    return passed, failed


def meson(kind, suite, multiplier=1):
    """An action for a step: the programs of a suite, each case counted."""
    def action(limit):
        folder = directory(kind)
        log = folder / "meson-logs" / "testlog.json"
        log.unlink(missing_ok=True)
        code, output, cpu = run(["meson", "test", "-C", folder, "--no-rebuild", "--suite", suite, "-t", multiplier,
                                 "--num-processes", os.cpu_count()], limit, **SANITIZERS)
        if not log.exists():
            return Outcome(0, int(code != 0), output, "none", cpu)
        passed, failed, shown = 0, 0, []
        for test in map(json.loads, log.read_text().splitlines()):
            case_passed, case_failed = count_cases(test)
            passed, failed = passed + case_passed, failed + case_failed
            if case_failed:
                shown += [f"--- {test['name']}: {test['result']}", test.get("stdout", ""), test.get("stderr", "")]
        if code != 0 and failed == 0:
            failed, shown = 1, [output]
        return Outcome(passed, failed, "\n".join(shown), cpu=cpu)
    return action
