# SPDX-License-Identifier: Apache-2.0
"""
A certificate authority of the tests, and what it issues: made with openssl when first asked for, and kept until
the tests end.

    pair = certificates.issue("a.test", "*.a.test", key="rsa")
    server = start(server="Listen 127.0.0.1:0 tls",
                   extra={"plugins/tls/tls.conf": section("TLS", pair.lines())})
    context = certificates.trusting()
"""

import contextlib
import functools
import os
import pathlib
import socket
import ssl
import tempfile
import threading
import time

from harness import tools

LEAF = """\
[{}]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = {}
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
CONFIG = """\
[ca]
default_ca = tests
[tests]
dir = {folder}
database = $dir/index.txt
new_certs_dir = $dir
rand_serial = yes
default_md = sha256
unique_subject = no
policy = any
x509_extensions = {kind}
certificate = {certificate}
private_key = {key}
[any]
commonName = optional
organizationName = optional
[req]
distinguished_name = empty
prompt = no
string_mask = utf8only
[empty]
""" + LEAF.format("server", "serverAuth") + """\
subjectAltName = {names}
authorityInfoAccess = OCSP;URI:http://ocsp.invalid/
""" + LEAF.format("client", "clientAuth") + LEAF.format("responder", "OCSPSigning") + """\
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
"""
KEYS = {"ec": ["EC", "ec_paramgen_curve:P-256"], "p384": ["EC", "ec_paramgen_curve:P-384"],
        "rsa": ["RSA", "rsa_keygen_bits:2048"]}


class Pair:
    """
    A certificate with its key. `certificate` and `key` are paths; `chain` is a file with the certificate and the
    intermediate ones below it, as servers want it.
    """

    def __init__(self, certificate, key, issuer=None):
        self.certificate, self.key, self.issuer = certificate, key, issuer

    @property
    def chain(self):
        if self.issuer is None or self.issuer.issuer is None:
            return self.certificate
        path = self.certificate.with_suffix(".chain.pem")
        path.write_text(self.certificate.read_text() + self.issuer.chain.read_text())
        return path

    def lines(self, *more):
        """What a section [TLS] says for it, and further lines."""
        return "\n".join([f"CertificateFile {self.chain}", f"RSAKeyFile {self.key}", *more])

    def copy_to(self, folder, name="pair"):
        """Its files under other names, to be exchanged below a running server."""
        folder.mkdir(parents=True, exist_ok=True)
        copy = Pair(folder / f"{name}.pem", folder / f"{name}.key", self.issuer)
        copy.take(self)
        return copy

    def take(self, other):
        """From now on the files are those of another pair; each is replaced at once."""
        for target, source in ((self.certificate, other.chain), (self.key, other.key)):
            new = target.with_name(target.name + ".new")
            new.write_bytes(source.read_bytes())
            new.chmod(0o600)
            os.replace(new, target)


_MAKING = threading.RLock()


def _once(make):
    """Each thing is made once, whichever threads of a test ask for it."""
    made = functools.cache(make)

    @functools.wraps(make)
    def give(*args, **kwargs):
        with _MAKING:
            return made(*args, **kwargs)

    return give


@_once
def _folder():
    """A place that goes away with the process."""
    return tempfile.TemporaryDirectory(prefix="monkey-certificates-")


def folder():
    return pathlib.Path(_folder().name)


_numbers = iter(range(1, 1 << 20))


def _openssl(*words, **kwargs):
    done = tools.run("openssl", *words, **kwargs)
    assert done.returncode == 0, f"openssl {' '.join(map(str, words))}\n{done.stderr.decode(errors='replace')}"
    return done.stdout


@_once
def key(kind="ec", number=0):
    """A private key. RSA keys take long to make: the same number is the same key."""
    path = folder() / f"{kind}-{number}.key"
    algorithm, option = KEYS[kind]
    _openssl("genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", path)
    path.chmod(0o600)
    return path


def _config(kind, issuer=None, names=()):
    path = folder() / f"{next(_numbers)}.cnf"
    where = [f"IP:{name}" if name.replace(".", "").isdigit() or ":" in name else f"DNS:{name}" for name in names]
    path.write_text(CONFIG.format(folder=folder(), kind=kind, names=", ".join(where) or "DNS:nobody.invalid",
                                  certificate=issuer.certificate if issuer else "", key=issuer.key if issuer else ""))
    return path


def _sign(kind, issuer, key_path, subject, names=(), valid=("-days", "200")):
    """A certificate of one of the kinds of CONFIG."""
    config, path = _config(kind, issuer, names), folder() / f"{next(_numbers)}.pem"
    request = path.with_suffix(".csr")
    (folder() / "index.txt").touch()
    _openssl("req", "-new", "-config", config, "-key", key_path, "-subj", subject, "-utf8", "-out", request)
    _openssl("ca", "-batch", "-notext", "-config", config, "-in", request, "-out", path, *valid)
    return Pair(path, key_path, issuer)


@_once
def authority(name="Test CA"):
    """Who signs. Another name is another authority, which the first one's clients do not trust."""
    private = key("ec", f"authority-{name}")
    path = folder() / f"authority-{len(name)}-{next(_numbers)}.pem"
    _openssl("req", "-x509", "-config", _config("authority"), "-extensions", "authority", "-key", private,
             "-subj", f"/CN={name}", "-days", "400", "-out", path)
    return Pair(path, private)


@_once
def intermediate():
    """An authority below the first: its certificates need a chain."""
    return _sign("authority", authority(), key("ec", "intermediate"), "/CN=Test Intermediate CA")


@_once
def issue(*names, kind="ec", chained=False, number=0):
    """A server's certificate for these names; for localhost and 127.0.0.1 when none is given."""
    names = names or ("localhost", "127.0.0.1", "::1")
    return _sign("server", intermediate() if chained else authority(), key(kind, number), f"/CN={names[0]}", names)


@_once
def first(by, kind="ec"):
    """The certificate of localhost that an authority gave the number 1, as others do too."""
    path, index = folder() / f"{next(_numbers)}.pem", folder() / "index.txt"
    config, request, issuer = _config("server", names=("localhost",)), path.with_suffix(".csr"), authority(by)
    _openssl("req", "-new", "-config", config, "-key", key(kind, 0), "-subj", "/CN=localhost", "-out", request)
    _openssl("x509", "-req", "-in", request, "-CA", issuer.certificate, "-CAkey", issuer.key, "-set_serial", "1",
             "-extfile", config, "-extensions", "server", "-days", "200", "-out", path)
    index.touch()
    if "\t01\t" not in index.read_text():
        index.write_text(index.read_text() + "V\t391231235959Z\t\t01\tunknown\t/CN=localhost\n")
    return Pair(path, key(kind, 0), issuer)


@_once
def expired(*names):
    """One whose time was over long ago."""
    names = names or ("localhost", "127.0.0.1")
    return _sign("server", authority(), key("ec", 0), f"/CN={names[0]}", names,
                 ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z"))


@_once
def future(*names):
    """One whose time is still to come."""
    names = names or ("localhost", "127.0.0.1")
    return _sign("server", authority(), key("ec", 0), f"/CN={names[0]}", names,
                 ("-startdate", "20900101000000Z", "-enddate", "20900201000000Z"))


def wrong_key():
    """A good certificate with the key of another one."""
    return Pair(issue().certificate, key("ec", "other"), authority())


@_once
def client(subject="/O=Tests/CN=client", by="Test CA"):
    """A client's certificate."""
    return _sign("client", authority(by), key("ec", "client"), subject)


def short_lived_client(seconds):
    """One whose time is over soon."""
    end = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + seconds))
    return _sign("client", authority(), key("ec", "client"), "/O=Tests/CN=brief",
                 valid=("-startdate", "20200101000000Z", "-enddate", end))


@_once
def responder(issuer, kind="responder", valid=("-days", "200")):
    """Whom an authority lets speak of its certificates; by another kind it does not."""
    return _sign(kind, issuer, key("ec", f"responder-{kind}"), f"/CN=Responder {kind}", valid=valid)


@_once
def ocsp_response(pair, days=7, by=None):
    """A file with the word of a certificate's authority, or of somebody else, that it is good (RFC 6960), to be stapled."""
    issuer, path = pair.issuer, folder() / f"{next(_numbers)}.ocsp"
    by, request = by or issuer, path.with_suffix(".req")
    _openssl("ocsp", "-issuer", issuer.certificate, "-cert", pair.certificate, "-no_nonce", "-reqout", request)
    _openssl("ocsp", "-index", folder() / "index.txt", "-CA", issuer.certificate, "-rsigner", by.certificate,
             "-rkey", by.key, "-reqin", request, "-ndays", days, "-respout", path)
    return path


def crl(by="Test CA", revoked=(), days=("-crldays", "30")):
    """A list of certificates that an authority has revoked; its index is its own, for other tests' sake."""
    number, issuer = next(_numbers), authority(by)
    index, path, config = (folder() / f"{number}{end}" for end in (".index", ".crl", ".crl.cnf"))
    serials = [_openssl("x509", "-in", pair.certificate, "-noout", "-serial").decode().strip().partition("=")[2] for pair in revoked]
    index.write_text("".join(f"R\t391231235959Z\t240101000000Z\t{serial}\tunknown\t/CN=revoked\n" for serial in serials))
    config.write_text(_config("client", issuer).read_text().replace("$dir/index.txt", str(index)))
    _openssl("ca", "-config", config, "-gencrl", "-out", path, *days)
    return path


@_once
def dh_parameters():
    """Those of RFC 7919, 2048 bits."""
    path = folder() / "ffdhe2048.pem"
    _openssl("genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe2048", "-out", path)
    return path


def trusting(by="Test CA", version=None, as_client=None):
    """What a client needs to talk to servers with certificates of the authority. version: the only one it speaks."""
    context = ssl.create_default_context(cafile=str(authority(by).certificate))
    context.suppress_ragged_eofs = False
    context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)  # Python sets it, and an end without close_notify looks right
    if version:
        context.minimum_version = context.maximum_version = version
    if as_client:
        context.load_cert_chain(as_client.chain, as_client.key)
    return context


@contextlib.contextmanager
def connected(address, context=None, name="localhost", **kwargs):
    """A connection of Python's own TLS, handshake done."""
    with socket.create_connection(address, timeout=30) as raw:
        with (context or trusting()).wrap_socket(raw, server_hostname=name, **kwargs) as secured:
            yield secured
