# SPDX-License-Identifier: Apache-2.0
"""From the measured rounds to medians, paired ratios, the tables in markdown and the plot."""

import os
import platform
import re
import statistics

import cases
import servers
from targets import TARGETS

BEGIN, END = "<!-- begin: written by bench/run -->", "<!-- end: written by bench/run -->"
DOCS = os.path.join(servers.TOP, "docs")


def machine():
    """What a reader needs to know of the machine, and nothing that names it."""
    model = ""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as text:
        found = re.search(r"^model name\s*: (.*)$", text.read(), re.M)
        model = found[1].strip() if found else platform.machine()
    system = ""
    with open("/etc/os-release", encoding="utf-8") as text:
        found = re.search(r'^PRETTY_NAME="(.*)"$', text.read(), re.M)
        system = found[1] if found else "Linux"
    kernel = ".".join(platform.release().split(".")[:2])
    versions = {s.name: s.version() for s in servers.SERVERS.values()
                if s.program() and s.name in cases.MAIN}
    return {"cpu": model, "cores": len(cases.CORES), "system": system, "kernel": kernel,
            "versions": versions}


def _median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def figures(found):
    """The medians of one server in one case, or what was measured of it once."""
    if "rounds" not in found:
        return found
    keys = found["rounds"][0].keys() if found["rounds"] else ()
    merged = {key: _median([r[key] for r in found["rounds"]]) for key in keys}
    if found["rounds"]:
        merged["errors"] = sum(r["errors"] for r in found["rounds"])
        merged["rss_mb"] = max(r["rss_mb"] for r in found["rounds"])
    merged["calls"] = found.get("calls")
    return merged


def ratio(results, case, figure, one, other):
    """Median of the ratios of the same round; of single figures, their ratio."""
    a, b = results.get(case, {}).get(one), results.get(case, {}).get(other)
    if not a or not b:
        return None
    if "rounds" not in a:
        return a[figure] / b[figure] if a.get(figure) is not None and b.get(figure) else None
    peers = {r["round"]: r[figure] for r in b["rounds"]}
    return _median([r[figure] / peers[r["round"]] for r in a["rounds"]
                    if peers.get(r["round"]) and r[figure] is not None])


def spread(results, case, one, other):
    """Smallest and largest ratio of CPU of the rounds."""
    a, b = results[case].get(one), results[case].get(other)
    if not a or not b:
        return None
    peers = {r["round"]: r["cpu"] for r in b["rounds"]}
    every = [r["cpu"] / peers[r["round"]] for r in a["rounds"] if r["round"] in peers]
    return (min(every), max(every)) if every else None


def one_line(found, number, case):
    """A round at a glance: CPU of each server as a ratio to the baseline."""
    now = {name: r["cpu"] for name, one in found.items() for r in one["rounds"]
           if r["round"] == number}
    base = now.get(case.baseline)
    if not base:
        return "  ".join(f"{n} {v:.1f} us" for n, v in now.items())
    return f"{case.baseline} {base:.1f} us; " + "  ".join(
        f"{n} {v / base:.2f}" for n, v in now.items() if n != case.baseline)


def _table(head, rows, right=1):
    """Markdown; the columns from number `right` on are figures."""
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join(" --- " if i < right else " ---: " for i in range(len(head))) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _show(value, digits=2):
    if value is None:
        return ""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}"


def _ratio_table(results, of, first):
    """The cases of these servers; the last column has all rounds of the first."""
    names = [n for n in dict.fromkeys(of) if any(n in results.get(c, {}) for c in cases.CASES)]
    rows = []
    for case in cases.CASES.values():
        if first not in results.get(case.name, {}) or (case.baseline in cases.EMBEDDED) != (first in cases.EMBEDDED):
            continue
        base = figures(results[case.name].get(case.baseline, {}))
        per = "ms/GB" if case.unit == "GB" else "us"
        cpu = base.get("cpu")
        cpu = cpu / 1000 if cpu and case.unit == "GB" else cpu
        row = [f"**{case.name}** {case.title}",
               f"{_show(cpu, 1)} {per}" + ("" if case.baseline == "nginx" else f" ({case.baseline.removeprefix('nginx-')})")]
        for name in names:
            row.append("1" if name == case.baseline else _show(
                ratio(results, case.name, "cpu", name, case.baseline)))
        low_high = spread(results, case.name, first, case.baseline)
        row.append(f"{low_high[0]:.2f}–{low_high[1]:.2f}" if low_high else "")
        rows.append(row)
    return _table(["case", "baseline CPU", *names, f"{first}, all rounds"], rows) if rows else ""


def _target_value(results, target):
    case = target.case
    if case == "keep-uncached":
        return figures(results.get("keep", {}).get("monkey-nocache", {})).get(target.figure)
    if target.against:
        return ratio(results, case, target.figure, target.of, target.against)
    return figures(results.get(case, {}).get(target.of, {})).get(target.figure)


_FIGURE = {"cpu": "CPU", "calls": "system calls a request", "rss_mb": "peak RSS",
           "req_s": "requests/s", "p99_ms": "p99", "errors": "errors",
           "pss_bytes": "PSS a connection", "idle_cpu_ms": "CPU while idle",
           "unanswered": "not answered", "keep": "keep", "close": "close", "ms": "to first byte",
           "rss_kb": "RSS", "pss_kb": "PSS", "private_kb": "private", "kb": "stripped"}


def judged(results):
    """(target, value, verdict) for every bar that was measured; verdict: good, must, MISSED, ..."""
    out = []
    for target in TARGETS:
        value = _target_value(results, target)
        if value is None:
            continue
        if target.met(value, target.good):
            verdict = "good"
        elif target.met(value, target.must):
            verdict = "must" if target.good is not None else "met"
        else:
            verdict = "MISSED" if target.must is not None else "short of good"
        out.append((target, value, verdict))
    return out


def _target_table(results):
    rows = []
    for target, value, verdict in judged(results):
        what = _FIGURE[target.figure] + (f" ÷ {target.against}" if target.against else "")
        rows.append([target.case, what, f"{_show(value)} {target.unit}".strip(),
                     _show(target.must), _show(target.good), verdict])
    return _table(["case", "figure", "Monkey", "must", "good", "verdict"], rows, 2)


def _detail_table(results):
    rows = []
    for case in cases.CASES.values():
        scale = 1000 if case.unit == "GB" else 1
        for name, found in results.get(case.name, {}).items():
            f = figures(found)
            if not f.get("cpu"):
                fault = (found.get("faults") or [""])[0].replace("\n", " ").replace("|", "/")
                rows.append([case.name, name, "failed: " + fault[:80]] + [""] * 7)
                continue
            rows.append([case.name, name, _show(f["req_s"], 0), _show(f["errors"]),
                         _show(f["cpu"] / scale, 1), _show(f["user"] / scale, 1),
                         _show(f["system"] / scale, 1), _show(f["calls"]), _show(f["p99_ms"]),
                         _show(f["rss_mb"], 1)])
    return _table(["case", "server", "req/s", "errors", "CPU us", "user", "system", "calls",
                   "p99 ms", "peak RSS MB"], rows, 2)


_SINGLE_COLUMNS = (
    ("idle10k", "pss_bytes", "idle: PSS bytes a connection", 0),
    ("idle10k", "beforehand", "of it beforehand", 0),
    ("idle10k", "idle_cpu_ms", "idle: CPU ms in 5 s", 1),
    ("idle10k", "unanswered", "idle: unanswered", 0),
    ("idletls", "pss_bytes", "idle TLS: bytes a connection", 0),
    ("idleproxy", "pss_bytes", "idle before a proxy: PSS bytes a connection", 0),
    ("start", "ms", "start ms", 1),
    ("rest", "rss_kb", "at rest: RSS KB", 0),
    ("rest", "pss_kb", "PSS KB", 0),
    ("rest", "private_kb", "private KB", 0),
    ("size", "kb", "stripped KB", 0),
    ("instructions", "keep", "user instructions: keep", 0),
    ("instructions", "close", "close", 0),
)


def _single_table(results):
    names = [n for n in dict.fromkeys(cases.CACHE + cases.TLS + cases.PROXIES + cases.EMBEDDED)
             if any(n in results.get(c, {}) for c in cases.SINGLES)]
    columns = [c for c in _SINGLE_COLUMNS if c[0] in results]
    rows = [[name] + [_show(results[case].get(name, {}).get(key), digits)
                      for case, key, _, digits in columns] for name in names]
    return _table(["server", *[c[2] for c in columns]], rows) if columns else ""


def _through_table(results):
    found = results.get("through", {})
    direct = found.get("direct", {})
    rows = [[name] + [_show(one[f"c{n}"], 0) + ("" if name == "direct" else f" ({one[f'c{n}'] / direct[f'c{n}']:.2f})")
                      for n in cases.THROUGH] + [_show(one["errors"], 0)] for name, one in found.items()]
    head = [f"{n} client{'s' * (n > 1)}" for n in cases.THROUGH]
    return _table(["siege, requests/s", *head, "errors"], rows) if rows else ""


def _rounds(results):
    """How many, as most cases had; those that had others by name."""
    had = {c: max(len(s["rounds"]) for s in results[c].values()) for c in cases.CASES if results.get(c)}
    usual = statistics.mode(had.values()) if had else 0
    others = [f"{c}: {n}" for c, n in had.items() if n != usual]
    return f"{usual} round{'s' * (usual != 1)}" + (f" ({', '.join(others)})" if others else "")


def text_of(data):
    """All of the measured part of docs/benchmarks.md."""
    results, m = data["results"], data["machine"]
    foreign = _median([r["foreign"] for c in cases.CASES for s in results.get(c, {}).values()
                       for r in s["rounds"]])
    parts = [f"Measured on {m['cores']} cores ({m['cpu']}), {m['system']}, Linux {m['kernel']}; "
             f"{_rounds(results)}"
             + (", short ones: a look, not a figure" if data["quick"] else "") + ". "
             + (f"Other load during the runs: {foreign * 100:.0f} % of a core (median). "
                if foreign is not None else "")
             + "Versions: " + ", ".join(dict.fromkeys(v for v in m["versions"].values() if v)) + ".\n"]
    judged_rows = judged(results)
    if judged_rows:
        missed = sum(verdict == "MISSED" for *_, verdict in judged_rows)
        parts += ["### Monkey against its targets\n",
                  f"{len(judged_rows)} bars measured, {missed} missed.\n", _target_table(results)]
    if any(c in results for c in cases.CASES):
        parts += ["### Server CPU a request, as a ratio in the same round\n",
                  _ratio_table(results, cases.MAIN + cases.PROXIES, "monkey"),
                  _ratio_table(results, cases.EMBEDDED, "embed-monkey"), "### All figures\n", _detail_table(results)]
    singles = _single_table(results)
    if singles:
        parts += ["### Memory, start, size, instructions\n", singles]
    through = _through_table(results)
    if through:
        parts += ["### Through a proxy, and direct\n", through]
    return "\n".join(parts)


# Who has a bar, in this order. nginx is the line at 1; Node.js would leave the page.
_COLOURS = {"monkey": "#b5651d", "nginx-ofc": "#4c956c", "lighttpd": "#3d6b99", "haproxy": "#8a5a83", "floor": "#bbbbbb"}


def _bars(results, case):
    """Who is beside whom, and how long: (server, CPU as a part of the baseline's)."""
    values = {name: 1.0 if name == case.baseline else ratio(results, case.name, "cpu", name, case.baseline)
              for name in _COLOURS if name in results[case.name]}
    return [(name, value) for name, value in values.items() if value]


def plot(data, path):
    """Bars of the ratios; Node.js would leave the page and is in the table only."""
    try:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "monkey"
        from matplotlib import pyplot
    except ImportError:
        return False
    results = data["results"]
    shown = [c for c in cases.CASES.values() if c.name in results]
    bars = {c.name: _bars(results, c) for c in shown}
    if not any(bars.values()):
        return False
    figure, axes = pyplot.subplots(figsize=(11, 0.42 * len(shown) + 1.2))
    told = set()
    for y, c in enumerate(shown):
        height = 0.8 / max(1, len(bars[c.name]))
        for i, (name, value) in enumerate(bars[c.name]):
            axes.barh(y - 0.4 + (i + 0.5) * height, value, height, color=_COLOURS[name],
                      label="_again" if name in told else name)
            told.add(name)
    for target in TARGETS:
        at = [y for y, c in enumerate(shown)
              if c.name == target.case and c.baseline == target.against]
        if target.figure == "cpu" and target.must and at:
            axes.plot([target.must] * 2, [at[0] - 0.45, at[0] + 0.45], color="#c1121f", lw=1.5,
                      label="_must")
    axes.axvline(1, color="black", lw=0.8)
    axes.set_yticks(range(len(shown)), [c.name for c in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, 1.4)
    axes.set_xlabel("server CPU a request ÷ nginx (nginx-ofc with two workers) in the same round; "
                    "less is better; red: the bar")
    axes.legend(loc="lower right", frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    return True


def write(data, out, docs):
    """Write the report beside the results, and into docs/ when asked; returns the text."""
    os.makedirs(out, exist_ok=True)
    text = text_of(data)
    with open(os.path.join(out, "benchmarks.md"), "w", encoding="utf-8") as f:
        f.write(text)
    plot(data, os.path.join(out, "benchmarks.svg"))
    if docs:
        page = os.path.join(DOCS, "benchmarks.md")
        with open(page, encoding="utf-8") as f:
            before, _, rest = f.read().partition(BEGIN)
        with open(page, "w", encoding="utf-8") as f:
            f.write(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")
        plot(data, os.path.join(DOCS, "benchmarks.svg"))
    return text
