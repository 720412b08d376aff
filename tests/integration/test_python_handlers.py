# SPDX-License-Identifier: Apache-2.0
"""The package monkey inside a program: decorated handlers, the calls of 2012, and what must not crash it."""

import pytest

from harness import python

# What each program begins with.
ASK = r'''
    import http.client
    import json
    import os
    import sys
    import threading
    import time

    import monkey

    QUIET = {"SERVER": {"LogLevel": "error"}}

    def ask(address, path, method="GET", body=None, headers={}):
        connection = http.client.HTTPConnection(address, timeout=30)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content, answer.headers

    def raises(kind, function, *arguments, **keys):
        try:
            function(*arguments, **keys)
        except kind as error:
            return str(error)
        raise SystemExit(f"{function} did not raise {kind.__name__}")
'''


@pytest.fixture
def run(tmp_path, python_package):
    """Runs a program that must end well; what it printed is returned."""
    def run(source, **kwargs):
        return python.run(tmp_path, python_package, python.textwrap.dedent(ASK) + python.textwrap.dedent(source), **kwargs)
    return run


def test_handlers_answer_by_path_and_method(run, tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "a.txt").write_text("a file")
    run(r'''
        server = monkey.Server(listen="127.0.0.1:0", root="www", settings=QUIET)

        @server.get("/hello/<name>")
        def hello(request, name):
            return f"Hello, {name}"

        @server.route("/item/<int:number>", methods=("GET", "POST"))
        def item(request, number):
            return {"number": number + 1, "query": request.query, "method": request.method}

        @server.get("/tree/<path:rest>")
        def tree(request, rest):
            return rest.encode()

        @server.post("/json")
        def twice(request):
            return [request.json(), request.json()]

        @server.post("/form")
        def form(request):
            answer = monkey.Response(request.form()["a"][0], headers={"X-A": "b"}, type="text/plain")
            answer.set_cookie("seen", "1", path="/", max_age=5, httponly=True)
            return answer

        @server.get("/cookies")
        def cookies(request):
            return request.cookies

        @server.get("/stream")
        def stream(request):
            return (f"{number} " for number in range(3))

        @server.get("/nothing")
        def nothing(request):
            return None

        @server.get("/gone")
        def gone(request):
            raise monkey.Abort(410, "it was there")

        @server.get("/tuple")
        def three(request):
            return "short", 418, {"X-A": "b"}

        @server.get("/markup/<name>")
        def markup(request, name):
            return monkey.Html(f"<p>{name}")

        @server.get("/raises")
        def fails(request):
            raise ValueError("of the handler")

        with server:
            at = server.addresses[0]
            assert ask(at, "/hello/W%C3%B6rld")[:2] == (200, "Hello, Wörld".encode())
            status, body, headers = ask(at, "/hello/%3Cscript%3E")
            assert (body, headers["Content-Type"]) == (b"Hello, <script>", "text/plain; charset=utf-8")
            assert ask(at, "/markup/a")[2]["Content-Type"] == "text/html; charset=utf-8"
            assert ask(at, "/hello/a/b")[0] == 404
            status, body, _ = ask(at, "/item/41?a=1&a=2&b=", "POST")
            assert json.loads(body) == {"number": 42, "query": {"a": ["1", "2"], "b": [""]}, "method": "POST"}
            assert ask(at, "/item/no")[0] == 404
            status, body, headers = ask(at, "/item/1", "DELETE")
            assert (status, headers["Allow"]) == (405, "GET, HEAD, OPTIONS, POST")
            assert ask(at, "/item/1", "OPTIONS")[0] == 204
            assert ask(at, "/item/1", "HEAD")[:2] == (200, b"")
            assert ask(at, "/tree/a/b/c")[1] == b"a/b/c"
            assert ask(at, "/json", "POST", b'{"a": 1}')[1] == b'[{"a": 1}, {"a": 1}]'
            assert ask(at, "/json", "POST", b'{"a')[0] == 400
            assert ask(at, "/json", "POST", b"[" * 100000)[0] == 400
            status, body, headers = ask(at, "/form", "POST", b"a=one+two&b=3")
            assert (body, headers["X-A"]) == (b"one two", "b")
            assert ask(at, "/form", "POST", b"a&" * 999 + b"a=1")[0] == 200
            assert ask(at, "/form", "POST", b"a&" * 500000)[0] == 413
            assert sorted(headers["Set-Cookie"].split("; ")) == ["HttpOnly", "Max-Age=5", "Path=/", "seen=1"]
            assert json.loads(ask(at, "/cookies", headers={"Cookie": "a=1; b=2"})[1]) == {"a": "1", "b": "2"}
            assert ask(at, "/stream")[1] == b"0 1 2 "
            assert ask(at, "/nothing")[:2] == (204, b"")
            assert ask(at, "/gone")[:2] == (410, b"it was there")
            status, body, headers = ask(at, "/tuple")
            assert (status, body, headers["X-A"]) == (418, b"short", "b")
            assert ask(at, "/raises")[0] == 500
            assert ask(at, "/a.txt")[1] == b"a file"
            assert ask(at, "/none")[0] == 404
            assert sum(worker["requests"] for worker in server.stats()) >= 19
    ''')


def test_the_calls_of_2012(run, tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "index.html").write_text("an index")
    run(r'''
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]

        def data(vhost, url, get, get_len, post, post_len, header):
            if url.startswith("/file") or url == "/":
                return {"return": 0}
            told = [url, get, get_len, post.decode() if post else None, post_len]
            return {"return": 1, "content": json.dumps(told), "status": 202, "header": "X-Own: yes\r\nContent-Type: text/plain\r\n"}

        assert not monkey.start()
        assert not monkey.stop()
        assert not monkey.configure(workers=1)
        assert monkey.getconfig() == {} and monkey.scheduler_workers_info() == []
        assert monkey.init("127.0.0.1", port, 0, "www")
        assert monkey.configure(workers=2, indexfile="index.html", maxrequestsize=16, keepalive=True)
        assert not monkey.configure(wrokers=1)
        assert monkey.configure(keepalive_timeout=7, max_keepalive_request=9, max_request_size=16, default_mimetype="a/b")
        values = monkey.getconfig()
        assert (values["workers"], values["keepalive_timeout"], values["max_keepalive_request"]) == (2, 7, 9)
        assert (values["max_request_size"], values["default_mimetype"], values["userdir"]) == (16, "a/b", "")
        assert monkey.set_callback("data", data)
        assert monkey.set_callback("url", lambda url: "secret" not in url)
        assert monkey.set_callback("ip", lambda ip: ip == "127.0.0.1")
        assert not monkey.set_callback("other", data)
        assert monkey.start()
        assert not monkey.start() and not monkey.init() and not monkey.set_callback("data", data)
        at = f"127.0.0.1:{port}"
        status, body, headers = ask(at, "/a%20b?x=1", "POST", b"sent")
        assert (status, json.loads(body)) == (202, ["/a b", "x=1", 3, "sent", 4])
        assert (headers["X-Own"], headers["Content-Type"]) == ("yes", "text/plain")
        assert json.loads(ask(at, "/b")[1]) == ["/b", None, 0, None, 0]
        assert ask(at, "/")[:2] == (200, b"an index")
        assert ask(at, "/file")[0] == 404
        assert ask(at, "/secret")[0] == 403
        assert monkey.vhost_list()[0]["document_root"] == "www"
        assert [one["pid"] for one in monkey.scheduler_worker_info()] == [os.getpid()] * 2
        workers = monkey.scheduler_workers_info()
        assert [one.pid for one in workers] == [os.getpid()] * 2
        assert sum(one.accepted_connections for one in workers) >= 5
        assert all(0 <= one.closed_connections <= one.accepted_connections for one in workers)
        workers[0].print_info()
        assert monkey.stop()
        assert not monkey.stop()
        assert monkey.init("127.0.0.1", port) and monkey.start() and monkey.stop()
    ''')


def test_the_callback_close_of_2012(run, tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "a.txt").write_text("a file")
    run(r'''
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        closed = []

        def closes(count):
            until = time.monotonic() + 30
            while len(closed) < count and time.monotonic() < until:
                time.sleep(0.01)
            assert len(closed) == count, closed

        def data(vhost, url, get, get_len, post, post_len, header):
            if url == "/raises":
                raise LookupError("of the test")
            return {"return": int(url != "/a.txt"), "content": b"x" * 10}

        assert monkey.init("127.0.0.1", port, 0, "www")
        assert monkey.configure(workers=1)
        assert monkey.set_callback("data", data)
        assert monkey.set_callback("url", lambda url: url != "/secret")
        assert monkey.set_callback("close", lambda: closed.append(1))
        assert monkey.start()
        at = f"127.0.0.1:{port}"
        for number, (path, status) in enumerate([("/b", 200), ("/a.txt", 200), ("/raises", 500)], 1):
            assert ask(at, path)[0] == status
            closes(number)
        assert ask(at, "/secret")[0] == 403
        assert ask(at, "/b")[::2][1]["Content-Length"] == "10"
        closes(4)
        assert monkey.stop()
        assert len(closed) == 4
    ''')


def test_the_media_types_of_2012(run, tmp_path):
    (tmp_path / "www").mkdir()
    for name in ("a.odd", "a.css"):
        (tmp_path / "www" / name).write_text("a file")
    run(r'''
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        assert monkey.mimetype_list() == [] and not monkey.mimetype_add("odd", "text/odd")
        assert monkey.init("127.0.0.1", port, 0, "www")
        assert monkey.mimetype_add("odd", "application/odd")
        assert not monkey.mimetype_add("odd", "text/other") and not monkey.mimetype_add("CSS", "text/x") and not monkey.mimetype_add("", "a/b")
        last = monkey.mimetype_list()[-1]
        assert (last.name, last.type) == ("odd", "application/odd")
        assert ("css", "text/css") in [(one.name, one.type) for one in monkey.mimetype_list()]
        assert monkey.start()
        assert not monkey.mimetype_add("late", "text/late")
        at = f"127.0.0.1:{port}"
        assert ask(at, "/a.odd")[2]["Content-Type"] == "application/odd"
        assert ask(at, "/a.css")[2]["Content-Type"].startswith("text/css")
        assert monkey.stop()
    ''')


def test_arguments_of_wrong_types_are_type_errors(run):
    run(r'''
        for arguments in [(5,), (None, "80"), (None, True), (None, 80, None), (None, 80, 0, 5)]:
            assert "init" in raises(TypeError, monkey.init, *arguments)
        assert monkey.init("127.0.0.1", 1)
        raises(TypeError, monkey.configure, workers=None)
        raises(TypeError, monkey.configure, workers=[1])
        raises(TypeError, monkey.configure, 5)
        raises(TypeError, monkey.set_callback, 5, print)
        raises(TypeError, monkey.set_callback, "data", None)
        raises(TypeError, monkey.set_callback, "data")
        raises(TypeError, monkey.mimetype_add, "a", 5)
        raises(TypeError, monkey.mimetype_add, b"a", "a/b")
        assert monkey.stop()

        for keys in [{"listen": 5.5}, {"listen": None}, {"listen": [None]}, {"threads": "8"}, {"threads": 1.5}, {"workers": "2"}, {"root": 5},
                     {"settings": [1]}, {"settings": {"SERVER": 5}}, {"directory": 5}, {"nothing": 1}, {"script_name": 5}, {"spool": 5}]:
            try:
                monkey.Server(**keys)
            except TypeError:
                continue
            raise SystemExit(f"{keys} did not raise TypeError")
        server = monkey.Server(listen="127.0.0.1:0", settings=QUIET)
        raises(TypeError, server.get, 5)
        raises(TypeError, server.get("/x"), 5)
        raises(TypeError, server.route, "/x", "GET")
        raises(TypeError, server.route, "/x", [5])
        server.start()
        raises(TypeError, server.stop, "5")
        raises(ValueError, server.stop, -1)
        server.stop()
    ''')


def test_several_servers_are_independent(run):
    run(r'''
        servers = [monkey.Server(listen="127.0.0.1:0", threads=2, settings=QUIET) for _ in range(3)]
        for number, server in enumerate(servers):
            server.get("/")(lambda request, number=number: str(number))
            server.start()
        for number, server in enumerate(servers):
            assert ask(server.addresses[0], "/")[1] == str(number).encode()
        servers[0].stop()
        servers[0].stop()
        assert ask(servers[1].addresses[0], "/")[1] == b"1"
    ''')  # the others are stopped when the interpreter exits


def test_a_wrong_order_of_calls_is_an_exception(run):
    run(r'''
        server = monkey.Server(listen="127.0.0.1:0", settings=QUIET)
        raises(RuntimeError, lambda: server.addresses)
        raises(RuntimeError, server.reload)
        raises(RuntimeError, server.stats)
        server.start()
        raises(RuntimeError, server.start)
        raises(ValueError, server.get, "bare")
        raises(ValueError, server.get, "/<a>/<a>")
        raises(ValueError, server.get, "/<odd:a>")
        server.reload()
        server.stop()
        raises(RuntimeError, lambda: server.addresses)
        raises(RuntimeError, server.start)
        monkey.Server(listen="127.0.0.1:0").stop()

        raises(TypeError, monkey.Serving, None)
        raises(ValueError, monkey.Serving, print, threads=0)
        raises(ValueError, monkey.Serving, print, body_memory=1)
        raises(ValueError, monkey.Serving, print, script_name="shop")
        assert "no_such_key" in raises(monkey.ConfigError, monkey.Server(settings={"SERVER": {"no_such_key": 1}}).start)
        assert issubclass(monkey.ConfigError, ValueError)
        raises(monkey.ConfigError, monkey.Server(listen="nonsense:nonsense").start)

        from monkey import _monkey
        raises(TypeError, _monkey.Server)
        raises(TypeError, _monkey.Server, print, {}, 5, "/tmp")
        core = _monkey.Server(print, {}, "", "/tmp")
        raises(TypeError, core.start)
        raises(TypeError, core.start, 5)
        raises(TypeError, core.start, [5])
        raises(TypeError, core.start, [("SERVER", "Listen")])
        raises(ValueError, core.start, [("SERVER", "Listen", "a\0b")])
        raises(RuntimeError, core.fileno)
        raises(RuntimeError, core.stop, 5)
        raises(RuntimeError, core.log, 1, "text")
        core.close()
        core.close()
        assert core.run() is None
        raises(TypeError, monkey.FileWrapper)
        raises(ValueError, monkey.FileWrapper, sys.stdin, 0)
    ''')


def test_an_address_in_use_is_an_exception(run):
    run(r'''
        import socket
        taken = socket.socket()
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        text = raises(monkey.Error, monkey.Server(listen=f"127.0.0.1:{taken.getsockname()[1]}", settings=QUIET).start)
        assert "another process listens there" in text, text
    ''')


def test_objects_of_a_request_outlive_it_unharmed(run):
    run(r'''
        kept = []

        def application(environ, start_response):
            kept.append((environ, start_response, start_response("200 OK", [("Content-Type", "text/plain")])))
            return [b"first"]

        serving = monkey.Serving(application, threads=1)
        serving.start([("SERVER", "Listen", "127.0.0.1:0"), ("SERVER", "LogLevel", "error")])
        assert ask(serving.addresses[0], "/", "POST", b"body")[1] == b"first"
        deadline = time.monotonic() + 30
        environ, start_response, write = kept[0]
        while time.monotonic() < deadline:
            try:
                environ["wsgi.input"].read()
                time.sleep(0.01)
            except ValueError:
                break
        raises(ValueError, environ["wsgi.input"].read)
        raises(ValueError, environ["wsgi.input"].readline)
        raises(RuntimeError, write, b"late")
        raises(RuntimeError, start_response, "200 OK", [])
        serving.stop()
        raises(RuntimeError, write, b"later")
    ''')


def test_a_handler_cannot_stop_the_server_that_waits_for_it(run):
    run(r'''
        server = monkey.Server(listen="127.0.0.1:0", settings=QUIET)
        said = []

        @server.get("/")
        def stop(request):
            said.append(raises(RuntimeError, server._serving.close))
            return "still here"

        with server:
            assert ask(server.addresses[0], "/")[1] == b"still here"
        assert "cannot close" in said[0]
    ''')


def test_a_child_of_fork_gets_exceptions(run):
    run(r'''
        server = monkey.Server(listen="127.0.0.1:0", settings=QUIET).start()
        child = os.fork()
        if child == 0:
            raises(RuntimeError, lambda: server.addresses)
            raises(RuntimeError, server._serving._core.run)
            raises(RuntimeError, server._serving._core.stop, 5)
            del server
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        server.stop()
    ''')


def test_a_program_may_exit_in_the_middle_of_requests(run):
    run(r'''
        server = monkey.Server(listen="127.0.0.1:0", settings=QUIET)
        begun = threading.Event()

        @server.get("/sleeps")
        def sleeps(request):
            begun.set()
            time.sleep(3600)

        @server.get("/streams")
        def streams(request):
            while True:
                yield b"x" * 10000

        server.start()
        for path in ("/sleeps", "/streams"):
            connection = http.client.HTTPConnection(server.addresses[0])
            connection.request("GET", path)
            globals()[path] = connection
        begun.wait(30)
        sys.exit(5)
    ''', code=5)


def test_many_requests_of_many_threads_leave_nothing_behind(run):
    run(r'''
        import gc
        server = monkey.Server(listen="127.0.0.1:0", threads=4, settings=QUIET)
        server.get("/<name>")(lambda request, name: name)
        server.post("/echo")(lambda request: request.body())
        server.start()
        at = server.addresses[0]

        def load():
            connection = http.client.HTTPConnection(at, timeout=60)
            for number in range(100):
                connection.request("GET", f"/{number}")
                assert connection.getresponse().read() == str(number).encode()
                connection.request("POST", "/echo", b"x" * number * 100)
                assert connection.getresponse().read() == b"x" * number * 100

        def objects():
            gc.collect()
            return len(gc.get_objects())

        counts = []
        for _ in range(4):
            threads = [threading.Thread(target=load) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            counts.append(objects())
        assert counts[3] - counts[1] < 200, counts
        server.stop()
    ''')
