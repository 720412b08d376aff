# SPDX-License-Identifier: Apache-2.0
"""The plugin `jwt`: bearer tokens (RFC 6750) that are JSON Web Tokens (RFC 7515, 7517 to 7519, 8725)."""

import json
import time

import pytest

from harness import process
from harness.config import Config, section
from harness.jwt import SECRET, Key

pytestmark = pytest.mark.skipif(not process.plugin("jwt"), reason="jwt needs OpenSSL, which is not there for this build")
FILES = {"index.html": "<p>hello", "api/a.txt": "secret", "apiary.txt": "bees"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    return {alg: Key(alg, folder, kid=alg.lower()) for alg in ("HS256", "RS256", "ES256")}


@pytest.fixture
def configured(keys, tmp_path):
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [key.jwk() for key in keys.values()]}))

    def arguments(*lines, location="/api", more="", **kwargs):
        jwt = section("JWT", "\n".join([f"Location {location}", "Title Staff only", *(lines or [f"Keys {tmp_path}/keys.json"])]))
        return {"files": FILES, "extra": {"plugins.load": section("PLUGINS", f"Load {process.plugin('jwt')}")}, "site": jwt + more, **kwargs}
    return arguments


@pytest.fixture
def guarded(start, configured, tmp_path):
    """A server whose /api needs a token, with further lines in its section."""
    return lambda *lines, **kwargs: start(**configured(f"Keys {tmp_path}/keys.json", *lines, **kwargs))


def claims(**more):
    return {"sub": "alice", "exp": int(time.time()) + 600, **more}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def ask(server, token, target="/api/a.txt"):
    return server.get(target, headers=bearer(token))


# -- who may


@pytest.mark.parametrize("alg", ["HS256", "RS256", "ES256"])
def test_a_signed_token_opens_the_place(guarded, keys, alg):
    server = guarded()
    token = keys[alg].token(claims())
    assert [ask(server, token).status for _ in range(3)] == [200] * 3
    assert ask(server, token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")).status == 401


def test_without_a_token_the_challenge_names_the_realm_alone(guarded):
    """RFC 6750 section 3: nothing is said to have been wrong where there was nothing."""
    server = guarded()
    answer = server.get("/api/a.txt")
    assert answer.status == 401
    assert answer.header("WWW-Authenticate") == 'Bearer realm="Staff only"'
    assert server.get("/").status == server.get("/apiary.txt").status == 200


def test_an_invalid_token_is_called_so(guarded, keys):
    answer = ask(guarded(), keys["HS256"].token(claims(exp=1)))
    assert answer.status == 401
    assert answer.header("WWW-Authenticate") == 'Bearer realm="Staff only", error="invalid_token"'


@pytest.mark.parametrize("path", ["/API/a.txt", "/api/../api/a.txt", "/%61pi/a.txt", "/api", "/api/none", "/api;v=1/a.txt"])
def test_no_spelling_of_a_path_is_free(guarded, path):
    assert guarded().get(path).status == 401


def test_the_scheme_is_in_any_case_and_another_is_none(guarded, keys):
    server, token = guarded(), keys["HS256"].token(claims())
    for value, status in ((f"bearer {token}", 200), (f"BEARER   {token}", 200), (f"Basic {token}", 401), (token, 401), ("Bearer", 401),
                          ("Bearer ", 401)):
        assert server.get("/api/a.txt", headers={"Authorization": value}).status == status


# -- attacks


def test_the_public_key_is_no_secret(guarded, keys):
    """RFC 8725 section 2.1: a token that is signed with the text of the public key, as if it were a secret."""
    server = guarded()
    for forger in (keys["RS256"].public(), keys["ES256"].public(), json.dumps(keys["RS256"].jwk())):
        forged = Key("HS256", kid="rs256", secret=forger.encode()).token(claims())
        assert ask(server, forged).status == 401


def test_tokens_without_a_signature(guarded, keys):
    server = guarded()
    whole = keys["HS256"].token(claims())
    head, body, signature = whole.split(".")
    none = keys["HS256"].token(claims(), alg="none").rsplit(".", 1)[0]
    for token in (f"{head}.{body}", f"{head}.{body}.", f"{none}.", f"{none}.{signature}", f"{head}..{signature}", f".{body}.{signature}",
                  f"{whole}.{signature}", "..", f"{head}.{body}.{signature}=", f"{head} .{body}.{signature}"):
        assert ask(server, token).status == 401


@pytest.mark.parametrize("header", [{"crit": ["exp"]}, {"kid": "other"}, {"kid": 1}, {"alg": "HS384"}, {"alg": "ES256"}, {"alg": ["HS256"]}])
def test_headers_that_are_refused(guarded, keys, header):
    assert ask(guarded(), keys["HS256"].token(claims(), **header)).status == 401


def test_claims_that_are_no_object_or_have_a_name_twice(guarded, keys):
    server, soon = guarded(), int(time.time()) + 600
    for text in (b"[]", b"", b"{", b'"a"', b'{"exp":1,"exp":%d}' % soon, b'{"exp":%d,}' % soon, b'{"exp":%d,"x":' % soon + b"[" * 40 + b"]" * 40 + b"}",
                 b'{"exp":%d,"sub":"\xff"}' % soon):
        assert ask(server, keys["HS256"].token(text)).status == 401


def test_a_long_token_is_refused(guarded, keys):
    server = guarded()
    assert ask(server, keys["HS256"].token(claims(pad="x" * 2800))).status == 200
    assert ask(server, keys["HS256"].token(claims(pad="x" * 4000))).status == 401


def test_a_name_with_control_bytes_is_refused(guarded, keys):
    server = guarded()
    for name in ("a\nb", "a\x7f", "\x00", "x" * 300, ["a"], {"a": 1}, None):
        assert ask(server, keys["HS256"].token(claims(sub=name))).status == 401


# -- claims


def test_claims_that_are_demanded(guarded, keys):
    server = guarded("Issuer https://id.example", "Audience shop stock", "Claim scope write", "Claim level 7")
    good = {"iss": "https://id.example", "aud": ["other", "stock"], "scope": "read write", "level": 7}
    for change, status in (({}, 200), ({"aud": "shop"}, 200), ({"aud": "other"}, 401), ({"iss": "https://id.example/"}, 401),
                           ({"nbf": int(time.time()) + 300}, 401), ({"nbf": int(time.time()) + 30}, 200), ({"scope": "read"}, 403),
                           ({"level": 8}, 403)):
        assert ask(server, keys["ES256"].token(claims(**{**good, **change}))).status == status, change
    lacking = ask(server, keys["ES256"].token(claims(**{**good, "scope": ""})))
    assert lacking.header("WWW-Authenticate") == 'Bearer realm="Staff only", error="insufficient_scope"'


def test_tokens_end(guarded, keys):
    token = keys["HS256"].token({"sub": "alice"})
    assert ask(guarded(), token).status == 401
    assert ask(guarded("AllowEndless on"), token).status == 200
    strict = guarded("Leeway 0")
    brief = keys["HS256"].token(claims(exp=int(time.time()) + 2))
    assert ask(strict, brief).status == 200
    time.sleep(2.1)
    assert ask(strict, brief).status == 401, "a signature that is remembered does not make a token last"


def test_the_longest_place_decides(guarded, keys, tmp_path):
    (tmp_path / "secret").write_bytes(SECRET + b"\n")
    server = guarded(more=section("JWT", f"Location /api/deep\nSecret {tmp_path}/secret"))
    assert ask(server, keys["ES256"].token(claims()), "/api/deep/x").status == 401
    assert ask(server, Key("HS256").token(claims()), "/api/deep/x").status == 404


@pytest.mark.parametrize("location", ["/*/a.txt", "*.txt", "^/api/a[.]txt$"])
def test_a_location_may_be_a_pattern(guarded, keys, location):
    server = guarded(location=location)
    assert server.get("/api/a.txt").status == 401
    assert ask(server, keys["ES256"].token(claims())).status == 200
    assert server.get("/api/b.html").status == 404


# -- around it


def test_a_cookie_in_place_of_the_field(guarded, keys):
    server, token = guarded("Cookie session"), keys["HS256"].token(claims())
    assert server.get("/api/a.txt", headers={"Cookie": f"other=1; session={token}"}).status == 200
    assert server.get("/api/a.txt", headers={"Cookie": f"Session={token}"}).status == 401
    assert server.get("/api/a.txt", headers={"Cookie": f"session={token}", **bearer("x")}).status == 401


def test_the_user_of_a_token_is_in_the_log(start, configured, keys, tmp_path):
    arguments = configured(f"Keys {tmp_path}/keys.json", "User mail", more=section("LOGGER", f"AccessLog {tmp_path}/access.log"))
    arguments["extra"]["plugins.load"] = section("PLUGINS", f"Load {process.plugin('jwt')}\nLoad {process.plugin('logger')}")
    server = start(**arguments)
    assert ask(server, keys["HS256"].token(claims(mail="al\u00ec@example.org"))).status == 200
    server.stop()
    assert " al" in (tmp_path / "access.log").read_text() and "@example.org [" in (tmp_path / "access.log").read_text()


def test_a_reload_takes_new_keys(guarded, keys, tmp_path):
    server, token = guarded(), keys["ES256"].token(claims())
    assert ask(server, token).status == 200
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [keys["HS256"].jwk()]}))
    server.reload()
    assert ask(server, token).status == 401, "the signature is remembered no longer"
    assert ask(server, keys["HS256"].token(claims())).status == 200


@pytest.mark.parametrize("lines, message", [
    ([], "[JWT] needs either Keys"),
    (["Keys {keys}", "Secret {secret}"], "[JWT] needs either Keys"),
    (["Keys {folder}/none"], "Keys: {folder}/none: "),
    (["Secret {short}"], "a secret has at least 32 bytes"),
    (["Keys {short}"], "it has no public key in PEM"),
    (["Keys {keys}", "Claim scope"], "the name of a claim and its value"),
    (["Keys {keys}", "Leeway 1h"], "Leeway"),
    (["Keys {keys}", 'Title a "b"'], "quotes"),
    (["Keys {keys}", "Location api"], "expected a path"),
    (["Keys {keys}", "Location /api/.*"], "a regular expression begins with ^"),
])
def test_faults_of_a_section(configured, tmp_path, lines, message):
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "short").write_text("short")
    names = {"folder": tmp_path, "keys": tmp_path / "keys.json", "secret": tmp_path / "secret", "short": tmp_path / "short"}
    written = Config(tmp_path)
    site = section("JWT", "\n".join(line.format(**names) for line in lines))
    written.write(**{key: value for key, value in configured().items() if key != "site"}, site=site)
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode != 0
    assert message.format(**names).lower() in (result.stdout + result.stderr).lower()
