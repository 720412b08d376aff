/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_LIST_H
#define MK_BASE_LIST_H

#include <stdbool.h>

/*
 * A circular, doubly linked, intrusive list. A head is a node that points at itself when the
 * list is empty; a node outside any list points at itself too, so unlinking twice is harmless.
 */
struct mk_list {
    struct mk_list *next, *prev;
};

static inline void mk_list_init(struct mk_list *n)
{
    n->next = n->prev = n;
}

static inline bool mk_list_is_empty(const struct mk_list *head)
{
    return head->next == head;
}

/** Is the node in some list? (Not meant for heads.) */
static inline bool mk_list_is_linked(const struct mk_list *n)
{
    return n->next != n;
}

/* Where it is called, always: a copy of its own may lie among the code for the start (base/code.h). */
static inline __attribute__((always_inline)) void mk_list_add_tail(struct mk_list *head,
                                                                   struct mk_list *n)
{
    n->prev = head->prev;
    n->next = head;
    head->prev->next = n;
    head->prev = n;
}

static inline void mk_list_remove(struct mk_list *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
    n->next = n->prev = n;
}

/** Move all of from to the end of to; from is empty afterwards. */
static inline void mk_list_splice_tail(struct mk_list *to, struct mk_list *from)
{
    if (mk_list_is_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    mk_list_init(from);
}

/** Walk a list in which the body may remove the current node, but no other. */
#define MK_LIST_EACH(head, it)                                                                     \
    for (struct mk_list *it = (head)->next, *it##_next = it->next; it != (head);                   \
         it = it##_next, it##_next = it->next)

#endif
