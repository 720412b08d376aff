/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_SETTINGS_H
#define MK_DUDA_SERVICE_SETTINGS_H

#include "service/service.h"

/** [DUDA] */
struct mk_duda_settings {
    const char *services_root, *packages_root, *document_root, *session_store, *backplane,
        *spool_dir;
    int64_t park_ms;
    bool reports_crashes, checks_answers;
};

/** [WEB_SERVICE] */
struct mk_duda_wish {
    const char *name;
    bool enabled, is_root;
    const char *docroot, *confdir, *datadir, *logdir;
};

/** The services of one site, in the order of its file. */
struct mk_duda_home {
    struct mk_duda_home *next;
    const struct mk_duda_plan *plan;
    const char *site; /* its first name */
    size_t nwishes, nservices;
    struct mk_duda_spec *specs;        /* what was wished and is enabled */
    struct mk_duda_service **services; /* from start on: those that are ready */
};

/** What a configuration has of services: ctx->config; ctx->site is a home, NULL without services. */
struct mk_duda_plan {
    const struct mk_duda_settings *set;
    struct mk_duda_home *homes;
    const char *services_root, *packages_root; /* with a trailing slash; NULL: unset */
    const char *session_file, *session_url;    /* of SessionStore; both NULL: memory */
    const char *backplane_url;                 /* NULL: none */
    const char *tls;                           /* a transport for https to others; NULL: none */
    struct mk_duda_yard *yard;                 /* host/yard.h, from start on */
};

extern const struct mk_section_spec *const mk_duda_sections[];

/** The hooks check and check_site. */
int mk_duda_check(struct mk_setup *setup);
int mk_duda_check_site(struct mk_setup *setup);

#endif
