# SPDX-License-Identifier: Apache-2.0
"""The page of the contest: one file of HTML without outside parts, light and dark, that prints."""

import html

import ranking
from disciplines import CASES

COLOURS = ("#b5651d", "#3d6b99", "#4c956c", "#8a5a83", "#c1a11a", "#c1121f", "#5b7f95", "#777777", "#2a9d8f", "#9d4edd")
STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--ink:CanvasText}
body{font:15px/1.5 system-ui,sans-serif;max-width:66em;margin:2em auto;padding:0 1em}
h1{font-size:1.7em}h2{margin-top:2.2em;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
th,td{padding:.2em .6em;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child,td.left,th:has(.left){text-align:left}
td.first{font-weight:700}td.bar{min-width:7em;width:20%}td.marks{font-size:.8em;white-space:normal;text-align:left}
.bar i{display:block;height:.9em;border-radius:2px}
.note,caption{color:GrayText;font-size:.9em}
code{background:var(--soft);padding:.1em .3em;border-radius:3px;overflow-wrap:anywhere}
svg text{fill:var(--ink);font:12px system-ui,sans-serif}
.warn{border-left:4px solid #c1121f;padding:.2em 1em;background:var(--soft)}
@media print{body{max-width:none;margin:0}section{break-inside:avoid}}
"""


def _number(value, digits=None):
    if value is None:
        return "–"
    if digits is None:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def _colours(results):
    return {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(results["servers"])}


def _table(head, rows):
    cells = "".join(f"<th>{h}</th>" for h in head)
    body = "".join("<tr>" + "".join(row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text, kind=""):
    return f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>"


# ---- one case ----

def _bar(row, most, colour):
    width = 100 * row.value / most if most > 0 else 0
    return _cell(f'<i style="width:{max(width, 0):.1f}%;background:{colour}"></i>', "bar")


def _rows(rows, colours, is_idle):
    most = max((row.value for row in rows), default=0)
    best = min((row.value for row in rows if row.rank == 1), default=None)
    shown = []
    for row in rows:
        count = row.others["requests"]
        per = [row.others[key] / count * 1000 if row.others[key] is not None and count else None for key in ("user_ms", "kernel_ms")]
        kind = "first" if row.rank == 1 else ""
        more = [] if is_idle else [_cell(_number(value)) for value in (
            *per, row.others["requests_per_s"], None if row.others["p99_us"] is None else row.others["p99_us"] / 1000)]
        shown.append([_cell(html.escape(row.server), f"left {kind}"), _cell(row.rank or "–", kind), _cell(_number(row.value), kind),
                      _cell(f"{_number(row.low)}–{_number(row.high)}"), _cell(_number(row.value / best) if best and best > 0 else "–"),
                      _bar(row, most, colours[row.server]), *more,
                      _cell(_number(None if row.others["rss_peak_kb"] is None else row.others["rss_peak_kb"] / 1024, 1)),
                      _cell(row.errors), _cell(" ".join(row.flags).replace("_", " "), "marks")])
    return shown


def _one_step(rows, colours, is_idle=False):
    first = "bytes a connection" if is_idle else "CPU &micro;s"
    more = [] if is_idle else ["user", "kernel", "req/s", "p99 ms"]
    return _table(["server", "rank", first, "of all rounds", "to first", "", *more, "peak RSS MB", "errors", "marks"],
                  _rows(rows, colours, is_idle))


def _plot(runs, colours):
    """CPU a request over the number of clients, a line a server."""
    steps = ranking.steps_of(runs)
    tables = {step: {row.server: row.value for row in ranking.cpu(runs, step)} for step in steps}
    most = max((v for t in tables.values() for v in t.values()), default=0) * 1.1 or 1
    left, wide, high = 60, 640, 260

    def x(step):
        return left + (step - steps[0]) / max(1, steps[-1] - steps[0]) * wide

    def y(value):
        return 20 + (1 - value / most) * high

    parts = [f'<svg viewBox="0 0 860 {high + 60}" role="img" aria-label="CPU a request over the number of clients">']
    for tick in range(5):
        at = most * tick / 4
        parts.append(f'<line x1="{left}" x2="{left + wide}" y1="{y(at):.0f}" y2="{y(at):.0f}" stroke="var(--line)"/>'
                     f'<text x="{left - 8}" y="{y(at) + 4:.0f}" text-anchor="end">{_number(at)}</text>')
    parts += [f'<text x="{x(step):.0f}" y="{high + 40}" text-anchor="middle">{step}</text>' for step in steps]
    parts.append(f'<text x="{left + wide / 2:.0f}" y="{high + 57}" text-anchor="middle">clients</text>')
    ends = sorted(((tables[steps[-1]][name], name) for name in tables[steps[-1]]), reverse=True)
    placed = 0
    for value, name in ends:
        points = " ".join(f"{x(step):.1f},{y(tables[step][name]):.1f}" for step in steps if name in tables[step])
        placed = max(placed + 15, y(value) + 4)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colours[name]}" stroke-width="2"/>'
                     f'<text x="{left + wide + 10}" y="{placed:.0f}" style="fill:{colours[name]}">{html.escape(name)}</text>')
    return "".join(parts) + "</svg>"


def _steps(runs, colours):
    tables = {step: {row.server: row for row in ranking.cpu(runs, step)} for step in ranking.steps_of(runs)}
    names = dict.fromkeys(name for table in tables.values() for name in table)
    rows = []
    for name in names:
        cells = [_cell(html.escape(name), "left")]
        for table in tables.values():
            row = table.get(name)
            cells.append(_cell("–") if row is None else _cell(
                _number(row.value) + ("" if row.rank else " *"), "first" if row.rank == 1 else ""))
        rows.append(cells)
    return (_plot(runs, colours) + _table(["CPU &micro;s a request, by clients", *tables], rows)
            + '<p class="note">Bold: the first, or not seen to differ from it. *: with errors, out of competition.</p>')


def _generator(name, results):
    """Its command and version; older results have neither."""
    return results.get("generators", {}).get(name) or {"command": CASES[name].command, "version": ""}


def _case(name, runs, colours, quick, generator):
    case = CASES[name]
    if case.is_idle:
        body = _one_step(ranking.memory(runs), colours, True)
    elif len(ranking.steps_of(runs)) > 1:
        body = _steps(runs, colours)
    else:
        body = _one_step(ranking.cpu(runs, ranking.steps_of(runs)[0]), colours)
    servers = sorted({run["target"] for run in runs})
    version = f' ({html.escape(generator["version"])})' if generator["version"] else ""
    repeat = f"bench/contest/contest{' --quick' if quick else ''} --case {name} --server {servers[0]}"
    return (f'<section id="{name}"><h2>{html.escape(name)}: {html.escape(case.title)}</h2>'
            f'<p class="note">Generator: <code>{html.escape(generator["command"])}</code>{version}. One cell again: <code>{repeat}</code></p>{body}</section>')


# ---- all of them ----

def _best_of(name, runs):
    """What the summary shows of a case: its last step."""
    case = CASES[name]
    return ranking.memory(runs) if case.is_idle else ranking.cpu(runs, ranking.steps_of(runs)[-1])


def _summary(results):
    names = list(results["servers"])
    rows = []
    for name, runs in results["cases"].items():
        table = {row.server: row for row in _best_of(name, runs)} if runs else {}
        best = min((row.value for row in table.values() if row.rank == 1), default=None)
        cells = [_cell(f'<a href="#{name}">{html.escape(CASES[name].title)}</a>', "left")]
        for server in names:
            row = table.get(server)
            ratio = row.value / best if row and best and best > 0 else None
            cells.append(_cell("") if row is None else _cell(
                f"{row.rank or '–'} <span class=note>({_number(ratio)})</span>", "first" if row.rank == 1 else ""))
        rows.append(cells)
    return _table(["rank, and the figure to that of the first", *map(html.escape, names)], rows)


def _servers(results):
    rows = [[_cell(html.escape(name), "left"), _cell(html.escape(one["version"]), "left"), _cell(_number(one["size_kb"], 0))]
            for name, one in results["servers"].items()]
    return _table(["server", "<span class=left>version</span>", "KB on disk, stripped, with its own libraries"], rows)


def _doubts(results):
    runs = [run for its in results["cases"].values() for run in its]
    marked = sum("foreign_load" in run["flags"] for run in runs)
    said = []
    if results["quick"]:
        said.append("These are short runs: a look, not a result.")
    if results["rounds"] < 5:
        said.append(f"{results['rounds']} round{'s' * (results['rounds'] != 1)} instead of five.")
    if marked * 10 > len(runs):
        said.append(f"Other processes took part of the processor in {marked} of {len(runs)} runs: measure again on a quiet machine.")
    return f'<p class="warn">{" ".join(said)}</p>' if said else ""


def of(results):
    """The whole page of what contest wrote to results.json."""
    colours = _colours(results)
    machine = "; ".join(f"{key} {value}" for key, value in results["machine"].items() if value)
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>The contest of web servers</title><style>{STYLE}</style></head><body><h1>The contest of web servers</h1>"
            "<p>Ranks are by the CPU time that a server takes for a request, in user and kernel mode; for idle connections by its "
            "memory for each. Less is better. The rules: <code>bench/contest/RULES.md</code>.</p>"
            f"{_doubts(results)}{_summary(results)}<p class='note'>Measured on: {html.escape(machine)}.</p>{_servers(results)}"
            + "".join(_case(name, runs, colours, results["quick"], _generator(name, results)) for name, runs in results["cases"].items() if runs)
            + "</body></html>\n")
