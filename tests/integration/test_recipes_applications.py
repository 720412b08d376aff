# SPDX-License-Identifier: Apache-2.0
"""docs/recipes/django-flask.md and node.md, with Django, Flask, gunicorn, uvicorn and Node.js."""

import asyncio
import json
import re
import socket
import textwrap

import pytest
import websockets

from harness import certificates, frames, http, peers, process, tools
from harness.client import PATIENCE, free_ports
from harness.named import Named
from harness.recipes import Recipe

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in ("tls", "http2", "file", "proxy_reverse", "compress")),
                       reason="not all plugins are built"),
    pytest.mark.once("pages of the documentation"),
]

APP = "https://app.example.org"
DJANGO = """
    import json, os
    import django
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse, HttpResponseRedirect
    from django.urls import path

    SETTINGS = {}
    exec(open(os.environ["SETTINGS"]).read(), SETTINGS)
    settings.configure(SECRET_KEY="of a test", ROOT_URLCONF=__name__, DATABASES={}, DATA_UPLOAD_MAX_MEMORY_SIZE=None,
                       MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
                       **{name: value for name, value in SETTINGS.items() if name.isupper()})

    def seen(request):
        return HttpResponse(json.dumps({"for": request.META["HTTP_X_FORWARDED_FOR"], "secure": request.is_secure(),
                                        "url": request.build_absolute_uri()}))

    urlpatterns = [
        path("seen", seen),
        path("raw", lambda request: HttpResponse(str(len(request.body)))),
        path("old", lambda request: HttpResponseRedirect(request.build_absolute_uri("/new"))),
    ]
    application = get_wsgi_application()
"""
FLASK = """
    import json, os
    import flask

    app = flask.Flask(__name__)
    exec(open(os.environ["SETTINGS"]).read())

    @app.get("/seen")
    def seen():
        return json.dumps({"for": flask.request.remote_addr, "secure": flask.request.is_secure, "url": flask.request.url})

    @app.post("/raw")
    def raw():
        return str(len(flask.request.get_data()))

    @app.get("/old")
    def old():
        return flask.redirect(flask.url_for("seen", _external=True).replace("seen", "new"))

    application = app
"""


def settings_of(page, word):
    """The block of Python of the page that has this word."""
    found = [block for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S) if word in block]
    assert len(found) == 1
    return found[0]


def accepts(address):
    with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as probe:
        return probe.connect_ex(address) == 0


class Applications:
    """The page's server before gunicorn and uvicorn, each started by the page's command in a folder of its own."""

    def __init__(self, start, folder):
        self.folder, self.recipe = folder, Recipe("django-flask", folder)
        plain, self.secure, self.asgi = free_ports(3)
        self.recipe.certify("app.example.org")
        self.recipe.write({"/srv/app/public/static/a.css": "a { }\n" * 1000, "/srv/app/public/media/a.txt": "of media"})
        self.recipe.path("/run/app").mkdir(parents=True)
        self.server = self.recipe.serve(start, ("Listen 80\n", f"Listen 127.0.0.1:{plain}\n"),
                                        ("Listen 443", f"Listen 127.0.0.1:{self.secure}"), ("127.0.0.1:8001", f"127.0.0.1:{self.asgi}"))
        self.named = Named(plain, self.secure)

    def gunicorn(self, source, word):
        """The application has the settings of the page with this word."""
        (self.folder / "app.py").write_text(textwrap.dedent(source))
        (self.folder / "settings").write_text(settings_of(self.recipe.page, word))
        place = self.recipe.here("/run/app/gunicorn.sock")
        return peers.command(self.folder, self.recipe.commands("gunicorn").strip(), lambda: accepts(place), SETTINGS=str(self.folder / "settings"))

    def uvicorn(self):
        words = self.recipe.commands("uvicorn").strip().replace("8001", str(self.asgi)).replace("chat:app", "peer_asgi:app")
        return peers.command(self.folder, f"{words} --app-dir {tools.HELPERS}", lambda: accepts(("127.0.0.1", self.asgi)))


@pytest.fixture
def served(start, tmp_path):
    return Applications(start, tmp_path)


BOTH = pytest.mark.parametrize("source, word", [(DJANGO, "SECURE_PROXY_SSL_HEADER"), (FLASK, "ProxyFix")], ids=["django", "flask"])


@BOTH
def test_the_application_knows_who_asks(served, source, word):
    with served.gunicorn(source, word):
        for forged in ((), ("--header", "X-Forwarded-For: 192.0.2.66", "--header", "X-Forwarded-Proto: http")):
            told = json.loads(served.named.body(f"{APP}/seen", *forged))
            assert told == {"for": "127.0.0.1", "secure": True, "url": f"{APP}/seen"}
        status, fields, _ = served.named.ask(f"{APP}/old")
        assert (status, fields["location"]) == (302, f"{APP}/new")
        assert served.named.ask("http://app.example.org/old")[1]["location"] == f"{APP}/old"


@BOTH
def test_an_upload_reaches_the_application(served, tmp_path, source, word):
    (tmp_path / "body").write_bytes(bytes(5_000_000))
    with served.gunicorn(source, word):
        assert served.named.body(f"{APP}/raw", "--data-binary", f"@{tmp_path}/body") == "5000000"
        # Django reads no body without Content-Length.
        chunked = served.named.body(f"{APP}/raw", "--data-binary", f"@{tmp_path}/body", "--header", "Transfer-Encoding: chunked")
        assert chunked == ("5000000" if source is FLASK else "0")


def test_static_files_need_no_application(served):
    status, fields, body = served.named.ask(f"{APP}/static/a.css")
    assert (status, len(body), fields["cache-control"]) == (200, 6000, "max-age=2592000")
    assert served.named.ask(f"{APP}/static/a.css", "--header", "Accept-Encoding: gzip")[1]["content-encoding"] == "gzip"
    assert served.named.body(f"{APP}/media/a.txt") == "of media"
    assert served.named.status(f"{APP}/static/none") == 404
    assert served.named.status(f"{APP}/seen") == 502


def test_websocket_reaches_the_asgi_server(served):
    async def talk():
        async with websockets.connect("wss://app.example.org/ws/chat", ssl=certificates.trusting(), server_hostname="app.example.org",
                                      host="127.0.0.1", port=served.secure) as client:
            await client.send("hello")
            return await client.recv()

    with served.uvicorn():
        assert asyncio.run(asyncio.wait_for(talk(), PATIENCE)) == "hello"


# ---- Node.js ----

def begin(start, folder, script):
    """The page's server before one process of Node.js, which has a free port; the process is started by the caller."""
    recipe, (port,) = Recipe("node", folder), free_ports(1)
    recipe.write({"/srv/chat/public/assets/a.js": "var a;"})
    server = recipe.serve(start, ("Listen 80", "Listen 127.0.0.1:0"), ("127.0.0.1:3000 127.0.0.1:3001", f"127.0.0.1:{port}"))
    (folder / "server.js").write_text(recipe.files["server.js"] if script is None else (tools.HELPERS / script).read_text())
    return server, peers.command(folder, f"{tools.require('node')} server.js {port}", lambda: accepts(("127.0.0.1", port)))


def test_node_gets_what_is_no_file(start, tmp_path):
    server, node = begin(start, tmp_path, None)
    with node:
        assert server.get("/").text == server.get("/any?x", headers={"X-Forwarded-For": "192.0.2.66"}).text == "127.0.0.1 by http"
        file = server.get("/assets/a.js")
        assert (file.text, file.header("Cache-Control")) == ("var a;", "max-age=31536000, immutable")
    assert server.get("/assets/a.js").status == 200
    assert server.get("/").status == 502


def test_an_event_arrives_while_the_stream_is_open(start, tmp_path):
    server, node = begin(start, tmp_path, None)
    with node, server.connect() as connection:
        connection.send(http.request("/events"))
        head = http.read_head(connection.stream)
        assert (head.status, head.header("Content-Type")) == (200, "text/event-stream")
        size = int(connection.stream.line(), 16)
        assert connection.stream.exactly(size) == b"data: hello\n\n"


def test_websocket_of_node(start, tmp_path):
    server, node = begin(start, tmp_path, "chat.js")
    with node, frames.Raw(server, "/socket") as client:
        for word in ("hello", "again"):
            client.say(word)
            assert client.hear() == word
        client.leave()
