# SPDX-License-Identifier: Apache-2.0
"""User instructions of a server's whole life, under callgrind: the difference of two lives is what the work between costs."""

import re

from harness import process


def life(folder, work, **config):
    """Instructions of a server (configured as by `start`) that lives for work(connection)."""
    folder.mkdir(parents=True)
    log = folder / "callgrind.log"
    wrapper = ["valgrind", "--tool=callgrind", f"--log-file={log}", f"--callgrind-out-file={folder}/out"]
    with process.starter(folder) as start:
        server = start(wrapper=wrapper, **config)
        with server.connect() as connection:
            work(connection)
        server.stop(within=60)
    return int(re.search(r"Collected : (\d+)", log.read_text())[1])


def each(folder, prepare, once, few=500, many=2500, **config):
    """What once(connection) costs, after prepare(connection)."""
    def repeat(count):
        def work(connection):
            prepare(connection)
            for _ in range(count):
                once(connection)
        return work
    return (life(folder / "many", repeat(many), **config) - life(folder / "few", repeat(few), **config)) / (many - few)
