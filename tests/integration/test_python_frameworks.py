# SPDX-License-Identifier: Apache-2.0
"""python -m monkey with applications of Flask and Django, unchanged, also under load with reloads."""

import os
import re
import threading

import pytest

from harness import http

FLASK = r'''
    import flask

    application = flask.Flask(__name__)
    application.secret_key = "of a test"

    @application.get("/")
    def index():
        return "index"

    @application.get("/hello/<name>")
    def hello(name):
        return flask.render_template_string("<p>{{ name }}", name=name)

    @application.post("/upload")
    def upload():
        file = flask.request.files["file"]
        return {"name": file.filename, "size": len(file.read()), "note": flask.request.form["note"]}

    @application.post("/raw")
    def raw():
        return str(len(flask.request.get_data()))

    @application.get("/visits")
    def visits():
        flask.session["n"] = flask.session.get("n", 0) + 1
        return str(flask.session["n"])

    @application.get("/file")
    def file():
        return flask.send_file(__file__, mimetype="text/x-python")

    @application.get("/stream")
    def stream():
        return flask.Response((f"{n} " for n in range(100)), mimetype="text/plain")

    @application.get("/redirect")
    def redirect():
        return flask.redirect(flask.url_for("hello", name="you", _external=True))

    @application.get("/raises")
    def fails():
        raise ValueError("of a view")
'''

DJANGO = r'''
    import django
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.http import FileResponse, HttpResponse, JsonResponse, StreamingHttpResponse
    from django.urls import path

    settings.configure(SECRET_KEY="of a test", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], DATABASES={},
                       MIDDLEWARE=["django.middleware.common.CommonMiddleware"], DATA_UPLOAD_MAX_MEMORY_SIZE=None)

    def upload(request):
        file = request.FILES["file"]
        return JsonResponse({"name": file.name, "size": file.size, "note": request.POST["note"]})

    def redirect(request):
        return HttpResponse(status=302, headers={"Location": request.build_absolute_uri("/hello/you")})

    def fails(request):
        raise ValueError("of a view")

    urlpatterns = [
        path("", lambda request: HttpResponse("index")),
        path("hello/<name>", lambda request, name: HttpResponse(f"<p>{name}")),
        path("upload", upload),
        path("raw", lambda request: HttpResponse(str(len(request.body)))),
        path("file", lambda request: FileResponse(open(__file__, "rb"), content_type="text/x-python")),
        path("stream", lambda request: StreamingHttpResponse(f"{n} " for n in range(100))),
        path("redirect", redirect),
        path("raises", fails),
    ]
    application = get_wsgi_application()
'''

BOTH = pytest.mark.parametrize("source", [FLASK, DJANGO], ids=["flask", "django"])


def form(size):
    """A form with a file, as browsers send it."""
    boundary = b"a-boundary-that-no-file-has-by-chance"
    parts = (b"--%b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\ncaf\xc3\xa9\r\n"
             b'--%b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n'
             b"Content-Type: application/octet-stream\r\n\r\n%b\r\n--%b--\r\n" % (boundary, boundary, os.urandom(size), boundary))
    return {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}, parts


@BOTH
def test_pages_forms_and_files(serve, source):
    server = serve(source)
    assert server.get("/").body == b"index"
    assert server.get("/hello/W%C3%B6rld").body == "<p>Wörld".encode()
    assert server.get("/none").status == 404
    assert server.head("/hello/a").status == 200
    headers, body = form(3_000_000)
    answer = server.request("/upload", "POST", headers=headers, body=body)
    assert answer.status == 200, server.log()
    assert re.search(rb'"size": ?3000000', answer.body) and re.search(rb'"a.bin"', answer.body)
    assert server.get("/stream").body == b"".join(b"%d " % number for number in range(100))
    assert server.get("/redirect").header("Location") == "http://localhost/hello/you"
    found = server.get("/file")
    assert found.body == (server.folder / "app.py").read_bytes()
    assert found.header("Content-Type").startswith("text/x-python")


@BOTH
def test_chunked_bodies(serve, source):
    server = serve(source)
    with server.connect() as connection:
        connection.send(b"POST /raw HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + http.chunked(b"one", b"two", bytes(50_000)))
        assert connection.response().body == b"50006"


@BOTH
def test_a_view_that_raises(serve, source):
    server = serve(source)
    assert server.get("/raises").status == 500
    assert server.get("/").status == 200


def test_sessions_of_flask(serve):
    server = serve(FLASK)
    first = server.get("/visits")
    cookie = first.header("Set-Cookie").partition(";")[0]
    assert (first.body, server.get("/visits", headers={"Cookie": cookie}).body) == (b"1", b"2")


@BOTH
def test_reloads_under_load_lose_no_request(serve, source):
    server = serve(source, "--threads", "4", "--workers", "2")
    wrong, ends = [], threading.Event()

    def load(number):
        with server.connect(timeout=60) as connection:
            while not ends.is_set():
                answer = connection.request(f"/hello/{number}")
                if answer.body != b"<p>%d" % number:
                    wrong.append(answer)
                    return

    threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            since = len(server.log())
            server.process.send_signal(1)
            server.wait_for_log("configuration reloaded", since)
    finally:
        ends.set()
        for thread in threads:
            thread.join(60)
    assert not wrong
