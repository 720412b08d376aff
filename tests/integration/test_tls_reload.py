# SPDX-License-Identifier: Apache-2.0
"""New certificates by HUP: for new handshakes, with nothing cut; a bad one keeps the old, and says why."""

import contextlib
import signal
import ssl
import threading

import pytest

from harness import certificates, http, secured
from harness.client import eventually
from harness.config import section
from harness.content import noise

plugin = secured.each_plugin()

REFUSED = r"not reloaded|reload.*(refused|failed)|configuration.*stays|keep"
BIG = noise(3 << 20)


@pytest.fixture
def pair(tmp_path):
    """The files that the server is told of; what they hold changes."""
    return certificates.issue("old.test").copy_to(tmp_path / "pair")


@pytest.fixture
def server(start, pair):
    server = start(**secured.config(pair.lines(), files={"a.txt": "text", "big.bin": BIG}))
    server.wait_for_log("started workers=")  # it listens before it reads the pair, which tests change
    return server


def test_new_certificate(server, pair):
    assert secured.shown(server, "x.test") == ["old.test"]
    pair.take(certificates.issue("new.test"))
    assert secured.shown(server, "x.test") == ["old.test"]  # nothing happens before it is asked for
    server.reload("reloaded")
    assert secured.shown(server, "x.test") == ["new.test"]


def test_another_kind_of_key(server, pair):
    pair.take(certificates.issue("new.test", kind="rsa"))
    server.reload("reloaded")
    assert secured.shown(server, "x.test") == ["new.test"]


def spoil(pair, kind):
    if kind == "wrong key":
        pair.take(certificates.wrong_key())
        return "is not the key of the certificate in"
    if kind == "garbage":
        pair.certificate.write_text("nothing")
        return "is not a certificate in PEM"
    pair.key.unlink()
    return "not found"


@pytest.mark.parametrize("kind", ["wrong key", "garbage", "missing"])
def test_a_bad_one_keeps_the_old(server, pair, kind):
    good = certificates.issue("old.test")
    sentence = spoil(pair, kind)
    log = server.reload(REFUSED)
    assert sentence in log
    assert secured.shown(server, "x.test") == ["old.test"]
    pair.take(good)
    server.reload("reloaded")
    assert secured.shown(server, "x.test") == ["old.test"]


def test_an_expired_one_is_a_warning(server, pair):
    """Whatever else changed with it is in force."""
    pair.take(certificates.expired("late.test"))
    assert "expired on" in server.reload("reloaded")
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate has expired"):
        secured.shown(server, "x.test")


def test_connections_live_on(server, pair):
    """Idle ones, one in the middle of an answer, and one in the middle of its handshake."""
    client = certificates.trusting()
    client.check_hostname = False
    with certificates.connected(("127.0.0.1", server.port), client, name="x.test") as idle, \
            certificates.connected(("127.0.0.1", server.port), client, name="x.test") as busy, \
            certificates.connected(("127.0.0.1", server.port), client, name="x.test",
                                   do_handshake_on_connect=False) as young:
        assert secured.get(idle).status == 200
        busy.sendall(http.request("/big.bin"))
        data = busy.recv(1000)
        pair.take(certificates.issue("new.test"))
        for _ in range(3):
            server.reload("reloaded")
        assert secured.get(idle).status == 200
        while len(data.partition(b"\r\n\r\n")[2]) < len(BIG):
            data += secured.receive(busy)
        assert data.endswith(b"\r\n\r\n" + BIG)
        young.do_handshake()
        assert secured.get(young).status == 200


def test_a_site_comes_and_goes(start, tmp_path):
    first = secured.config(certificates.issue("d.test").lines())
    second = secured.config(certificates.issue("d.test").lines(), sites={
        "a": secured.site("a.test", certificates.issue("a.test").lines(), tmp_path)})
    server = start(**first)
    for config in (first, second):
        config["server"] = config["server"].replace("127.0.0.1:0", f"127.0.0.1:{server.port}")
    assert secured.shown(server, "a.test") == ["d.test"]
    server.reload("reloaded", **second)
    assert secured.shown(server, "a.test") == ["a.test"]
    server.reload("reloaded", **first)
    assert secured.shown(server, "a.test") == ["d.test"]


def is_secured(server):
    try:
        return secured.ask(server).body == b"text"
    except ssl.SSLError:
        return False


def test_tls_comes_to_an_address(start, plugin):
    """It was plain before; the listener stays."""
    load = {"plugins.load": section("PLUGINS", f"Load {plugin}")}
    server = start(server="Listen 127.0.0.1:0", extra=load, files={"a.txt": "text"})
    port = server.port
    with server.connect() as old:
        assert old.request("/a.txt").text == "text"
        config = secured.config(certificates.issue().lines())
        config["server"] = f"Listen 127.0.0.1:{port} {plugin}"
        server.reload("reloaded", **config)
        assert eventually(lambda: is_secured(server))  # each worker changes at the end of its turn
        assert old.request("/a.txt").text == "text"


@contextlib.contextmanager
def visited(server):
    """Clients that come and ask all the while, each of whom must be answered."""
    stop, wrong = threading.Event(), []
    client = certificates.trusting()
    client.check_hostname = False

    def visit():
        while not stop.is_set():
            try:
                with certificates.connected(("127.0.0.1", server.port), client, name="x.test") as raw:
                    for _ in range(5):
                        if secured.get(raw).body != b"text":
                            wrong.append("body")
            except (OSError, AssertionError) as fault:
                wrong.append(repr(fault))

    threads = [threading.Thread(target=visit) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_reloads_under_load(server, pair):
    with visited(server):
        for number in range(6):
            pair.take(certificates.issue("new.test" if number % 2 else "old.test"))
            server.reload("reloaded")


def test_bad_ones_under_load(server, pair):
    """Nobody notices that they were tried."""
    with visited(server):
        for kind in ("wrong key", "garbage", "missing") * 2:
            sentence = spoil(pair, kind)
            assert sentence in server.reload(REFUSED)
            pair.take(certificates.issue("old.test"))
    server.reload("reloaded")
    assert secured.shown(server, "x.test") == ["old.test"]


def test_nothing_is_left_of_old_configurations(server):
    for _ in range(3):
        server.reload("reloaded")
    before = server.open_descriptors()
    for _ in range(10):
        server.reload("reloaded")
    assert eventually(lambda: server.open_descriptors() <= before)  # each worker changes at the end of its turn


def test_two_signals_at_once(server):
    server.signal(signal.SIGHUP)
    server.signal(signal.SIGHUP)
    server.wait_for_log("reloaded")
    assert secured.shown(server, "x.test") == ["old.test"]
