/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_SCRIPTS_H
#define FASTCGI_SCRIPTS_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * Which paths were found to be scripts within the last second, as the server itself believes its table of open files for
 * that long: looking again costs four system calls a request. Of a worker and a configuration.
 */

enum {
    SCRIPTS_KEPT = 64,
    SCRIPTS_PATH_MAX = 160, /* longer ones are looked for each time */
    SCRIPTS_MS = 1000,
};

struct known_script {
    const char *root; /* compared by address; NULL: empty */
    const void *location;
    int64_t until_ms;
    uint16_t path_len, script_len;
    char path[SCRIPTS_PATH_MAX];
};

struct scripts {
    struct known_script known[SCRIPTS_KEPT];
};

/** @return how much of the path is the script; 0: not known. */
size_t fastcgi_scripts_find(const struct scripts *s, const void *location, const char *root,
                            struct mk_str path, int64_t now_ms);
void fastcgi_scripts_note(struct scripts *s, const void *location, const char *root,
                          struct mk_str path, size_t script_len, int64_t now_ms);

#endif
