# SPDX-License-Identifier: Apache-2.0
"""User instructions a request, under callgrind with one worker and one client."""

import pytest

import budgets
import instructions

ADDED = ("log", "unlogged", "location")  # to a request of a server without it


@pytest.mark.parametrize("how", [how for how in budgets.INSTRUCTIONS if how not in ADDED])
def test_instructions_a_request_stay_in_budget(built, setup, tmp_path, how):
    close = how == "close"
    monkey = built("monkey-nofdt" if how == "nofdt" else "monkey")
    spent = instructions.per_request(monkey, lambda: setup(close=close), close, str(tmp_path))
    print(f"{how}: {spent:.0f} instructions a request; budget {budgets.INSTRUCTIONS[how]}, "
          f"aim {budgets.INSTRUCTIONS_AIM[how]}")
    profile = "\n".join(f"{count:8.0f}  {name}" for count, name in
                        instructions.top_functions(str(tmp_path / "2500"), 2500))
    assert spent <= budgets.INSTRUCTIONS[how], f"instructions a request, by function:\n{profile}"


@pytest.mark.parametrize("what", ADDED)
def test_what_it_adds_stays_in_budget(built, setup, tmp_path, what):
    spent = {}
    for name in ("monkey", f"monkey-{what}"):
        (tmp_path / name).mkdir()
        spent[name] = instructions.per_request(built(name), setup, False, str(tmp_path / name))
    added = spent[f"monkey-{what}"] - spent["monkey"]
    print(f"{what}: {added:.0f} instructions more a request; budget {budgets.INSTRUCTIONS[what]}")
    profile = "\n".join(f"{count:8.0f}  {name}" for count, name in
                        instructions.top_functions(str(tmp_path / f"monkey-{what}/2500"), 2500))
    assert added <= budgets.INSTRUCTIONS[what], f"instructions a request, by function:\n{profile}"
