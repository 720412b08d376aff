# SPDX-License-Identifier: Apache-2.0
"""tests/limits.txt: each bound of src/base/limits.h with a test that reaches it."""

import pathlib
import re

TREE = pathlib.Path(__file__).resolve().parents[2]
TABLE = TREE / "tests" / "limits.txt"


def rows():
    lines = (line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    return [(name, test) for name, test in lines]


def bounds():
    return re.findall(r"(?m)^\s+MK_LIMIT_(\w+)\s*=", (TREE / "src/base/limits.h").read_text())


def has_test(name):
    """Is there a file of that name with such a function?"""
    path, _, function = name.partition("::")
    file = TREE / "tests" / path
    return file.is_file() and re.search(rf"(?m)^(?:def|static \w[\w ]*) {function}\(", file.read_text()) is not None


def test_every_bound_has_its_row():
    assert [name for name, _ in rows()] == bounds()


def test_every_named_test_is_there():
    assert [test for _, test in rows() if not has_test(test)] == []


def test_a_test_that_is_not_there_is_noticed():
    assert has_test("unit/conf/test_include.c::test_depth")
    assert not has_test("unit/conf/test_include.c::test_dep")
    assert not has_test("unit/conf/test_nothing.c::test_depth")
