# SPDX-License-Identifier: Apache-2.0
"""Users and passwords (RFC 7617), and what guessing costs others."""

import base64
import hashlib
import math
import pathlib
import re
import signal
import statistics
import subprocess
import threading
import time

import pytest

from harness import http, process
from harness.client import eventually
from harness.config import Config, section

HASHES = "hash"  # in the name of the threads that work on them

pytestmark = pytest.mark.skipif(not process.plugin("auth"), reason="auth needs crypt_r, which is not there for this build")
FILES = {"index.html": "<p>hello", "open.txt": "open", "private/a.txt": "secret", "private/deep/b.txt": "deeper",
         "privateer.txt": "no pirate"}
SHA1 = "{SHA1}" + base64.b64encode(hashlib.sha1(b"secret").digest()).decode()


def slow_hash(password, rounds=60000):
    """SHA-512 crypt with enough rounds to hurt: 30 ms."""
    setting = f"$6$rounds={rounds}$somesalt"
    line = subprocess.run(["perl", "-e", "print crypt($ARGV[0], $ARGV[1])", password, setting],
                          check=True, capture_output=True, text=True)
    return line.stdout


def configured(tmp_path, users, location="/private", more="", **kwargs):
    file = tmp_path / "users"
    file.write_text(users)
    auth = section("AUTH", f"Location {location}\nTitle Staff only\nUsers {file}")
    host = section("HOST", f"DocumentRoot {tmp_path}/root")
    for name, content in FILES.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    extra = {"plugins.load": section("PLUGINS", "Load auth"), "sites/default": host + auth + more}
    return {"extra": extra, **kwargs}


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture
def server(start, tmp_path):
    return start(**configured(tmp_path, f"alice:{SHA1}\nslow:{slow_hash('secret')}\n"))


# -- addresses that need no password

@pytest.mark.parametrize("lines, free", [
    ("NoPasswordFrom 127.0.0.1", True), ("NoPasswordFrom 10.0.0.0/8 127.0.0.0/8", True), ("NoPasswordFrom ::1\nNoPasswordFrom 127.0.0.1", True),
    ("NoPasswordFrom 10.0.0.0/8 unix", False),
])
def test_address_or_password(start, tmp_path, lines, free):
    file = tmp_path / "users"
    more = section("AUTH", f"Location /privateer.txt\nUsers {file}\n{lines}")
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", more=more))
    assert server.get("/private/a.txt").status == 401  # another place has its own
    assert server.get("/privateer.txt").status == (200 if free else 401)
    assert server.get("/privateer.txt", basic("alice", "secret")).status == 200
    assert server.get("/privateer.txt", {"X-Forwarded-For": "10.0.0.1", "Forwarded": "for=10.0.0.1"}).status == (200 if free else 401)
    assert server.head("/privateer.txt").status == (200 if free else 401)


def test_clients_of_a_unix_socket_have_an_address_of_their_own(start, tmp_path):
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", more=section(
        "AUTH", f"Location /open.txt\nUsers {tmp_path}/users\nNoPasswordFrom unix"),
        server=f"Listen 127.0.0.1:0\nListen unix:{tmp_path}/socket"))
    with server.connect(f"{tmp_path}/socket") as connection:
        assert connection.request("/open.txt").status == 200
        assert connection.request("/private/a.txt").status == 401
    assert server.get("/open.txt").status == 401


@pytest.mark.parametrize("value", ["", "nobody", "10.0.0.1/8", "300.1.1.1", "127.0.0.1 all"])
def test_what_is_no_address_is_an_error(start, tmp_path, value):
    more = section("AUTH", f"Location /open.txt\nUsers {tmp_path}/users\nNoPasswordFrom {value}")
    server = start(wait=False, **configured(tmp_path, f"alice:{SHA1}\n", more=more))
    assert server.expect_exit() != 0
    assert "NoPasswordFrom: expected" in server.log()


# -- where


@pytest.mark.parametrize("location, guarded, others", [
    ("/private/*", ["/private/a.txt", "/private/", "/PRIVATE/deep/b.txt", "/private/a.txt;x"], ["/private", "/privateer.txt"]),
    ("*.txt", ["/open.txt", "/open.txt/", "/private/deep/b.txt", "/open.TXT", "/open.txt;v=1"], ["/", "/index.html"]),
    ("/*/deep/*", ["/private/deep/b.txt"], ["/private/a.txt"]),
    ("^/(open|private/deep/.*)[.]txt$", ["/open.txt", "/private/deep/b.txt"], ["/private/a.txt"]),
    ("/private/", ["/private", "/private/a.txt"], ["/privateer.txt"]),
])
def test_a_location_may_be_a_pattern(start, tmp_path, location, guarded, others):
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", location=location))
    for path in guarded:
        assert server.get(path).status == 401, path
    for path in others:
        assert server.get(path).status != 401, path


def test_the_longest_of_paths_and_patterns_decides(start, tmp_path):
    (tmp_path / "others").write_text(f"bob:{SHA1}\n")
    more = section("AUTH", f"Location *.txt\nUsers {tmp_path}/others")
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", more=more))
    assert server.get("/private/a.txt", basic("alice", "secret")).status == 200
    assert server.get("/private/a.txt", basic("bob", "secret")).status == 401
    assert server.get("/open.txt", basic("bob", "secret")).status == 200


@pytest.mark.parametrize("location, fault", [
    ("\\.pdf$", r"a regular expression begins with \^, such as \^"),
    ("~ ^/private", "expected a path such as /private"),
    ("/private/.*", r"a regular expression begins with \^"),
    ("/v[0-9]/x", r"a regular expression begins with \^"),
    ("/(a|b)", r"a regular expression begins with \^"),
    ("\"/private\"", "has no quotes around it"),
    ("private/*", "which begins with a slash"),
    ("private", "expected a path such as /private"),
    ("^/(private", r"Location: invalid regular expression \"\^/\(private\""),
])
def test_a_location_that_matches_nothing_is_an_error(tmp_path, location, fault):
    result = check(tmp_path, location)
    assert result.returncode == 1 and re.search(fault, result.stderr), result.stderr
    assert len(re.findall(" error: ", result.stderr)) == 1, result.stderr


@pytest.mark.parametrize("location", ["/caf%C3%A9", "/a?b=c"])
def test_a_location_with_an_escape_or_a_query_is_doubtful(tmp_path, location):
    result = check(tmp_path, location)
    assert result.returncode == 0 and "paths are compared decoded and without their query" in result.stderr + result.stdout


def check(tmp_path, location):
    config = Config(tmp_path)
    config.write(**configured(tmp_path, f"alice:{SHA1}\n", location=location))
    return process.run("--configdir", config.folder, "--test")


# -- who may


@pytest.mark.parametrize("user, password, status", [
    ("alice", "secret", 200), ("slow", "secret", 200),
    ("alice", "Secret", 401), ("slow", "secret ", 401), ("nobody", "secret", 401), ("", "", 401), ("alice", "", 401),
])
def test_password_decides(server, user, password, status):
    assert server.get("/private/a.txt", headers=basic(user, password)).status == status


def test_challenge_names_the_realm(server):
    answer = server.get("/private/a.txt")
    assert answer.status == 401
    assert answer.header("WWW-Authenticate") == 'Basic realm="Staff only", charset="UTF-8"'


@pytest.mark.parametrize("value", [
    "", "Basic", "Basic ", "Basic !!!", "Basic YWxpY2U=", "Bearer YWxpY2U6c2VjcmV0", "Basic YWxpY2U6c2VjcmV0=",
    "Basic " + base64.b64encode(b"alice:secret\0").decode(), "Basic " + base64.b64encode(b"alice:" + b"x" * 300).decode(),
    "Basic" + "A" * 4000,
])
def test_credentials_that_are_none(server, value):
    assert server.get("/private/a.txt", headers={"Authorization": value}).status == 401


@pytest.mark.parametrize("path", ["/private/echo", "/PRIVATE/echo", "/Private/Echo", "/PRIVATE/a.txt", "/priVate"])
def test_place_is_guarded_in_any_case(start, tmp_path, path):
    """Match lines match so: a handler behind a place would answer under another spelling of it."""
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", more=section("HANDLERS", "Match ^/private/echo echo")))
    assert server.get(path).status == 401


@pytest.mark.parametrize("path, text", [("/dir/", "index"), ("/page", "page"), ("/other", "fallback")])
def test_waiting_for_a_hash_changes_no_answer(start, tmp_path, path, text):
    """The file was found by an index or TryFiles before its password was asked for."""
    users = tmp_path / "users"
    users.write_text(f"slow:{slow_hash('secret')}\n")
    guards = "".join(section("AUTH", f"Location {file}\nUsers {users}")
                     for file in ("/dir/index.html", "/page.html", "/fallback.html"))
    server = start(host="TryFiles $uri.html $uri/ /fallback.html", site=guards,
                   files={"dir/index.html": "index", "page.html": "page", "page.html.html": "no", "fallback.html": "fallback"},
                   extra={"plugins.load": section("PLUGINS", "Load auth")})
    assert server.get(path, headers=basic("slow", "secret")).text == text


def test_scheme_is_known_in_any_case(server):
    token = base64.b64encode(b"alice:secret").decode()
    assert server.get("/private/a.txt", headers={"Authorization": f"bAsIc   {token}"}).status == 200


@pytest.mark.parametrize("target, status", [
    ("/private/a.txt", 401), ("/private", 401), ("/private/", 401), ("/private/deep/b.txt", 401),
    ("/%70rivate/a.txt", 401), ("//private/a.txt", 401), ("/x/../private/a.txt", 401), ("/private%2fa.txt", 401),
    ("/privateer.txt", 200), ("/open.txt", 200), ("/", 200),
])
def test_location_is_a_whole_segment_in_every_spelling(server, target, status):
    assert server.get(target).status == status


def test_longest_location_counts(start, tmp_path):
    (tmp_path / "deep").write_text(f"bob:{SHA1}\n")
    more = section("AUTH", f"Location /private/deep/\nUsers {tmp_path}/deep")
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", more=more))
    assert server.get("/private/deep/b.txt", headers=basic("alice", "secret")).status == 401
    assert server.get("/private/deep/b.txt", headers=basic("bob", "secret")).status == 200
    assert server.get("/private/a.txt", headers=basic("bob", "secret")).status == 401


def test_index_file_of_a_location_is_not_reached_from_outside(start, tmp_path):
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", location="/index.html"))
    assert server.get("/").status == 401
    assert server.get("/", headers=basic("alice", "secret")).status == 200


def test_pipelined_requests_are_judged_each(server):
    good, bad = basic("slow", "secret"), basic("slow", "wrong")
    data = b"".join(http.request("/private/a.txt", headers=list(h.items())) for h in (good, bad, good, bad))
    data += http.request("/open.txt", headers=[("Connection", "close")])
    with server.connect() as connection:
        connection.send(data)
        statuses = [connection.response().status for _ in range(5)]
    assert statuses == [200, 401, 200, 401, 200]


# -- the file


def test_file_that_changes_is_read_again(server, tmp_path):
    assert server.get("/private/a.txt", headers=basic("bob", "secret")).status == 401
    (tmp_path / "users").write_text(f"bob:{SHA1}\n")
    assert eventually(lambda: server.get("/private/a.txt", headers=basic("bob", "secret")).status == 200, every=0.5)
    assert server.get("/private/a.txt", headers=basic("alice", "secret")).status == 401


def test_file_that_becomes_wrong_leaves_the_users_as_they_were(server, tmp_path):
    assert server.get("/private/a.txt", headers=basic("alice", "secret")).status == 200
    (tmp_path / "users").write_text("what is this\n")

    def is_told():
        server.get("/private/a.txt", headers=basic("alice", "secret"))
        return re.search(r"users kept.*line=1", server.log())

    assert eventually(is_told, every=0.5)
    assert server.get("/private/a.txt", headers=basic("alice", "secret")).status == 200


def test_mk_passwd_writes_what_auth_reads(start, tmp_path):
    tool = pathlib.Path(process.binary()).parent / "tools" / "mk_passwd"
    if not tool.exists():
        pytest.skip("mk_passwd is not built here")
    file = tmp_path / "made"

    def run(*arguments, **kwargs):
        return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, **kwargs)

    assert run("-c", file, "alice", "first").returncode == 0
    assert run(file, "bob", "second").returncode == 0
    assert run("-i", file, "alice", input="third\n").returncode == 0
    assert run("-c", file, "x", "y").returncode == 1
    assert run("-D", file, "nobody").returncode == 1
    assert run(file, "a:b", "c").returncode == 2
    assert file.stat().st_mode & 0o777 == 0o640
    server = start(**configured(tmp_path, file.read_text()))
    assert server.get("/private/a.txt", headers=basic("alice", "third")).status == 200
    assert server.get("/private/a.txt", headers=basic("alice", "first")).status == 401
    assert server.get("/private/a.txt", headers=basic("bob", "second")).status == 200
    assert run("-D", file, "bob").returncode == 0
    assert "bob" not in file.read_text()


# -- guessing


def test_wrong_guesses_of_one_address_are_limited(server):
    statuses = [server.get("/private/a.txt", headers=basic("alice", f"guess{i}")).status for i in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    answer = server.get("/private/a.txt", headers=basic("alice", "secret"))
    assert (answer.status, answer.header("Retry-After")) == (429, "60")
    assert server.get("/open.txt").status == 200


def test_verified_password_is_remembered(server):
    """No thread for hashes works for it again."""
    def wake_ups():
        tasks = pathlib.Path(f"/proc/{server.pid}/task").iterdir()
        return {task.name: re.search(r"^voluntary_ctxt_switches:.*$", (task / "status").read_text(), re.M)[0]
                for task in tasks if HASHES in (task / "comm").read_text()}

    server.get("/private/a.txt", headers=basic("slow", "secret"))
    assert wake_ups()
    def is_remembered():
        before = wake_ups()
        for _ in range(40):
            assert server.get("/private/a.txt", headers=basic("slow", "secret")).status == 200
        return wake_ups() == before

    assert eventually(is_remembered)


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.timed
def test_flood_of_slow_hashes_does_not_slow_others(start, tmp_path):
    """Guesses from many addresses, each a slow hash; the same worker's other requests go on."""
    server = start(server="Workers 1", **configured(tmp_path, f"slow:{slow_hash('secret')}\n"))
    stop, statuses = threading.Event(), []

    def guess(number):
        step = 0
        while not stop.is_set():
            step += 1
            source = f"127.0.{number}.{step % 250 + 1}"
            try:
                with server.connect(source=source) as connection:
                    connection.send(http.request("/private/a.txt", headers=list(basic("slow", f"{step}").items())))
                    statuses.append(connection.response().status)
            except OSError:
                pass

    def median_ms(count=200):
        times = []
        with server.connect() as connection:
            for _ in range(count):
                begun = time.monotonic()
                connection.send(http.request("/open.txt"))
                assert connection.response().status == 200
                times.append((time.monotonic() - begun) * 1000)
        return statistics.median(times)

    quiet = median_ms()
    threads = [threading.Thread(target=guess, args=(n + 1,)) for n in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    busy = median_ms()
    stop.set()
    for thread in threads:
        thread.join()
    assert statuses.count(401) > 10 and set(statuses) <= {401, 429, 503}
    assert busy < quiet + 10, f"{quiet:.2f} ms alone, {busy:.2f} ms beside the guesses"


def test_crowd_beyond_the_queue_is_told_to_come_again(start, tmp_path):
    server = start(server="Workers 1", **configured(tmp_path, f"slow:{slow_hash('secret', 20000)}\n"))
    server.signal(signal.SIGSTOP)  # until all have asked
    connections = []
    for number in range(150):
        connection = server.connect(source=f"127.0.1.{number + 1}")
        connection.send(http.request("/private/a.txt", headers=list(basic("slow", "x").items())))
        connections.append(connection)
    late = [server.connect(source="127.0.3.1") for _ in range(12)]
    for connection in late:
        connection.send(http.request("/private/a.txt", headers=list(basic("slow", "secret").items())))
    server.signal(signal.SIGCONT)
    turned_away = [connection.response().status for connection in late].count(503)
    answers = [connection.response() for connection in connections]
    statuses = {answer.status for answer in answers}
    assert statuses == {401, 503}
    assert all(answer.header("Retry-After") == "1" for answer in answers if answer.status == 503)
    assert turned_away > 10
    with server.connect(source="127.0.3.1") as connection:  # none of these was a guess
        assert connection.request("/private/a.txt", headers=list(basic("slow", "secret").items())).status == 200


def test_client_that_leaves_while_its_password_is_checked(server):
    for number in range(8):
        connection = server.connect(source=f"127.0.2.{number + 1}")
        connection.send(http.request("/private/a.txt", headers=list(basic("slow", "x").items())))
        connection.reset() if number % 2 else connection.close()
    assert server.get("/private/a.txt", headers=basic("slow", "secret")).status == 200


def ask_all(server, password, count, **kwargs):
    """So many log-ins that are not known yet, all on their way at once, from one address."""
    connections = [server.connect(**kwargs) for _ in range(count)]
    for number, connection in enumerate(connections):
        headers = list(basic("slow", password(number)).items())
        connection.send(http.request("/private/a.txt", headers=headers))
    statuses = [connection.response().status for connection in connections]
    for connection in connections:
        connection.close()
    return statuses


@pytest.mark.parametrize("workers", [1, 2])
def test_right_log_ins_at_once_from_one_address(start, tmp_path, workers):
    """A page with sixteen pictures: none of them is a guess before it was found wrong."""
    users = "".join(f"user{n}:{slow_hash('secret', 20000)}\n" for n in range(16))
    server = start(server=f"Workers {workers}", **configured(tmp_path, users))
    connections = [server.connect() for _ in range(16)]
    for number, connection in enumerate(connections):
        connection.send(http.request("/private/a.txt", headers=list(basic(f"user{number}", "secret").items())))
    assert [connection.response().status for connection in connections] == [200] * 16


@pytest.mark.parametrize("workers", [1, 2])
def test_guesses_at_once_get_no_more_answers_than_one_by_one(start, tmp_path, workers):
    server = start(server=f"Workers {workers}", **configured(tmp_path, f"slow:{slow_hash('secret', 20000)}\n"))
    statuses = ask_all(server, lambda n: f"guess{n}", 30)
    assert statuses.count(401) == 10 and statuses.count(429) == 20


def test_one_address_does_not_fill_the_queue_of_passwords(start, tmp_path):
    """Whoever has log-ins under way waits for them; others have their turn meanwhile."""
    server = start(server="Workers 1", **configured(tmp_path, f"slow:{slow_hash('secret', 20000)}\n"))
    server.signal(signal.SIGSTOP)
    crowd = [server.connect(source="127.0.5.1") for _ in range(120)]
    for number, connection in enumerate(crowd):
        connection.send(http.request("/private/a.txt", headers=list(basic("slow", f"x{number}").items())))
    server.signal(signal.SIGCONT)
    assert ask_all(server, lambda _: "secret", 2, source="127.0.5.2") == [200] * 2
    statuses = [connection.response().status for connection in crowd]
    assert statuses.count(401) == 10 and set(statuses) <= {401, 429, 503}


def test_waiting_log_ins_of_clients_that_left_are_forgotten(start, tmp_path):
    server = start(server="Workers 1", **configured(tmp_path, f"slow:{slow_hash('secret', 20000)}\n"))
    for number in range(24):
        connection = server.connect()
        connection.send(http.request("/private/a.txt", headers=list(basic("slow", "secret").items())))
        connection.reset() if number % 2 else connection.close()
    assert server.get("/private/a.txt", headers=basic("slow", "secret")).status == 200


def processor_seconds(pid):
    """That all threads of a process have used: of its clock, see clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)


def least_ms(server, users, rounds=4):
    """For each user the least that a refusal costs the server, asked in turns: what else the machine does hardly adds."""
    least = dict.fromkeys(users, math.inf)
    for number in range(rounds):
        for user in users:
            begun = processor_seconds(server.pid)
            with server.connect(source=f"127.0.6.{number + 1}") as connection:
                connection.send(http.request("/private/a.txt", headers=list(basic(user, "guess").items())))
                assert connection.response().status == 401
            least[user] = min(least[user], (processor_seconds(server.pid) - begun) * 1000)
    return least.values()


@pytest.mark.timed
@pytest.mark.parametrize("first", ["aaa", "zzz"])
def test_time_of_an_answer_does_not_name_users(start, tmp_path, first):
    """In a file of two schemes, wherever the fast one stands: unknown names cost what the others do."""
    server = start(server="Workers 1", **configured(tmp_path, f"{first}:{SHA1}\nslow:{slow_hash('secret', 40000)}\n"))
    slow, unknown, fast = least_ms(server, ("slow", "nobody", first))
    assert unknown > slow / 3 and fast > slow / 3, f"{slow:.1f} ms known, {unknown:.1f} unknown, {fast:.1f} of a fast hash"


# -- configuration


@pytest.mark.parametrize("users, said", [
    ("alice:plain\n", r"default:\d+:\d+: error: Users: \S+users:1: not a hash that this system can check"),
    ("", None),
    (f"a:{SHA1}\na:{SHA1}\n", r"Users: \S+users: a user appears twice"),
])
def test_faults_of_the_file_have_their_place(tmp_path, users, said):
    config = process.Config(tmp_path)
    config.write(**configured(tmp_path, users))
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == (1 if said else 0)
    assert not said or re.search(said, checked.stdout + checked.stderr), checked.stdout + checked.stderr


@pytest.mark.parametrize("lines, said", [
    ("Location /private", "needs Users"),
    ("Location private\nUsers {users}", "expected a path such as /private"),
    ("Title a \"quote\"\nUsers {users}", "Title: quotes"),
    ("Users /nowhere/users", "Users: /nowhere/users: not found"),
    ("User {users}", 'unknown key "User" in [AUTH]; did you mean "Users"'),
])
def test_faults_of_the_section(tmp_path, lines, said):
    kwargs = configured(tmp_path, f"alice:{SHA1}\n")
    site = section("HOST", f"DocumentRoot {tmp_path}/root") + section("AUTH", lines.format(users=tmp_path / "users"))
    kwargs["extra"]["sites/default"] = site
    config = process.Config(tmp_path)
    config.write(**kwargs)
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert said in checked.stdout + checked.stderr


@pytest.mark.parametrize("one, other", [("/a", "/a"), ("/a", "/a/"), ("/a", "/A"), ("/", "/")])
def test_two_sections_for_one_place(tmp_path, one, other):
    """The users of one of them would never be asked for."""
    second = section("AUTH", f"Location {other}\nUsers {tmp_path}/users")
    config = process.Config(tmp_path)
    config.write(**configured(tmp_path, f"alice:{SHA1}\n", location=one, more=second))
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert re.search(rf"(?i)default:\d+:\d+: error: Location: another \[AUTH\] of this site has {one}", checked.stdout + checked.stderr)


def test_reload_keeps_the_count_of_guesses(server):
    for i in range(10):
        server.get("/private/a.txt", headers=basic("alice", f"guess{i}"))
    server.reload()
    assert server.get("/private/a.txt", headers=basic("alice", "secret")).status == 429


def test_a_match_line_limits_where_passwords_are_asked_for(start, tmp_path):
    lines = section("HANDLERS", "Match ^/private/deep/ auth")
    server = start(**configured(tmp_path, f"alice:{SHA1}\n", more=lines))
    assert [server.get(path).status for path in ("/private/deep/b.txt", "/private/a.txt")] == [401, 200]


def test_mk_passwd_says_what_to_do_where_the_file_exists(tmp_path):
    tool = pathlib.Path(process.binary()).parent / "tools" / "mk_passwd"
    if not tool.exists():
        pytest.skip("mk_passwd is not built here")
    file = tmp_path / "users"
    file.write_text("alice:{SHA1}x\n")
    result = subprocess.run([tool, "-c", "-i", file, "bob"], input="", capture_output=True, text=True, timeout=30)
    assert result.returncode == 1 and file.read_text() == "alice:{SHA1}x\n"
    assert result.stderr.startswith(f"mk_passwd: {file} exists already, and -c would replace it; without -c the user is added to it")
