# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window: what a page looks like, and what it becomes."""

import os
import pathlib
import shutil
import struct
import subprocess
import zlib

from harness import tools


def run(profile, *words):
    """Run it to its end; it is ended with everything that it started when it hangs."""
    browser = subprocess.Popen(
        [tools.require("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         f"--user-data-dir={profile}", *map(str, words)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = browser.communicate(timeout=50)
    except subprocess.TimeoutExpired:
        os.killpg(browser.pid, 9)
        browser.communicate()
        raise AssertionError("chromium does not end") from None
    assert browser.returncode == 0, err.decode(errors="replace")
    return out.decode(errors="replace")


def document(folder, url):
    """The document as it is after its scripts have run."""
    return run(folder / "profile", "--virtual-time-budget=5000", "--dump-dom", url)


class Picture:
    """A screenshot: its size, and its first pixel."""

    def __init__(self, path):
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        self.bytes = len(data)
        self.size = struct.unpack("!II", data[16:24])
        pixels, at = b"", 8
        while at < len(data):
            length, kind = struct.unpack("!I4s", data[at:at + 8])
            if kind == b"IDAT":
                pixels += data[at + 8:at + 8 + length]
            at += 12 + length
        # Every filter leaves the first pixel as it is.
        self.corner = tuple(zlib.decompress(pixels)[1:4])


def screenshot(folder, url, name, width, height, dark=False, scale=1):
    """Saved where MK_ARTIFACTS says, for people to look at."""
    shot = folder / f"{name}.png"
    run(folder / "profile", f"--screenshot={shot}", f"--window-size={width},{height}", "--hide-scrollbars",
        f"--force-device-scale-factor={scale}", f"--blink-settings=preferredColorScheme={0 if dark else 1}", url)
    if os.environ.get("MK_ARTIFACTS"):
        artifacts = pathlib.Path(os.environ["MK_ARTIFACTS"])
        artifacts.mkdir(parents=True, exist_ok=True)
        shutil.copy(shot, artifacts / shot.name)
    return Picture(shot)
