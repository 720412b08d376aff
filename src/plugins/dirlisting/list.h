/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_LIST_H
#define DIRLISTING_LIST_H

#include "ask.h"

#include <stdint.h>

/*
 * The entries of a directory: read piece by piece, kept in blocks, sorted if all of them fit.
 *
 * Reading may block, so it may be done by another thread than what comes before and after; two threads at
 * once may not.
 */

enum {
    DIRLISTING_BLOCK_FIRST = 16 << 10, /* what a small directory costs */
    DIRLISTING_BLOCK = 64 << 10,
    DIRLISTING_BLOCKS_MAX = 128, /* about 8 MB: 29,000 names of 255 bytes, 200,000 of 20 */
    DIRLISTING_NAME_MAX = 255,   /* NAME_MAX; a longer one cannot be opened by the server */
};

/** Memory that the large listings of a server share. */
struct dirlisting_room;

/** @param max  bytes, above what each listing has for its first block. @return with one reference; NULL without memory. */
struct dirlisting_room *dirlisting_room_new(size_t max) MK_MUST_USE;
struct dirlisting_room *dirlisting_room_get(struct dirlisting_room *room);
/** The last reference frees it. NULL is allowed. Any thread. */
void dirlisting_room_put(struct dirlisting_room *room);
/** Bytes taken now. */
size_t dirlisting_room_used(const struct dirlisting_room *room);

struct dirlisting_entry {
    struct mk_str name; /* borrowed from the list until the next refill */
    int64_t size;       /* bytes; of a directory 0 */
    int64_t time;       /* of its last change, seconds since 1970 */
    bool directory;
};

enum dirlisting_progress {
    DIRLISTING_MORE, /* so many were read; there may be more */
    DIRLISTING_FULL, /* there is no room for another: show these, then refill */
    DIRLISTING_ALL,  /* the end of the directory */
};

struct dirlisting_list;

/**
 * @param fd     of the directory; borrowed for the call, its position is not touched
 * @param links  show what symbolic links lead to; otherwise they are left out
 * @param room   shared; referred to
 * @return 0; MK_E_NOENT, MK_E_ACCESS, MK_E_NOFD, MK_E_NOMEM or MK_E_SYS.
 */
int dirlisting_list_open(struct dirlisting_list **list, int fd, bool links,
                         struct dirlisting_room *room) MK_MUST_USE;
/** NULL is allowed. */
void dirlisting_list_close(struct dirlisting_list *list);

/**
 * Read on. Left out are names that begin with a dot, what is neither file nor directory, what this process may
 * not read, and symbolic links unless they are wanted and lead somewhere: the server would refuse them.
 * @param max  directory entries to look at
 * @return enum dirlisting_progress, or MK_E_SYS: the directory cannot be read any more.
 */
int dirlisting_list_read(struct dirlisting_list *list, unsigned max) MK_MUST_USE;

/** Has all been read? Then the directory is closed already. */
bool dirlisting_list_is_all(const struct dirlisting_list *list);

/**
 * Sort what was read: directories first, then by what was asked, then by name. Names compare as people count: digits by
 * their value, ASCII letters in any case. Nothing is sorted when there is no memory for it.
 */
void dirlisting_list_sort(struct dirlisting_list *list, struct dirlisting_ask ask);
bool dirlisting_list_is_sorted(const struct dirlisting_list *list);

/** The next entry in the order of the list. @return false after the last that was read. */
bool dirlisting_list_next(struct dirlisting_list *list, struct dirlisting_entry *entry);

/** From now on only the first block is filled: what is more is shown piece by piece. */
void dirlisting_list_stream(struct dirlisting_list *list);

/** Forget the entries that were read, with their memory, to stream what follows. */
void dirlisting_list_refill(struct dirlisting_list *list);

/** @return bytes that it has in memory. */
size_t dirlisting_list_held(const struct dirlisting_list *list);

/** Compare two names in the order described above. @return < 0, 0 (the same bytes), > 0. */
int dirlisting_compare_names(struct mk_str a, struct mk_str b);

#endif
