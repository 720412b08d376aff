# SPDX-License-Identifier: Apache-2.0
"""`dudac doctor`: what this machine has, and lacks, to build and run services."""

import shutil

PROGRAMS = {"make": "builds services", "gcc": "the compiler that most Makefile.in name"}
COMFORTS = {"addr2line": "lines of the source after a crash", "gdb": "values at each call of a crash"}


def findings(places):
    """(is it there, is it needed, sentence) of each thing."""
    things = {"the server": places.server, "the headers of services": places.headers / "webservice.h",
              "the plugin duda": places.plugins / "monkey-duda.so"}
    for name, path in things.items():
        yield path.is_file(), True, f"{name}: {path}"
    for programs, is_needed in ((PROGRAMS, True), (COMFORTS, False)):
        for name, purpose in programs.items():
            yield shutil.which(name) is not None, is_needed, f"{name}: {purpose}"


def examine(places):
    """Print the findings; exit code 1 when something needed is missing."""
    lacks = False
    for is_there, is_needed, sentence in findings(places):
        print(f"{'ok' if is_there else 'missing' if is_needed else 'absent':8} {sentence}")
        lacks |= is_needed and not is_there
    return int(lacks)
