/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIMIT_SETTINGS_H
#define LIMIT_SETTINGS_H

#include "kit/pure/bucket.h"

#include "kit/nets/net_list.h"

#include <monkey/settings.h>

/* The section [LIMIT] of a site, and rules of [HOST] and [LOCATION]. */

struct account;

enum {
    LIMIT_RULES_MAX = 64,      /* of a site */
    LIMIT_METHODS_MAX = 8,     /* of a rule */
    LIMIT_KEYS_MAX = 10000000, /* of a table: 240 MB */
    LIMIT_KEYS = 10000,        /* without [LIMIT], whose default it is */
    LIMIT_RUNNING_MAX = 1000000,
};

enum limit_kind { LIMIT_RATE, LIMIT_CONCURRENT };

/* Whose requests have an account together. */
enum limit_key { KEY_ADDRESS, KEY_NET, KEY_FIELD, KEY_COOKIE, KEY_PATH, KEY_ALL };

struct limit_rule {
    struct limit_rule *next;
    enum limit_kind kind;
    enum limit_key key;
    struct mk_str name;
    struct mk_str key_name;   /* FIELD, COOKIE */
    uint8_t bits_v4, bits_v6; /* ADDRESS, NET; also of FIELD and COOKIE for requests without one */
    struct bucket_rate rate;  /* RATE */
    uint32_t running_max;     /* CONCURRENT */
    struct mk_str methods[LIMIT_METHODS_MAX];
    unsigned nmethods;                /* 0: all */
    struct mk_str path;               /* p NULL: all */
    const struct mk_pattern *pattern; /* what path is; NULL: this very path */
    struct mk_origin at;
    struct mk_str site; /* its first name */
    const void *of;     /* it, by its names */
    uint32_t nkeys;
    struct account *account; /* from start to stop */
};

struct limit_settings {
    struct limit_rule *first, *last;
    unsigned nrules;
    struct net_list exempt;
    int64_t nkeys;
    bool dry_run;
    bool is_judged; /* that it has a rule */
};

extern const struct mk_section_spec limit_section, limit_place_section;

#endif
