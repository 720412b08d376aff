/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { PUBLIC, SECRET };

struct source {
    tls_open_fn open;
    void *arg;
    struct tls_report *report;
};

/* ---- one file ---- */

static void free_file(struct tls_file *file)
{
    if (file->bytes)
        explicit_bzero(file->bytes, file->len);
    free(file->bytes);
    file->bytes = NULL;
    file->len = 0;
}

/* @return its length, or an error. One byte more than it has shows a file that grows. */
static ssize_t read_whole(int fd, char *to, size_t room)
{
    size_t len = 0;

    while (len < room) {
        ssize_t n = read(fd, to + len, room - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mk_error_from_errno(errno);
        if (n == 0)
            return (ssize_t)len;
        len += (size_t)n;
    }
    return MK_E_LIMIT;
}

/*
 * Bytes in memory have no name by which others could open them, whatever their mode is; and who passes a descriptor passes no
 * path to its file.
 */
static bool has_readers(const struct stat *st, const char *path)
{
    return (st->st_mode & S_IROTH) && st->st_nlink > 0 &&
           strncmp(path, "/proc/self/fd/", 14) != 0 && strncmp(path, "/dev/fd/", 8) != 0;
}

/* @return 0 or an error, with why it cannot be used. */
static int take_bytes(struct tls_file *file, int fd, enum kind kind, struct tls_report *r)
{
    struct stat st;
    ssize_t len;

    if (fstat(fd, &st) < 0)
        return mk_error_from_errno(errno);
    if (!S_ISREG(st.st_mode))
        return MK_E_INVALID;
    if (st.st_size > TLS_FILE_MAX)
        return MK_E_LIMIT;
    file->len = (size_t)st.st_size + 1;
    file->bytes = calloc(1, file->len + 1);
    if (!file->bytes)
        return MK_E_NOMEM;
    len = read_whole(fd, file->bytes, file->len);
    if (len < 0)
        return (int)len;
    file->len = (size_t)len;
    file->bytes[len] = '\0';
    if (kind == SECRET && has_readers(&st, file->path))
        tls_warn(r, "%s: %s can be read by everybody on this machine: chmod o-r it", file->key,
                 file->path);
    return 0;
}

static const char *why_not(int err)
{
    return err == MK_E_INVALID ? "is not a file"
           : err == MK_E_LIMIT ? "is too large for a certificate or a key"
                               : mk_error_text(err);
}

/* @return 0, MK_E_INVALID with a fault noted, or MK_E_NOMEM. */
static int read_file(struct tls_file *file, const char *key, const char *path, enum kind kind,
                     const struct source *from)
{
    int fd, err;

    *file = (struct tls_file){.key = key, .path = path};
    if (!path)
        return 0;
    fd = from->open(from->arg, path);
    err = fd < 0 ? fd : take_bytes(file, fd, kind, from->report);
    if (fd >= 0)
        close(fd);
    if (err == 0 || err == MK_E_NOMEM)
        return err;
    free_file(file);
    tls_fault(from->report, "%s: %s: %s", key, path, why_not(err));
    return MK_E_INVALID;
}

static int read_files(struct tls_file *files, const char *key, const struct mk_words *paths,
                      enum kind kind, const struct source *from)
{
    int err = 0;

    for (size_t i = 0; i < paths->count && err != MK_E_NOMEM; i++) {
        int one = read_file(&files[i], key, paths->items[i].p, kind, from);

        err = one < 0 ? one : err;
    }
    return err;
}

/* ---- all of a section ---- */

static bool are_too_many(const char *key, const struct mk_words *paths, struct tls_report *r)
{
    if (paths->count <= TLS_PAIRS_MAX)
        return false;
    tls_fault(r, "%s: at most %d, one for each kind of key", key, TLS_PAIRS_MAX);
    return true;
}

static bool are_too_many_crls(const struct mk_words *paths, struct tls_report *r)
{
    if (paths->count <= TLS_CRLS_MAX)
        return false;
    tls_fault(r, "CRLFile: at most %d; a file may have several lists", TLS_CRLS_MAX);
    return true;
}

static bool are_pairs(const struct tls_settings *s, struct tls_report *r)
{
    if (s->certificates.count == 0) {
        tls_fault(r, "[TLS] needs CertificateFile and KeyFile");
        return false;
    }
    if (s->certificates.count == s->keys.count)
        return true;
    tls_fault(r,
              "[TLS] names %zu certificates (CertificateFile) and %zu keys (KeyFile): each "
              "certificate needs its key, in the same order",
              s->certificates.count, s->keys.count);
    return false;
}

static int worse(int a, int b)
{
    return a == MK_E_NOMEM || b == 0 ? a : b;
}

int tls_files_read(struct tls_files *f, const struct tls_settings *s, tls_open_fn open, void *arg,
                   struct tls_report *r)
{
    const struct source from = {open, arg, r};
    int err;

    memset(f, 0, sizeof(*f));
    if (are_too_many("CertificateFile", &s->certificates, r) ||
        are_too_many("OCSPFile", &s->ocsp, r) || are_too_many_crls(&s->crls, r) || !are_pairs(s, r))
        return MK_E_INVALID;
    f->npairs = s->certificates.count;
    f->nocsp = s->ocsp.count;
    f->ncrls = s->crls.count;
    err = read_files(f->certificates, "CertificateFile", &s->certificates, PUBLIC, &from);
    err = worse(err, read_files(f->keys, "KeyFile", &s->keys, SECRET, &from));
    err = worse(err, read_files(f->ocsp, "OCSPFile", &s->ocsp, PUBLIC, &from));
    err = worse(err, read_file(&f->chain, "CertificateChainFile", s->chain, PUBLIC, &from));
    err = worse(err, read_file(&f->dh, "DHParameterFile", s->dh, PUBLIC, &from));
    err = worse(err, read_file(&f->ca, "CAFile", s->ca, PUBLIC, &from));
    err = worse(err, read_files(f->crls, "CRLFile", &s->crls, PUBLIC, &from));
    if (s->client_cert != TLS_CLIENT_CERT_OFF && !s->ca) {
        tls_fault(r,
                  "CheckClientCert needs CAFile, the authorities for the certificates of clients");
        err = worse(err, MK_E_INVALID);
    }
    if (err < 0)
        tls_files_free(f);
    return err;
}

int tls_files_read_backend(struct tls_files *f, const struct tls_backend_settings *s,
                           tls_open_fn open, void *arg, struct tls_report *r)
{
    const struct source from = {open, arg, r};
    int err;

    memset(f, 0, sizeof(*f));
    if (!s->certificate != !s->key) {
        tls_fault(r, "[TLS_BACKEND] needs CertificateFile and KeyFile, or neither");
        return MK_E_INVALID;
    }
    f->npairs = s->certificate ? 1 : 0;
    err = read_file(&f->certificates[0], "CertificateFile", s->certificate, PUBLIC, &from);
    err = worse(err, read_file(&f->keys[0], "KeyFile", s->key, SECRET, &from));
    err = worse(err, read_file(&f->ca, "CAFile", s->ca, PUBLIC, &from));
    if (err < 0)
        tls_files_free(f);
    return err;
}

void tls_files_free(struct tls_files *f)
{
    for (size_t i = 0; i < TLS_PAIRS_MAX; i++) {
        free_file(&f->certificates[i]);
        free_file(&f->keys[i]);
        free_file(&f->ocsp[i]);
    }
    for (size_t i = 0; i < TLS_CRLS_MAX; i++)
        free_file(&f->crls[i]);
    free_file(&f->chain);
    free_file(&f->dh);
    free_file(&f->ca);
    memset(f, 0, sizeof(*f));
}

/* ---- for the surrounding program ---- */

static int need(struct mk_setup *setup, const char *path)
{
    return path ? mk_setup_needs(setup, MK_RESOURCE_READ, path) : 0;
}

static int need_all(struct mk_setup *setup, const struct mk_words *paths)
{
    int err = 0;

    for (size_t i = 0; i < paths->count && err == 0; i++)
        err = need(setup, paths->items[i].p);
    return err;
}

int tls_files_need(struct mk_setup *setup, const struct tls_settings *s)
{
    return need_all(setup, &s->certificates) < 0 || need_all(setup, &s->keys) < 0 ||
                   need_all(setup, &s->ocsp) < 0 || need_all(setup, &s->crls) < 0 ||
                   need(setup, s->chain) < 0 || need(setup, s->dh) < 0 || need(setup, s->ca) < 0
               ? MK_E_NOMEM
               : 0;
}

int tls_files_need_backend(struct mk_setup *setup, const struct tls_backend_settings *s)
{
    return need(setup, s->certificate) < 0 || need(setup, s->key) < 0 || need(setup, s->ca) < 0
               ? MK_E_NOMEM
               : 0;
}
