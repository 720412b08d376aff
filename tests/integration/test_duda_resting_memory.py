# SPDX-License-Identifier: Apache-2.0
"""What services take of memory at rest, and a request that waits for its answer: docs/budgets.md has the limits."""

import pathlib
import re
import time

import pytest

from harness import duda, executable, process, tools
from harness.client import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timed, pytest.mark.limit(300),
              pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's memory is another")]

SETTLE = 3  # seconds: what only the start needs is given back after one
FURTHER = 8
FEW, MANY = 200, 3000

SOURCE = """#include "webservice.h"
DUDA_REGISTER("tests", "memory");
static void hello(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->print(dr, "hello", 5);
    response->end(dr, NULL);
}
static void park(duda_request_t *dr)
{
    response->wait(dr);
}
int duda_main()
{
    router->get("/hello", hello);
    router->get("/park", park);
    return 0;
}
"""


def own_memory(pid, services):
    """KB: pages that nobody else would use, of its files too, whichever servers run beside it; of other libraries what it has written."""
    total, ours = 0, (str(pathlib.Path(executable.binary()).resolve().parent), str(services))
    for text in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", pathlib.Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)[1:]:
        path = (text.partition("\n")[0].split(None, 5) + [""])[5]
        counted = "Private_Dirty" if path.startswith("/") and not path.startswith(ours) else "Rss"
        total += 0 if path.startswith("[v") else int(re.search(rf"^{counted}: +(\d+) kB", text, re.M)[1])
    return total


@pytest.fixture
def services(tmp_path):
    return tmp_path / "services"


@pytest.fixture
def serve(start, services):
    def run(count):
        names = [f"one{n}" for n in range(count)]
        for name in names:
            duda.build(services, SOURCE, name=name, level=3)
        server = start(**duda.config(services, *names, server="Workers 1\nTimeout 200\nKeepAliveTimeout 200\nFDLimit 8000"))
        return server, [f"/{name}/hello" for name in names]

    return run


def most(what):
    """Bytes of a row of the page."""
    found = re.search(rf"^\| {re.escape(what)} \| ([\d.]+) (K?B) \|", (process.TREE / "docs" / "budgets.md").read_text(), re.M)
    return float(found[1]) * (1024 if found[2] == "KB" else 1)


def test_services_at_rest(start, serve, services):
    def at_rest(server, targets):
        for target in targets:
            assert server.get(target).status == 200
        time.sleep(SETTLE)
        return own_memory(server.pid, services)

    bare = at_rest(start(server="Workers 1", files={"a.txt": "text"}), ["/a.txt"])
    one = at_rest(*serve(1))
    further = (at_rest(*serve(1 + FURTHER)) - one) / FURTHER
    print(f"bare {bare} KB, with a service {one} KB, each further one {further:.1f} KB")
    assert (one - bare) * 1024 <= most("what the first service adds to the server at rest")
    assert further * 1024 <= most("what each further service adds")


def test_a_request_that_waits(serve, services):
    tools.raise_descriptor_limit(2 * MANY)
    server, _ = serve(1)
    links = []

    def with_links(count):
        while len(links) < count:
            links.append(server.connect())
            links[-1].send(b"GET /one0/park HTTP/1.1\r\nHost: a\r\n\r\n")
        assert server.get("/one0/hello").status == 200
        time.sleep(SETTLE)
        return own_memory(server.pid, services)

    before = with_links(FEW)
    each = (with_links(MANY) - before) * 1024 / (MANY - FEW)
    print(f"a request that waits {each:.0f} B")
    for link in links:
        link.close()
    assert eventually(lambda: server.get("/one0/hello").status == 200)
    assert each <= most("a request of a service that waits, with its connection")
