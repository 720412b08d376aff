# SPDX-License-Identifier: Apache-2.0
"""gRPC behind the proxy: HTTP/2 from the client and to the backend, with a client and a server of gRPC's own."""

import concurrent.futures
import itertools
import json
import time

import pytest

from harness import certificates, executable
from harness.backend import proxy
from harness.client import PATIENCE
from harness.config import section
from harness.content import noise

grpc = pytest.importorskip("grpc")

from harness import rpc  # noqa: E402 - needs grpc

CODE = grpc.StatusCode
LONG = 600  # seconds: no test waits for the end of such a call
ENTRY = "Match ^/\nServerList {server}\nRequestBuffering off\n"


def front(server, transport=None, lines="", entry=""):
    """
    What start() takes for a proxy before a server of gRPC. transport: a plugin for TLS between the two; lines: of [SERVER];
    entry: further ones of [PROXY_ENTRY].
    """
    names = ["http2", *filter(None, [transport])]
    if not all(executable.plugin(name) for name in names):
        pytest.skip("this build has no such plugin")
    place = f"localhost:{server.port} h2" if transport else f"{server.address} h2c"
    over = f"Transport {transport}\n" if transport else ""
    extra = proxy(ENTRY.format(server=place) + over + entry, plugins=names)
    if transport:
        believed = f"CAFile {certificates.authority().certificate}"
        extra[f"plugins/{transport}/{transport}.conf"] = section("TLS_BACKEND", believed)
    return {"server": f"Listen 127.0.0.1:0 h2\n{lines}", "extra": extra}


def reach(start, server, **kwargs):
    """The address at which clients reach a server: that of a proxy before it."""
    return f"127.0.0.1:{start(**front(server, **kwargs)).port}"


@pytest.fixture(scope="module")
def address(start_shared, tmp_path_factory):
    with rpc.Server(tmp_path_factory.mktemp("grpc")) as server:
        yield reach(start_shared, server)


@pytest.fixture
def client(address):
    with rpc.Client(address) as client:
        yield client


@pytest.fixture
def server(tmp_path):
    """For tests that end it."""
    with rpc.Server(tmp_path) as server:
        yield server


def pairs(metadata, key):
    return [value for name, value in metadata if name == key]


def exchange(talk, message):
    talk.say(message)
    assert talk.hear() == b"re: " + message


# ---- one message each way ----

@pytest.mark.parametrize("size", [0, 1, 100, 16379, 16380, 65535, 70_000, 1 << 20])
def test_a_message_and_its_answer(client, size):
    message = noise(size)
    assert client.echo(message) == message


def test_large_messages(client):
    message = noise(4 << 20)
    assert client.echo(message) == message
    assert client.ask("Large", b"%d" % (4 << 20)) == b"l" * (4 << 20)


def test_compressed_messages(client):
    message = b"again and again " * 10_000
    assert client.echo(message, compression=grpc.Compression.Gzip) == message


# ---- statuses ----

@pytest.mark.parametrize("initial", [False, True], ids=["trailers only", "head and trailers"])
@pytest.mark.parametrize("code, details", [
    ("NOT_FOUND", "nothing here"),
    ("INVALID_ARGUMENT", "größer als 100 %: ☃\n"),
    ("DATA_LOSS", ""),
    ("UNAUTHENTICATED", "d" * 3000),
])
def test_an_error_with_details_and_metadata(client, code, details, initial):
    error = client.fail(code, details, initial=initial, metadata=[("x-why", "because"), ("x-why", "indeed")])
    assert (error.code().name, error.details()) == (code, details)
    assert ",".join(pairs(error.trailing_metadata(), "x-why")).replace(" ", "") == "because,indeed"
    assert pairs(error.initial_metadata(), "x-initial") == ["sent"] * initial


def test_an_error_behind_messages(client):
    call = client.count(3, code="ABORTED")
    with rpc.raises(CODE.ABORTED) as raised:
        for n in itertools.count():
            assert next(call) == b"%d " % n
    assert n == 3
    assert raised.value.details() == "after the messages"


@pytest.mark.parametrize("name", ["Nothing", "/other.Service/Echo"])
def test_an_unknown_method(client, name):
    with rpc.raises(CODE.UNIMPLEMENTED):
        client.ask(name)
    assert client.echo(b"next") == b"next"


# ---- metadata ----

def test_metadata_of_the_request(client):
    sent = [("x-text", "some text"), ("x-long", "v" * 3000), ("x-bytes-bin", bytes(range(256))), ("x-empty-bin", b""),
            ("x-twice", "one"), ("x-twice", "two")]
    arrived = json.loads(client.ask("Metadata", metadata=sent))["metadata"]
    assert pairs(arrived, "x-text") == ["some text"]
    assert pairs(arrived, "x-long") == ["v" * 3000]
    assert pairs(arrived, "x-bytes-bin") == [bytes(range(256)).hex()]
    assert pairs(arrived, "x-empty-bin") == [""]
    assert ",".join(pairs(arrived, "x-twice")).replace(" ", "") == "one,two"
    assert "grpc-python" in pairs(arrived, "user-agent")[0]


def test_metadata_of_the_answer(client):
    answer, call = client.unary("Metadata").with_call(b"", timeout=PATIENCE)
    assert json.loads(answer)
    assert pairs(call.initial_metadata(), "x-initial") == ["first"]
    assert pairs(call.initial_metadata(), "x-initial-bin") == [bytes(range(256))]
    assert pairs(call.trailing_metadata(), "x-trailing") == ["last"]
    assert pairs(call.trailing_metadata(), "x-trailing-bin") == [bytes(reversed(range(256)))]
    assert not pairs(call.initial_metadata(), "x-trailing")


# ---- streams ----

@pytest.mark.parametrize("number, size", [(0, 0), (1, 0), (1000, 10), (100, 50_000)])
def test_a_stream_of_answers(client, number, size):
    assert list(client.count(number, size=size)) == [b"%d " % n + b"x" * size for n in range(number)]


@pytest.mark.parametrize("number, size", [(0, 0), (1, 0), (1000, 10), (100, 50_000)])
def test_a_stream_of_requests(client, number, size):
    assert client.sum(b"x" * size for _ in range(number)) == b"%d %d" % (number, number * size)


def test_each_message_is_answered_before_the_next_is_sent(client):
    """Neither side's messages are gathered, however small."""
    with client.chat() as talk:
        for n in range(50):
            exchange(talk, b"%d" % n)
        talk.end()
        assert talk.hear() is None
        assert talk.call.code() == CODE.OK


def test_an_answer_arrives_while_the_next_is_not_there_yet(client):
    call = client.count(2, pause=LONG)
    assert next(call) == b"0 "
    call.cancel()


def test_streams_side_by_side(client):
    """One that nobody reads from does not stop the others of its connection."""
    unread = client.count(200, size=100_000)
    assert next(unread)
    with client.chat() as talk:
        for n in range(20):
            exchange(talk, b"%d" % n)
    assert client.echo(b"between") == b"between"
    assert len(list(unread)) == 199


# ---- calls that end before they are answered ----

@pytest.fixture
def quiet(client):
    """The client of a server that other tests have left no calls on; and how many were cancelled."""
    assert client.wait_for(waiting=0)
    return client, client.counts()["cancelled"]


def test_the_server_knows_the_deadline(client):
    assert 0 < json.loads(client.ask("Metadata", timeout=LONG))["remaining"] < 2 * LONG


def test_a_deadline_ends_the_call_on_both_sides(quiet):
    client, cancelled = quiet
    with rpc.raises(CODE.DEADLINE_EXCEEDED):
        client.ask("Sleep", b"%d" % LONG, timeout=0.3)
    assert client.wait_for(waiting=0, cancelled=cancelled + 1)


def is_cancelled_at_the_server(quiet, call, within=PATIENCE):
    client, cancelled = quiet
    assert client.wait_for(waiting=1)
    call.cancel()
    assert call.code() == CODE.CANCELLED
    return client.wait_for(waiting=0, cancelled=cancelled + 1, within=within)


def test_cancelling_a_call(quiet):
    assert is_cancelled_at_the_server(quiet, quiet[0].begin("Sleep", b"%d" % LONG, timeout=LONG))


def test_cancelling_a_stream_of_answers(quiet):
    call = quiet[0].count(2, pause=LONG, timeout=LONG)
    assert next(call) == b"0 "
    assert is_cancelled_at_the_server(quiet, call)


def test_cancelling_a_stream_each_way(quiet):
    """The server's method sees no message any more, and may be over before it could know why."""
    client, _ = quiet
    with client.chat(timeout=LONG) as talk:
        exchange(talk, b"a")
        assert client.counts()["waiting"] == 1
        talk.call.cancel()
        assert client.wait_for(waiting=0)


@pytest.mark.timed
def test_cancelling_takes_no_time(quiet):
    assert is_cancelled_at_the_server(quiet, quiet[0].begin("Sleep", b"%d" % LONG, timeout=LONG), within=2)


def test_a_client_that_goes_away_cancels_its_calls(address, quiet):
    client, cancelled = quiet
    with rpc.Client(address) as other:
        call = other.begin("Sleep", b"%d" % LONG, timeout=LONG)
        assert client.wait_for(waiting=1)
    assert call.code() == CODE.CANCELLED
    assert client.wait_for(waiting=0, cancelled=cancelled + 1)


# ---- many calls ----

def test_a_thousand_calls_at_a_time(client):
    """More than a connection may have streams: the client lets the others wait."""
    calls = [client.begin("Echo", b"%d" % n) for n in range(1000)]
    assert [call.result() for call in calls] == [b"%d" % n for n in range(1000)]


def test_more_calls_that_wait_than_streams(client):
    calls = [client.begin("Sleep", b"0.05") for _ in range(300)]
    assert len({call.result() for call in calls}) == 1


def test_two_clients_at_once(address):
    def converse(name):
        with rpc.Client(address) as client, client.chat() as talk:
            for n in range(200):
                message = b"%s %d" % (name, n)
                assert client.echo(message) == message
                exchange(talk, message)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(converse, [b"a", b"b"]))


def test_connections_that_end_after_so_many_requests(start, server):
    """The client begins another one; no call is lost, and a stream goes on to its end."""
    with rpc.Client(reach(start, server, lines="MaxKeepAliveRequest 50")) as client, client.chat() as talk:
        for n in range(5):
            exchange(talk, b"%d" % n)
            calls = [client.begin("Echo", b"%d" % n) for n in range(100)]
            assert [call.result() for call in calls] == [b"%d" % n for n in range(100)]


# ---- servers that end ----

def test_a_server_is_killed_in_a_stream(start, server):
    with rpc.Client(reach(start, server)) as client:
        call = client.count(1_000_000, pause=0.01)
        assert next(call) == b"0 "
        server.kill()
        with rpc.raises(CODE.UNAVAILABLE, CODE.INTERNAL):
            list(call)
        server.start()
        assert client.echo(b"again", wait_for_ready=True) == b"again"


def test_a_server_is_killed_before_its_answer(start, server):
    with rpc.Client(reach(start, server)) as client:
        call = client.begin("Sleep", b"%d" % LONG)
        assert client.wait_for(waiting=1)
        server.kill()
        with rpc.raises(CODE.UNAVAILABLE, CODE.INTERNAL):
            call.result()
        server.start()
        assert client.echo(b"again", wait_for_ready=True) == b"again"


def test_a_server_that_says_goodbye(start, server, tmp_path):
    """GOAWAY (RFC 9113 6.8): calls under way are completed, others go to the server that has taken its place."""
    with rpc.Client(reach(start, server)) as client:
        calls = [client.begin("Sleep", b"3") for _ in range(5)]
        stream = client.count(4, pause=1)
        assert next(stream) == b"0 "
        assert client.wait_for(waiting=6)
        server.retire()
        with rpc.Server(tmp_path, port=server.port) as successor:
            assert int(client.ask("Sleep", b"0", wait_for_ready=True)) == successor.pid
            assert [int(call.result()) for call in calls] == [server.pid] * 5
            assert list(stream) == [b"1 ", b"2 ", b"3 "]
            assert server.has_ended()
            assert client.echo(b"next", wait_for_ready=True) == b"next"


def test_nobody_listens(start, server):
    server.kill()
    with rpc.Client(reach(start, server)) as client:
        for _ in range(3):
            with rpc.raises(CODE.UNAVAILABLE):
                client.echo(b"hello")


# ---- limits of time ----

def test_a_stream_of_a_silent_server(start, server):
    """ReadTimeout ends it at both ends, and no other call."""
    with rpc.Client(reach(start, server, entry="ReadTimeout 1s")) as client, client.chat() as talk:
        exchange(talk, b"a")
        call = client.count(2, pause=LONG, timeout=LONG)
        assert next(call) == b"0 "
        while client.counts()["waiting"] == 2:
            exchange(talk, b"b")
            time.sleep(0.05)
        with rpc.raises(CODE.UNAVAILABLE, CODE.INTERNAL):
            next(call)
        exchange(talk, b"a")


def test_a_stream_of_a_silent_client(start, server):
    """BodyTimeout ends it at both ends."""
    with rpc.Client(reach(start, server, lines="BodyTimeout 500ms")) as client, client.chat(timeout=LONG) as talk:
        exchange(talk, b"a")
        with rpc.raises(CODE.UNAVAILABLE, CODE.INTERNAL):
            talk.hear()
        assert client.wait_for(waiting=0)


def test_neither_a_rate_nor_handlers_limit_streams(start, server):
    with rpc.Client(reach(start, server, lines="BodyTimeout 1s\nMinRate 0\nHandlerTimeout 1s")) as client:
        answers = client.count(2, pause=3)
        with client.chat() as talk:
            for n in range(12):
                exchange(talk, b"%d" % n)
                time.sleep(0.25)
        assert list(answers) == [b"0 ", b"1 "]


# ---- TLS to the server ----

def test_over_tls(start, tmp_path):
    with rpc.Server(tmp_path, pair=certificates.issue()) as server:
        with rpc.Client(reach(start, server, transport="tls")) as client:
            assert client.echo(b"hello") == b"hello"
            assert client.echo(noise(1 << 20)) == noise(1 << 20)
            assert client.fail("NOT_FOUND", "nothing here").code() == CODE.NOT_FOUND
            assert len(list(client.count(100, size=10_000))) == 100
            with client.chat() as talk:
                for n in range(50):
                    exchange(talk, b"%d" % n)


# ---- the test itself ----

def test_without_a_proxy(server):
    with rpc.Client(server.address) as client:
        assert client.echo(b"hello") == b"hello"
        assert client.fail("NOT_FOUND", "größer").details() == "größer"
        with client.chat() as talk:
            exchange(talk, b"a")
