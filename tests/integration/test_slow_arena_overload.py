# SPDX-License-Identifier: Apache-2.0
"""
The arena's service under more clients than its database takes at once, and beside a database that is killed, stopped for a
while, or full: nobody waits without an answer, and afterwards all works again.
"""

import asyncio
import contextlib
import json
import resource
import signal
import subprocess

import pytest
from test_arena_duda import SERVICE, Arena

from harness import postgres_server, tools
from harness.client import eventually

pytestmark = [pytest.mark.slow, pytest.mark.limit(600), pytest.mark.once("it has a carrier of its own")]

CLIENTS, FEW = 4096, 1000
POOL = 32  # connections to the database, of all workers
SPARE = 1000  # descriptors beside one for each client: of the database, of files that are kept open
TARGET = "/async-db?min=10&max=50&limit=20"
QUERY_SECONDS = 10  # of the package: a query takes at most as long, and waits for a connection as long
LIMIT = 2 * QUERY_SECONDS + 60  # this machine may be busy
PAUSE = 0.05  # of a client that was refused


class Clients:
    """Kept connections, each of which asks one thing at a time."""

    def __init__(self, arena, count):
        self.statuses, self._is_over = [], False
        self._port, self._count, self._links = arena.ports["http"], count, []

    async def __aenter__(self):
        for _ in range(self._count):
            self._links.append(await asyncio.open_connection("127.0.0.1", self._port))
        return self

    async def __aexit__(self, *_):
        for _, writer in self._links:
            writer.close()

    async def _answer(self, reader):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b"transfer-encoding: chunked" not in head:
            return int(head.split()[1]), await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
        return int(head.split()[1]), body

    async def _get(self, link, target):
        reader, writer = link
        writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return await asyncio.wait_for(self._answer(reader), LIMIT)

    async def greet(self):
        """One after the other, so that they are dealt to the workers in turns: the system shows a connection when it sends."""
        for link in self._links:
            assert (await self._get(link, "/pipeline"))[1] == b"ok"

    async def ask(self, link):
        """Each request ends with an answer, and a good one is whole."""
        status, body = await self._get(link, TARGET)
        assert status != 200 or json.loads(body)["count"] == 20
        self.statuses.append(status)
        return status

    async def ask_all(self, times=1, step=1):
        for _ in range(times):
            await asyncio.gather(*map(self.ask, self._links[::step]))

    async def _ask_on(self, link):
        while not self._is_over:
            if await self.ask(link) != 200:
                await asyncio.sleep(PAUSE)

    @contextlib.asynccontextmanager
    async def asking(self):
        """All of them, again and again, until the block has ended."""
        self._is_over = False
        tasks = [asyncio.create_task(self._ask_on(link)) for link in self._links]
        yield
        self._is_over = True
        await asyncio.gather(*tasks)

    async def sees(self, status, times=FEW):
        """So many more answers of a kind."""
        before = self.statuses.count(status)
        async with asyncio.timeout(LIMIT):
            while self.statuses.count(status) < before + times:
                await asyncio.sleep(PAUSE)


def room_for(wanted):
    """As many clients as descriptors are allowed for, to this process and to the server."""
    with contextlib.suppress(AssertionError):
        tools.raise_descriptor_limit(wanted + SPARE)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, wanted + SPARE)), hard))
    return min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE)


@pytest.fixture
def serve(start, tmp_path):
    """A database with room for so many connections, and the service with a pool."""
    with contextlib.ExitStack() as stack:
        def run(most=POOL + 8, pool=POOL):
            database = stack.enter_context(postgres_server.start(max_connections=str(most)))
            database.sql((SERVICE / "items.sql").read_text())
            room = room_for(CLIENTS)
            arena = Arena(start, tmp_path / "arena", {"DATABASE_URL": database.uri(), "DATABASE_MAX_CONN": str(pool)},
                          f"Workers 2\nScheduler Fair\nFDLimit {room + SPARE}\nTimeout {LIMIT}\nKeepAliveTimeout {LIMIT}")
            return arena, database, room

        yield run


def works(arena):
    status, _, body = arena.ask("GET", TARGET)
    return status == 200 and json.loads(body)["count"] == 20


async def nobody_is_refused(arena, count, times):
    async with Clients(arena, count) as clients:
        await clients.ask_all(times)
        assert set(clients.statuses) == {200} and len(clients.statuses) == times * count


def test_a_crowd_waits_for_few_connections_and_nobody_is_refused(serve):
    arena, database, room = serve()
    print(f"{room} clients")
    asyncio.run(nobody_is_refused(arena, room, 3))
    assert database.backends() <= POOL


def test_each_worker_gets_some_of_the_few_connections(serve):
    """The database takes fewer than the pools of the workers may have: one of them had all, and clients of the other got 503."""
    arena, _, _ = serve(6)

    async def run():
        async with Clients(arena, FEW) as clients:
            await clients.greet()
            await clients.ask_all(step=2)  # of one worker, most of them
            await clients.ask_all(times=3)
            assert set(clients.statuses) == {200}

    asyncio.run(run())


async def disturbed(arena, disturb, repair):
    """Clients ask while the database fails and until it is there again; the last answers are good."""
    async with Clients(arena, FEW) as clients, clients.asking():
        await clients.sees(200)
        await asyncio.to_thread(disturb)
        await clients.sees(503)
        await asyncio.to_thread(repair)
        await clients.sees(200)
    assert set(clients.statuses) == {200, 503}


def all_is_well(arena):
    """A reason to wait may still be at work for a moment; then nobody is refused."""
    assert eventually(lambda: works(arena), within=LIMIT)
    asyncio.run(nobody_is_refused(arena, FEW, 2))


def test_the_database_is_killed(serve):
    arena, database, _ = serve()
    asyncio.run(disturbed(arena, database.kill, database.start))
    all_is_well(arena)


def test_the_database_is_stopped_for_a_while(serve):
    arena, database, _ = serve()
    asyncio.run(disturbed(arena, lambda: database.signal(signal.SIGSTOP), lambda: database.signal(signal.SIGCONT)))
    all_is_well(arena)


@contextlib.contextmanager
def holders(database, most):
    """Others have all connections that there are."""
    words = [postgres_server.programs() / "psql", "-X", database.uri()]  # it waits for commands
    with contextlib.ExitStack() as stack:
        started = []
        for _ in range(most):
            process = stack.enter_context(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            stack.callback(process.kill)
            started.append(process)
        yield started


def is_full(database):
    with contextlib.suppress(subprocess.CalledProcessError):
        database.sql("SELECT 1")
        return False
    return True


def test_the_database_is_full(serve):
    """Others have all its connections for a while."""
    most = 6
    arena, database, _ = serve(most, most - 2)

    async def run(others):
        async with Clients(arena, FEW) as clients, clients.asking():
            await clients.sees(503)
            for process in others:
                process.kill()
            await clients.sees(200)
        assert set(clients.statuses) == {200, 503}

    with holders(database, most) as others:
        assert eventually(lambda: is_full(database), within=LIMIT)
        asyncio.run(run(others))
    all_is_well(arena)
