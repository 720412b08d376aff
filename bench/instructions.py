# SPDX-License-Identifier: Apache-2.0
"""User instructions and system calls a request, exactly: from two runs of different length.

The difference of the runs divided by the difference of the requests leaves out start-up and end, so
nothing has to be switched on and off inside the server.
"""

import os
import re
import subprocess

import load
import measure
import servers

# What ab sends, in HTTP/1.1: short, and the same for every server.
HEADERS = ("User-Agent: ApacheBench/2.3", "Accept: */*")


def _collected(log):
    found = re.search(r"Collected : (\d+)", log)
    if not found:
        raise RuntimeError(f"callgrind counted nothing: {log[-500:]}")
    return int(found[1])


def _callgrind_once(server, setup, requests, close, out):
    log = os.path.join(out, "log.%p")
    wrapper = ["valgrind", "--tool=callgrind", f"--log-file={log}",
               f"--callgrind-out-file={out}/callgrind.out.%p"]
    running = servers.Running(server, setup, wrapper=wrapper, patience=60)
    with running:
        got = load.own(setup.port, [setup.path], None, connections=1, requests=requests,
                       close=close, headers=HEADERS)
        if got.errors or got.requests != requests:
            raise RuntimeError(f"{got.requests} answers and {got.errors} errors of {requests}")
        running.stop(patience=60)
    total = 0
    for name in os.listdir(out):
        if name.startswith("log."):
            with open(os.path.join(out, name), encoding="utf-8") as text:
                total += _collected(text.read())
    return total


def per_request(server, make_setup, close, keep_dir, short=500, long=2500):
    """User instructions of one request; the profile of the longer run stays in keep_dir.

    make_setup() returns a fresh Setup.  The client asks one request at a time, so each pays for a
    whole turn of the server's loop.
    """
    counts = []
    for requests in (short, long):
        out = os.path.join(keep_dir, str(requests))
        os.makedirs(out)
        counts.append(_callgrind_once(server, make_setup(), requests, close, out))
    return (counts[1] - counts[0]) / (long - short)


def calls_per_request(server, make_setup, path, short=2000, long=12000, **client):
    """System calls of one request by name, from two whole runs."""
    counts = []
    for requests in (short, long):
        setup = make_setup()
        with servers.Running(server, setup) as running:
            with measure.Watch(running.pids(), calls=True) as watch:
                got = load.own(setup.port, [path], None, requests=requests, **client)
            if got.errors:
                raise RuntimeError(f"{got.errors} errors")
        counts.append((watch.calls, got.requests))
    (few, n1), (many, n2) = counts
    return {name: (count - few.get(name, 0)) / (n2 - n1) for name, count in many.items()}


def top_functions(out_dir, requests, limit=25):
    """The most expensive functions of a callgrind profile, as (instructions a request, name)."""
    rows = []
    for name in sorted(os.listdir(out_dir)):
        if not name.startswith("callgrind.out"):
            continue
        done = subprocess.run(["callgrind_annotate", "--auto=no", "--threshold=99.9",
                               os.path.join(out_dir, name)],
                              capture_output=True, text=True, check=False)
        for count, what in re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+(\S.*)$", done.stdout, re.M):
            if "PROGRAM TOTALS" not in what:
                # The file tells inlined parts of a function apart; its folder tells nothing.
                where, _, function = what.partition(" [")[0].rpartition(":")
                rows.append((int(count.replace(",", "")) / requests,
                             f"{function}  ({os.path.basename(where)})"))
    return sorted(rows, reverse=True)[:limit]
