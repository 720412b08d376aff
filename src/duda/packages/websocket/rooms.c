/* SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include <monkey/events.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One lock for all rooms of the service: what is done with it copies a message and posts it, and returns. */

enum { BUCKETS = 256 };

struct room {
    struct room *next;
    struct mk_ws_group *group;
    unsigned members;
    char name[];
};

struct room_seat {
    struct room_seat *next;
    struct room *room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct room *rooms[BUCKETS];

/* With the lock. @return the place of the room, or where it would be put */
static struct room **place_of(const char *name)
{
    struct room **at;
    unsigned sum = 0;

    for (const char *p = name; *p; p++)
        sum = sum * 31 + (unsigned char)*p;
    at = &rooms[sum % BUCKETS];
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

/* With the lock. */
static struct room *new_room(struct mk_server *server, const char *name)
{
    size_t len = strlen(name) + 1;
    struct room *room = calloc(1, sizeof(*room) + len);

    if (!room)
        return NULL;
    room->group = mk_ws_group_new(server);
    if (!room->group) {
        free(room);
        return NULL;
    }
    memcpy(room->name, name, len);
    return room;
}

/* A room with one member more; NULL: no memory. */
static struct room *enter(struct mk_server *server, const char *name)
{
    struct room **at, *room;

    (void)pthread_mutex_lock(&lock);
    at = place_of(name);
    if (!*at)
        *at = new_room(server, name);
    room = *at;
    if (room)
        room->members++;
    (void)pthread_mutex_unlock(&lock);
    return room;
}

static void leave(struct room *room)
{
    (void)pthread_mutex_lock(&lock);
    if (--room->members == 0) {
        *place_of(room->name) = room->next;
        mk_ws_group_free(room->group);
        free(room);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- seats ---- */

/* @param count  out: rooms before it, without channels */
static struct room_seat **seat_in(struct room_seat **seats, const char *name, unsigned *count)
{
    *count = 0;
    while (*seats && strcmp((*seats)->room->name, name) != 0) {
        *count += (*seats)->room->name[0] != ROOM_CHANNEL;
        seats = &(*seats)->next;
    }
    return seats;
}

int room_join(struct room_seat **seats, struct mk_ws *ws, const char *name)
{
    unsigned count;
    struct room_seat **at = seat_in(seats, name, &count), *seat;

    if (*at)
        return 0;
    seat = count < ROOMS_MAX ? calloc(1, sizeof(*seat)) : NULL;
    if (!seat)
        return -1;
    seat->room = enter(mk_worker_server(mk_ws_worker(ws)), name);
    if (!seat->room || mk_ws_group_join(seat->room->group, ws) < 0) {
        if (seat->room)
            leave(seat->room);
        free(seat);
        return -1;
    }
    *at = seat;
    return 0;
}

static void give_up(struct room_seat **at, struct mk_ws *ws)
{
    struct room_seat *seat = *at;

    *at = seat->next;
    mk_ws_group_leave(seat->room->group, ws);
    leave(seat->room);
    free(seat);
}

int room_leave(struct room_seat **seats, struct mk_ws *ws, const char *name)
{
    unsigned count;
    struct room_seat **at = seat_in(seats, name, &count);

    if (!*at)
        return -1;
    give_up(at, ws);
    return 0;
}

void room_leave_all(struct room_seat **seats, struct mk_ws *ws)
{
    while (*seats)
        give_up(seats, ws);
}

int room_send(const char *name, struct mk_ws *except, enum mk_ws_kind kind, struct mk_str message)
{
    struct room *room;
    int err = 0;

    (void)pthread_mutex_lock(&lock);
    room = *place_of(name);
    if (room)
        err = except ? mk_ws_group_send_others(room->group, except, kind, message)
                     : mk_ws_group_send(room->group, kind, message);
    (void)pthread_mutex_unlock(&lock);
    return err < 0 ? -1 : 0;
}
