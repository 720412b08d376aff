# SPDX-License-Identifier: Apache-2.0
"""The clients.  Each runs one load against a port and returns the same Result.

wrk keeps connections alive, ab is what the oldest tables were made with, siege browses a list; our
own load.c does what they do not: see its head.  All of them send a short request without options.
"""

import json
import os
import re
import resource
import subprocess
import tempfile
from dataclasses import dataclass

import servers


@dataclass
class Result:
    requests: int = 0
    errors: int = 0
    bytes: int = 0
    seconds: float = 0.0
    p99_ms: float = None
    client_cpu: float = 0.0     # seconds


def _run(argv, cores, timeout=300, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False,
                          preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
                          **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return done, used


def _number(pattern, text, default=0.0):
    found = re.search(pattern, text, re.M)
    return float(found[1]) if found else default


def own(port, paths, cores, connections=1, seconds=0.0, requests=0, depth=1, close=False, rounds=0,
        processes=1, headers=(), tls=False, resume=False):
    """load.c; rounds: of a connection, 0: it is kept"""
    argv = [servers.build_tool("load"), "-c", str(connections), "-p", str(depth),
            "-w", str(processes)]
    argv += ["-n", str(requests)] if requests else ["-d", str(seconds)]
    argv += ["-1"] if close else []
    argv += ["-k", str(rounds)] if rounds else []
    argv += ["-r"] if resume else ["-t"] if tls else []
    for header in headers:
        argv += ["-H", header]
    done, used = _run(argv + [str(port)] + ["/" + p for p in paths], cores)
    if done.returncode != 0:
        raise RuntimeError(f"load: {done.stderr.strip()}")
    got = json.loads(done.stdout)
    if tls and got["resumed"] != (got["handshakes"] if resume else 0):
        raise RuntimeError(f"load: {got['resumed']} of {got['handshakes']} handshakes resumed")
    return Result(got["requests"], got["errors"], got["bytes"], got["seconds"],
                  got["p99_us"] / 1000, used)


def h2load(url, cores, connections, requests, streams=1, headers=(), http_1=False, data=None):
    """
    For what load.c does not speak: HTTP/2, and bodies. data: a file that each request carries. There is no time: beside Node.js
    over TLS h2load does not end when one is over.
    """
    argv = ["h2load", "-t", "1", "-c", str(connections), "-m", str(streams), "-n", str(requests), *(["--h1"] if http_1 else [])]
    argv += ["-d", data] if data else []
    for header in headers:
        argv += ["-H", header]
    done, used = _run([*argv, url], cores)
    counts = re.search(r"^requests: (\d+) total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout, re.M)
    took = re.search(r"^finished in ([\d.]+)(us|ms|s|m), ", done.stdout, re.M)
    if not counts or not took:
        raise RuntimeError(f"h2load: {done.stdout}{done.stderr}")
    total, answered, good = (int(counts[n]) for n in (1, 2, 3))
    return Result(good, max(answered, total) - good, int(_number(r"^traffic: \S+ \((\d+)\) total", done.stdout)),
                  float(took[1]) * _UNIT_MS[took[2]] / 1000, None, used)


_UNIT_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


def wrk(port, path, cores, connections, seconds, threads=1, post=0, scheme="http"):
    """post: send a body of so many bytes with each request."""
    argv = ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{max(1, round(seconds))}s",
            "--timeout", "20s", "--latency", f"{scheme}://127.0.0.1:{port}/{path}"]
    with tempfile.NamedTemporaryFile("w", prefix="monkey-bench-wrk-", suffix=".lua") as script:
        if post:
            script.write('wrk.method = "POST"\n'
                         'wrk.headers["Content-Type"] = "application/octet-stream"\n'
                         f'wrk.body = string.rep("0123456789", {post // 10})\n')
            script.flush()
            argv += ["-s", script.name]
        done, used = _run(argv, cores)
    text = done.stdout
    total = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m), ", text)
    if not total:
        raise RuntimeError(f"wrk: {text}{done.stderr}")
    socket_errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    errors = sum(map(int, socket_errors.groups())) if socket_errors else 0
    errors += int(_number(r"Non-2xx or 3xx responses: (\d+)", text))
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s|m)", text)
    return Result(int(total[1]), errors, 0, float(total[2]) * _UNIT_MS[total[3]] / 1000,
                  float(p99[1]) * _UNIT_MS[p99[2]] if p99 else None, used)


def ab(port, path, cores, connections, requests, keep):
    argv = ["ab", "-q", "-r", "-s", "60", "-n", str(requests), "-c", str(connections)]
    argv += ["-k"] if keep else []
    done, used = _run(argv + [f"http://127.0.0.1:{port}/{path}"], cores)
    text = done.stdout
    complete = int(_number(r"^Complete requests:\s+(\d+)", text))
    if not complete:
        raise RuntimeError(f"ab: {text}{done.stderr}")
    errors = _number(r"^Failed requests:\s+(\d+)", text) + _number(
        r"^Non-2xx responses:\s+(\d+)", text)
    return Result(complete, int(errors), 0, _number(r"^Time taken for tests:\s+([\d.]+)", text),
                  _number(r"^\s+99%\s+(\d+)", text), used)


SIEGE_TRIES = 3
SIEGE_RC = ("verbose = false\ncolor = off\nquiet = false\nshow-logfile = false\nlogging = false\nprotocol = HTTP/1.1\n"
            "parser = false\ncache = false\nconnection = close\nlimit = 255\nbenchmark = true\njson_output = false\n")


def _run_siege(argv, cores, seconds, home):
    """Now and then siege does not notice that its time is over."""
    for _ in range(SIEGE_TRIES):
        try:
            return _run(argv, cores, timeout=seconds + 20, env={**os.environ, "HOME": home})
        except subprocess.TimeoutExpired:
            print("  siege did not end and starts again", flush=True)
    raise RuntimeError(f"siege did not end {SIEGE_TRIES} times")


def siege(port, paths, cores, connections, seconds):
    with tempfile.TemporaryDirectory(prefix="monkey-bench-siege-") as home:
        rc, urls = os.path.join(home, "rc"), os.path.join(home, "urls")
        with open(rc, "w", encoding="ascii") as out:
            out.write(SIEGE_RC)
        with open(urls, "w", encoding="ascii") as out:
            out.writelines(f"http://127.0.0.1:{port}/{p}\n" for p in paths)
        argv = ["siege", "-R", rc, f"-c{connections}", "-b", "-i", f"-t{max(1, round(seconds))}S",
                "-f", urls]
        done, used = _run_siege(argv, cores, seconds, home)
    text = done.stdout + done.stderr
    hits = int(_number(r"Transactions:\s+(\d+)", text))
    if not hits:
        raise RuntimeError(f"siege: {text}")
    return Result(hits, int(_number(r"Failed transactions:\s+(\d+)", text)), 0,
                  _number(r"Elapsed time:\s+([\d.]+)", text), None, used)


class Idle:
    """Connections that have had one answer each and wait for nothing: load.c -i."""

    def __init__(self, port, path, connections, cores, tls=False):
        self._process = subprocess.Popen(
            [servers.build_tool("load"), *(["-t"] if tls else []), "-i", str(connections), str(port), "/" + path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores))

    def __enter__(self):
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError("load: the idle connections could not be opened")
        return self

    def ask_again(self):
        """One more request on each connection; returns the counts."""
        out, _ = self._process.communicate("go\n", timeout=120)
        return json.loads(out)

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def start_ms(argv, port, path, times):
    """Milliseconds from exec to the first byte of an answer, once for each start."""
    done, _ = _run([servers.build_tool("load"), "-s", str(times), str(port), "/" + path, "--"] +
                   argv, {1} if os.cpu_count() > 1 else None)
    return json.loads(done.stdout)["ms"]
