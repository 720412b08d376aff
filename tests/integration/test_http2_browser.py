# SPDX-License-Identifier: Apache-2.0
"""Chromium and HTTP/2: a page, what belongs to it, and its WebSocket on one connection, by the browser's network log."""

import collections
import json
import re
import struct
import zlib

import pytest

from harness import browser, certificates, executable
from harness.config import section
from harness.plugins import path

IMAGES = 100
PAGE = """<!DOCTYPE html><title>images</title><body>{}<script>
addEventListener('load', async () => {{
  const images = [...document.images].filter(image => image.complete && image.naturalWidth == 1).length;
  document.body.dataset.images = images;
  const socket = new WebSocket(`wss://${{location.host}}/echo`);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = message => {{ document.body.dataset.said = message.data; }};
  socket.onerror = () => {{ document.body.dataset.said = 'error'; }};
  for (let i = 0; i < 300 && !document.body.dataset.said; i++)
    await fetch(`0.png?${{i}}`);  // the browser's clock stands still meanwhile, and the socket has time
}});
</script>"""


def png():
    def chunk(kind, data):
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack("!IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b""))


@pytest.mark.limit(120)
def test_a_page_of_images_and_its_socket_share_a_connection(start, tmp_path):
    if not all(executable.plugin(name) for name in ("http2", "tls")):
        pytest.skip("this build has no such plugin")
    load = "\n".join(f"Load {name}" for name in (executable.plugin("http2"), executable.plugin("tls"), path("sockets")))
    images = "".join(f"<img src='{number}.png'>" for number in range(IMAGES))
    server = start(server="Listen 127.0.0.1:0 tls", handlers="Match ^/echo sockets echo",
                   extra={"plugins.load": section("PLUGINS", load), "plugins/tls/tls.conf": section("TLS", certificates.issue().lines())},
                   files={"index.html": PAGE.format(images), **{f"{number}.png": png() for number in range(IMAGES)}})
    log = tmp_path / "net.json"
    shown = browser.run(tmp_path / "profile", "--ignore-certificate-errors", f"--log-net-log={log}", "--virtual-time-budget=5000",
                        "--dump-dom", f"https://localhost:{server.port}/")
    assert re.search(rf'data-images="{IMAGES}"', shown), shown[:200] + shown[-500:]
    assert re.search('data-said="hello"', shown), shown[-500:]
    told = json.loads(log.read_text())
    names = {number: name for name, number in told["constants"]["logEventTypes"].items()}
    begin = told["constants"]["logEventPhase"]["PHASE_BEGIN"]
    events = [event for event in told["events"] if f"localhost:{server.port}" in json.dumps(event) or "HTTP2" in names[event["type"]]]
    counts = collections.Counter(names[event["type"]] for event in events if event["phase"] in (begin, 0))
    assert counts["HTTP2_SESSION"] == 1, counts
    heads = [event for event in events if names[event["type"]] == "HTTP2_SESSION_SEND_HEADERS"]
    assert len(heads) >= IMAGES + 2
    assert sum(":protocol: websocket" in json.dumps(head) for head in heads) == 1
