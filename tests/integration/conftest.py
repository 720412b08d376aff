# SPDX-License-Identifier: Apache-2.0
"""
Fixtures of the integration tests.

    def test_something(start):
        server = start(server="MaxBodySize 1K", files={"a.txt": "a"})
        assert server.get("/a.txt").body == b"a"

`start` makes servers for one test, `start_shared` for all tests of a file. Whatever is started is
ended by its pid, and must then have ended with exit code 0 and without a sanitizer's report.

Tests fail only when the code is wrong, however much else the machine does. What waits has PATIENCE (harness/client.py); what
compares a time, a share of a processor or memory with a bound that the machine or its neighbours can reach has the mark `timed`
and runs alone, in `make test-all`. tools/tests/test_steady.py looks for others.

With CARRIER in the environment connections are not plain sockets (harness/carriers.py): then only those tests
run that are about what a client sees, and neither `plain` nor, in memory, `socket`. Tests with the mark `once` are about
what no build changes, such as a page or a program in Python.
"""

import contextlib
import os
import signal

import pytest

from harness import carriers, executable, memcached_server, network, process, python, secured
from harness.failing import FailingAllocations

SHARED_LIMIT = 300  # seconds: of a fixture that several tests share
LEAVE_OUT = (carriers.leaves_out, secured.lacks, executable.is_once_elsewhere)


@pytest.fixture
def start(tmp_path):
    with process.starter(tmp_path) as start:
        yield start


@pytest.fixture(scope="session")
def python_package(tmp_path_factory):
    """The folder with the package monkey for Python."""
    python.skip_unless_loadable()
    base = tmp_path_factory.getbasetemp()
    return python.package(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture
def serve(tmp_path, python_package):
    """Starts `python -m monkey` for one test: serve(source, *options)."""
    with python.programs(tmp_path, python_package) as serve:
        yield serve


@pytest.fixture
def allocations(tmp_path):
    """Lets allocations of a server fail that is started with its environment."""
    if process.is_sanitized():
        pytest.skip("a sanitizer brings its own malloc; the plain build runs this")
    return FailingAllocations(tmp_path)


@pytest.fixture
def memcached(tmp_path):
    with memcached_server.Server(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def shared_servers():
    return []


@pytest.fixture(scope="module")
def start_shared(tmp_path_factory, shared_servers):
    with process.starter(tmp_path_factory.mktemp("shared")) as start:
        def start_and_share(**kwargs):
            server = start(**kwargs)
            shared_servers.append(server)
            return server

        yield start_and_share


@pytest.fixture(autouse=True)
def shared_servers_survive(shared_servers):
    """The test that ends a shared server is the one that fails."""
    yield
    for server in shared_servers:
        assert server.is_running(), f"the server ended in this test\n{server.log()}"


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # it is one of several (pytest-xdist)
        network.have_our_own()


def pytest_ignore_collect(collection_path):
    return True if carriers.is_elsewhere(collection_path.name) else None


@pytest.hookimpl(tryfirst=True)  # before marks choose
def pytest_collection_modifyitems(config, items):
    for item in items:
        if carriers.is_of_http(item.path.name):
            item.add_marker("http")
    kept = [item for item in items if not any(leaves_out(item) for leaves_out in LEAVE_OUT)]
    if len(kept) < len(items):
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept


@contextlib.contextmanager
def _limit(what, seconds):
    """Break off what hangs. One within another stops the other's clock."""
    def give_up(*_):
        raise TimeoutError(f"{what} takes longer than {seconds} s")

    previous = signal.signal(signal.SIGALRM, give_up)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, previous)
        signal.setitimer(signal.ITIMER_REAL, left)


def _limit_of(item):
    mark = item.get_closest_marker("limit")
    return _limit("the test", mark.args[0] if mark else 300 if item.get_closest_marker("slow") else 60)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    with _limit_of(item):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """What several tests share is no part of the one that comes first: packages are built, and servers and databases start."""
    if fixturedef.scope in ("session", "module") and signal.getitimer(signal.ITIMER_REAL)[0] > 0:
        with _limit(f"the fixture {fixturedef.argname}", SHARED_LIMIT):
            yield
    else:
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    with _limit_of(item):
        yield
