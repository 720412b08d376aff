# SPDX-License-Identifier: Apache-2.0
"""From the runs of a case to medians, spreads and ranks."""

import statistics
from dataclasses import dataclass

DOUBTS = ("errors", "failed", "uncounted", "died", "cut")   # flags of wr that cost the rank
SHOWN = ("requests_per_s", "user_ms", "kernel_ms", "p99_us", "rss_peak_kb", "requests")


@dataclass
class Row:
    server: str
    value: float            # the figure that ranks: microseconds of CPU a request, or bytes a connection
    low: float
    high: float
    others: dict            # medians
    errors: int
    flags: tuple            # in any round
    rank: int = None        # None: out of competition


def _median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def _row(server, values, runs):
    flags = tuple(sorted({flag for run in runs for flag in run["flags"]}))
    return Row(server, statistics.median(values), min(values), max(values),
               {key: _median([run["figures"].get(key) for run in runs]) for key in SHOWN},
               int(sum(run["figures"].get("errors") or 0 for run in runs)), flags)


def _rank(rows):
    """Ranges that overlap with the best of a rank share it; errors have none."""
    rows.sort(key=lambda row: row.value)
    rank, leader = 0, None
    for number, row in enumerate([r for r in rows if not set(r.flags) & set(DOUBTS)], 1):
        if leader is None or row.low > leader.high:
            rank, leader = number, row
        row.rank = rank
    return rows


def steps_of(runs):
    return sorted({run["concurrency"] for run in runs})


def _by_server(runs):
    found = {}
    for run in runs:
        found.setdefault(run["target"], []).append(run)
    return found


def cpu(runs, step):
    """The table of one step of a case."""
    rows = []
    for server, its in _by_server([run for run in runs if run["concurrency"] == step]).items():
        values = [run["figures"]["cpu_us_per_request"] for run in its if run["figures"].get("cpu_us_per_request") is not None]
        if values:
            rows.append(_row(server, values, its))
    return _rank(rows)


def memory(runs):
    """Bytes a connection: between the fewest and the most connections of the same round."""
    few, many = steps_of(runs)[0], steps_of(runs)[-1]
    rows = []
    for server, its in _by_server(runs).items():
        peak = {(run["round"], run["concurrency"]): run["figures"].get("rss_peak_kb") for run in its}
        values = [(at - peak[number, few]) * 1024 / (many - few) for (number, step), at in peak.items()
                  if step == many and at is not None and peak.get((number, few)) is not None]
        if values:
            rows.append(_row(server, values, its))
    return _rank(rows)
