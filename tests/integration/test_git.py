# SPDX-License-Identifier: Apache-2.0
"""git's own smart HTTP (`git http-backend`, a CGI program) with the real client."""

import concurrent.futures
import random

import pytest

from harness import applications, tools
from harness.git import Git

SCRIPT = "#!/bin/sh\nexport GIT_PROJECT_ROOT={project} GIT_HTTP_EXPORT_ALL=1\nexec git http-backend\n"


@pytest.fixture(scope="module")
def git(tmp_path_factory):
    return Git(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def project(tmp_path_factory, git):
    """The folder with the repositories: one, with some commits."""
    folder = tmp_path_factory.mktemp("project")
    work = folder / "work"
    git("init", "--quiet", "--initial-branch=main", work)
    for number in range(5):
        git.commit(work, f"file{number}", random.Random(number).randbytes(1000))
    git("clone", "--quiet", "--bare", work, folder / "one.git")
    git("config", "http.receivepack", "true", at=folder / "one.git")
    return folder


@pytest.fixture(scope="module")
def server(start_shared, project):
    server = start_shared(files={"git": SCRIPT.format(project=project)}, server="MaxBodySize 200M",
                          **applications.cgi("^/git(/|$)"))
    (server.root / "git").chmod(0o755)
    return server


@pytest.fixture
def url(server):
    return f"http://127.0.0.1:{server.port}/git/one.git"


@pytest.mark.parametrize("version", ["0", "1", "2"])
def test_clone_and_fetch(git, url, project, tmp_path, version):
    """The version goes as a header field (Git-Protocol) that the program finds in its environment."""
    git("-c", f"protocol.version={version}", "clone", "--quiet", url, tmp_path / "copy")
    assert git("rev-parse", "HEAD", at=tmp_path / "copy") == git("rev-parse", "main", at=project / "one.git")
    work = tmp_path / "work"
    git("clone", "--quiet", project / "one.git", work)
    newest = git.commit(work, f"new-{version}", b"new")
    git("push", "--quiet", "origin", "main", at=work)
    git("-c", f"protocol.version={version}", "fetch", "--quiet", at=tmp_path / "copy")
    assert git("rev-parse", "origin/main", at=tmp_path / "copy") == newest


def test_the_version_is_spoken(git, url):
    shown = git("-c", "protocol.version=2", "ls-remote", url, trace=True)
    assert "Git-Protocol: version=2" in shown


def test_shallow_clone(git, url, tmp_path):
    git("clone", "--quiet", "--depth", "1", url, tmp_path / "copy")
    assert git("rev-list", "--count", "HEAD", at=tmp_path / "copy") == "1"


def test_push(git, url, project, tmp_path):
    git("clone", "--quiet", url, tmp_path / "copy")
    newest = git.commit(tmp_path / "copy", "small", b"a small change")
    git("push", "--quiet", "origin", "HEAD:refs/heads/small", at=tmp_path / "copy")
    assert git("rev-parse", "small", at=project / "one.git") == newest


@pytest.mark.slow
def test_a_large_push_is_chunked(git, url, project, tmp_path):
    """Above http.postBuffer the client does not know the length and sends chunks."""
    git("clone", "--quiet", url, tmp_path / "copy")
    newest = git.commit(tmp_path / "copy", "large", random.Random(9).randbytes(30_000_000))
    shown = git("push", "origin", "HEAD:refs/heads/large", at=tmp_path / "copy", trace=True)
    assert "ransfer-" in shown and "chunked" in shown.lower()
    assert git("rev-parse", "large", at=project / "one.git") == newest
    git("fsck", at=project / "one.git")
    git("clone", "--quiet", "--branch", "large", url, tmp_path / "again")
    assert (tmp_path / "again" / "large").read_bytes() == (tmp_path / "copy" / "large").read_bytes()


@pytest.mark.slow
def test_a_large_question_is_gzipped(git, url, project, tmp_path):
    """A client with many commits names them; above 1,024 bytes compressed, which the program undoes itself."""
    copy = tmp_path / "copy"
    git("clone", "--quiet", url, copy)
    for number in range(60):
        git("commit", "--quiet", "--allow-empty", "--message", str(number), at=copy)
        git("tag", f"t{number}", at=copy)
    work = tmp_path / "work"
    git("clone", "--quiet", project / "one.git", work)
    newest = git.commit(work, "other", b"other")
    git("push", "--quiet", "origin", "HEAD:refs/heads/other", at=work)
    shown = git("fetch", "origin", at=copy, trace=True)
    assert "content-encoding: gzip" in shown.lower()
    assert git("rev-parse", "origin/other", at=copy) == newest


@pytest.mark.slow
def test_several_clients_at_once(git, url, project, tmp_path):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: git("clone", "--quiet", url, tmp_path / f"copy{number}"), range(6)))
    wanted = git("rev-parse", "main", at=project / "one.git")
    assert {git("rev-parse", "HEAD", at=tmp_path / f"copy{number}") for number in range(6)} == {wanted}


def test_no_such_repository(git, server):
    done = tools.run("git", "clone", f"http://127.0.0.1:{server.port}/git/none.git", env=git.environment)
    assert done.returncode != 0 and b"not found" in done.stderr
