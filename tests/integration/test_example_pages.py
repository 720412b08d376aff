# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/embed that have pages, built from an installation, asked, and looked at by Chromium."""

import asyncio
import contextlib
import http.client
import json
import subprocess
import urllib.parse

import pytest
import websockets

from harness import installed, process
from harness.client import eventually
from harness.tab import Tab

PAGES = process.TREE / "examples" / "embed" / "pages"
PAPER = {False: (251, 248, 241), True: (24, 21, 18)}
WITHIN = 60.0
pytestmark = [pytest.mark.limit(180), pytest.mark.once("pages in a browser; the program is one of test_example_embed.py too")]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


class Program(installed.Running):
    """One that is running: its URL is the first line that it prints."""

    def __init__(self, installation, program, *words):
        self.child = subprocess.Popen([program, "127.0.0.1:0", PAGES, *words], env=installation.env, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = self.child.stdout.readline().strip()
        assert self.url, "it does not start"
        self.port = urllib.parse.urlsplit(self.url).port

    def connect(self):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN))

    def ask(self, method, target, body=None, fields=()):
        """Status, fields and body."""
        with self.connect() as connection:
            connection.request(method, target, body, dict(fields))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def json(self, method, target, body=None):
        status, fields, text = self.ask(method, target, body)
        assert status >= 400 or fields["Content-Type"] == "application/json"
        return status, json.loads(text) if status < 400 else None


def look(tab, name):
    """A picture in the light and one in the dark."""
    for dark, paper in PAPER.items():
        picture = tab.picture(name, dark)
        assert picture.corner == paper
        assert picture.bytes > 5_000, "the page is nearly empty"


@pytest.fixture
def tab(tmp_path):
    with Tab(tmp_path) as opened:
        yield opened


def shows(text):
    """Is it in a line of the page's list?"""
    return f"[...document.querySelectorAll('li')].some(line => line.textContent.includes({json.dumps(text)}))"


def send(tab, text):
    """Fill the page's form as a person would."""
    tab.value(f"document.forms[0][0].value = {json.dumps(text)}; document.forms[0].requestSubmit()")


# ---- notes.c: REST over SQLite ----

@pytest.fixture
def notes(installation, tmp_path):
    if installation.is_foreign():
        pytest.skip("there is no SQLite for this build")
    program = installation.build("embed/notes.c", "monkey-web sqlite3")
    with Program(installation, program, tmp_path / "notes.db") as running:
        yield running


def test_notes_are_written_read_changed_and_deleted(notes):
    assert notes.json("GET", "/notes") == (200, [])
    assert notes.json("POST", "/notes", "Buy milk") == (201, {"id": 1, "text": "Buy milk"})
    second = {"id": 2, "text": 'say "h\u00e9", \\o/'}
    assert notes.json("POST", "/notes", second["text"].encode()) == (201, second)
    assert notes.json("PUT", "/notes/1", "Buy bread") == (200, {"id": 1, "text": "Buy bread"})
    assert notes.json("GET", "/notes") == (200, [{"id": 1, "text": "Buy bread"}, second])
    assert notes.json("GET", "/notes/2") == (200, second)
    assert notes.json("DELETE", "/notes/2") == (200, second)
    for method, target in (("GET", "/notes/2"), ("PUT", "/notes/2"), ("DELETE", "/notes/2"), ("GET", "/notes/1x")):
        assert notes.ask(method, target)[0] == 404
    assert notes.ask("POST", "/notes", b"x" * 5000)[0] == 413
    assert notes.ask("PATCH", "/notes/1")[0] == 405


def test_the_page_of_notes(notes, tab):
    assert notes.ask("POST", "/notes", "Buy milk")[0] == 201
    tab.visit(notes.url)
    tab.until(shows("Buy milk"))
    for text in ("Water the plants", "<script>document.title = 'hacked'</script>"):
        send(tab, text)
        tab.until(shows(text))
    assert tab.value("document.title") == "Notes"
    look(tab, "notes")
    tab.value("document.querySelector('li button').click()")
    tab.until("!" + shows("Buy milk"))
    assert [note["id"] for note in notes.json("GET", "/notes")[1]] == [2, 3]


# ---- chat.c: WebSocket ----

@pytest.fixture
def chat(installation):
    with Program(installation, installation.build("embed/chat.c", "monkey-web monkey-websocket")) as running:
        yield running


def test_messages_reach_everybody_in_the_room(chat):
    async def meet():
        address = f"ws://127.0.0.1:{chat.port}/room"
        async with websockets.connect(address) as one:
            assert await one.recv() == "Somebody came."
            async with websockets.connect(address) as other:
                assert await one.recv() == await other.recv() == "Somebody came."
                await other.send("h\u00e9llo")
                assert await one.recv() == await other.recv() == "h\u00e9llo"
            assert await one.recv() == "Somebody left."
            await one.send("x" * 1001)
            with pytest.raises(websockets.ConnectionClosed) as closed:
                await one.recv()
            assert closed.value.rcvd.code == 1009

    asyncio.run(asyncio.wait_for(meet(), WITHIN))
    assert chat.ask("GET", "/room")[0] == 426


def test_the_page_of_the_chat(chat, tab):
    tab.visit(chat.url)
    tab.until(shows("Somebody came."))
    for text in ("Good morning!", "<b>Is anybody here?</b>"):
        send(tab, text)
        tab.until(shows(text))
    look(tab, "chat")


# ---- news.c: long polling and server-sent events ----

@pytest.fixture
def news(installation):
    with Program(installation, installation.build("embed/news.c", "monkey-web")) as running:
        yield running


def publish(news, *texts):
    for text in texts:
        assert news.ask("POST", "/news", text)[0] == 204


def polled(news, after):
    return news.json("GET", f"/news?after={after}")[1]


def event(answer):
    """The id and the data of the next event."""
    lines = []
    while not lines or lines[-1]:
        lines.append(answer.readline().decode().rstrip("\n"))
        lines = [line for line in lines if not line.startswith(":")]
    return lines[0].removeprefix("id: "), lines[1].removeprefix("data: ")


def test_a_poll_gets_what_is_newer(news):
    publish(news, "one", "two")
    assert polled(news, 0) == {"newest": 2, "news": ["one", "two"]}
    assert polled(news, 1) == {"newest": 2, "news": ["two"]}
    assert news.ask("GET", "/news?after=%")[0] == 400
    assert news.ask("POST", "/news", "x" * 201)[0] == 413
    publish(news, *(str(number) for number in range(60)))
    assert polled(news, 0)["news"] == [str(number) for number in range(10, 60)]


def test_a_poll_waits_for_news(news):
    with news.connect() as waiting, news.connect() as leaving:
        waiting.request("GET", "/news?after=0")
        leaving.request("GET", "/news?after=0")
        leaving.close()
        publish(news, "one")
        assert json.load(waiting.getresponse()) == {"newest": 1, "news": ["one"]}


def test_a_stream_goes_on_after_the_last_event_seen(news):
    publish(news, "one", "two")
    with news.connect() as connection:
        connection.request("GET", "/events", headers={"Last-Event-ID": "1"})
        stream = connection.getresponse()
        assert stream.headers["Content-Type"] == "text/event-stream"
        assert event(stream) == ("2", "two")
        publish(news, "three")
        assert event(stream) == ("3", "three")


def test_the_page_of_news(news, tab):
    tab.visit(news.url)
    for text in ("It rains", "<i>It snows</i>"):
        send(tab, text)
        for name in ("events", "poll"):
            tab.until(f"document.querySelector('#{name} li')?.textContent == {json.dumps(text)}")
    look(tab, "news")


# ---- upload.c: files as they arrive ----

@pytest.fixture
def upload(installation, tmp_path):
    folder = tmp_path / "uploads"
    folder.mkdir()
    with Program(installation, installation.build("embed/upload.c", "monkey-web"), folder) as running:
        running.folder = folder
        yield running


FORM = {"Content-Type": "multipart/form-data; boundary=limit"}


def part(disposition, content):
    return f"--limit\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"


def test_files_are_written_as_they_arrive(upload):
    large = bytes(range(256)) * 40_000  # above the usual MaxBodySize
    body = [part('name="file"; filename="../large"', large), part('name="note"', b"a value"),
            part('name="file"; filename="empty"', b""), part('name="file"; filename=""', b""), b"--limit--\r\n"]
    status, _, text = upload.ask("POST", "/upload", b"".join(body), FORM)
    assert (status, json.loads(text)) == (201, [{"name": "../large", "bytes": len(large)}, {"name": "empty", "bytes": 0}])
    assert sorted(path.read_bytes() for path in upload.folder.iterdir()) == [b"", large]


def test_what_is_not_whole_is_removed(upload):
    for count, ending in ((1, b""), (11, b"--limit--\r\n")):
        body = part('name="file"; filename="a"', b"x" * 1000) * count + ending
        assert upload.ask("POST", "/upload", body, FORM)[0] == (413 if ending else 400)
    with upload.connect() as connection:
        connection.putrequest("POST", "/upload")
        connection.putheader("Content-Type", FORM["Content-Type"])
        connection.putheader("Content-Length", "100000")
        connection.endheaders(part('name="file"; filename="a"', b"x" * 1000))
        assert eventually(lambda: list(upload.folder.iterdir()), within=WITHIN)
    assert eventually(lambda: not list(upload.folder.iterdir()), within=WITHIN)
    assert upload.ask("POST", "/upload", b"a=b", {"Content-Type": "application/x-www-form-urlencoded"})[0] == 415


def test_the_page_of_uploads(upload, tab):
    tab.visit(upload.url)
    tab.value("""const chosen = new DataTransfer()
                 for (const [name, size] of [["Photos.zip", 3e6], ["<b>Letter.txt", 1200]])
                     chosen.items.add(new File([new Uint8Array(size)], name))
                 document.forms[0][0].files = chosen.files
                 document.forms[0].requestSubmit()""")
    tab.until(shows("Photos.zip3,000,000 bytes"))
    tab.until(shows("<b>Letter.txt1,200 bytes"))
    tab.until("(bar => bar.value == bar.max && bar.max > 3e6)(document.querySelector('progress'))")
    look(tab, "upload")
