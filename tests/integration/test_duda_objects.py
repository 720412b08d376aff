# SPDX-License-Identifier: Apache-2.0
"""Objects of services: arguments that cannot be, and what stays when a service is replaced or its server ends."""

import shutil

from harness import duda
from harness.client import eventually


def test_no_argument_harms_the_server(start, tmp_path):
    duda.build(tmp_path / "services", "obj_null")
    server = start(**duda.config(tmp_path / "services", "obj_null"))
    for _ in range(3):
        assert server.get("/obj_null/calls").body == b"0"
    assert "global->init() works in duda_main() only" in server.log()


def test_threads_of_a_service_outlive_a_reload(start, tmp_path):
    services = tmp_path / "services"
    duda.build(services, "obj_events", level=2)
    server = start(**duda.config(services, "obj_events", server="Workers 2\n"))
    for _ in range(3):
        assert eventually(lambda: server.get("/obj_events/counts").body.startswith(b"1 "))
        assert server.get("/obj_events/signals").body == b"0"
        fresh = services / "obj_events.fresh"
        shutil.copy(services / "obj_events.duda", fresh)
        fresh.rename(services / "obj_events.duda")
        server.reload()
    assert eventually(lambda: server.get("/obj_events/threads").body == b"1 1 1 1")
    assert server.get("/obj_events/ticks").body == b"tick tick tick "
