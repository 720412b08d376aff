/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_FILES_H
#define KIT_TLS_FILES_H

#include "kit/tls/report.h"
#include "kit/tls/settings.h"

/*
 * The bytes of all files that a section names, read at once and wiped when an engine has taken what it
 * needs. What is in them the engine judges.
 */

enum {
    TLS_FILE_MAX = 4 << 20
}; /* bytes; the certificates of all authorities that systems trust are a quarter of a MB */

struct tls_file {
    const char *key;  /* "KeyFile", for messages */
    const char *path; /* borrowed from the settings; NULL: none was named */
    char *bytes;      /* heap, with a NUL behind them */
    size_t len;
};

struct tls_files {
    struct tls_file certificates[TLS_PAIRS_MAX], keys[TLS_PAIRS_MAX], ocsp[TLS_PAIRS_MAX];
    struct tls_file crls[TLS_CRLS_MAX];
    size_t npairs, nocsp, ncrls;
    struct tls_file chain, dh, ca;
};

/** Opens a file for reading. @return a descriptor or an enum mk_error. */
typedef int (*tls_open_fn)(void *arg, const char *path);

/**
 * Read what [TLS] names. Unreadable files, and keys that do not go with certificates in number, are faults; a key
 * that others may read is a warning.
 * @return 0: all are there; MK_E_INVALID: faults were noted, nothing is held; MK_E_NOMEM: likewise
 */
int tls_files_read(struct tls_files *f, const struct tls_settings *s, tls_open_fn open, void *arg,
                   struct tls_report *r) MK_MUST_USE;
/** The same for [TLS_BACKEND]. */
int tls_files_read_backend(struct tls_files *f, const struct tls_backend_settings *s,
                           tls_open_fn open, void *arg, struct tls_report *r) MK_MUST_USE;
/** Wipe and free all bytes. */
void tls_files_free(struct tls_files *f);

/** Walk the paths of a section, so that the surrounding program may open them for us. */
int tls_files_need(struct mk_setup *setup, const struct tls_settings *s) MK_MUST_USE;
int tls_files_need_backend(struct mk_setup *setup,
                           const struct tls_backend_settings *s) MK_MUST_USE;

#endif
