# SPDX-License-Identifier: Apache-2.0
"""Keys and tokens of RFC 7515 to 7519, made by openssl."""

import base64
import hashlib
import hmac
import json
import subprocess

SECRET = b"a secret of thirty-two bytes or more"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _part(value):
    return encode(value if isinstance(value, bytes) else json.dumps(value).encode())


def _openssl(*words, data=None):
    return subprocess.run(["openssl", *map(str, words)], input=data, capture_output=True, timeout=30, check=True).stdout


def _raw(der):
    """The two numbers of a signature in DER, of 32 bytes each (RFC 7518 section 3.4)."""
    split = 4 + der[3]
    return b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in (der[4:split], der[split + 2:]))


class Key:
    """alg: HS256, RS256 or ES256, which need a folder."""

    def __init__(self, alg, folder=None, kid=None, secret=SECRET):
        self.alg, self.kid, self._secret = alg, kid, secret
        self._file = folder / f"{alg}-{kid}.pem" if folder else None
        if alg == "RS256":
            _openssl("genrsa", "-out", self._file, "2048")
        elif alg == "ES256":
            _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self._file)

    def public(self):
        return _openssl("pkey", "-in", self._file, "-pubout").decode()

    def jwk(self, **more):
        name = {"kid": self.kid} if self.kid else {}
        if self.alg == "HS256":
            return {"kty": "oct", "k": encode(self._secret), **name, **more}
        if self.alg == "RS256":
            modulus = bytes.fromhex(_openssl("rsa", "-in", self._file, "-noout", "-modulus").decode().strip().partition("=")[2])
            return {"kty": "RSA", "n": encode(modulus), "e": "AQAB", **name, **more}
        point = _openssl("pkey", "-in", self._file, "-pubout", "-outform", "DER")[-64:]
        return {"kty": "EC", "crv": "P-256", "x": encode(point[:32]), "y": encode(point[32:]), **name, **more}

    def signature(self, text):
        if self.alg == "HS256":
            return hmac.new(self._secret, text, hashlib.sha256).digest()
        signed = _openssl("dgst", "-sha256", "-sign", self._file, data=text)
        return signed if self.alg == "RS256" else _raw(signed)

    def token(self, claims, **header):
        """claims: an object, or bytes that are to be in its place."""
        name = {"kid": self.kid} if self.kid else {}
        text = f"{_part({'alg': self.alg, 'typ': 'JWT', **name, **header})}.{_part(claims)}"
        return f"{text}.{encode(self.signature(text.encode()))}"
