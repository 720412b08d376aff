/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SETUP_PLAN_H
#define TESTS_SETUP_PLAN_H

/* What tests of setup, and of the server above it, stand on: settings as rows, and the snapshot that they make. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/heap.h"
#include "base/invariant.h"
#include "base/str.h"
#include "setup/snapshot.h"

/** One line of a configuration. Site 0 is the default site; [SERVER] and [MIMETYPES] ignore it. */
struct row {
    const char *section, *key, *value;
    size_t site;
};

/** Snapshot with the faults that were found on the way. */
struct plan {
    struct mk_arena arena;
    struct mk_faults faults;
    struct mk_snapshot_source source;
    struct mk_snapshot snapshot;
    int error; /* of mk_snapshot_build */
};

/** Rows end with a NULL section. The plugin echo is loaded, if the test has it. */
void plan_make(struct plan *p, const struct row *rows);
void plan_free(struct plan *p);
/** All faults as text, in the plan's arena. */
const char *plan_faults(struct plan *p);

#endif
