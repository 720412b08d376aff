/* SPDX-License-Identifier: Apache-2.0 */
#include "access.h"

#include "kit/nets/nets.h"
#include "kit/text/words.h"

/** One word of a line. */
struct entry {
    struct entry *next;
    struct net net; /* of `unix`: unused */
    bool is_unix, is_all, allow;
    struct access_denial at;
};

struct access {
    struct entry *first, *last;
    uint32_t count;
    bool has_deny;
    bool is_internal;
    /* made of the entries when all are known */
    struct nets nets;
    const struct entry **entries; /* by number */
    const struct entry *of_unix;  /* the first that has peers without an address; NULL: none */
};

/* ---- settings ---- */

static bool read_address(struct entry *e, struct mk_str word)
{
    bool loose = false;

    e->is_all = text_is_word(word, MK_STR("all"));
    e->is_unix = text_is_word(word, MK_STR("unix"));
    return e->is_all || e->is_unix || (net_parse(word, &e->net, &loose) == 0 && !loose);
}

static int add_entry(struct mk_setup *setup, const struct mk_setting *s, struct mk_str word)
{
    static const char expected[] =
        "addresses, networks such as 10.0.0.0/8 or fe80::/10, unix, or all";
    struct access *a = mk_setup_settings(setup);
    struct entry *e = mk_setup_alloc(setup, sizeof(*e));
    struct mk_str file = mk_setup_copy(setup, mk_str_from(s->value_at.file));

    if (!e || !file.p)
        return MK_E_NOMEM;
    if (!read_address(e, word))
        return mk_setup_refuse(setup, s, expected);
    e->allow = text_is_word(s->key, MK_STR("Allow"));
    e->at = (struct access_denial){file.p, s->value_at.line};
    a->has_deny |= !e->allow;
    a->count++;
    if (a->last)
        a->last->next = e;
    else
        a->first = e;
    a->last = e;
    return 0;
}

static int parse_access(struct mk_setup *setup, const struct mk_setting *s)
{
    struct mk_str rest = s->value;
    int err;

    do {
        err = add_entry(setup, s, text_next_word(&rest));
        rest = text_trim(rest);
    } while (err == 0 && rest.len > 0);
    return err;
}

/* One row with two names: a place that has one of them inherits neither. */
static const struct mk_field fields[] = {
    {.name = "Allow",
     .alias = "Deny",
     .type = MK_FIELD_CUSTOM,
     .flags = MK_FIELD_REPEAT,
     .parse = parse_access},
    {.name = "Internal",
     .type = MK_FIELD_BOOL,
     .offset = offsetof(struct access, is_internal),
     .fallback = "off"},
};

const struct mk_section_spec mandril_access_section =
    MK_SECTION("LOCATION", MK_SECTION_LOCATION, struct access, fields);

/* ---- a configuration ---- */

int mandril_access_make(struct mk_setup *setup, const struct access **made)
{
    static const struct net all = {.bits = 0};
    struct access *a = mk_setup_section(setup, &mandril_access_section, NULL);
    struct nets_node *nodes;
    uint32_t number = 0;

    *made = NULL;
    if (!a || (a->count == 0 && !a->is_internal))
        return 0;
    nodes = mk_setup_alloc(setup, NETS_NODES(a->count) * sizeof(*nodes));
    a->entries = mk_setup_alloc(setup, a->count * sizeof(struct entry *));
    if (!nodes || !a->entries)
        return MK_E_NOMEM;
    nets_init(&a->nets, nodes);
    for (const struct entry *e = a->first; e; e = e->next, number++) {
        a->entries[number] = e;
        if (!a->of_unix && (e->is_unix || e->is_all))
            a->of_unix = e;
        if (!e->is_unix)
            nets_add(&a->nets, e->is_all ? &all : &e->net, number);
    }
    *made = a;
    return 0;
}

/* ---- a request ---- */

static const struct entry *find(const struct access *a, const struct mk_conn_facts *peer)
{
    uint32_t number;

    if (peer->peer_is_unix)
        return a->of_unix;
    number = nets_find(&a->nets, peer->peer_ip);
    return number == NETS_NONE ? NULL : a->entries[number];
}

bool mandril_access_denies(const struct access *access, const struct mk_request_facts *facts,
                           struct access_denial *why)
{
    struct mk_conn_facts peer = {.size = sizeof(peer)};
    const struct entry *found;

    if (!access || access->count == 0 || !facts->conn) /* the program itself asks */
        return false;
    mk_conn_facts(facts->conn, &peer);
    found = find(access, &peer);
    *why = found ? found->at : (struct access_denial){NULL, 0};
    return found ? !found->allow : !access->has_deny;
}

bool mandril_access_hides(const struct access *access, const struct mk_request_facts *facts,
                          bool is_own)
{
    return access && access->is_internal && facts->conn && !(is_own && facts->is_inner);
}
