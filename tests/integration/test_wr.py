# SPDX-License-Identifier: Apache-2.0
"""wr: what it says of programs that know what they used, of load generators, of servers that it starts."""

import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from harness import executable
from harness.client import eventually, free_port
from harness.page import Page
from harness.work import WORDS, helper, working

# It measures, so it has the machine for itself, and it is measured as it is shipped.
pytestmark = [
    pytest.mark.plain,
    pytest.mark.slow,
    pytest.mark.timed,
    pytest.mark.timed,
    pytest.mark.once("it is measured as it is shipped"),
]

TOLERANCE = 0.02


@pytest.fixture(scope="module")
def program():
    path = pathlib.Path(executable.binary()).parent / "tools" / "wr"
    return str(path if path.exists() else executable.TREE / "build" / "tools" / "wr")


@pytest.fixture
def wr(program, tmp_path):
    def run(*words, code=0):
        out = tmp_path / "out.json"
        out.unlink(missing_ok=True)
        done = subprocess.run([program, "--json", out, *map(str, words)], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        run.text, run.complaint = done.stdout, done.stderr
        return json.loads(out.read_text()) if out.exists() else None
    return run


def is_32_bit(program):
    return pathlib.Path(program).read_bytes()[4] == 1


def sleeps_with(watcher, pid):
    """Whether wr has the process open and waits: what follows is in its figures."""
    try:
        held = [os.readlink(f"/proc/{watcher.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{watcher.pid}/fd")]
        state = pathlib.Path(f"/proc/{watcher.pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return f"/proc/{pid}" in held and state == "S"


# -- accuracy: the helper's own figure is the count of requests, so CPU a request is 1 us


@pytest.mark.parametrize("mode", ["burn", "threads", "children", "unwaited", "rename"])
def test_cpu_is_what_the_program_says_itself(wr, tmp_path, mode):
    with working(tmp_path, mode) as (process, ask):
        [run] = wr("-p", process.pid, "-i", "20ms", *WORDS, "--", *ask)["runs"]
    figures = run["figures"]
    assert figures["requests"] >= 290_000
    # Of a child its end is beyond its figure; and of one that wr did not see, the parent has two counts of whole ticks.
    slack = 0.03 if mode in ("children", "unwaited") else 0
    assert 1 - TOLERANCE - slack <= figures["cpu_us_per_request"] <= 1 + TOLERANCE + slack
    assert figures["user_ms"] + figures["kernel_ms"] == pytest.approx(figures["cpu_ms"])


def test_cpu_is_what_perf_stat_says_and_what_the_hypervisor_took(wr, tmp_path):
    """perf counts the time that a hypervisor took as the program's, kernels with paravirtual clocks do not."""
    perf = ["perf", "stat", "-x,", "-e", "task-clock"]
    if not shutil.which("perf") or subprocess.run([*perf, "true"], capture_output=True, timeout=60, check=False).returncode:
        pytest.skip("perf does not work here")
    out = tmp_path / "perf"
    with working(tmp_path, "burn") as (process, ask):
        [run] = wr("-p", process.pid, *WORDS, "--", *perf, "-o", out, "-p", process.pid, "--", *ask)["runs"]
    perf_ms = float(re.search(r"^([\d.]+),msec,task-clock", out.read_text(), re.M)[1])
    figures = run["figures"]
    stolen_ms = figures["steal_ms"] + 2000 / os.sysconf("SC_CLK_TCK") * os.cpu_count()  # counts of whole ticks
    assert figures["cpu_ms"] * (1 - TOLERANCE) <= perf_ms <= figures["cpu_ms"] * (1 + TOLERANCE) + stolen_ms


def test_cpu_is_what_time_says(wr, tmp_path):
    """As the kernel tells the parent of a program that ended, less what it used to start."""
    with working(tmp_path, "die") as (process, ask):
        ask[-1] += f"; until grep -q '^State:.Z' /proc/{process.pid}/status; do sleep 0.05; done"
        [run] = wr("-p", process.pid, *WORDS, "--", *ask)["runs"]
        used = os.wait4(process.pid, 0)[2]
    ms = 1000 * (used.ru_utime + used.ru_stime)
    assert run["figures"]["cpu_ms"] == pytest.approx(ms, rel=TOLERANCE, abs=12)


def test_cpu_that_was_used_before_does_not_count(wr, tmp_path):
    with working(tmp_path, "children") as (process, ask):
        subprocess.run(ask, check=True, capture_output=True, timeout=30)
        [run] = wr("-p", process.pid, "--", "true")["runs"]
        assert run["figures"]["cpu_ms"] < 20
        [run] = wr("-p", process.pid, *WORDS, "--", *ask)["runs"]
        assert 0.95 <= run["figures"]["cpu_us_per_request"] <= 1.05


def test_memory_is_what_the_system_says(wr, tmp_path):
    page = os.sysconf("SC_PAGESIZE") // 1024
    batch = 32 * os.cpu_count() * page  # of pages that the system may have counted on a processor and not yet in the sum
    with working(tmp_path, "memory") as (process, ask):
        [run] = wr("-p", process.pid, *WORDS, "--", *ask)["runs"]
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        rollup = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    figures = run["figures"]
    assert figures["rss_peak_kb"] >= 48 * 1024
    assert abs(figures["rss_peak_kb"] - int(re.search(r"VmHWM:\s+(\d+)", status)[1])) <= batch
    private = sum(int(re.search(rf"{key}:\s+(\d+)", rollup)[1]) for key in ("Private_Clean", "Private_Dirty"))
    assert abs(figures["private_kb"] - private) <= page
    assert figures["minor_faults"] >= 48 * 1024 // page / 512  # at least one for each large page


def test_a_target_that_dies_is_said_and_counted(wr, tmp_path):
    with working(tmp_path, "die") as (process, ask):
        ask[-1] += f"; until grep -q '^State:.Z' /proc/{process.pid}/status; do sleep 0.05; done"
        [run] = wr("-p", process.pid, "-i", "20ms", *WORDS, "--", *ask)["runs"]
    assert "died" in run["flags"]
    assert run["figures"]["cpu_ms"] > 0.9 * 300


# -- watching alone


def test_it_watches_without_a_command_until_the_end(program, tmp_path):
    out = tmp_path / "out.json"
    with working(tmp_path, "die") as (process, ask):
        watcher = subprocess.Popen([program, "--json", out, "-p", str(process.pid), "-i", "20ms", "-t", "100s"],
                                   stdout=subprocess.DEVNULL)
        assert eventually(lambda: sleeps_with(watcher, process.pid))
        subprocess.run(ask, check=True, capture_output=True, timeout=30)
        assert watcher.wait(60) == 0
    [run] = json.loads(out.read_text())["runs"]
    assert run["client"] is None and run["figures"]["requests"] is None
    assert run["figures"]["cpu_ms"] > 0.9 * 300
    assert run["figures"]["window_s"] < 99


def test_its_time_is_bounded_and_samples_are_in_order(wr, tmp_path):
    with working(tmp_path, "burn") as (process, _):
        [run] = wr("-p", process.pid, "-t", "400ms", "-i", "20ms")["runs"]
    times = [sample[0] for sample in run["samples"]]
    assert times == sorted(times) and len(times) >= 2
    assert run["figures"]["window_s"] >= 0.4
    assert run["figures"]["client_cpu_ms"] is None


def test_ctrl_c_ends_the_command_and_keeps_what_was_measured(program, tmp_path):
    out = tmp_path / "kept.json"
    with working(tmp_path, "burn") as (process, _):
        watcher = subprocess.Popen([program, "-p", str(process.pid), "--json", out, "--", "sh", "-c",
                                    f"echo $$ >{tmp_path}/pid; exec sleep 100"], stdout=subprocess.PIPE, text=True)
        assert eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        watcher.send_signal(signal.SIGINT)
        watcher.communicate(timeout=30)
    [run] = json.loads(out.read_text())["runs"]
    assert "cut" in run["flags"]
    assert not os.path.exists(f"/proc/{(tmp_path / 'pid').read_text().strip()}")


# -- whom to watch


def test_by_name_by_port_and_several_at_once(wr, start, tmp_path):
    server = start(files={"a.txt": "a"})
    name = tmp_path / f"a-rather-long-name-of-a-program-{os.getpid()}"
    shutil.copy(helper(), name)
    own = subprocess.Popen([name], stdin=subprocess.PIPE)
    try:
        eventually(lambda: os.readlink(f"/proc/{own.pid}/exe") == str(name))
        runs = wr("-n", name.name, "-P", server.port, "--", "true")["runs"]
    finally:
        own.communicate(timeout=30)
    assert [run["target"] for run in runs] == [name.name, f":{server.port}"]
    assert all(run["figures"]["rss_peak_kb"] > 0 and run["figures"]["processes"] >= 1 for run in runs)


@pytest.mark.parametrize("words", [["-n", "no-such-name-of-a-program"], ["-p", "99999999"], ["-u", "no-such-unit"]])
def test_nothing_to_watch_is_said(wr, words):
    wr(*words, "--", "true", code=1)
    assert "there is no such process" in wr.complaint


def test_wrong_options_are_refused(wr):
    assert wr("-c", "0", "-n", "x", "--", "true", code=2) is None
    assert "no steps: 0" in wr.complaint


def test_a_command_that_fails_is_shown_and_marked(wr):
    [run] = wr("-p", os.getpid(), "--", "sh", "-c", "echo why; exit 3", code=1)["runs"]
    assert {"failed", "uncounted"} <= set(run["flags"])
    assert "why" in wr.complaint
    [run] = wr("-p", os.getpid(), "--", "/no/such/program", code=1)["runs"]
    assert "No such file" in wr.complaint


def test_output_without_end_is_bounded(wr):
    [run] = wr("-p", os.getpid(), *WORDS, "--", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo cpu_us: 7")["runs"]
    assert run["figures"]["requests"] == 7


def test_other_bytes_of_names_are_escaped(wr, tmp_path):
    name = tmp_path / f'a"b<c>\x01\xe4,{os.getpid()}'
    shutil.copy(helper(), name)
    own = subprocess.Popen([name], stdin=subprocess.PIPE)
    table = tmp_path / "out.csv"
    try:
        eventually(lambda: os.readlink(f"/proc/{own.pid}/exe") == str(name))
        [run] = wr("-n", name.name, "--csv", table, "-t", "50ms")["runs"]
    finally:
        own.communicate(timeout=30)
    assert run["target"].encode("latin-1") == name.name.encode()
    rows = list(csv.DictReader(table.open(newline="")))
    assert {row["target"] for row in rows} == {name.name}
    assert {"cpu_ms", "rss_kb", "private_kb"} <= {row["metric"] for row in rows}


# -- generators and servers


def generator(name, port):
    url = f"http://127.0.0.1:{port}/a.txt"
    return {"ab": ["ab", "-q", "-n", "200", "-c", "%c", url],
            "wrk": ["wrk", "-t1", "-c%c", "-d1s", "--latency", url],
            "siege": ["siege", "-b", "-c%c", "-r20", "--no-parser", url]}[name]


@pytest.mark.parametrize("name", ["ab", "wrk", "siege"])
def test_generators_that_are_here_are_understood(wr, start, name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    server = start(files={"a.txt": "a"})
    runs = wr("-P", server.port, "-c", "2,4", "--tcp", "--", *generator(name, server.port))["runs"]
    assert [run["concurrency"] for run in runs] == [2, 4]
    for run in runs:
        assert run["client"] == name and run["latency"] == "service"
        least = {"ab": 200, "wrk": 1, "siege": 20 * run["concurrency"]}[name]
        assert run["figures"]["requests"] >= least and run["figures"]["errors"] == 0
        assert run["figures"]["cpu_us_per_request"] > 0
        assert run["figures"]["listen_overflows"] is not None


def test_versions_of_server_and_generator_are_kept(wr, start, tmp_path):
    server, generator = start(files={"a.txt": "a"}), tmp_path / "wrk"
    generator.write_text('#!/bin/sh\ncase $1 in -v) echo "wrk 9 of a test"; echo more; exit 1;; esac\necho cpu_us: 5\n')
    generator.chmod(0o755)
    result = wr("-P", server.port, *WORDS, "--", "env", "A=b", generator, f"http://127.0.0.1:{server.port}/a.txt")
    assert result["machine"]["client_version"] == "wrk 9 of a test"
    assert result["runs"][0]["server"].startswith("Monkey/")
    assert result["machine"]["clocksource"] and result["machine"]["tcp_congestion_control"]


@pytest.fixture
def group(tmp_path):
    """A folder that stands for /sys: the group of this process, and a processor of two packages."""
    found = re.search(r"^0::(/.*)$", pathlib.Path("/proc/self/cgroup").read_text(), re.M)
    folder = tmp_path / "sys" / "fs" / "cgroup" / found[1].lstrip("/") if found else None
    if folder:
        folder.mkdir(parents=True)
        (folder / "memory.peak").write_text("7340032\n")
        (folder / "cpu.stat").write_text("usage_usec 1000\nuser_usec 700\nnr_throttled 3\nthrottled_usec 40000\n")
    for number, name in enumerate(["package-0", "package-1", "psys"]):
        zone = tmp_path / "sys" / "class" / "powercap" / f"intel-rapl:{number}"
        zone.mkdir(parents=True)
        for file, text in {"name": name, "energy_uj": 900_000, "max_energy_range_uj": 1_000_000}.items():
            (zone / file).write_text(f"{text}\n")
    return tmp_path / "sys", folder


def test_groups_and_energy_are_read_before_and_after(wr, group):
    sys, folder = group
    script = f"echo 200000 >{sys}/class/powercap/intel-rapl:0/energy_uj; echo 900500 >{sys}/class/powercap/intel-rapl:1/energy_uj; "
    if folder:
        script += f"printf 'usage_usec 3500\nnr_throttled 5\nthrottled_usec 41000\n' >'{folder}/cpu.stat'; "
    [run] = wr("-p", os.getpid(), "--sys", sys, "--cgroup", "--energy", *WORDS, "--", "sh", "-c", script + "echo cpu_us: 5")["runs"]
    figures = run["figures"]
    assert figures["energy_mj"] == pytest.approx(300.5)    # one of them began again
    if folder:
        assert figures["cgroup_cpu_ms"] == pytest.approx(2.5) and figures["cgroup_throttled"] == 2
        assert figures["cgroup_throttled_ms"] == pytest.approx(1) and figures["cgroup_memory_peak_kb"] == 7168
    assert figures["user_instructions"] is None and "user_instructions" not in wr.text


def test_system_calls_of_a_program_and_its_children_are_counted(wr, tmp_path):
    with working(tmp_path, "calls") as (process, ask):
        [run] = wr("-p", process.pid, "--calls", *WORDS, "--", *ask)["runs"]
    count = run["figures"]["system_calls"]
    if count is None:
        assert " system_calls" in wr.text.partition("left out: ")[2]
        pytest.skip("the tracepoint cannot be read here")
    assert 5000 <= count <= 5100    # and what else it does: reading the question, writing the answer, clocks
    assert run["figures"]["system_calls_per_request"] == pytest.approx(count / run["figures"]["requests"])


def test_system_calls_are_named_and_the_program_goes_on(program, wr, tmp_path):
    with working(tmp_path, "calls") as (process, ask):
        [run] = wr("-p", process.pid, "--trace", *WORDS, "--", *ask)["runs"]
        if "calls" not in run:
            assert "nothing to trace" in wr.complaint
            pytest.skip("ptrace is not allowed here")
        if is_32_bit(program) != is_32_bit(helper()):
            assert 5000 in run["calls"].values() and all(name.startswith("call_") for name in run["calls"]), run["calls"]
            return
        assert run["calls"]["getppid"] == 5000 and run["calls"]["wait4"] == 1, run["calls"]
        assert "traced" in run["flags"] and '"getppid": 5000' in wr.text
        [run] = wr("-p", process.pid, *WORDS, "--", *ask)["runs"]
    assert run["figures"]["requests"] > 0 and "traced" not in run["flags"]


def test_a_tracer_without_processes_says_so(program):
    done = subprocess.run([f"{program}-calls"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1 and "wr-calls PID" in done.stderr


def test_what_was_asked_for_and_cannot_be_read_is_said_once(wr, tmp_path):
    [run] = wr("-p", os.getpid(), "--sys", tmp_path, "--cgroup", "--energy", "--counters", *WORDS, "--", "sh", "-c", "echo cpu_us: 5")["runs"]
    figures = run["figures"]
    [missing] = [line for line in wr.text.splitlines() if line.startswith("not readable here, and left out: ")]
    for name in ("cgroup_cpu_ms", "cgroup_throttled", "cgroup_memory_peak_kb", "energy_mj"):
        assert figures[name] is None and f" {name}" in missing
    for name in ("user_instructions", "kernel_instructions", "cache_misses"):
        assert f" {name}" in missing if figures[name] is None else figures[name] >= 0


def test_errors_are_marked(wr, start):
    if not shutil.which("ab"):
        pytest.skip("ab is not installed")
    server = start(files={"a.txt": "a"})
    [run] = wr("-P", server.port, "--", "ab", "-q", "-n", "50", f"http://127.0.0.1:{server.port}/none")["runs"]
    assert run["figures"]["errors"] == 50
    assert "errors" in run["flags"]


SERVER = """import http.server, os, sys
if sys.argv[2:] and os.fork():
    os._exit(0)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_servers_take_turns_and_are_stopped(wr, tmp_path):
    """Also one that becomes a daemon: it is still ours."""
    port, script = free_port(), tmp_path / "server.py"
    script.write_text(SERVER)
    command = f"/usr/bin/python3 {script} {port}"
    runs = wr("--server", f"A={command}", "--server", f"B={command} daemon", "-r", "2", "-c", "1,3", "-w", "50ms", *WORDS,
              "--", "sh", "-c", f"curl -s http://127.0.0.1:{port}/; echo cpu_us: %c")["runs"]
    assert [(run["round"], run["order"], run["target"], run["concurrency"]) for run in runs] == [
        (1, 1, "A", 1), (1, 1, "A", 3), (1, 2, "B", 1), (1, 2, "B", 3),
        (2, 1, "B", 1), (2, 1, "B", 3), (2, 2, "A", 1), (2, 2, "A", 3)]
    for run in runs:
        assert run["figures"]["requests"] == run["concurrency"]
        assert run["server"].startswith("BaseHTTP/")
        assert run["figures"]["processes"] == 1 and run["figures"]["rss_peak_kb"] > 1000
        assert "died" not in run["flags"]
    assert not subprocess.run(["pgrep", "-f", script], capture_output=True, check=False).stdout


def test_a_server_that_does_not_start_shows_why(wr, tmp_path):
    wr("--server", "A=echo no such thing; exit 1", "-P", free_port(), "--", "true", code=1)
    assert "no such thing" in wr.complaint and "does not answer" in wr.complaint


def test_its_own_cost_is_said(wr, tmp_path):
    with working(tmp_path, "burn") as (process, ask):
        [run] = wr("-p", process.pid, "--", *ask)["runs"]
    assert 0 < run["figures"]["wr_cpu_ms"] < 0.2 * run["figures"]["cpu_ms"]
    assert re.search(r"^wr itself used \d+\.\d\d % of a core\.$", wr.text, re.M)


def test_progress_is_shown_on_a_terminal_only(program):
    words = [program, "-p", str(os.getpid()), "-r", "3", *WORDS, "--", "sh", "-c", "echo cpu_us: 5"]
    ours, theirs = os.openpty()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=theirs, timeout=30, check=True)
    assert re.search(rb"1 of 3, about \d+ s left .*2 of 3, ", os.read(ours, 4096), re.S)
    os.close(ours)
    os.close(theirs)
    assert not subprocess.run(words, capture_output=True, timeout=30, check=True).stderr


def test_its_size_is_bounded(program, tmp_path):
    if executable.is_sanitized() or b"musl" in pathlib.Path(program).read_bytes() or is_32_bit(program):
        pytest.skip("only the shipped build is sized")
    subprocess.run(["strip", "-o", tmp_path / "stripped", program], check=True)
    assert (tmp_path / "stripped").stat().st_size <= 60 * 1024


# -- comparing


def written(path, rounds, kernel="6", target="A", flags=(), **figures):
    """A result file whose rounds differ by a factor each."""
    runs = [{"target": target, "round": n + 1, "order": 1, "concurrency": 8, "client": "wrk", "flags": list(flags),
             "figures": {key: value * factor for key, value in figures.items()}, "samples": []}
            for n, factor in enumerate(rounds)]
    path.write_text(json.dumps({"schema": "wr/1", "machine": {"kernel": kernel}, "runs": runs}))
    return path


@pytest.fixture
def compared(program, tmp_path):
    def run(before, after, *words):
        files = written(tmp_path / "a.json", **before), written(tmp_path / "b.json", **after)
        done = subprocess.run([program, "compare", *words, *files], capture_output=True, text=True, timeout=30, check=False)
        return done.returncode, done.stdout
    return run


FIVE = (0.98, 0.99, 1, 1.01, 1.02)


@pytest.mark.parametrize("rounds", [FIVE, FIVE * 2])
@pytest.mark.parametrize("figure, factor, code, verdict", [
    ("cpu_us_per_request", 1.2, 1, "more"), ("cpu_us_per_request", 0.8, 0, "less"),
    ("requests_per_s", 0.8, 1, "less"), ("requests_per_s", 1.2, 0, "more"),
    ("private_kb", 1.0, 0, "no difference seen"), ("p99_us", 1.5, 1, "more"),
])
def test_what_changed_beyond_noise(compared, rounds, figure, factor, code, verdict):
    got, text = compared({"rounds": rounds, figure: 100}, {"rounds": rounds, figure: 100 * factor})
    assert got == code
    [row] = [line for line in text.splitlines() if figure in line]
    assert f"  {verdict} (" in row


def test_what_cannot_be_compared(compared):
    assert compared({"rounds": FIVE[:4], "p99_us": 1}, {"rounds": FIVE, "p99_us": 9})[0] == 2
    assert compared({"rounds": FIVE, "p99_us": 1}, {"rounds": FIVE, "p99_us": 9, "target": "B"})[0] == 2
    assert compared({"rounds": FIVE, "p99_us": 1}, {"rounds": FIVE, "p99_us": 9, "flags": ["failed"]})[0] == 2
    other = {"rounds": FIVE, "p99_us": 9, "kernel": "7"}
    code, text = compared({"rounds": FIVE, "p99_us": 1}, other)
    assert code == 2 and "kernel is another" in text
    assert compared({"rounds": FIVE, "p99_us": 1}, other, "--force")[0] == 1


def test_new_errors_need_no_statistics(compared):
    code, text = compared({"rounds": (1,), "errors": 0}, {"rounds": (1,), "errors": 3})
    assert code == 1 and "more" in text


@pytest.mark.parametrize("text", ["", "{}", "{\"schema\": \"wr/2\"}", "[" * 100000])
def test_other_files_are_refused(program, tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    done = subprocess.run([program, "compare", path, path], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and f"{path}: " in done.stderr


# -- the report


def test_the_report_is_one_well_formed_file(program, tmp_path):
    result = written(tmp_path / "a.json", FIVE, target="<b>&\"x\u00e4", cpu_us_per_request=9, requests_per_s=1e5, p99_us=20)
    data = json.loads(result.read_text())
    data["command"] = "</code><script>alert(1)</script>"
    data["runs"][0]["samples"] = [[0, 0, 100, 1, 1], [100, 50, 200, 1, 1], [200, 100, 150, 1, 1]]
    result.write_text(json.dumps(data))
    subprocess.run([program, "plot", result, tmp_path / "report.html"], timeout=30, check=True)
    page = Page((tmp_path / "report.html").read_text(encoding="ascii"))
    assert page.open == [] and page.outside == [] and "script" not in page.count
    assert "</code><script>" in page.text and "<b>&\"x\u00e4" in page.text
    assert page.count["svg"] == 3 + 2  # figures that are known; the run that has samples
    assert "nan" not in page.text.lower() and "CPU a request" in page.text and "Errors" not in page.text


def test_a_report_of_nothing_is_a_page(program, tmp_path):
    result = written(tmp_path / "a.json", ())
    subprocess.run([program, "plot", result, tmp_path / "report.html"], timeout=30, check=True)
    assert Page((tmp_path / "report.html").read_text()).open == []


def test_a_report_is_written_after_measuring(wr, tmp_path):
    wr("-p", os.getpid(), "--html", tmp_path / "report.html", *WORDS, "--", "sh", "-c", "echo cpu_us: 5")
    assert Page((tmp_path / "report.html").read_text()).count["svg"] >= 3
