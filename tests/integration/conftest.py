# SPDX-License-Identifier: Apache-2.0
"""
Fixtures of the integration tests.

    def test_something(start):
        server = start(server="MaxBodySize 1K", files={"a.txt": "a"})
        assert server.get("/a.txt").body == b"a"

`start` makes servers for one test, `start_shared` for all tests of a file. Whatever is started is
ended by its pid, and must then have ended with exit code 0 and without a sanitizer's report.

With CARRIER in the environment connections are not plain sockets (harness/carriers.py): then only those tests
run that are about what a client sees, and neither `plain` nor, in memory, `socket`.
"""

import contextlib
import itertools
import signal

import pytest

from harness import carriers, process, secured


def _starter(folder):
    """A function that starts servers, and the list of those that it started."""
    servers = []
    numbers = itertools.count()

    def start(**kwargs):
        home = folder / f"server{next(numbers)}"
        home.mkdir()
        server = process.start(home, **kwargs)
        servers.append(server)
        return server

    return start, servers


def _stop_all(servers):
    faults = []
    for server in servers:
        try:
            server.stop()
        except AssertionError as fault:
            faults.append(str(fault))
    assert not faults, "\n".join(faults)


@pytest.fixture
def start(tmp_path):
    start, servers = _starter(tmp_path)
    yield start
    _stop_all(servers)


@pytest.fixture(scope="module")
def shared_servers():
    return []


@pytest.fixture(scope="module")
def start_shared(tmp_path_factory, shared_servers):
    start, servers = _starter(tmp_path_factory.mktemp("shared"))

    def start_and_share(**kwargs):
        server = start(**kwargs)
        shared_servers.append(server)
        return server

    yield start_and_share
    _stop_all(servers)


@pytest.fixture(autouse=True)
def shared_servers_survive(shared_servers):
    """The test that ends a shared server is the one that fails."""
    yield
    for server in shared_servers:
        assert server.is_running(), f"the server ended in this test\n{server.log()}"


def pytest_ignore_collect(collection_path):
    return True if carriers.is_elsewhere(collection_path.name) else None


def pytest_collection_modifyitems(config, items):
    kept = [item for item in items if not carriers.leaves_out(item) and not secured.lacks(item)]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


@contextlib.contextmanager
def _limit(item):
    """Break off a test that hangs."""
    mark = item.get_closest_marker("limit")
    seconds = mark.args[0] if mark else 300 if item.get_closest_marker("slow") else 60

    def give_up(*_):
        raise TimeoutError(f"the test takes longer than {seconds} s")

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    with _limit(item):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    with _limit(item):
        yield
