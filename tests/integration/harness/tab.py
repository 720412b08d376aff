# SPDX-License-Identifier: Apache-2.0
"""A tab of Chromium that stays open: pages that wait for the server are asked until they show what is expected."""

import asyncio
import base64
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import urllib.request

import websockets

from harness import tools
from harness.browser import Picture
from harness.client import eventually

WITHIN = 60.0


class Tab:
    def __init__(self, folder, width=500, height=500):
        self.folder, self.numbers, self.loop = folder, itertools.count(1), asyncio.new_event_loop()
        profile = folder / "tab"
        self.child = subprocess.Popen(
            [tools.require("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            self.socket = self.loop.run_until_complete(asyncio.wait_for(self.open(profile / "DevToolsActivePort"), WITHIN))
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        except BaseException:
            self.end()
            raise

    async def open(self, active):
        assert eventually(lambda: active.exists() and "\n" in active.read_text(), within=WITHIN), "chromium does not start"
        base = f"http://127.0.0.1:{active.read_text().split()[0]}/json/list"
        pages = []

        def is_open():
            with urllib.request.urlopen(base, timeout=WITHIN) as answer:
                pages[:] = [page for page in json.load(answer) if page["type"] == "page"]
            return pages

        assert eventually(is_open, within=WITHIN), "chromium has no page"
        return await websockets.connect(pages[0]["webSocketDebuggerUrl"], max_size=None, ping_interval=None)

    async def talk(self, method, parameters):
        number = next(self.numbers)
        await self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(await self.socket.recv())
            if answer.get("id") == number:
                return answer

    def call(self, method, **parameters):
        """The result of a method of the DevTools protocol; an empty one of a page that is being exchanged for another."""
        return self.loop.run_until_complete(asyncio.wait_for(self.talk(method, parameters), WITHIN)).get("result", {})

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True).get("result", {}).get("value")

    def visit(self, url):
        self.call("Page.navigate", url=url)
        self.until(f"document.readyState == 'complete' && location.href.startsWith({json.dumps(url)})")

    def until(self, expression):
        """Wait until an expression is true in the page."""
        assert eventually(lambda: self.value(expression) is True, within=WITHIN), self.value("document.documentElement.outerHTML")

    def picture(self, name, dark=False):
        """Saved where MK_ARTIFACTS says, for people to look at."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        shot = self.folder / f"{name}-{'dark' if dark else 'light'}.png"
        shot.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        if os.environ.get("MK_ARTIFACTS"):
            artifacts = pathlib.Path(os.environ["MK_ARTIFACTS"])
            artifacts.mkdir(parents=True, exist_ok=True)
            shutil.copy(shot, artifacts / shot.name)
        return Picture(shot)

    def end(self):
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.loop.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.loop.run_until_complete(asyncio.wait_for(self.socket.close(), WITHIN))
        finally:
            self.end()
