# SPDX-License-Identifier: Apache-2.0
"""
Autobahn, the conformance suite of WebSocket: its fuzzing client against an echo of large messages, compressed ones too. The client
speaks HTTP/1.1 alone: through a proxy whose backend speaks HTTP/2, each of its cases passes an extended CONNECT (RFC 8441).
"""

import json
import os
import pathlib
import re
import subprocess

import pytest

from harness import config, executable
from harness.backend import configured
from harness.plugins import path

GOOD = {"OK", "NON-STRICT", "INFORMATIONAL"}  # not strict: found, but not at the first frame
IS_WHOLE = os.environ.get("AUTOBAHN") == "all"
WAYS = ("directly", "through HTTP/2")
# Of compressed messages, 1,000 in each case. All eighteen keep Python 2 busy for much longer.
SIZES = dict.fromkeys(WAYS, range(1, 19)) if IS_WHOLE else {
    "directly": (2, 8),  # messages of 64 and 32,768 bytes
    "through HTTP/2": (5, 12),  # of 4,096 bytes, and 16,384 in frames of 256
}
LIMIT = 6000 if IS_WHOLE else 900


def compressed(section, kinds, way):
    return [f"{section}.{kind}.{size}" for kind in range(1, kinds + 1) for size in SIZES[way]]


def cases_of(section, way):
    """The cases of a section of the suite, and their number. Section 12 has kinds of data, 13 offers of the extension."""
    if section in COMPRESSED:
        cases = compressed(section, COMPRESSED[section], way)
        return cases, len(cases)
    return SECTIONS[section]


COMPRESSED = {"12": 5, "13": 7}
SECTIONS = {"1-5": (["1.*", "2.*", "3.*", "4.*", "5.*"], 64), "6": (["6.*"], 145), "7": (["7.*"], 37), "9-10": (["9.*", "10.*"], 55)}
# Each case has a time limit.
pytestmark = [pytest.mark.slow, pytest.mark.plain("a client that knows no other carriers"), pytest.mark.limit(LIMIT + 60)]


def suite():
    """What tools/deps --test installs where there is a Python 2.7."""
    program = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "monkey" / "autobahn" / "wstest"
    if not program.is_file():
        pytest.skip("the suite is not there: it needs a Python 2.7 with pip, and tools/deps --test")
    return program


PATIENT = "Timeout 300\nKeepAliveTimeout 300\n"


@pytest.fixture(scope="module", params=WAYS)
def server(request, start_shared):
    names, is_direct = [path("sockets")], request.param == "directly"
    if not is_direct:
        names.append(executable.plugin("http2"))
        if not names[-1]:
            pytest.skip("this build has no such plugin")
    service = start_shared(server=PATIENT + ("" if is_direct else "Listen 127.0.0.1:0 h2\n"), handlers="Match ^/suite sockets suite\n",
                           extra={"plugins.load": config.section("PLUGINS", "\n".join(f"Load {name}" for name in names))})
    return service if is_direct else start_shared(server=PATIENT, **configured("", f"127.0.0.1:{service.port} h2c"))


@pytest.mark.parametrize("section", [*SECTIONS, *COMPRESSED])
def test_conformance_suite(server, request, tmp_path, section):
    cases, count = cases_of(section, request.node.callspec.params["server"])
    (tmp_path / "spec.json").write_text(json.dumps({
        "outdir": str(tmp_path / "out"), "cases": cases, "exclude-cases": [], "exclude-agent-cases": {},
        "servers": [{"agent": "monkey", "url": f"ws://127.0.0.1:{server.port}/suite"}]}))
    ran = subprocess.run([suite(), "-m", "fuzzingclient", "-s", tmp_path / "spec.json"], capture_output=True, text=True, timeout=LIMIT)
    report = tmp_path / "out" / "index.json"
    assert report.is_file(), ran.stdout[-3000:] + ran.stderr[-3000:]
    results = json.loads(report.read_text())["monkey"]
    if {result["behavior"] for result in results.values()} == {"UNIMPLEMENTED"}:
        pytest.skip("this build has no zlib")
    bad = {case: (result["behavior"], result["behaviorClose"]) for case, result in results.items()
           if result["behavior"] not in GOOD or result["behaviorClose"] not in GOOD}
    assert not bad
    assert len(results) == count
    assert not re.search("(?i)traceback", ran.stderr)
