# SPDX-License-Identifier: Apache-2.0
"""
The service of tests/integration/duda/packaged_memcached, which asks memcached.

    memcached_service.build(folder, memcached.address)
    server = start(**memcached_service.config(folder))
    assert memcached_service.result(server) == 1  # no such key
"""

from harness import duda
from harness.client import eventually

WITHIN = 60.0
PATIENT = ".timeout_ms=60000"  # longer than a busy machine keeps a server from its answer


def build(folder, servers, options=PATIENT, name="values"):
    """servers: a text, as the service gives it to the package."""
    duda.require_package("memcached")
    duda.build(folder, "packaged_memcached", name=name, level=3,
               flags=("-fcommon", f'-DSERVERS="{servers}"', f"-DOPTIONS={options}"))


def config(folder, *names, **rest):
    """One worker, which has all connections, unless told otherwise."""
    return duda.config(folder, *names or ["values"], duda={"PackagesRoot": duda.packages()}, **{"server": "Workers 1\n", **rest})


def result(server, path="get", method="GET", body=b""):
    """The number of the result, whether it is the command's or the call's."""
    return int(server.request(f"/values/{path}", method, body=body).text.split()[0])


def counts(server, name="values"):
    """Commands that were accepted, call-backs, those of requests that had ended."""
    return [int(word) for word in server.get(f"/{name}/counts").text.split()]


def all_were_answered(server):
    return eventually(lambda: counts(server)[0] == counts(server)[1], within=WITHIN)
