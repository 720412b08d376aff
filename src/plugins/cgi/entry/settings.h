/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_SETTINGS_H
#define CGI_SETTINGS_H

#include "palm/wire.h"

#include <monkey/plugin.h>

#include "kit/gateway/variables.h"

/* What [CGI] sections and lines `Match ... cgi ...` of [HANDLERS] say. */

struct pool;
struct spawner;

/** A route: what runs the script. data of on_handle. */
struct cgi_route {
    struct cgi_route *next;
    struct mk_str pattern;
    const struct mk_origin *at; /* while the configuration is checked */
    const char *interpreter;    /* NULL: the script itself is executed */
    struct mk_str type;         /* Content-Type of what has none; p NULL: none */
    size_t prefix_len; /* of a ScriptAlias: the path, whose program interpreter is; 0: none */
    const char
        *folder; /* of a ScriptAlias: the programs, in place of one; without slash at its end */
};

/** What holds for a site. */
struct cgi_site {
    struct cgi_site *next;
    unsigned timeout_ms, queue_ms;
    unsigned max_processes, queue_length;
    uint64_t limits[PALM_LIMIT_COUNT];
    bool new_privileges;
    int buffering; /* enum intake_mode */
    const char *spool_dir;
    int64_t max_answer_head;
    const struct gateway_variable *variables;
    size_t nvariables;
    const char *pool_name;    /* "": that of all sites that do not say otherwise */
    const char *spawner_name; /* "USER:PROGRAM" */
    struct pool *pool;        /* from start to stop, references */
    struct spawner *spawner;
};

struct yard;

/** ctx->config */
struct cgi_config {
    struct cgi_site *sites;
    bool has_routes;
    struct yard *yard;
};

extern const struct mk_section_spec *const cgi_sections[];
int cgi_check(struct mk_setup *setup);
int cgi_check_site(struct mk_setup *setup);
int cgi_check_match(struct mk_setup *setup, const struct mk_setting *line,
                    const struct mk_words *parameters, void **data);

#endif
