# SPDX-License-Identifier: Apache-2.0
"""The cases: one command of a load generator each, which wr runs for every server in turns."""

import shutil
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """In command: {url}, {port}, {load} (bench/load.c), {urls} (a file for siege), {siege} (its settings), {count} and {few} requests, and wr's %c."""
    name: str
    title: str
    command: str
    steps: tuple = ()           # numbers of clients
    needs: str = "static"       # what a server must be able to do: static, tls, h2, proxy
    backends: int = 0
    regex: str = None           # the number of requests in the output, where wr does not know the generator
    seconds: float = 2          # of one run; a command that counts requests may end earlier
    program: str = None         # without it on this machine the case is left out; None: the command's first word
    otherwise: str = None       # the command where the program of the other is not installed
    is_long: bool = False       # only when it is named, or the contest is --full
    is_idle: bool = False       # memory by connection is the figure, not CPU time

    def generator(self):
        """The command whose program is installed; None: there is none."""
        if self.program:
            return self.command if shutil.which(self.program) else None
        return next((one for one in (self.command, self.otherwise) if one and shutil.which(one.split()[0])), None)


OWN = r'"requests": *([0-9]+)'
STEPS = tuple(range(100, 1001, 100))
FINE = tuple(range(100, 1001, 10))
THROUGH = (1, 5, 10)

CASES = {case.name: case for case in (
    Case("small", "13 bytes, 64 kept connections", "wrk -t1 -c64 -d{seconds}s --latency {url}/hello.txt"),
    Case("logo", "13 KB, 64 kept connections", "wrk -t1 -c64 -d{seconds}s --latency {url}/logo.png"),
    Case("f200k", "200 KB, from 100 to 1,000 kept connections", "wrk -t2 -c%c -d{seconds}s --latency {url}/f200k.bin", STEPS),
    Case("f200k-fine", "200 KB, from 100 to 1,000 kept connections in steps of 10, 10 workers",
         "weighttp -k -t 10 -n {few} -c %c {url}/f200k.bin", FINE, otherwise="wrk -t10 -c%c -d{seconds}s --latency {url}/f200k.bin",
         is_long=True),
    Case("site", "a site of ten files: siege -c10 -b", "siege -R {siege} -c10 -b -i -t{seconds}S -f {urls}"),
    Case("ab5000", "13 bytes: ab -n 100000 -c 5000", "ab -q -r -s 60 -n {count} -c 5000 {url}/hello.txt"),
    Case("ab5000k", "13 bytes: ab -k -n 100000 -c 5000", "ab -q -r -s 60 -k -n {count} -c 5000 {url}/hello.txt"),
    Case("big", "100 MB, 4 connections", "{load} -e -c 4 -d {seconds} {port} /big1.bin", regex=OWN, program="cc"),
    Case("pipe16", "13 bytes, 16 requests pipelined on 64 connections", "{load} -e -c 64 -p 16 -d {seconds} {port} /hello.txt",
         regex=OWN, program="cc"),
    Case("idle", "10,000 idle connections", "sh -c '(sleep 3; echo go) | {load} -e -i %c {port} /hello.txt'", (10, 10000),
         regex=r'"asked": *([0-9]+)', program="cc", is_idle=True),
    Case("tls-handshake", "TLS: a full handshake for each 13 bytes", "{load} -e -t -1 -c 32 -d {seconds} {port} /hello.txt",
         needs="tls", regex=OWN, program="cc"),
    Case("tls-bulk", "TLS: 100 MB, 4 connections", "{load} -e -t -c 4 -d {seconds} {port} /big1.bin", needs="tls", regex=OWN,
         program="cc", seconds=4),
    Case("h2", "HTTP/2 over TLS: 13 bytes, 16 connections, 8 streams each",
         "h2load -c 16 -m 8 -D {seconds} https://127.0.0.1:{port}/hello.txt", needs="h2"),
    Case("h2-bulk", "HTTP/2 over TLS: 200 KB, 16 connections, 8 streams each",
         "h2load -c 16 -m 8 -D {seconds} https://127.0.0.1:{port}/f200k.bin", needs="h2"),
    Case("proxy", "three backends behind a proxy: siege -c1, -c5, -c10",
         "siege -R {siege} -c%c -b -i -t{seconds}S {url}/hello.txt", THROUGH, needs="proxy", backends=3),
)}
