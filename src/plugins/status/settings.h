/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_SETTINGS_H
#define STATUS_SETTINGS_H

#include "condition.h"
#include "guard.h"

/* [STATUS], in the plugin's file for all sites or in a site's own: which paths answer, to whom, and when the server is ready. */

struct tally;

struct status_settings {
    const char *metrics, *page, *health; /* paths, or "off" */
    struct mk_words allow, health_allow;
    bool health_log;
    struct condition *conditions, *last;
    unsigned nconditions;
};

enum status_path {
    STATUS_METRICS,
    STATUS_PAGE,
    STATUS_HEALTH, /* as READY */
    STATUS_LIVE,
    STATUS_READY,
    STATUS_PATHS
};

struct status_site {
    struct status_site *next;          /* of the configuration that is counted */
    const char *name;                  /* first ServerName; "default" for one without */
    struct tally *tally;               /* from start to stop */
    const struct status_settings *set; /* NULL: no path of this site answers */
    struct guard guard, health_guard;
    struct mk_str paths[STATUS_PATHS]; /* p NULL: off */
    bool is_first;                     /* of the sites that share the tally; from start on */
    uint64_t lengths;                  /* bit n: a path of n bytes; most requests end here */
};

struct status_config {
    struct status_site *sites, **last_site;
    unsigned nsites; /* all, counted or not */
    bool counts_all; /* the plugin's own file has the section */
};

extern const struct mk_section_spec *const status_sections[];

int status_check(struct mk_setup *setup);
int status_check_site(struct mk_setup *setup);
/** Refuses the line: it would limit the counting to its paths. */
int status_check_match(struct mk_setup *setup, const struct mk_setting *line,
                       const struct mk_words *parameters, void **data);

/** @return which of them it is; STATUS_PATHS: none. */
enum status_path status_path_of(const struct status_site *site, struct mk_str path);

#endif
