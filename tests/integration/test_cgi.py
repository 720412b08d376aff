# SPDX-License-Identifier: Apache-2.0
"""Scripts: what they are told, what they answer, what becomes of their names."""

import pytest

from harness import carriers, http
from harness.cgi import make_executable, start_site

ENV = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\nexec env\n"
ECHO = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\necho \"$CONTENT_LENGTH\"\nexec cat\n"


def says(*lines):
    return "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines)


SCRIPTS = {
    "env": ENV,
    "echo": ECHO,
    "status": says("Status: 404 Gone fishing", "Content-Type: text/plain", "", "no fish"),
    "client-redirect": says("Location: http://example.org/x", ""),
    "local-redirect": says("Location: /plain.txt?x", ""),
    "chain": says("Location: /cgi-bin/env/behind?a=b", ""),
    "circle": says("Location: /cgi-bin/circle", ""),
    "to-hidden": says("Location: /.secret", ""),
    "relative": says("Status: 303", "Location: /plain.txt", ""),
    "nothing": says("Status: 204", ""),
    "orders": says("X-Accel-Redirect: /secret", "X-Sendfile: /etc/passwd", "X-Other: 1", "Content-Type: text/plain", "", "ok"),
    "length": says("Content-Type: text/plain", "Content-Length: 5", "", "12345 and more"),
    "short": says("Content-Type: text/plain", "Content-Length: 50", "", "12345"),
    "garbage": says("this is", "no head"),
    "silent": "#!/bin/sh\nexit 3\n",
    "nph-own": "#!/bin/sh\nprintf 'HTTP/1.1 201 Made\\r\\nContent-Type: text/x\\r\\n\\r\\nown'\n",
    "where": "#!/bin/sh\necho 'Content-Type: text/plain'\necho\npwd\n",
    "no-interpreter": "#!/nowhere/at/all\n",
    "plain-text": "just text\n",
    "complains": "#!/bin/sh\nprintf 'one\\033two\\n\"three\\n' >&2\necho 'Content-Type: text/plain'\necho\necho ok\n",
    "killed": "#!/bin/sh\necho 'Content-Type: text/plain'\necho\necho half\nkill -9 $$\n",
    "broken-pipe": "#!/bin/sh\necho 'Content-Type: text/plain'\necho\necho half\nkill -PIPE $$\n",
}


@pytest.fixture(scope="module")
def server(start_shared):
    server = start_site(start_shared, SCRIPTS, "Environment MY_OWN some value\nEnvironment HTTPS maybe",
                        handlers="Match ^/cgi-bin/ cgi\nMatch \\.sh(/|$) cgi /bin/sh text/x-shell",
                        files={"plain.txt": "plain", ".secret": "secret", "upload/evil.jpg": "echo pwned",
                               "in.sh": "echo X-A: b; echo; echo $SCRIPT_NAME; echo $PATH_INFO; echo $PATH_TRANSLATED",
                               "upload/x.txt": "text", "cgi-bin/data": "data that is no script"})
    return server


def variables(response):
    assert response.status == 200
    return dict(line.split("=", 1) for line in response.text.splitlines() if "=" in line)


@pytest.mark.connection("names the addresses of a connection")
def test_meta_variables(server):
    env = variables(server.get("/cgi-bin/env/a%20b/..%2fc?x=%31&y", headers={"X-Some": "1", "Cookie": "a=b"}))
    root = str(server.config.root)
    expected = {
        "GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "/cgi-bin/env", "PATH_INFO": "/c", "PATH_TRANSLATED": root + "/c",
        "SCRIPT_FILENAME": root + "/cgi-bin/env", "DOCUMENT_ROOT": root, "QUERY_STRING": "x=%31&y",
        "REQUEST_URI": "/cgi-bin/env/a%20b/..%2fc?x=%31&y", "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "localhost", "SERVER_PORT": str(server.port), "SERVER_ADDR": "127.0.0.1",
        "HTTP_X_SOME": "1", "HTTP_COOKIE": "a=b", "REDIRECT_STATUS": "200", "MY_OWN": "some value", "HTTPS": "maybe",
    }
    assert {name: env.get(name) for name in expected} == expected
    assert "CONTENT_LENGTH" not in env
    assert "CONTENT_TYPE" not in env
    assert env["PATH"]


def test_no_variable_that_a_program_would_take_for_its_own(server):
    env = variables(server.get("/cgi-bin/env", headers={"Proxy": "http://evil", "X_Forwarded_For": "evil"}))
    assert "evil" not in "".join(env.values())


def test_nothing_of_the_servers_environment(server):
    env = variables(server.get("/cgi-bin/env"))
    assert not set(env) & {"HOME", "ASAN_OPTIONS", "MONKEY", "USER", "PYTEST_CURRENT_TEST"}


def test_body_with_a_length(server):
    response = server.request("/cgi-bin/echo", "POST", body=b"hello")
    assert response.body == b"5\nhello"


@pytest.mark.connection("a request from memory says no length of 0")
def test_empty_body(server):
    response = server.request("/cgi-bin/echo", "POST", headers={"Content-Length": "0"})
    assert response.body == b"0\n"


def test_chunked_body_gets_a_length(server):
    data = http.request("/cgi-bin/echo", "POST", headers={"Transfer-Encoding": "chunked"})
    data += http.chunked(b"hello, ", b"world")
    with server.connect() as connection:
        connection.send(data)
        assert connection.response("POST").body == b"12\nhello, world"
        assert connection.request("/plain.txt").text == "plain"


def test_status(server):
    response = server.get("/cgi-bin/status")
    assert (response.status, response.text) == (404, "no fish\n")


def test_redirect_of_the_client(server):
    response = server.get("/cgi-bin/client-redirect")
    assert (response.status, response.header("Location")) == (302, "http://example.org/x")
    response = server.get("/cgi-bin/relative")
    assert (response.status, response.header("Location")) == (303, "/plain.txt")


def test_redirect_within_the_site(server):
    assert server.get("/cgi-bin/local-redirect").text == "plain"
    assert server.request("/cgi-bin/local-redirect", "POST", body=b"12345").text == "plain"
    assert server.head("/cgi-bin/local-redirect").header("Content-Length") == "5"


def test_redirect_to_another_script(server):
    env = variables(server.request("/cgi-bin/chain", "POST", body=b"12345", headers={"Content-Type": "a/b"}))
    assert env["REQUEST_METHOD"] == "GET"
    assert env["QUERY_STRING"] == "a=b"
    assert env["PATH_INFO"] == "/behind"
    assert "CONTENT_LENGTH" not in env


def test_redirect_in_a_circle_ends(server):
    assert server.get("/cgi-bin/circle").status == 500


def test_redirect_obeys_the_rules_of_files(server):
    assert server.get("/cgi-bin/to-hidden").status in (403, 404)


def test_keep_alive_over_redirects_with_bodies(server):
    with server.connect() as connection:
        for _ in range(3):
            assert connection.request("/cgi-bin/local-redirect", "POST", body=b"x" * 5000).text == "plain"


def test_no_body(server):
    response = server.get("/cgi-bin/nothing")
    assert (response.status, response.body) == (204, b"")


def test_orders_for_the_server_do_not_reach_clients(server):
    response = server.get("/cgi-bin/orders")
    assert (response.text, response.header("X-Other")) == ("ok\n", "1")
    assert response.header("X-Accel-Redirect") is None and response.header("X-Sendfile") is None


def test_length_of_the_script_counts(server):
    response = server.get("/cgi-bin/length")
    assert response.header("Content-Length") == "5"
    assert response.text == "12345"


def test_output_that_ends_early_is_cut_off(server):
    assert http.is_cut_off(server.raw_until_cut(http.request("/cgi-bin/short")))


@pytest.mark.parametrize("script", ["killed", "broken-pipe"])
def test_killed_script_is_cut_off(server, script):
    """A broken pipe too: while the client waits it is not ours."""
    answer = server.raw_until_cut(http.request(f"/cgi-bin/{script}"))
    assert b"half" in answer or carriers.is_h2()  # where RST_STREAM may overtake what waits to be sent
    assert http.is_cut_off(answer)


@pytest.mark.parametrize("script", ["garbage", "silent", "no-interpreter"])
def test_what_is_no_answer(server, script):
    assert server.get(f"/cgi-bin/{script}").status == 502


def test_head(server):
    response = server.head("/cgi-bin/length")
    assert response.header("Content-Length") == "5"
    assert server.head("/cgi-bin/env").status == 200


def test_nph(server):
    response = server.get("/cgi-bin/nph-own")
    assert (response.status, response.header("Content-Type"), response.text) == (201, "text/x", "own")


def test_runs_where_it_is(server):
    assert server.get("/cgi-bin/where").text.strip() == str(server.config.root / "cgi-bin")


def test_interpreter_and_type(server):
    response = server.get("/in.sh/a/b")
    assert response.header("Content-Type").startswith("text/x-shell")
    assert response.text.split() == ["/in.sh", "/a/b", str(server.config.root / "a/b")]


@pytest.mark.parametrize("path, status", [
    ("/upload/evil.jpg/x.sh", 404),
    ("/upload/evil.jpg/.sh", 404),
    ("/none.sh", 404),
    ("/cgi-bin/none", 404),
    ("/cgi-bin/data", 403),
    ("/cgi-bin/plain-text", 502),
])
def test_what_is_no_script_runs_nothing_and_is_not_shown(server, path, status):
    response = server.get(path)
    assert response.status == status
    assert "pwned" not in response.text
    assert "data that is" not in response.text


def test_standard_error_is_logged(server):
    mark = len(server.log())
    assert server.get("/cgi-bin/complains").text == "ok\n"
    server.wait_for_log(r'stderr="one\\x1btwo"', since=mark)
    server.wait_for_log(r'stderr="\\"three"', since=mark)


@pytest.mark.connection("Expect")
def test_expect_continue(server):
    with server.connect() as connection:
        connection.send(http.request("/cgi-bin/echo", "POST", headers={"Content-Length": "5", "Expect": "100-continue"}))
        assert http.read_head(connection.stream).status == 100
        connection.send(b"hello")
        assert connection.response("POST").body == b"5\nhello"


# -- ScriptAlias of a folder, as Debian has it


@pytest.fixture(params=["/lib/cgi", "/lib/cgi/"])
def aliased(request, start, tmp_path):
    folder = tmp_path / "lib/cgi"
    (folder / "sub").mkdir(parents=True)
    for name, text in {"show": ENV, "sub/deep": ENV, ".hidden": ENV}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "data.txt").write_text("not to be sent")
    (folder / "link").symlink_to(folder / "show")
    (tmp_path / "outside").write_text(ENV)
    return start_site(start, {}, f"ScriptAlias /cgi-bin {tmp_path}{request.param}", handlers="", files={"cgi-bin/show": "a file of the root"})


def test_a_folder_of_programs(aliased, tmp_path):
    folder = tmp_path / "lib/cgi"
    env = variables(aliased.get("/cgi-bin/show/more/info?a=b"))
    assert [env[name] for name in ("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "SCRIPT_FILENAME")] == [
        "/cgi-bin/show", "/more/info", "a=b", f"{folder}/show"]
    env = variables(aliased.get("/cgi-bin/sub/deep"))
    assert (env["SCRIPT_NAME"], env["SCRIPT_FILENAME"]) == ("/cgi-bin/sub/deep", f"{folder}/sub/deep")


@pytest.mark.parametrize("path, status", [
    ("", 403), ("/", 403), ("/sub", 403), ("/sub/", 403), ("/nothing", 404), ("/.hidden", 404), ("/link", 403), ("/data.txt", 403),
    ("/sub/..%2f..%2f..%2foutside", 403), ("/..%5coutside", 404), ("/" + "x" * 300, 404)])
def test_what_is_no_program_of_the_folder(aliased, path, status):
    answer = aliased.get("/cgi-bin" + path)
    assert answer.status == status and "not to be sent" not in answer.text


@pytest.mark.parametrize("head, status, text", [
    ("", 404, "GET|/err.cgi||/missing?x=1"),
    ("Status: 410 Gone\\n", 410, "GET|/err.cgi||/missing?x=1"),
])
def test_a_script_may_make_an_error_page(start, head, status, text):
    script = (f"#!/bin/sh\nprintf '{head}Content-Type: text/plain\\n\\n'\n"
              "printf '%s' \"$REQUEST_METHOD|$SCRIPT_NAME|$QUERY_STRING|$REQUEST_URI\"\n")
    server = start_site(start, {}, files={"err.cgi": script}, handlers="Match \\.cgi$ cgi", error_pages="404 /err.cgi")
    make_executable(server, ["err.cgi"])
    answer = server.get("/missing?x=1")
    assert (answer.status, answer.text) == (status, text)
    assert server.get("/err.cgi").status == (200 if status == 404 else status)


def test_an_error_page_whose_script_fails(start):
    server = start_site(start, {}, files={"err.cgi": "#!/bin/sh\nexit 1\n", "off.cgi": "source"}, handlers="Match \\.cgi$ cgi",
                        error_pages="404 /err.cgi\n502 /err.cgi\n403 /off.cgi")
    make_executable(server, ["err.cgi"])
    answer = server.get("/missing")
    assert answer.status == 502 and "502" in answer.text
    answer = server.get("/.hidden")
    assert answer.status in (403, 500, 502) and "source" not in answer.text
