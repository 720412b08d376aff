# SPDX-License-Identifier: Apache-2.0
"""
Fixtures of the gates on what a request costs: user instructions and system calls, which repeat
exactly on any machine, loaded or not. Times are for bench/run.

MONKEY names the executable, as in the integration tests; counting is bench/instructions.py.
"""

import os
import pathlib
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tests" / "integration"), str(TREE / "bench")]

import docroot  # noqa: E402
import servers  # noqa: E402
from harness import process  # noqa: E402


@pytest.fixture(scope="session")
def built():
    """Finds the server under test by the name that bench/ has for its configuration."""
    if process.is_sanitized():
        pytest.skip("a sanitizer's build has other costs")

    def find(name):
        server = servers.SERVERS[name]
        server.build = os.path.dirname(process.binary())
        return server
    return find


@pytest.fixture
def monkey(built):
    return built("monkey")


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root")
    docroot.make(str(folder), big=False)
    return str(folder)


@pytest.fixture
def setup(root):
    """Makes a fresh Setup of one worker for a file of the document root."""
    def make(path=docroot.SMALL, close=False):
        return servers.Setup(root=root, path=path, size=docroot.SIZES.get(path, 13), close=close)
    return make


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: belongs to `make test-all`, as in the integration tests")
