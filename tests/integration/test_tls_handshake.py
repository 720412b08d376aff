# SPDX-License-Identifier: Apache-2.0
"""Peers that do not shake hands as they should: each is told and left, and no other client notices."""

import contextlib
import random
import ssl
import struct
import time

import pytest

from harness import certificates, executable, http, secured, tls_connection, tools
from harness.client import eventually
from harness.family import private_kb

plugin = secured.each_plugin()

FATAL = 2
UNEXPECTED_MESSAGE, RECORD_OVERFLOW, PROTOCOL_VERSION, DECODE_ERROR = 10, 22, 70, 50
FILES = {"index.html": "welcome"}

@pytest.fixture(scope="module")
def server(start_shared, plugin):
    return start_shared(**secured.config(certificates.issue().lines(), server="Timeout 3", files=FILES))


def assert_well(server):
    assert tls_connection.get(server).text == "welcome"


def say(server, data, end=True, within=30):
    """All that a server says to these bytes, until it closes."""
    with server.connect(timeout=within) as connection:
        with contextlib.suppress(OSError):  # it may have left already
            connection.send(data)
            if end:
                connection.finish_sending()
        return connection.rest_until_cut()


def record(kind, payload, version=b"\x03\x03"):
    return bytes([kind]) + version + struct.pack("!H", len(payload)) + payload


# ---- not TLS at all ----

@pytest.mark.parametrize("data", [
    http.request("/"), b"POST /a HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100000, b"G", b"get / http/1.0\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], ids=["GET", "POST", "first byte", "lower case", "HTTP/2"])
def test_plain_http_gets_a_400_that_says_so(server, data):
    answer = say(server, data, end=False)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"Content-Type: text/plain" in head
    assert b"Connection: close" in head
    assert int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]) == len(body)
    assert b"https://" in body
    assert_well(server)


def garbage():
    chosen = random.Random(4)
    yield "zeros", bytes(600)
    yield "SSL 2", b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + bytes(35)
    yield "random", b"\x16" + chosen.randbytes(2000)
    yield "another record type", record(23, b"x" * 100)
    yield "an unknown record type", record(99, b"x" * 100)
    yield "an unknown handshake message", record(22, b"\x63\x00\x00\x04abcd")
    yield "a finished message", record(22, b"\x14\x00\x00\x0c" + bytes(12))
    yield "an endless hello", record(22, b"\x01\xff\xff\xff" + bytes(16000)) * 40
    yield "a hello of nothing", record(22, b"\x01\x00\x00\x00")
    yield "an empty record", record(22, b"") * 3
    yield "a record that is too long", b"\x16\x03\x01\xff\xff" + bytes(65535)
    yield "a change of ciphers", record(20, b"\x01")
    hello = tls_connection.client_hello()
    for number in range(12):
        broken = bytearray(hello)
        for _ in range(chosen.randint(1, 8)):
            broken[chosen.randrange(5, len(broken))] ^= 1 << chosen.randrange(8)
        yield f"a hello with errors {number}", bytes(broken)


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in garbage()])
def test_garbage_instead_of_a_hello(server, data):
    say(server, data)
    assert_well(server)


def test_a_record_beyond_the_maximum_is_an_overflow(server):
    """RFC 8446 5.1"""
    said = tls_connection.alerts(say(server, b"\x16\x03\x01\x48\x01" + bytes(0x4801), end=False))
    assert all(level == FATAL for level, _ in said)


def test_an_alert_is_told_before_the_close(server, plugin):
    if plugin == "mbedtls":
        pytest.skip("Mbed TLS 2.28 closes without one when what comes first is no hello")
    said = tls_connection.alerts(say(server, record(22, b"\x14\x00\x00\x0c" + bytes(12)), end=False))
    assert [level for level, _ in said] == [FATAL]


@pytest.mark.parametrize("alert", [b"\x02\x28", b"\x01\x00", b"\x01\x5a", b"\x07\x07", b"\x02"])
@pytest.mark.parametrize("count", [1, 1000])
def test_alerts_of_the_client(server, alert, count):
    say(server, record(21, alert) * count)
    say(server, tls_connection.client_hello() + record(21, alert) * count)
    assert_well(server)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_versions_are_refused(server, version):
    """RFC 8996"""
    context = certificates.trusting()
    context.minimum_version = version
    context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")
    said = tls_connection.alerts(say(server, tls_connection.client_hello(context), end=False))
    assert said == [(FATAL, PROTOCOL_VERSION)]


# ---- in pieces ----

def shake_in_pieces(server, context, cut):
    """cut(data): the pieces in which to send the client's first flight."""
    with tls_connection.connect(server, context, handshake=False) as connection:
        with pytest.raises(ssl.SSLWantReadError):
            connection.sock.tls.do_handshake()
        for piece in cut(connection.sock.to_send()):
            connection.raw.sendall(piece)
            time.sleep(0.0005)
        connection.sock.handshake()
        assert connection.request("/").text == "welcome"


def test_a_hello_split_at_every_byte(server, plugin):
    for version in secured.versions(plugin):
        context = certificates.trusting(version=version)
        for at in range(1, len(tls_connection.client_hello(context))):
            shake_in_pieces(server, context, lambda data, at=at: (data[:at], data[at:]))


def test_a_hello_byte_by_byte(server):
    shake_in_pieces(server, None, lambda data: [data[at:at + 1] for at in range(len(data))])


def test_the_whole_handshake_byte_by_byte(server, plugin):
    """Every flight of the client, and what follows."""
    for version in secured.versions(plugin):
        with tls_connection.connect(server, certificates.trusting(version=version), handshake=False) as connection:
            send = connection.raw.sendall

            class Dripping:
                """The socket, which sends slowly."""
                def sendall(self, data):
                    for at in range(len(data)):
                        send(data[at:at + 1])
                        time.sleep(0.0003)

                def __getattr__(self, name):
                    return getattr(connection.raw, name)

            connection.sock.raw = Dripping()
            connection.sock.handshake()
            assert connection.request("/").text == "welcome"


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_hello_in_small_records(server, plugin, size):
    """A message may span records (RFC 8446 5.1)."""
    if plugin == "mbedtls":
        pytest.skip("Mbed TLS 2.28 takes a hello in one record only")

    def cut(data):
        hello = data[5:]
        yield b"".join(record(22, hello[at:at + size], b"\x03\x01") for at in range(0, len(hello), size))

    shake_in_pieces(server, None, cut)


# ---- leaving early ----

def client_flights(server, context):
    """All that a client sends for a handshake and a request, flight by flight."""
    flights = []
    with tls_connection.connect(server, context, handshake=False) as connection:
        send = connection.raw.sendall

        class Noting:
            def sendall(self, data):
                flights.append(data)
                send(data)

            def __getattr__(self, name):
                return getattr(connection.raw, name)

        connection.sock.raw = Noting()
        assert connection.sock.handshake() is None
        assert connection.request("/").status == 200
    return flights


def leave(server, context, flights, reset):
    """Take part in a handshake up to so many flights, then go."""
    with tls_connection.connect(server, context, handshake=False) as connection:
        for _ in range(flights):
            try:
                connection.sock.tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            if data := connection.sock.to_send():
                connection.raw.sendall(data)
            if _ + 1 < flights:
                connection.sock.feed(connection.raw.recv(65536))
        if reset:
            connection.reset()


@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
def test_leaving_in_each_state(server, plugin, reset):
    before = server.open_descriptors()
    for version in secured.versions(plugin):
        context = certificates.trusting(version=version)
        for flights in range(4):
            for _ in range(5):
                leave(server, context, flights, reset)
    assert_well(server)
    assert eventually(lambda: server.open_descriptors() <= before + 6)  # files that each worker keeps open


@pytest.mark.parametrize("end", ["FIN", "RST", "garbage"])
def test_leaving_in_the_middle_of_a_record(server, plugin, end):
    hello = tls_connection.client_hello()
    for at in range(1, len(hello), 13):
        with server.connect() as connection:
            connection.send(hello[:at])
            if end == "FIN":
                connection.finish_sending()
                assert not connection.rest_until_cut().startswith(b"HTTP")
            elif end == "RST":
                connection.reset()
            else:
                connection.send(bytes(len(hello) - at))
    assert_well(server)


@pytest.mark.timed
@pytest.mark.slow
def test_a_silent_client_is_left_in_time(server):
    for data in (b"\x16", tls_connection.client_hello()[:50], tls_connection.client_hello()):
        start = time.monotonic()
        with server.connect() as connection:
            connection.send(data)
            connection.rest_until_cut()
        assert 2 < time.monotonic() - start < 6


@pytest.mark.timed
@pytest.mark.slow
def test_a_dripping_handshake_has_one_time_for_the_whole(server):
    """The header timeout counts from the accept, however many bytes come."""
    start = time.monotonic()
    with server.connect() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for byte in tls_connection.client_hello():
            connection.send(bytes([byte]))
            time.sleep(0.05)
            if time.monotonic() - start > 8:
                break
    assert time.monotonic() - start < 6
    assert_well(server)


# ---- renegotiation ----

def test_renegotiation_is_refused(server):
    """Asked for with s_client's R: the connection goes on without, or ends; it never starts again."""
    done = tools.run("sh", "-c", "(sleep 0.3; echo R; sleep 0.5) | exec openssl s_client -connect "
                     f"127.0.0.1:{server.port} -servername localhost -tls1_2 -legacy_renegotiation "
                     f"-CAfile {certificates.authority().certificate} -msg")
    text = (done.stdout + done.stderr).decode(errors="replace")
    assert "RENEGOTIATING" in text
    assert text.count("ServerHello\n") + text.count("ServerHello ") <= 1
    assert "no_renegotiation" in text or "no renegotiation" in text or "handshake failure" in text or "alert" in text.lower()
    assert_well(server)


# ---- what a certificate asks ----

def test_a_client_that_refuses_the_certificate(server):
    with pytest.raises(ssl.SSLCertVerificationError):
        tls_connection.connect(server, certificates.trusting("Nobody's CA"))
    assert_well(server)


def test_no_cipher_in_common(server):
    context = certificates.trusting(version=ssl.TLSVersion.TLSv1_2)
    context.set_ciphers("AES128-SHA")
    with pytest.raises(ssl.SSLError, match="(?i)handshake.failure"):
        tls_connection.connect(server, context)
    assert_well(server)


# ---- many ----

@pytest.mark.timed
@pytest.mark.slow
def test_a_thousand_stalled_handshakes(start, plugin):
    """Another client is served meanwhile; timeouts end them; their memory comes back."""
    tools.raise_descriptor_limit(8000)
    server = start(**secured.config(certificates.issue().lines(), server="Workers 2\nTimeout 6\nMaxConnections 4000",
                                    files=FILES))
    assert_well(server)
    before = server.open_descriptors(), private_kb(server.pid)
    hello = tls_connection.client_hello()
    for _ in range(2):
        stalled = []
        for number in range(1000):
            connection = server.connect(timeout=30)
            connection.send(hello if number % 2 else hello[:100])
            stalled.append(connection)
        waits = []
        for _ in range(50):
            began = time.monotonic()
            assert_well(server)
            waits.append(time.monotonic() - began)
        assert sorted(waits)[45] < (5 if executable.is_sanitized() else 0.5), waits
        assert all(connection.rest_until_cut() is not None for connection in stalled)
        for connection in stalled:
            connection.close()
        assert eventually(lambda: server.open_descriptors() <= before[0] + 6)  # files that each worker keeps open
    if not executable.is_sanitized():
        assert eventually(lambda: private_kb(server.pid) < before[1] + 3000, every=0.3), (before, private_kb(server.pid))
