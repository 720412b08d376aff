/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_SETTINGS_H
#define LOGGER_SETTINGS_H

#include "format.h"
#include "rotate.h"
#include "rules.h"

#include <monkey/plugin.h>

/* What the configuration says, as the other files of this plugin need it. */

enum { LOGGER_NO_TARGET = -1 };

/** A place where lines go; one for each different name. */
struct logger_place {
    struct logger_place *next;
    const char *name; /* a path, or for messages */
    bool is_syslog;
    int priority; /* of syslog */
};

struct logger_config {
    unsigned flush_ms;
    bool to_syslog;
    const struct logger_format *format; /* of sites that have none of their own */
    struct logger_rotation rotation;
    struct logger_rules rules; /* of sites that have none of their own */
    int master; /* index of the place of sites that name none; LOGGER_NO_TARGET: there is none */
    int nplaces;
    struct logger_place *places, **last;
    /* while it is in force */
    struct logger_sink *sink;
    struct logger_target **targets; /* in the order of places */
};

struct logger_site {
    int access, error;                /* indexes of places */
    const struct logger_rules *rules; /* NULL: each request has a line in the access log */
    const struct logger_format *format;
};

extern const struct mk_section_spec *const logger_sections[];

/** The hooks of <monkey/plugin.h>. */
int logger_check(struct mk_setup *setup);
int logger_check_site(struct mk_setup *setup);

#endif
