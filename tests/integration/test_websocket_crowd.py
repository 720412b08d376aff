# SPDX-License-Identifier: Apache-2.0
"""A broadcast to 5,000 receivers of a group on two workers: each gets each message once, in the order of its sender."""

import contextlib

import pytest

from harness import family, frames, tools
from harness.frames import TEXT, frame
from harness.plugins import load
from harness.process import is_sanitized

pytestmark = pytest.mark.slow

RECEIVERS = 300 if is_sanitized() else 5000
SENDERS, MESSAGES = 4, 20
DESCRIPTORS = 2 * RECEIVERS + 500  # of which files of the server have a share
END = "the end"
IDLE, IDLE_BYTES = 4000, 400  # a connection, beyond what an idle one of HTTP takes


def texts(sender):
    return [f"{sender} {number}" for number in range(MESSAGES)]


@pytest.fixture
def members(start):
    tools.raise_descriptor_limit(DESCRIPTORS)
    server = start(server=f"Workers 2\nScheduler Fair\nFDLimit {DESCRIPTORS}\nTimeout 250",
                   handlers="Match ^/crowd sockets crowd\n", extra={"plugins.load": load("sockets")})
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(frames.Raw(server, "/crowd")) for _ in range(RECEIVERS)]


def test_each_receiver_gets_each_message_once_and_in_order(members):
    for member in members:
        assert member.hear() == "joined"
    for sender in range(SENDERS):
        members[sender].send(*(frame(TEXT, text.encode()) for text in texts(sender)))
    for number, member in enumerate(members):
        got = [member.hear() for _ in range(SENDERS * MESSAGES)]
        for sender in range(SENDERS):
            assert [text for text in got if text.startswith(f"{sender} ")] == texts(sender), f"receiver {number}"
    members[0].say(END)
    for number, member in enumerate(members):
        assert member.hear() == END, f"receiver {number} got a message twice"


def test_those_who_leave_get_nothing_and_the_others_go_on(members):
    """Half of them end while a sender sends: no message is lost for the others."""
    for member in members:
        assert member.hear() == "joined"
    staying = members[:RECEIVERS // 2]
    members[0].send(*(frame(TEXT, text.encode()) for text in texts(0)))
    for member in members[RECEIVERS // 2:]:
        member.connection.close()
    members[1].send(*(frame(TEXT, text.encode()) for text in texts(1)))
    members[1].say(END)
    for number, member in enumerate(staying):
        got = [member.hear() for _ in range(2 * MESSAGES + 1)]
        assert [text for text in got if text.startswith("0 ")] == texts(0), f"receiver {number}"
        assert [text for text in got if text.startswith("1 ") or text == END] == [*texts(1), END], f"receiver {number}"


def kept_alive(server):
    connection = server.connect()
    assert connection.request("/index.html").status == 200
    return connection


def talked_once(server):
    raw = frames.Raw(server, "/echo")
    raw.say("hello")
    assert raw.hear() == "hello"
    return raw


def idle_bytes(start, connect):
    """Private memory of a connection that was used once and is silent since."""
    server = start(server=f"Workers 1\nFDLimit {2 * IDLE}\nKeepAliveTimeout 250\nTimeout 250", files={"index.html": "hello"},
                   handlers="Match ^/echo sockets echo\n", extra={"plugins.load": load("sockets")})
    with connect(server):
        pass
    before = family.private_kb(server.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(connect(server))
        return (family.private_kb(server.pid) - before) * 1024 / IDLE


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer's build has other sizes")
def test_an_idle_websocket_takes_little_more_than_an_idle_connection(start):
    tools.raise_descriptor_limit(2 * IDLE + 500)
    plain, websocket = idle_bytes(start, kept_alive), idle_bytes(start, talked_once)
    assert websocket - plain <= IDLE_BYTES, f"{websocket:.0f} bytes, of which {plain:.0f} are HTTP's"
    print(f"{websocket:.0f} bytes, of which {plain:.0f} are HTTP's")
