# SPDX-License-Identifier: Apache-2.0
"""wr for other machines: cross-compiled, small, and right about a program under an emulator of the processor."""

import json
import shutil
import subprocess

import pytest

from harness import executable
from harness.work import WORDS, working

FOLDER = executable.TREE / "tools" / "wr"
FLAGS = ["-std=gnu11", "-Oz", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-D_TIME_BITS=64", "-fvisibility=hidden",
         "-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables", "-fno-math-errno", "-fstack-protector",
         "-fno-pie", "-no-pie", "-Wall", "-Wextra", "-Werror", '-DWR_VERSION="2"', "-Wl,--gc-sections", "-Wl,--hash-style=gnu"]
CROSS = ["-fno-unwind-tables", "-flto", "-fuse-ld=lld", "-Wl,-z,norelro"]
# As tools/meson.build has them. Across files gcc sees a call that fails without its result, and not that nothing is read then.
GCC = ["-flto", "-flto-partition=one", "-Wno-maybe-uninitialized", "-fcf-protection=none", "-malign-data=abi",
       "-fno-move-loop-invariants", "-fno-thread-jumps", "-fno-jump-tables", "-fno-tree-sra", "-fno-caller-saves",
       "-fno-expensive-optimizations", "-Wl,--build-id=none", "-Wl,-z,noseparate-code"]
# Of the cross builds by clang, whose code for aarch64 is larger than that of gcc.
CROSS_SIZE_MAX = 62 * 1024
MACHINES = {
    "aarch64": ["clang", "--target=aarch64-linux-gnu", "-isystem", "/usr/aarch64-linux-gnu/include", *CROSS],
    "arm": ["clang", "--target=arm-linux-gnueabihf", "-mthumb", "-isystem", "/usr/arm-linux-gnueabihf/include", *CROSS],
    "musl": ["musl-gcc", *GCC, "-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu"],
}
ROOTS = {"aarch64": "/usr/aarch64-linux-gnu", "arm": "/usr/arm-linux-gnueabihf"}

pytestmark = [
    pytest.mark.plain,
    pytest.mark.slow,
    pytest.mark.once("it compiles for itself"),
]


@pytest.fixture(scope="module", params=MACHINES)
def machine(request):
    compiler = MACHINES[request.param]
    needed = [compiler[0], *([f"qemu-{request.param}", "ld.lld"] if request.param in ROOTS else [])]
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    return request.param


@pytest.fixture(scope="module")
def program(machine, tmp_path_factory):
    path = tmp_path_factory.mktemp(machine) / "wr"
    sources = sorted(source for source in FOLDER.glob("*.c") if source.name != "wr_calls.c")
    done = subprocess.run([*MACHINES[machine], *FLAGS, *sources, "-lm", "-s", "-o", path], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return path


def test_it_is_small(machine, program):
    assert program.stat().st_size <= (CROSS_SIZE_MAX if machine in ROOTS else 60 * 1024)


def test_it_measures_what_a_program_says_itself(machine, program, tmp_path):
    emulator = [f"qemu-{machine}", "-L", ROOTS[machine]] if machine in ROOTS else []
    out = tmp_path / "out.json"
    with working(tmp_path, "burn") as (process, ask):
        subprocess.run([*emulator, program, "--json", out, "-p", str(process.pid), *WORDS, "--", *ask], check=True,
                       capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    [run] = json.loads(out.read_text())["runs"]
    assert run["figures"]["requests"] >= 290_000
    assert 0.95 <= run["figures"]["cpu_us_per_request"] <= 1.05
    assert run["figures"]["rss_peak_kb"] > 0
