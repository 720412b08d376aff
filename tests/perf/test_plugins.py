# SPDX-License-Identifier: Apache-2.0
"""What plugins add to the instructions of a request."""

import pytest

import budgets
import instructions

pytestmark = pytest.mark.slow


ROUNDS = range(3, 25)   # so many at least, and more where it still looks too expensive


def spent(built, setup, tmp_path, name, close):
    folder = tmp_path / f"{name}-{close}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    return instructions.per_request(built(name), lambda: setup(close=close), close, str(folder))


def least(built, setup, tmp_path, names, close, most):
    """The least of several runs of both: how much comes in one turn differs from run to run."""
    runs = {name: [] for name in names}
    for number in range(1, ROUNDS.stop):
        for name, its in runs.items():
            its.append(spent(built, setup, tmp_path, name, close))
        without, with_it = map(min, runs.values())
        if number >= ROUNDS.start and with_it <= without * (1 + most):
            break
    return without, with_it


@pytest.mark.parametrize("how", ["keep", "close"])
def test_plugins_with_nothing_to_do_cost_nothing(built, setup, tmp_path, how):
    without, with_all = least(built, setup, tmp_path, ("monkey", "monkey-plugins"), how == "close", budgets.PLUGINS_IDLE)
    print(f"{how}: {without:.0f} instructions without plugins, {with_all:.0f} with all")
    assert with_all <= without * (1 + budgets.PLUGINS_IDLE)


@pytest.mark.parametrize("how", ["keep", "close"])
def test_rules_stay_in_budget(built, setup, tmp_path, how):
    without, ruled = least(built, setup, tmp_path, ("monkey", "monkey-rules"), how == "close", budgets.PLUGINS_RULES[how])
    print(f"{how}: {without:.0f} instructions without rules, {ruled:.0f} with 10,000 networks and a path")
    assert ruled <= without * (1 + budgets.PLUGINS_RULES[how])


@pytest.mark.parametrize("how", ["keep", "close"])
def test_counting_stays_in_budget(built, setup, tmp_path, how):
    without, counted = least(built, setup, tmp_path, ("monkey", "monkey-status"), how == "close", budgets.PLUGINS_STATUS[how])
    print(f"{how}: {without:.0f} instructions without the plugin status, {counted:.0f} with it")
    assert counted <= without * (1 + budgets.PLUGINS_STATUS[how])
