/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_NOTES_H
#define MONKEY_NOTES_H

/*
 * Notes on a request: named values that one plugin writes and others read, such as the backend that answered, how long
 * that took, or the id of the request. Access logs show a note as %{NAME}n. A note with a field goes to backends, in
 * place of the client's fields of that name. The functions are in this header: a plugin needs nothing newer to run.
 *
 *     struct mine {
 *         struct mk_note notes[2];
 *         struct mk_notes list;
 *     } *m = mk_request_alloc(r, sizeof(*m));
 *
 *     m->notes[0] = (struct mk_note){.name = "backend", .text = MK_STR("db1")};
 *     m->notes[1] = (struct mk_note){.name = "backend_whole_ms", .number = 1250, .decimals = 3};
 *     m->list = (struct mk_notes){.notes = m->notes, .count = 2};
 *     if (mk_request_add_notes(r, &m->list) < 0)
 *         ...
 */

#include <monkey/request.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_note {
    const char *name;   /* letters, digits and `_`; terminated, lives as long as the request */
    struct mk_str text; /* p NULL: the value is the number */
    int64_t number;     /* negative: unknown, as if there were no note */
    unsigned decimals;  /* digits of number after the decimal point: 1250 with 3 is 1.250 */
    /* of a field for backends, whose value is text; empty: backends get no such field; NULL: the note is none */
    const char *field;
};

/** Notes of one plugin. They live as long as the request, and may be changed while it does. Neither struct ever grows. */
struct mk_notes {
    struct mk_notes *next; /* set by mk_request_add_notes */
    const struct mk_note *notes;
    size_t count;
};

/* Of mk_request_keep: no object has its address. */
#define MK_NOTES_KEY ((const void *)2)

static inline const struct mk_notes *mk_request_notes(const struct mk_request *r)
{
    return (const struct mk_notes *)mk_request_kept(r, MK_NOTES_KEY);
}

/** Add notes, once for each list. Of equal names the one that was added last counts. @return 0 or MK_E_NOMEM. */
MK_MUST_USE static inline int mk_request_add_notes(struct mk_request *r, struct mk_notes *list)
{
    list->next = (struct mk_notes *)mk_request_kept(r, MK_NOTES_KEY);
    return mk_request_keep(r, MK_NOTES_KEY, list);
}

/** @return the note of that name, with a value; NULL: there is none. */
static inline const struct mk_note *mk_request_note(const struct mk_request *r, const char *name)
{
    const struct mk_notes *list;

    for (list = mk_request_notes(r); list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            const struct mk_note *n = &list->notes[i];

            if ((n->text.p || n->number >= 0) && strcmp(n->name, name) == 0)
                return n;
        }
    }
    return NULL;
}

/* ---- for handlers with backends ---- */

static inline bool mk_note_is_field(const struct mk_note *n)
{
    return n->field && n->text.p;
}

/** Are there fields for backends? If not, mk_request_next_header gives all that there are. */
static inline bool mk_request_has_passed(const struct mk_request *r)
{
    const struct mk_notes *list;

    for (list = mk_request_notes(r); list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            if (mk_note_is_field(&list->notes[i]))
                return true;
        }
    }
    return false;
}

static inline char mk_note_fold(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c == '_' ? '-' : c);
}

/* In any case; `_` counts as `-`, since programs that get fields as variables see no difference. */
static inline bool mk_note_replaces(const struct mk_note *n, struct mk_str name)
{
    size_t i = 0;

    if (!mk_note_is_field(n))
        return false;
    while (i < name.len && n->field[i] && mk_note_fold(n->field[i]) == mk_note_fold(name.p[i]))
        i++;
    return i == name.len && !n->field[i];
}

/** mk_request_next_header without the fields that notes replace. */
static inline bool mk_request_next_unnoted(const struct mk_request *r, uint32_t *at,
                                           struct mk_str *name, struct mk_str *value)
{
    while (mk_request_next_header(r, at, name, value)) {
        const struct mk_notes *list;
        bool is_replaced = false;

        for (list = mk_request_notes(r); list && !is_replaced; list = list->next) {
            for (size_t i = 0; i < list->count; i++)
                is_replaced = is_replaced || mk_note_replaces(&list->notes[i], *name);
        }
        if (!is_replaced)
            return true;
    }
    return false;
}

/** Walk the fields of notes, without the empty ones. @param at  in: 0 at first; out: for the next call */
static inline bool mk_request_next_passed(const struct mk_request *r, uint32_t *at,
                                          struct mk_str *name, struct mk_str *value)
{
    const struct mk_notes *list;
    uint32_t number = 0;

    for (list = mk_request_notes(r); list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            const struct mk_note *n = &list->notes[i];

            if (!mk_note_is_field(n) || n->text.len == 0 || number++ < *at)
                continue;
            *at = number;
            *name = mk_str_from(n->field);
            *value = n->text;
            return true;
        }
    }
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
