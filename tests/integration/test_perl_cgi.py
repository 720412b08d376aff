# SPDX-License-Identifier: Apache-2.0
"""A script with Perl's CGI.pm, as there are many: put into a folder, one line, and it works."""

import hashlib
import random

import pytest

from harness import applications, http, tools

FORM = r"""#!/usr/bin/perl -T
use strict;
use warnings;
use CGI;

my $q = CGI->new;
my $visits = ($q->cookie('visits') || 0) + 1;
print $q->header(-type => 'text/plain', -charset => 'utf-8', -x_word => 'one',
                 -cookie => [$q->cookie(-name => 'visits', -value => $visits),
                             $q->cookie(-name => 'second', -value => 'a b')]);
print join("\n", $q->request_method, $q->path_info, $q->url(-absolute => 1), $q->self_url, $visits,
           map { my $n = $_; map { "$n=$_" } $q->multi_param($n) } sort $q->param), "\n";
"""
UPLOAD = r"""#!/usr/bin/perl
use CGI;
use Digest::SHA;

my $q = CGI->new;
my $in = $q->upload('file');
print $q->header('text/plain'), Digest::SHA->new(1)->addfile($in)->hexdigest, ' ', $q->param('file'), "\n";
"""
REDIRECT = "#!/usr/bin/perl\nuse CGI;\nprint CGI->new->redirect('http://www.example.org/');\n"
STATUS = "#!/usr/bin/perl\nuse CGI;\nprint CGI->new->header(-status => '402 Pay first', -type => 'text/plain'), 'gold';\n"
NPH = "#!/usr/bin/perl\nuse CGI qw(-nph);\nmy $q = CGI->new;\nprint $q->header(-type => 'text/plain', -nph => 1), 'by itself';\n"
DIES = "#!/usr/bin/perl\nuse CGI;\ndie 'of a reason that the log tells';\n"
WARNS = "#!/usr/bin/perl\nuse CGI;\nwarn 'a word for the log';\nprint CGI->new->header('text/plain'), 'fine';\n"

FILES = {"cgi-bin/form.pl": FORM, "cgi-bin/upload.pl": UPLOAD, "cgi-bin/redirect.pl": REDIRECT, "cgi-bin/status.pl": STATUS,
         "cgi-bin/nph-own.pl": NPH, "cgi-bin/dies.pl": DIES, "cgi-bin/warns.pl": WARNS}


@pytest.fixture(scope="module")
def server(start_shared):
    server = start_shared(files=FILES, server="MaxBodySize 20M", **applications.cgi(r"^/cgi-bin/.*\.pl"))
    for name in FILES:
        (server.root / name).chmod(0o755)
    return server


def test_a_form_by_get(server):
    answer = server.get("/cgi-bin/form.pl/more/path?b=2&a=%C3%A4+x&a=y")
    assert answer.header("Content-Type") == "text/plain; charset=utf-8"
    assert answer.header("X-Word") == "one"
    port = server.port
    assert answer.text.splitlines()[:2] == ["GET", "/more/path"]
    assert answer.text.splitlines()[2:4] == [
        "/cgi-bin/form.pl", "http://localhost/cgi-bin/form.pl/more/path?b=2;a=%C3%A4%20x;a=y"] or f":{port}" in answer.text
    assert answer.text.splitlines()[4:] == ["1", "a=ä x", "a=y", "b=2"]


def test_a_form_by_post(server):
    answer = server.request("/cgi-bin/form.pl", "POST", body=b"a=1&b=%26",
                            headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.text.splitlines()[0] == "POST"
    assert answer.text.splitlines()[5:] == ["a=1", "b=&"]


def test_cookies_come_and_go(server):
    cookies = ""
    for visit in ("1", "2", "3"):
        answer = server.get("/cgi-bin/form.pl", headers={"Cookie": cookies} if cookies else {})
        assert answer.text.splitlines()[4] == visit
        assert len(answer.all("Set-Cookie")) == 2
        cookies = "; ".join(line.partition(";")[0] for line in answer.all("Set-Cookie"))


def test_an_upload(server, tmp_path):
    file = tmp_path / "ten.bin"
    file.write_bytes(random.Random(1).randbytes(10_000_000))
    done = tools.run("curl", "--silent", "--show-error", "--form", f"file=@{file}",
                     f"http://127.0.0.1:{server.port}/cgi-bin/upload.pl")
    assert done.stdout.decode() == f"{hashlib.sha1(file.read_bytes()).hexdigest()} ten.bin\n", done.stderr


def test_a_redirect(server):
    answer = server.get("/cgi-bin/redirect.pl")
    assert (answer.status, answer.header("Location")) == (302, "http://www.example.org/")


def test_a_status(server):
    answer = server.get("/cgi-bin/status.pl")
    assert (answer.status, answer.body) == (402, b"gold")


def test_a_script_that_writes_its_own_head(server):
    answer = server.get("/cgi-bin/nph-own.pl")
    assert (answer.status, answer.body) == (200, b"by itself")


def test_a_script_that_dies(server):
    since = len(server.log())
    assert server.get("/cgi-bin/dies.pl").status in (500, 502)
    server.wait_for_log("of a reason that the log tells", since)


def test_what_a_script_warns_of_is_in_the_log(server):
    since = len(server.log())
    assert server.get("/cgi-bin/warns.pl").body == b"fine"
    server.wait_for_log("a word for the log", since)


def test_head(server):
    answer = server.head("/cgi-bin/form.pl")
    assert answer.status == 200 and answer.header("X-Word") == "one" and answer.body == b""


def test_what_may_not_be_executed_is_not_sent(server):
    (server.root / "cgi-bin/plain.pl").write_text("#!/usr/bin/perl\nsecret\n")
    answer = server.get("/cgi-bin/plain.pl")
    assert answer.status in (403, 500) and b"secret" not in answer.body


def test_no_such_script(server):
    assert server.get("/cgi-bin/none.pl").status == 404
    assert server.raw(http.request("/cgi-bin/none.pl/x", headers={"Connection": "close"})).startswith(b"HTTP/1.1 404")
