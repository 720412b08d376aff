# SPDX-License-Identifier: Apache-2.0
"""What tests of services that ask databases have in common."""

import contextlib
import threading

from harness.client import eventually


def wait_until(condition):
    assert eventually(condition, within=50, every=0.1)


@contextlib.contextmanager
def asking(server, *targets):
    """Ask for them at the same time; the list has the texts afterwards."""
    texts = []
    threads = [threading.Thread(target=lambda target=target: texts.append(server.get(target, timeout=50).text))
               for target in targets]
    for thread in threads:
        thread.start()
    yield texts
    for thread in threads:
        thread.join(55)
    assert len(texts) == len(targets)


def all_have_ended(server):
    """Each call-back came, and none twice."""
    asked, ended, _ = server.get("/db/count").text.split()
    return asked == ended
