# SPDX-License-Identifier: Apache-2.0
"""Servers with the plugin compress, and the decoders of independent tools."""

import subprocess
import zlib

import pytest

from harness import executable
from harness.config import section

CODINGS = ("br", "gzip", "zstd")


def load(*names):
    """plugins.load with these plugins and compress; the test is left out where the build has it not."""
    if not executable.plugin("compress"):
        pytest.skip("this build has no plugin compress")
    return section("PLUGINS", "\n".join(f"Load {executable.plugin(name)}" for name in (*names, "compress")))


def configured(lines="", plugins=(), extra=None, **kwargs):
    """What start() takes for compressed answers of every site."""
    files = {"plugins.load": load(*plugins), "plugins/compress/compress.conf": section("COMPRESS", lines)}
    return {"extra": {**(extra or {}), **files}, **kwargs}


def decode(coding, data):
    """The whole of a stream, and nothing after it."""
    if coding is None:
        return data
    if coding == "gzip":
        decoder = zlib.decompressobj(31)
        plain = decoder.decompress(data)
        assert decoder.eof and not decoder.unused_data
        return plain
    return subprocess.run([{"br": "brotli", "zstd": "zstd"}[coding], "-dc"], input=data, capture_output=True, check=True).stdout


def plain(response):
    return decode(response.header("Content-Encoding"), response.body)
