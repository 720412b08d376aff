# SPDX-License-Identifier: Apache-2.0
"""System calls a request, counted by wr with one worker and clients that keep it busy."""

import docroot
import pytest

import budgets
import instructions

CASES = {
    "keep": (docroot.SMALL, {"connections": 64}),
    "close": (docroot.SMALL, {"connections": 64, "close": True}),
    "logo": (docroot.LOGO, {"connections": 64}),
    "f200k": (docroot.F200K, {"connections": 32}),
    "pipe16": (docroot.SMALL, {"connections": 64, "depth": 16}),
}


@pytest.mark.parametrize("name", CASES)
def test_system_calls_a_request_stay_in_budget(monkey, setup, name):
    path, client = CASES[name]
    close = client.get("close", False)
    by_name = instructions.calls_per_request(monkey, lambda: setup(path, close), path, **client)
    spent = sum(by_name.values())
    listed = ", ".join(f"{call} {count:.2f}" for call, count in
                       sorted(by_name.items(), key=lambda item: -item[1]) if abs(count) >= 0.005)
    print(f"{name}: {spent:.2f} calls a request ({listed}); budget {budgets.CALLS[name]}")
    assert spent <= budgets.CALLS[name], listed
