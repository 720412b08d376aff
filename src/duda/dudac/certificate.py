# SPDX-License-Identifier: Apache-2.0
"""The key pair of -S: made once, kept in the cache, made anew when it is old."""

import subprocess
import time

from .failure import Failure

NEW_AFTER = 300 * 86400  # seconds; the server's own pairs are valid for longer


def pair(places, cache):
    """(certificate, key) for localhost."""
    folder = cache.folder / "keys"
    certificate, key = folder / "cert.pem", folder / "key.pem"
    if not (certificate.is_file() and key.is_file()) or time.time() - certificate.stat().st_mtime > NEW_AFTER:
        for file in (certificate, key):
            file.unlink(missing_ok=True)
        done = subprocess.run([str(places.server), "--make-cert", str(folder), "localhost", "127.0.0.1", "::1"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"no key pair for TLS: {(done.stderr or done.stdout).strip()}")
    return certificate, key
