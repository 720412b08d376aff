/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FMT_H
#define FMT_H

#include <monkey/types.h>

#include <sys/types.h>

/*
 * The form of a configuration file as those that Monkey ships have it: sections in the first column with an empty line
 * before them, keys and indented comments behind four spaces, one space before a value, at most one empty line at a time.
 * Comments, values and the order of lines stay. Pure.
 */

enum { FMT_FILE_MAX = 4 << 20, FMT_LINE_MAX = 8192 };

struct fmt_fault {
    unsigned line;   /* from 1 */
    const char *why; /* a sentence, static */
};

/** @return room that fmt_text needs for this text. */
size_t fmt_room(struct mk_str text);
/**
 * @param dst  fmt_room(text) bytes
 * @return bytes written; -1: the server would refuse this text, and fault says why.
 */
ssize_t fmt_text(char *dst, struct mk_str text, struct fmt_fault *fault);

#endif
