/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_SETTINGS_H
#define FASTCGI_SETTINGS_H

#include "kit/gateway/variables.h"

#include <monkey/plugin.h>
#include <monkey/upstream.h>

/* What [FASTCGI_SERVER] and [FASTCGI_LOCATION] say. All of it lives as long as the configuration. */

enum { FCGI_SERVERS_MAX = 64 }; /* of one location */

struct backend;

/** A [FASTCGI_SERVER]. */
struct fcgi_server {
    const char *name;
    const char *address;                /* as written, a unix socket's behind "unix:" */
    struct mk_upstream_options options; /* of its connections */
    int64_t read_ms, offline_ms;
    struct backend *backend; /* from start to stop */
};

/** A pattern of a Match line. */
struct fcgi_match {
    struct fcgi_match *next;
    struct mk_str pattern;
    struct mk_origin at; /* while the configuration is checked */
};

/** A [FASTCGI_LOCATION]. */
struct fcgi_location {
    const char *name; /* NULL: it has none */
    struct fcgi_server **servers;
    unsigned nservers; /* at most FCGI_SERVERS_MAX */
    bool keep_alive, check_script;
    const char *
        script_root; /* what the application has for the document root, no slash at its end; NULL: the same */
    const char
        *mount; /* owns all paths below, without slash at its end; NULL: there are script files */
    int buffering; /* enum intake_mode */
    const char *spool_dir;
    int64_t max_answer_head;
    const struct gateway_variable *params; /* Param */
    size_t nparams;
    const struct fcgi_match *matches;
    const struct mk_origin *at;
};

/* ctx->config */
struct fcgi_config {
    struct fcgi_server *servers;
    unsigned nservers;
    struct fcgi_location *locations;
    unsigned nlocations;
    struct fcgi_location all; /* of a handler line when there is no location: every server */
};

extern const struct mk_section_spec *const fastcgi_sections[];

/** The hook of the plugin: keeps a struct fcgi_config. */
int fastcgi_check(struct mk_setup *setup);
/** The location of a handler line. @param name  p NULL: the first. @return NULL: there is none; the fault is noted. */
struct fcgi_location *fastcgi_location_of(struct mk_setup *setup, struct mk_str name,
                                          const struct mk_origin *at);

#endif
