# SPDX-License-Identifier: Apache-2.0
"""Types of arguments, which the interpreter leaves to whoever uses them: late, and on another thread."""

from __future__ import annotations

from typing import Any


def expect(name: str, value: Any, *kinds: Any) -> None:
    """Raise TypeError for an argument of another type; a bool is no int."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")


def expect_seconds(name: str, value: Any) -> None:
    """Raise TypeError for what is no number, and ValueError for a negative one."""
    expect(name, value, int, float)
    if not value >= 0:
        raise ValueError(f"{name} is at least 0")
