/* SPDX-License-Identifier: Apache-2.0 */
#include "list.h"

#include "kit/counted/counted.h"
#include "kit/text/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- shared memory ---- */

struct dirlisting_room {
    struct counted refs;
    atomic_size_t used;
    size_t max;
};

struct dirlisting_room *dirlisting_room_new(size_t max)
{
    struct dirlisting_room *room = calloc(1, sizeof(*room));

    if (!room)
        return NULL;
    counted_init(&room->refs, 1);
    atomic_init(&room->used, 0);
    room->max = max;
    return room;
}

struct dirlisting_room *dirlisting_room_get(struct dirlisting_room *room)
{
    counted_get(&room->refs);
    return room;
}

void dirlisting_room_put(struct dirlisting_room *room)
{
    if (room && counted_put(&room->refs))
        free(room);
}

size_t dirlisting_room_used(const struct dirlisting_room *room)
{
    return atomic_load_explicit(&room->used, memory_order_relaxed);
}

static bool take_room(struct dirlisting_room *room, size_t len)
{
    size_t before = atomic_fetch_add_explicit(&room->used, len, memory_order_relaxed);

    if (before + len <= room->max)
        return true;
    atomic_fetch_sub_explicit(&room->used, len, memory_order_relaxed);
    return false;
}

/* ---- the list ---- */

struct record {
    int64_t size, time;
    uint8_t name_len;
    bool directory;
    char name[];
};

enum {
    RECORD_ALIGN = 8,
    RECORD_MAX = (offsetof(struct record, name) + DIRLISTING_NAME_MAX + RECORD_ALIGN - 1) &
                 ~(RECORD_ALIGN - 1),
    POSITION_BITS = 16, /* of a place: the number of the block above, the offset in it below */
};

struct block {
    uint32_t used, size; /* of bytes */
    char bytes[] __attribute__((aligned(RECORD_ALIGN)));
};

_Static_assert(DIRLISTING_BLOCK <= 1 << POSITION_BITS, "an offset fits");
_Static_assert(DIRLISTING_NAME_MAX <= UINT8_MAX, "a length fits");

struct dirlisting_list {
    DIR *dir; /* NULL: read to its end */
    bool links, streamed;
    struct dirlisting_room *room;
    size_t taken; /* of room */
    uint32_t count;
    uint32_t *order;        /* places of the records, sorted; NULL: as they were read */
    uint32_t shown;         /* of order */
    uint32_t block, offset; /* what comes next without order */
    uint32_t nblocks;
    struct block *blocks[DIRLISTING_BLOCKS_MAX];
};

static int error_of(int err)
{
    switch (err) {
    case ENOENT:
    case ENOTDIR:
        return MK_E_NOENT;
    case EACCES:
    case EPERM:
        return MK_E_ACCESS;
    case EMFILE:
    case ENFILE:
        return MK_E_NOFD;
    case ENOMEM:
        return MK_E_NOMEM;
    default:
        return MK_E_SYS;
    }
}

static bool take(struct dirlisting_list *l, size_t len)
{
    if (!take_room(l->room, len))
        return false;
    l->taken += len;
    return true;
}

static void give_back(struct dirlisting_list *l, size_t len)
{
    atomic_fetch_sub_explicit(&l->room->used, len, memory_order_relaxed);
    l->taken -= len;
}

static bool add_block(struct dirlisting_list *l)
{
    /* The first one is every listing's right: with it alone a directory of any size can be shown. */
    bool shared = l->nblocks > 0;
    size_t size = shared ? DIRLISTING_BLOCK : DIRLISTING_BLOCK_FIRST;
    struct block *b;

    if (l->nblocks == DIRLISTING_BLOCKS_MAX || (shared && (l->streamed || !take(l, size))))
        return false;
    b = malloc(size);
    if (!b) {
        give_back(l, shared ? size : 0);
        return false;
    }
    b->used = 0;
    b->size = (uint32_t)(size - offsetof(struct block, bytes));
    l->blocks[l->nblocks++] = b;
    return true;
}

int dirlisting_list_open(struct dirlisting_list **list, int fd, bool links,
                         struct dirlisting_room *room)
{
    struct dirlisting_list *l = calloc(1, sizeof(*l));
    int own, err;

    if (!l)
        return MK_E_NOMEM;
    l->links = links;
    l->room = dirlisting_room_get(room);
    if (!add_block(l)) {
        dirlisting_list_close(l);
        return MK_E_NOMEM;
    }
    /* Not a duplicate, which would share its position with everybody who has the descriptor. */
    own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    l->dir = own < 0 ? NULL : fdopendir(own);
    if (!l->dir) {
        err = error_of(errno);
        if (own >= 0)
            close(own);
        dirlisting_list_close(l);
        return err;
    }
    *list = l;
    return 0;
}

static void close_directory(struct dirlisting_list *l)
{
    if (l->dir)
        closedir(l->dir);
    l->dir = NULL;
}

static void drop_order(struct dirlisting_list *l)
{
    free(l->order);
    l->order = NULL;
    l->shown = 0;
}

void dirlisting_list_close(struct dirlisting_list *l)
{
    if (!l)
        return;
    close_directory(l);
    drop_order(l);
    for (uint32_t i = 0; i < l->nblocks; i++)
        free(l->blocks[i]);
    give_back(l, l->taken);
    dirlisting_room_put(l->room);
    free(l);
}

void dirlisting_list_stream(struct dirlisting_list *l)
{
    l->streamed = true;
}

void dirlisting_list_refill(struct dirlisting_list *l)
{
    l->streamed = true;
    drop_order(l);
    while (l->nblocks > 1)
        free(l->blocks[--l->nblocks]);
    give_back(l, l->taken);
    l->blocks[0]->used = 0;
    l->count = l->block = l->offset = 0;
}

/* ---- reading ---- */

/* The server opens both for reading, and goes through directories. */
static bool is_readable(int dir, const char *name, const struct stat *st)
{
    mode_t all = S_ISDIR(st->st_mode) ? 0555 : 0444;

    return (st->st_mode & all) == all ||
           faccessat(dir, name, S_ISDIR(st->st_mode) ? R_OK | X_OK : R_OK, 0) == 0;
}

static bool is_shown(const struct dirlisting_list *l, const struct dirent *d, struct stat *st)
{
    int dir = dirfd(l->dir);

    if ((d->d_name[0] == '.' && strncmp(d->d_name, "...", 3) != 0) ||
        strlen(d->d_name) > DIRLISTING_NAME_MAX)
        return false;
    if (fstatat(dir, d->d_name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return false; /* it went away since */
    if (S_ISLNK(st->st_mode) && (!l->links || fstatat(dir, d->d_name, st, 0) < 0))
        return false;
    return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && is_readable(dir, d->d_name, st);
}

static bool has_space(const struct dirlisting_list *l)
{
    const struct block *last = l->blocks[l->nblocks - 1];

    return last->size - last->used >= RECORD_MAX;
}

static void keep(struct dirlisting_list *l, const char *name, const struct stat *st)
{
    struct block *last = l->blocks[l->nblocks - 1];
    struct record *record = (struct record *)(void *)(last->bytes + last->used);
    size_t len = strlen(name);

    record->directory = S_ISDIR(st->st_mode);
    record->size = record->directory ? 0 : st->st_size;
    record->time = st->st_mtime;
    record->name_len = (uint8_t)len;
    memcpy(record->name, name, len);
    last->used += (uint32_t)((offsetof(struct record, name) + len + RECORD_ALIGN - 1) &
                             ~(size_t)(RECORD_ALIGN - 1));
    l->count++;
}

int dirlisting_list_read(struct dirlisting_list *l, unsigned max)
{
    for (unsigned i = 0; i < max && l->dir; i++) {
        const struct dirent *d;
        struct stat st;

        if (!has_space(l) && !add_block(l))
            return DIRLISTING_FULL;
        errno = 0;
        d = readdir(l->dir);
        if (!d && errno != 0 &&
            errno != ENOENT) /* ENOENT: it was removed, and is empty therefore */
            return MK_E_SYS;
        if (!d)
            close_directory(l);
        else if (is_shown(l, d, &st))
            keep(l, d->d_name, &st);
    }
    return l->dir ? DIRLISTING_MORE : DIRLISTING_ALL;
}

bool dirlisting_list_is_all(const struct dirlisting_list *l)
{
    return !l->dir;
}

/* ---- order ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Take the digits that s begins with, without leading zeros. */
static struct mk_str take_number(struct mk_str *s)
{
    struct mk_str number;

    while (s->len > 0 && *s->p == '0') {
        s->p++;
        s->len--;
    }
    number = (struct mk_str){s->p, 0};
    while (number.len < s->len && is_digit(number.p[number.len]))
        number.len++;
    s->p += number.len;
    s->len -= number.len;
    return number;
}

static int compare_numbers(struct mk_str a, struct mk_str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return memcmp(a.p, b.p, a.len);
}

static int compare_bytes(struct mk_str a, struct mk_str b)
{
    int order = memcmp(a.p, b.p, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

int dirlisting_compare_names(struct mk_str a, struct mk_str b)
{
    struct mk_str x = a, y = b;

    while (x.len > 0 && y.len > 0) {
        int order;

        if (is_digit(*x.p) && is_digit(*y.p)) {
            struct mk_str m = take_number(&x), n = take_number(&y);

            order = compare_numbers(m, n);
        } else {
            order = (unsigned char)text_lower(*x.p) - (unsigned char)text_lower(*y.p);
            x = (struct mk_str){x.p + 1, x.len - 1};
            y = (struct mk_str){y.p + 1, y.len - 1};
        }
        if (order != 0)
            return order;
    }
    if (x.len != y.len)
        return x.len < y.len ? -1 : 1;
    return compare_bytes(a, b);
}

static const struct record *record_at(const struct dirlisting_list *l, uint32_t place)
{
    const struct block *b = l->blocks[place >> POSITION_BITS];

    return (const struct record *)(const void *)(b->bytes + (place & ((1 << POSITION_BITS) - 1)));
}

struct order {
    const struct dirlisting_list *list;
    struct dirlisting_ask ask;
};

static int compare_numbers_of(const struct record *a, const struct record *b,
                              enum dirlisting_sort sort)
{
    if (sort == DIRLISTING_BY_TIME)
        return (a->time > b->time) - (a->time < b->time);
    return sort == DIRLISTING_BY_SIZE ? (a->size > b->size) - (a->size < b->size) : 0;
}

static int compare_records(const void *x, const void *y, void *arg)
{
    const struct order *o = arg;
    const struct record *a = record_at(o->list, *(const uint32_t *)x);
    const struct record *b = record_at(o->list, *(const uint32_t *)y);
    int order = compare_numbers_of(a, b, o->ask.sort);

    if (a->directory != b->directory)
        return a->directory ? -1 : 1;
    if (order != 0)
        return o->ask.descending ? -order : order;
    order = dirlisting_compare_names((struct mk_str){a->name, a->name_len},
                                     (struct mk_str){b->name, b->name_len});
    return o->ask.descending && o->ask.sort == DIRLISTING_BY_NAME ? -order : order;
}

/* The record that the walk without order stands at; NULL behind the last. */
static const struct record *step(struct dirlisting_list *l, uint32_t *place)
{
    const struct record *record;

    if (l->block < l->nblocks && l->offset == l->blocks[l->block]->used) {
        l->block++;
        l->offset = 0;
    }
    if (l->block >= l->nblocks || l->offset == l->blocks[l->block]->used)
        return NULL;
    *place = l->block << POSITION_BITS | l->offset;
    record = record_at(l, *place);
    l->offset += (uint32_t)((offsetof(struct record, name) + record->name_len + RECORD_ALIGN - 1) &
                            ~(size_t)(RECORD_ALIGN - 1));
    return record;
}

void dirlisting_list_sort(struct dirlisting_list *l, struct dirlisting_ask ask)
{
    struct order order = {l, ask};
    size_t bytes = l->count * sizeof(*l->order);

    if (l->count < 2 || l->order || (l->nblocks > 1 && !take(l, bytes)))
        return;
    l->order = malloc(bytes);
    if (!l->order)
        return;
    for (uint32_t i = 0; i < l->count; i++) {
        if (!step(l, &l->order[i]))
            break;
    }
    qsort_r(l->order, l->count, sizeof(*l->order), compare_records, &order);
}

size_t dirlisting_list_held(const struct dirlisting_list *l)
{
    return sizeof(*l) + (l->nblocks > 0 ? DIRLISTING_BLOCK_FIRST : 0) + l->taken;
}

bool dirlisting_list_is_sorted(const struct dirlisting_list *l)
{
    return l->order || l->count < 2;
}

bool dirlisting_list_next(struct dirlisting_list *l, struct dirlisting_entry *entry)
{
    const struct record *record = NULL;
    uint32_t place;

    if (!l->order)
        record = step(l, &place);
    else if (l->shown < l->count)
        record = record_at(l, l->order[l->shown++]);
    if (!record)
        return false;
    *entry = (struct dirlisting_entry){.name = {record->name, record->name_len},
                                       .size = record->size,
                                       .time = record->time,
                                       .directory = record->directory};
    return true;
}
