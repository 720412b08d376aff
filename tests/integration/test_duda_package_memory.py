# SPDX-License-Identifier: Apache-2.0
"""What a package takes of memory when it is loaded, beside its library."""

import pathlib
import re

import pytest

from harness import duda, executable

MOST = 60  # KB, private to the server

SERVICE = """#include "webservice.h"
DUDA_REGISTER("tests", "packages");
static void hello(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->end(dr, NULL);
}
int duda_main()
{
    void *object;
%s    map->static_add_ref("/hello", hello);
    return 0;
}
"""
MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ *(.*)$")


def mappings(pid):
    """(begin, end, path, private KB) of each."""
    found = []
    for text in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", pathlib.Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)[1:]:
        begin, end, path = MAPPING.match(text.partition("\n")[0]).groups()
        found.append((int(begin, 16), int(end, 16), path, sum(map(int, re.findall(r"^Private_\w+: +(\d+) kB", text, re.M)))))
    return found


def private(pid, name):
    """KB of the package's file, and of its zeroed variables, which follow it without a name."""
    total, end = 0, None
    for begin, after, path, size in mappings(pid):
        if path.endswith(f"/{name}.dpkg") or (begin == end and not path):
            total, end = total + size, after
        else:
            end = None
    return total


def test_memory_of_loaded_packages(start, tmp_path):
    if executable.is_sanitized():
        pytest.skip("a sanitizer's memory is another")
    names = sorted(path.stem for path in duda.packages().glob("*.dpkg"))
    source = SERVICE % "".join(f'    duda_load_package(object, "{name}");\n' for name in names)
    duda.build(tmp_path, source, name="all")
    server = start(**duda.config(tmp_path, "all", server="Workers 1", duda={"PackagesRoot": duda.packages()}))
    assert server.get("/all/hello").status == 200
    sizes = {name: private(server.pid, name) for name in names}
    assert all(0 < size <= MOST for size in sizes.values()), sizes
