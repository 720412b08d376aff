/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_FORM_H
#define MONKEY_WEB_FORM_H

/*
 * Forms that were sent with POST: application/x-www-form-urlencoded and multipart/form-data alike.
 *
 *     const struct mk_form_limits limits = {.size = sizeof(limits)};
 *     struct mk_form *form;
 *     int err = mk_form_read(r, &limits, &form);
 *
 *     if (err < 0)
 *         return mk_reply_refusal(r, err);
 *     title = mk_form_value(form, MK_STR("title"));
 *     photo = mk_form_file(form, MK_STR("photo"));
 */

#include <monkey/web/body.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_form;

/** Bounds; 0 stands for the value in brackets. MaxBodySize of the site holds beside them. */
struct mk_form_limits {
    size_t size;     /* sizeof(struct mk_form_limits) */
    unsigned fields; /* values and files together [1000] */
    size_t memory;   /* bytes of all values, names and files in memory together [256 KB] */
    size_t
        spool; /* bytes of a file that stay in memory, before it goes to a temporary file [16 KB] */
    uint64_t file;   /* bytes of one file [no bound but that of the body] */
    const char *dir; /* for temporary files, which have no name there; borrowed [/tmp] */
};

/** A value, or a file. Texts live until the request ends. */
struct mk_form_field {
    size_t size; /* sizeof(struct mk_form_field) */
    struct mk_str name;
    struct mk_str filename; /* p NULL: a value. A hint of the client's, never a path */
    struct mk_str type;     /* of a file, as sent; p NULL: none */
    struct mk_str
        value; /* the value, or the whole file if it is in memory; terminated; p NULL: it is in fd */
    int fd; /* a file without a name, borrowed, for pread(2) or mk_reply_fd with dup(2); -1: in memory */
    uint64_t length; /* bytes of the value or file */
};

/**
 * Read the form. Call it again when the hook is called again after MK_VERDICT_LATER.
 * @param limits  borrowed for the call; those of the first call hold
 * @param form    out: the request's, freed with it
 * @return 0; MK_E_AGAIN: return MK_VERDICT_LATER; MK_E_UNSUPPORTED: the body is no form; MK_E_BAD; MK_E_LIMIT; MK_E_NOFD or
 *         MK_E_SYS: no temporary file, errno tells why; MK_E_NOMEM; or as mk_request_read.
 * Temporary files are written on the worker: dir is best a tmpfs or a fast disk.
 */
MK_API int mk_form_read(struct mk_request *r, const struct mk_form_limits *limits,
                        struct mk_form **form) MK_MUST_USE;

/** @return the first value of that name; {NULL, 0}: there is none. Files are no values. */
MK_API struct mk_str mk_form_value(const struct mk_form *form, struct mk_str name);
/** @return the first file of that name; NULL: there is none. A file input without a choice sends an empty filename. */
MK_API const struct mk_form_field *mk_form_file(const struct mk_form *form, struct mk_str name);
/** @return a field by its number, in the order sent; NULL after the last. */
MK_API const struct mk_form_field *mk_form_field(const struct mk_form *form, unsigned index);

#ifdef __cplusplus
}
#endif

#endif
