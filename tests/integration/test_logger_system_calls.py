# SPDX-License-Identifier: Apache-2.0
"""Lines go through a pipe and by splice(2) into their file: seen by strace."""

import re

import pytest

from harness import process
from harness.logs import PATIENT, Crowd, check_numbers, lines_of, logging
from harness.tools import require

# LeakSanitizer does not work under ptrace.
pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build cannot be traced")


@pytest.fixture
def traced(start, tmp_path):
    """Starts a server under strace; gives it and a function that reads the calls once it has ended."""
    def begin(**config):
        out = tmp_path / "calls"
        server = start(wrapper=[require("strace"), "-D", "-f", "-o", out, "-e",
                                "trace=write,writev,pwrite64,splice,fsync,?open,openat,pipe2,fcntl,?fcntl64"], **config)
        return server, lambda: whole_calls(out.read_text().splitlines())

    return begin


def whole_calls(lines):
    """A call that another thread's interrupted stands in two lines."""
    calls, begun = [], {}
    for line in lines:
        pid, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            begun[pid] = call.removesuffix("<unfinished ...>").rstrip()
        elif resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            calls.append(begun.pop(pid, "") + resumed[1])
        else:
            calls.append(call)
    return calls


def descriptors(calls, path):
    return {found[1] for call in calls if (found := re.search(rf'open(?:at)?\(.*{path}".*= (\d+)$', call))}


def test_lines_are_spliced_and_workers_write_pipes_only(traced):
    server, read_calls = traced(**logging("FlushTimeout 1", server=f"Workers 2\n{PATIENT}", files={"index.html": "hello"}))
    crowd = Crowd(server.port, clients=2, depth=50, each=2000)
    crowd.start()
    crowd.join()
    server.stop()
    assert check_numbers(lines_of(server.conf / "access.log"), crowd.answers) == 4000
    calls = read_calls()
    (log,) = descriptors(calls, "access.log")
    spliced = [int(found[1]) for call in calls
               if (found := re.search(rf"splice\(\d+, NULL, {log}, .*\)\s+= (\d+)$", call))]
    assert sum(spliced) == (server.conf / "access.log").stat().st_size
    # The number may have been another file's before: a thread writes its name to one.
    opened = next(at for at, call in enumerate(calls) if re.search(r'open(?:at)?\(.*access\.log"', call))
    assert not [call for call in calls[opened:] if re.search(rf"\b(write|writev|pwrite64)\({log},", call)]
    # Whole frames: some forty lines a call, and no call for each request.
    assert len(spliced) < 4000 / 10
    pipes = {end for call in calls if (found := re.search(r"pipe2\(\[(\d+), (\d+)\].*O_NONBLOCK", call))
             for end in found.groups()}
    written = [call for call in calls if (found := re.search(r"\bwrite\((\d+),", call)) and found[1] in pipes]
    assert 0 < len(written) < 4000 / 10
    assert any(re.search(r"F_SETPIPE_SZ, 1048576\)\s+= 1048576", call) for call in calls)


def test_a_device_is_written(traced):
    server, read_calls = traced(**logging("FlushTimeout 0", log="AccessLog /dev/null"))
    server.get("/")
    server.stop()
    calls = read_calls()
    (log,) = descriptors([call for call in calls if "O_APPEND" in call], "/dev/null")
    assert [call for call in calls if re.search(rf"\bwrite\({log}, \"127", call)]
