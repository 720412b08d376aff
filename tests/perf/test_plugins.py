# SPDX-License-Identifier: Apache-2.0
"""What plugins add to the instructions of a request."""

import pytest

import budgets
import instructions


def spent(built, setup, tmp_path, name, close):
    """The least of three runs: how much comes in one turn differs from run to run."""
    runs = []
    for number in range(3):
        folder = tmp_path / f"{name}-{close}-{number}"
        folder.mkdir()
        runs.append(instructions.per_request(built(name), lambda: setup(close=close), close, str(folder)))
    return min(runs)


@pytest.mark.parametrize("how", ["keep", "close"])
def test_plugins_with_nothing_to_do_cost_nothing(built, setup, tmp_path, how):
    without = spent(built, setup, tmp_path, "monkey", how == "close")
    with_all = spent(built, setup, tmp_path, "monkey-plugins", how == "close")
    print(f"{how}: {without:.0f} instructions without plugins, {with_all:.0f} with all")
    assert with_all <= without * (1 + budgets.PLUGINS_IDLE)


@pytest.mark.parametrize("how", ["keep", "close"])
def test_rules_stay_in_budget(built, setup, tmp_path, how):
    without = spent(built, setup, tmp_path, "monkey", how == "close")
    ruled = spent(built, setup, tmp_path, "monkey-rules", how == "close")
    print(f"{how}: {without:.0f} instructions without rules, {ruled:.0f} with 10,000 networks and a path")
    assert ruled <= without * (1 + budgets.PLUGINS_RULES[how])
