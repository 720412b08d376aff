/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GROUP_H
#define KIT_GROUP_H

#include "kit/counted/counted.h"

#include <stdbool.h>
#include <stddef.h>

struct mk_server;
struct mk_worker;

/*
 * Groups of connections over all workers, and messages that any thread sends to all members. Members are listed by worker,
 * and only that worker touches its list: the path of a message has no lock. The owner of this has its connections, their
 * queues and what becomes of slow readers.
 */

struct group;

/** A membership; a connection has a list of them, NULL at first, which only these calls change. */
struct group_member;

/** A message on its way: the first member of the owner's. */
struct group_message {
    struct counted refs; /* of the workers that have not passed it on */
    struct group *group;
    size_t weight; /* counts for the bound of the group */
    /* Give it to a connection, on its worker. Of the group's members it may end the membership of this one alone. */
    void (*give)(void *connection, struct group_message *m);
    void (*drop)(struct group_message *m); /* free it, on any thread */
};

/** @param max  weight of the messages on their way; 0: any @return NULL: no memory. Any thread, while the server lives. */
struct group *group_new(struct mk_server *server, size_t max) MK_MUST_USE;
/** Members and messages on their way hold it until they are done. Any thread. */
void group_put(struct group *g);

/**
 * Join; again changes nothing. On the connection's worker.
 * @param memberships  of the connection
 * @return 0; MK_E_INVALID: the worker is of another server, or of one that came after the group's; MK_E_NOMEM.
 */
int group_join(struct group *g, const struct mk_worker *w, struct group_member **memberships,
               void *connection) MK_MUST_USE;
/** Leave one group. On the connection's worker. */
void group_leave(struct group *g, struct group_member **memberships);
/** Leave all groups: the connection has ended. On its worker. */
void group_leave_all(struct group_member **memberships);

/** @return members on all workers. Any thread. */
size_t group_members(const struct group *g);

/**
 * Give a message to all members. Messages of one thread are given in their order. Any thread, also after the server has ended.
 * @param m  taken, also on failure; its last three members are set by the caller
 * @return 0; MK_E_BUSY: too much is on its way; MK_E_NOMEM, MK_E_PEER: the server has ended: nobody gets it.
 */
int group_send(struct group *g, struct group_message *m);

#endif
