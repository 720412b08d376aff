# SPDX-License-Identifier: Apache-2.0
"""What is measured as resumption is that: no handshake of the load client is a full one then, and every other time all are."""

import dataclasses
import json
import subprocess

import docroot
import pytest

import servers
from harness import executable

CLIENTS, REQUESTS = 32, 200


def handshakes(server, setup, how):
    with servers.Running(server, setup) as running:
        done = subprocess.run([servers.build_tool("load"), "-1", how, "-c", str(CLIENTS), "-n", str(REQUESTS),
                               str(running.setup.port), "/" + docroot.SMALL],
                              capture_output=True, text=True, timeout=60, check=True)
    counted = json.loads(done.stdout)
    assert counted["errors"] == 0 and counted["requests"] == REQUESTS
    return counted["handshakes"], counted["resumed"]


@pytest.mark.parametrize("name", ["monkey", "monkey-mbedtls"])
@pytest.mark.parametrize("how, resumed", [("-t", 0), ("-r", REQUESTS)])
def test_all_handshakes_are_what_was_asked_for(built, setup, name, how, resumed):
    if not executable.plugin(servers.SERVERS[name].transport):
        pytest.skip("this build has no such plugin")
    secure = dataclasses.replace(setup(close=True), tls=True, workers=2)
    assert handshakes(built(name), secure, how) == (REQUESTS, resumed)
