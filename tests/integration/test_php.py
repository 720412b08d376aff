# SPDX-License-Identifier: Apache-2.0
"""PHP as people run it: php-fpm on a Unix socket and over TCP, php-cgi over FastCGI and as a plain CGI program."""

import hashlib
import json
import random

import pytest

from harness import applications, http, tools

SCRIPTS = {
    "info.php": "<?php phpinfo();",
    "env.php": "<?php header('Content-Type: application/json'); echo json_encode($_SERVER);",
    "session.php": "<?php session_start(); $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;"
                   "setcookie('taste', 'a b;c'); setcookie('second', 'x'); echo $_SESSION['n'], ' ', $_COOKIE['taste'] ?? '-';",
    "upload.php": "<?php $f = $_FILES['file']; echo $f['name'], ' ', $f['size'], ' ', sha1_file($f['tmp_name']), ' ', $_POST['word'];",
    "body.php": "<?php $in = fopen('php://input', 'r'); $h = hash_init('sha1'); hash_update_stream($h, $in); echo hash_final($h);",
    "wait.php": "<?php echo \"first\\n\"; flush();"
                "for ($i = 0; $i < 1000 && !file_exists($_GET['until']); $i++) { usleep(10000); clearstatcache(); } echo \"second\\n\";",
    "endless.php": "<?php while (true) { echo str_repeat('x', 1000); flush(); usleep(1000); }",
    "large.php": "<?php $piece = str_repeat('0123456789abcdef', 4096); for ($i = 0; $i < $_GET['pieces']; $i++) echo $piece;",
    "status.php": "<?php http_response_code((int) $_GET['code']); echo 'told';",
    "to.php": "<?php header('Location: /there?a=b'); echo 'moved';",
    "empty.php": "<?php http_response_code(204);",
    "fatal.php": "<?php error_log('a word in the log'); nothing_has_this_name();",
    "lost.php": "<?php if (isset($_GET['gone'])) http_response_code(410); echo 'no ', $_SERVER['REQUEST_URI'];",
    "folder/index.php": "<?php echo 'index of ', $_SERVER['SCRIPT_NAME'];",
    "page.html": "<p>a file",
    "evil.jpg": "<?php echo 'run';",
}
MATCH = r"\.php(/|$)"
PEERS = ("fpm, Unix socket", "fpm, TCP", "php-cgi, FastCGI", "php-cgi, CGI")


@pytest.fixture(scope="module", params=PEERS)
def server(request, start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("php")
    common = {"files": SCRIPTS, "server": "MaxBodySize 100M\nIndexfile index.php index.html", "error_pages": "403 /lost.php"}
    if request.param == "php-cgi, CGI":
        words = [f"{name}={value}" for name, value in applications.PHP_SETTINGS.items()]
        words.append(f"session.save_path={folder}")
        wrapper = folder / "php"
        wrapper.write_text("#!/bin/sh\nexec %s -n %s \"$@\"\n" % (
            tools.require("php-cgi"), " ".join(f"-d {word}" for word in words)))
        wrapper.chmod(0o755)
        yield start_shared(**common, **applications.cgi(f"{MATCH} {wrapper}"))
        return
    if request.param == "php-cgi, FastCGI":
        peer = applications.php_cgi(folder / "peer")
    else:
        peer = applications.php_fpm(folder / "peer", tcp=request.param == "fpm, TCP")
    with peer:
        yield start_shared(**common, **applications.fastcgi(peer.address, MATCH, "MaxConnections 2", "KeepAlive on"))


def test_an_error_page(server):
    answer = server.get("/.hidden?x=1")
    assert (answer.status, answer.text) == (403, "no /.hidden?x=1")
    assert server.request("/.hidden", "HEAD").status == 403
    assert (server.get("/lost.php").status, server.get("/lost.php?gone=1").status) == (200, 410)


def variables(server, target, **kwargs):
    return json.loads(server.request(target, **kwargs).body)


def test_phpinfo(server):
    answer = server.get("/info.php?a=1", headers={"User-Agent": "a test"})
    assert answer.status == 200
    assert answer.header("Content-Type").startswith("text/html")
    assert b"PHP Version" in answer.body and b"a test" in answer.body
    assert answer.body.rstrip().endswith(b"</html>")


def test_what_a_script_knows(server):
    known = variables(server, "/env.php/more/path%20here?x=1&y=%41", headers={
        "X-Word": "one", "Accept-Language": "de", "Proxy": "http://evil.example"})
    assert known["REQUEST_URI"] == "/env.php/more/path%20here?x=1&y=%41"
    assert known["SCRIPT_NAME"] == "/env.php"
    assert known["SCRIPT_FILENAME"] == str(server.root / "env.php")
    assert known["DOCUMENT_ROOT"] == str(server.root)
    assert known["PATH_INFO"] == "/more/path here"
    assert known["QUERY_STRING"] == "x=1&y=%41"
    assert known["REQUEST_METHOD"] == "GET"
    assert known["SERVER_PROTOCOL"] == "HTTP/1.1"
    assert known["GATEWAY_INTERFACE"] == "CGI/1.1"
    assert known["SERVER_NAME"] == "localhost"
    assert known["SERVER_PORT"] == str(server.port)
    assert known["REMOTE_ADDR"] == "127.0.0.1"
    assert known["HTTP_X_WORD"] == "one" and known["HTTP_ACCEPT_LANGUAGE"] == "de"
    assert "HTTP_PROXY" not in known
    assert "SERVER_SOFTWARE" in known


def test_a_session_with_cookies(server):
    first = server.get("/session.php")
    assert first.body == b"1 -"
    cookies = [line.partition(";")[0] for line in first.all("Set-Cookie")]
    assert len(cookies) == 3, "PHPSESSID, taste and second, each in a line of its own"
    for visit in (2, 3, 4):
        assert server.get("/session.php", headers={"Cookie": "; ".join(cookies)}).body == b"%d a b;c" % visit


def test_an_upload_of_50_mb(server, tmp_path):
    file = tmp_path / "a file.bin"
    file.write_bytes(random.Random(5).randbytes(50_000_000))
    done = tools.run("curl", "--silent", "--show-error", "--max-time", "40", "--form", "word=b=c&d",
                     "--form", f"file=@{file}", f"http://127.0.0.1:{server.port}/upload.php")
    digest = hashlib.sha1(file.read_bytes()).hexdigest()
    assert done.stdout.decode() == f"a file.bin 50000000 {digest} b=c&d", done.stderr


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 3_000_000])
def test_a_chunked_body(server, size):
    """Its length is not known beforehand, and PHP needs to be told one."""
    body = random.Random(size).randbytes(size)
    pieces = [body[at:at + 50_000] for at in range(0, size, 50_000)]
    request = http.request("/body.php", "POST", headers={
        "Transfer-Encoding": "chunked", "Content-Type": "application/octet-stream", "Connection": "close"})
    answer = http.parse_one(server.raw(request + http.chunked(*pieces), timeout=30), "POST")
    assert answer.body.decode() == hashlib.sha1(body).hexdigest()


def test_output_that_is_flushed_arrives_early(server, tmp_path):
    until = tmp_path / "go on"
    connection = server.connect()
    connection.send(http.request(f"/wait.php?until={str(until).replace(' ', '%20')}"))
    head = http.read_head(connection.stream)
    assert head.status == 200 and head.tokens("Transfer-Encoding") == ["chunked"]
    assert connection.stream.line() == b"6" and connection.stream.exactly(8) == b"first\n\r\n"
    until.touch()
    assert connection.stream.line() == b"7" and connection.stream.exactly(9) == b"second\n\r\n"
    assert connection.stream.line() == b"0" and connection.stream.line() == b""


@pytest.mark.parametrize("pieces", [1, 16, 60])
def test_large_output(server, pieces):
    body = server.get(f"/large.php?pieces={pieces}").body
    assert len(body) == pieces * 65536
    assert body == b"0123456789abcdef" * (pieces * 4096)


def test_head_has_the_fields_and_no_body(server):
    answer = server.head("/large.php?pieces=3")
    assert answer.status == 200 and answer.body == b""


@pytest.mark.parametrize("code", [200, 201, 301, 403, 404, 418, 500, 503])
def test_a_status_of_the_script(server, code):
    answer = server.get(f"/status.php?code={code}")
    assert (answer.status, answer.body) == (code, b"told")


def test_no_content(server):
    connection = server.connect()
    for _ in range(2):
        assert connection.request("/empty.php").status == 204


def test_a_redirect_keeps_what_php_sent(server):
    answer = server.get("/to.php")
    assert (answer.status, answer.header("Location"), answer.body) == (302, "/there?a=b", b"moved")


def test_a_fatal_error_is_500_and_in_the_log(server, request):
    since = len(server.log())
    assert server.get("/fatal.php").status == 500
    server.wait_for_log("nothing_has_this_name", since)
    server.wait_for_log("a word in the log", since)


def test_an_index_of_php_is_run(server):
    assert server.get("/folder/").body == b"index of /folder/index.php"


@pytest.mark.parametrize("target", ["/evil.jpg/x.php", "/page.html/x.php", "/none/x.php", "/none.php", "/none.php/more",
                                    "/folder/none.php", "/folder/x.php/y.php"])
def test_what_is_no_script_runs_nothing(server, target):
    answer = server.get(target)
    assert answer.status == 404
    assert b"run" not in answer.body and b"<?php" not in answer.body


@pytest.mark.parametrize("target", ["/env.php", "/env.PHP", "/env.php/", "/./env.php", "/folder/../env.php", "/%65nv.php", "/env.php%2f",
                                    "//env.php", "/env.php?.html", "/env.php/a.html"])
def test_source_is_never_sent(server, target):
    answer = server.get(target)
    assert b"<?php" not in answer.body
    assert answer.status in (200, 404)


def test_files_beside_scripts_are_files(server):
    assert server.get("/page.html").body == b"<p>a file"


@pytest.mark.slow
def test_many_requests_on_one_connection(server):
    connection = server.connect()
    for number in range(100):
        answer = connection.request(f"/status.php?code={200 + number % 2}")
        assert (answer.status, answer.body) == (200 + number % 2, b"told")


def test_pipelined_requests_are_answered_in_order(server):
    connection = server.connect()
    codes = [200, 404, 201, 500, 200] * 4
    connection.send(b"".join(http.request(f"/status.php?code={code}") for code in codes))
    assert [answer.status for answer in connection.responses(*["GET"] * len(codes))] == codes


def test_a_client_that_leaves_frees_the_process(server):
    """There are fewer processes than clients that left: all would be taken."""
    for _ in range(12):
        connection = server.connect()
        connection.send(http.request("/endless.php"))
        http.read_head(connection.stream)
        connection.close()
    assert server.get("/status.php?code=200").body == b"told"
