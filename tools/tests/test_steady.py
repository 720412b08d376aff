# SPDX-License-Identifier: Apache-2.0
"""
The integration tests that every change must pass fail only when the code is wrong. So none of them bounds from above what
a busy machine makes larger: time that passed, time of processors, memory. Such a test has the mark `timed` (or `slow`),
counts something else, or compares with the one generous deadline, PATIENCE of tests/integration/harness/client.py.

This reads the tests, and the helpers that they call, without running them. A value is measured when it comes from one of
MEASURES, or from a function that returns such a value. Reported are comparisons of an assert in which the smaller side is
measured.
"""

import ast
import functools
import pathlib

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "integration"
MEASURES = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "getrusage", "cpu_ticks", "cpu_ms",
            "private_kb", "resident_kb", "peak_kb", "anonymous_bytes"}
WORDS = ("VmHWM", "VmRSS", "RssAnon", "Private_", "Pss", "schedstat")  # of the files below /proc that tell memory or time
MARKS = {"slow", "timed"}
GENEROUS = {"PATIENCE"}
FEW_FACTS = {"eventually", "len", "bool"}  # their value is no measurement, whatever they are given
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def name_of(node):
    """The last word of a name: cpu_ticks of server.cpu_ticks."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


@functools.cache
def words_in(node):
    return {name_of(part) for part in ast.walk(node)} - {None}


@functools.cache
def tells_of_memory(node):
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) and any(word in part.value for word in WORDS)
               for part in ast.walk(node))


class Reader:
    """What one file says, with the functions of others that measure."""

    def __init__(self, source, measures=frozenset(MEASURES)):
        self.tree = ast.parse(source)
        self.measures = set(measures)
        has_any = any(word in source for word in (*measures, *WORDS))
        self.functions = {f.name: f for f in ast.walk(self.tree) if isinstance(f, FUNCTION)} if has_any else {}
        while more := {name for name, f in self.functions.items() if self._returns_measured(f)} - self.measures:
            self.measures |= more

    def _is_measured(self, node, names):
        if isinstance(node, ast.Call) and name_of(node.func) in FEW_FACTS:
            return False
        if isinstance(node, ast.Call) and name_of(node.func) in self.measures:
            return True
        if isinstance(node, ast.Name) and node.id in names:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and any(word in node.value for word in WORDS):
            return True
        if isinstance(node, (ast.Compare, ast.Lambda)):
            return False
        return any(self._is_measured(part, names) for part in ast.iter_child_nodes(node))

    def _measured_names(self, function):
        names, before = set(), None
        if not words_in(function) & self.measures and not tells_of_memory(function):
            return names
        while names != before:
            before = set(names)
            for node in ast.walk(function):
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.NamedExpr)) and self._is_measured(node.value, names):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
                elif isinstance(node, ast.Call) and name_of(node.func) in ("append", "put") \
                        and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and any(self._is_measured(a, names) for a in node.args):
                    names.add(node.func.value.id)
        return names

    def _returns_measured(self, function):
        names = self._measured_names(function)
        returned = [node for node in ast.walk(function) if isinstance(node, (ast.Return, ast.Yield)) and node.value]
        return any(self._is_measured(node.value, names) for node in returned)

    def marks(self, function):
        here = {name_of(part) for mark in function.decorator_list for part in ast.walk(mark)}
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and name_of(node.targets[0]) == "pytestmark":
                here |= words_in(node.value)
        return here & MARKS

    def _tests_that_call(self, name, seen=frozenset()):
        """The tests in which a function stands or that call it, also by way of others."""
        if name.startswith("test_"):
            return {name}
        callers = {other for other, f in self.functions.items() if other != name and name in words_in(f)} - seen
        return set().union(*(self._tests_that_call(other, seen | {name}) for other in callers))

    def offences(self):
        """Line numbers with the functions of comparisons that a busy machine can make fail."""
        found = set()
        for name, function in self.functions.items():
            tests = self._tests_that_call(name) or {name}
            if all(self.marks(self.functions[test]) for test in tests):
                continue
            names = self._measured_names(function)
            for check in (node for node in ast.walk(function) if isinstance(node, ast.Assert)):
                for compare in (node for node in ast.walk(check.test) if isinstance(node, ast.Compare)):
                    if self._bounds_from_above(compare, names):
                        found.add((compare.lineno, name))
        return sorted(found)

    def _bounds_from_above(self, compare, names):
        sides = [compare.left, *compare.comparators]
        for left, operation, right in zip(sides, compare.ops, sides[1:]):
            if isinstance(operation, (ast.Lt, ast.LtE)):
                small, large = left, right
            elif isinstance(operation, (ast.Gt, ast.GtE)):
                small, large = right, left
            else:
                continue
            is_later = isinstance(small, ast.Name) and isinstance(large, ast.Call)  # before < what it is now
            if self._is_measured(small, names) and not is_later and not words_in(large) & GENEROUS:
                return True
        return False


def measures_of_the_harness():
    measures = set(MEASURES)
    for file in sorted((TESTS / "harness").glob("*.py")):
        measures |= Reader(file.read_text()).measures
    return measures - {"eventually"}


def test_no_test_bounds_what_a_busy_machine_makes_larger():
    measures = measures_of_the_harness()
    found = [f"{file.name}:{line} in {name}" for file in sorted(TESTS.glob("test_*.py"))
             for line, name in Reader(file.read_text(), measures).offences()]
    assert not found, "mark these `timed`, or compare with PATIENCE:\n" + "\n".join(found)


HEAD = "import time\nfrom harness.client import PATIENCE\n\n\n"
PLANTED = {
    "elapsed": "def test_a(server):\n    began = time.monotonic()\n    assert time.monotonic() - began < 2\n",
    "turned": "def test_a(server):\n    began = time.monotonic()\n    assert 2 > time.monotonic() - began\n",
    "between": "def test_a(server):\n    began = time.monotonic()\n    assert 1 < time.monotonic() - began < 2\n",
    "named": "def test_a(server):\n    took = time.perf_counter() - 1\n    assert took <= 2 and server\n",
    "listed": "def test_a(server):\n    times = []\n    times.append(time.monotonic())\n    assert max(times) < 2\n",
    "processor": "def test_a(server):\n    before = server.cpu_ticks()\n    assert server.cpu_ticks() - before <= 3\n",
    "awaited": "def test_a(server):\n    assert eventually(lambda: private_kb(server) < 4000)\n",
    "read": "def test_a(server):\n    assert field(server, 'VmHWM') < 4000\n",
    "by a function": "def took():\n    return time.monotonic()\n\n\ndef test_a(server):\n    assert took() < 4\n",
    "in a function": "def check():\n    assert time.monotonic() < 4\n\n\ndef test_a(server):\n    check()\n",
}
ALLOWED = {
    "from below": "def test_a(server):\n    began = time.monotonic()\n    assert time.monotonic() - began > 0.8\n",
    "generous": "def test_a(server):\n    began = time.monotonic()\n    assert 1 < time.monotonic() - began < 2 + PATIENCE\n",
    "marked": "@pytest.mark.timed\ndef test_a(server):\n    assert time.monotonic() < 2\n",
    "marked with arguments": "@pytest.mark.limit(90)\n@pytest.mark.slow\ndef test_a(server):\n    assert time.monotonic() < 2\n",
    "a marked file": "pytestmark = [pytest.mark.timed]\n\n\ndef test_a(server):\n    assert time.monotonic() < 2\n",
    "for a marked one": "def check():\n    assert time.monotonic() < 4\n\n\n@pytest.mark.timed\ndef test_a(server):\n    check()\n",
    "a count": "def test_a(server):\n    assert server.calls() < 4\n",
    "a deadline": "def test_a(server):\n    end = time.monotonic() + 3\n    while time.monotonic() < end:\n        pass\n    assert server\n",
}


def test_each_kind_of_offence_is_found():
    assert {name for name, text in PLANTED.items() if not Reader(HEAD + text).offences()} == set()


def test_what_is_allowed_is_not_reported():
    assert {name for name, text in ALLOWED.items() if Reader(HEAD + text).offences()} == set()


def test_a_mark_does_not_cover_other_tests():
    text = HEAD + ALLOWED["marked"] + "\n\n" + PLANTED["elapsed"].replace("test_a", "test_b")
    assert [name for _, name in Reader(text).offences()] == ["test_b"]
