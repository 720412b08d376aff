# SPDX-License-Identifier: Apache-2.0
"""Two servers with a service, our own proxy before them, and Redis between them: 500 clients of one chat."""

import contextlib
import select

import pytest

from harness import duda, redis_server, tools
from harness.backend import proxy
from harness.client import eventually
from harness.frames import TEXT, Raw, frame
from harness.process import is_sanitized

pytestmark = pytest.mark.slow

CLIENTS = 100 if is_sanitized() else 500
DESCRIPTORS = 8 * CLIENTS + 500
SENDERS, MESSAGES = 4, 25
WITHIN = 50.0
LOST = 5.0  # what has not come then is sent again


@pytest.fixture
def redis(tmp_path):
    duda.require_package("redis")
    duda.require_package("websocket")
    with redis_server.Server(tmp_path) as server:
        yield server


class Cluster:
    def __init__(self, start, folder, redis, balancer):
        tools.raise_descriptor_limit(DESCRIPTORS)
        duda.build(folder / "services", "packaged_plane", level=3)
        url = f"redis://{redis.address}"
        config = duda.config(folder / "services", "packaged_plane", server=f"Workers 2\nScheduler Fair\nFDLimit {DESCRIPTORS}\n",
                             duda={"SessionStore": url, "Backplane": url, "PackagesRoot": duda.packages()})
        self.servers = [start(**config) for _ in range(2)]
        places = " ".join(f"127.0.0.1:{server.port}" for server in self.servers)
        self.proxy = start(server=f"Workers 2\nScheduler Fair\nFDLimit {DESCRIPTORS}\n",
                           extra=proxy(f"Match ^/\nServerList {places}\nLoadBalancer {balancer}\nHealthCheck /packaged_plane/counts 1"))

    def counts(self):
        """Of each server that runs: gaps, messages that were not sent, clients."""
        return [[int(word) for word in server.get("/packaged_plane/counts").text.split()] for server in self.servers]

    def enter(self, number):
        """A client of an address of its own, as SourceHash wants it."""
        ws = Raw(self.proxy, "/packaged_plane/ws", source=f"127.0.{1 + number // 250}.{1 + number % 250}")
        assert ws.hear() == "welcome"
        return ws


def texts(sender, turn):
    return [f"{turn} {sender} {number}" for number in range(MESSAGES)]


def chat(clients, turn):
    """Clients of both servers send at the same time; each other client gets each message once, in the order of its sender."""
    senders = clients[:SENDERS]
    for number, sender in enumerate(senders):
        sender.send(*(frame(TEXT, text.encode()) for text in texts(number, turn)))
    for number, client in enumerate(clients):
        others = [sender for sender in range(SENDERS) if sender != number]
        got = [client.hear() for _ in range(MESSAGES * len(others))]
        for sender in others:
            assert [text for text in got if text.startswith(f"{turn} {sender} ")] == texts(sender, turn), f"client {number}"


def all_hear(clients, word):
    """What comes next, so nothing came twice before."""
    clients[0].say(word)
    for number, client in enumerate(clients[1:]):
        assert client.hear() == word, f"client {number + 1}"


def hears_all(client, word, count):
    """Does it hear the word from so many senders? What they sent before it is taken."""
    while count > 0:
        if not client.connection.stream.has_some() and not select.select([client.connection.sock], [], [], LOST)[0]:
            return False
        count -= client.hear() == word
    return True


def settle(clients):
    """Send until nothing is lost: Redis is there again for every worker. What was heard meanwhile is taken."""
    def is_complete(word):
        for sender in clients[:SENDERS]:
            sender.say(word)
        return all(hears_all(client, word, SENDERS - (number < SENDERS)) for number, client in enumerate(clients))

    words = (f"try {number}" for number in range(1000))
    assert eventually(lambda: is_complete(next(words)), within=WITHIN)


@pytest.mark.parametrize("balancer", ["SourceHash", "RoundRobin"])
def test_500_clients_of_one_chat(start, tmp_path, redis, balancer):
    cluster = Cluster(start, tmp_path, redis, balancer)
    assert eventually(lambda: sum("sub=1" in line for line in redis.text("CLIENT", "LIST").splitlines()) == 2, within=WITHIN)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(cluster.enter(number)) for number in range(CLIENTS)]
        each = [clients_here for _, _, clients_here in cluster.counts()]
        assert sum(each) == CLIENTS and min(each) > CLIENTS / 4, each
        chat(clients, "first")
        all_hear(clients, "once")

        redis.kill()
        redis.start()
        # one each, and further ones where a busy machine kept a new connection waiting for too long
        assert eventually(lambda: all(gaps > 0 for gaps, _, _ in cluster.counts()), within=WITHIN), cluster.counts()
        settle(clients)
        chat(clients, "second")
        all_hear(clients, "once again")

        cluster.servers.pop().kill()
        staying = survivors(clients)
        assert eventually(lambda: cluster.counts()[0][2] == len(staying), within=WITHIN)
        chat(staying, "third")
        fresh = [stack.enter_context(cluster.enter(number)) for number in range(20)]
        all_hear(staying + fresh, "all on one")


def survivors(clients):
    """Those whose server lives: an answer to a ping comes."""
    alive = []
    for client in clients:
        try:
            client.say("+alive")
            if client.hear() == "in":
                alive.append(client)
        except (AssertionError, OSError):
            pass
    return alive
