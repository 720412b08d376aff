/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <limits.h>
#include <stdio.h>

/*
 * The file of a store: a line, then a record for each entry, in the byte order of the machine, and a record without a key at
 * the end, so that a file that was cut is known as such.
 */

static const char magic[16] = "monkey kv 1\n";

struct record {
    uint32_t key_len, len;
    int64_t expires_ms; /* since 1970; 0: never */
};

/* From CLOCK_MONOTONIC to the time of day. */
static int64_t offset_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - kv_now();
}

static bool write_entry(FILE *file, const struct kv_entry *e)
{
    const struct record r = {.key_len = (uint32_t)e->key_len,
                             .len = (uint32_t)e->len,
                             .expires_ms = e->expires_ms ? e->expires_ms + offset_ms() : 0};

    return fwrite(&r, sizeof(r), 1, file) == 1 &&
           fwrite(e->key, 1, (size_t)e->key_len, file) == (size_t)e->key_len &&
           (e->len == 0 || fwrite(e->data, 1, e->len, file) == e->len);
}

static bool write_all(FILE *file, const struct unqlite *store)
{
    const struct record end = {0};
    const int64_t now = kv_now();

    if (fwrite(magic, sizeof(magic), 1, file) != 1)
        return false;
    for (const struct kv_entry *e = store->first; e; e = e->next) {
        if (kv_lives(e, now) && e->len <= UINT32_MAX && !write_entry(file, e))
            return false;
    }
    return fwrite(&end, sizeof(end), 1, file) == 1 && fflush(file) == 0 && fsync(fileno(file)) == 0;
}

int kv_save(const struct unqlite *store)
{
    char fresh[PATH_MAX];
    const int len = snprintf(fresh, sizeof(fresh), "%s.new", store->path);
    int fd = len < (int)sizeof(fresh)
                 ? open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool is_whole;

    if (!file) {
        if (fd >= 0)
            (void)close(fd);
        return UNQLITE_IOERR;
    }
    is_whole = write_all(file, store);
    if (fclose(file) == 0 && is_whole && rename(fresh, store->path) == 0)
        return UNQLITE_OK;
    (void)unlink(fresh);
    return UNQLITE_IOERR;
}

/* @return UNQLITE_OK; UNQLITE_IOERR; UNQLITE_NOMEM. *is_end: that was the last record */
static int read_entry(FILE *file, struct unqlite *store, long left, bool *is_end)
{
    struct record r;
    char *bytes;
    int result = UNQLITE_OK;

    if (fread(&r, sizeof(r), 1, file) != 1)
        return UNQLITE_IOERR;
    *is_end = r.key_len == 0;
    if (*is_end)
        return UNQLITE_OK;
    if ((uint64_t)r.key_len + r.len > (uint64_t)left || r.key_len > INT_MAX)
        return UNQLITE_IOERR;
    bytes = malloc((size_t)r.key_len + r.len);
    if (!bytes)
        return UNQLITE_NOMEM;
    if (fread(bytes, 1, (size_t)r.key_len + r.len, file) != (size_t)r.key_len + r.len)
        result = UNQLITE_IOERR;
    else if (r.expires_ms == 0 || r.expires_ms - offset_ms() > kv_now())
        result = kv_put(store, bytes, (int)r.key_len, bytes + r.key_len, r.len,
                        r.expires_ms ? r.expires_ms - offset_ms() : 0, false);
    free(bytes);
    return result;
}

static int read_all(FILE *file, struct unqlite *store)
{
    char line[sizeof(magic)];
    bool is_end = false;
    int result = UNQLITE_OK;
    long size;

    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0 || fread(line, sizeof(line), 1, file) != 1 ||
        memcmp(line, magic, sizeof(magic)) != 0)
        return UNQLITE_IOERR;
    while (!is_end && result == UNQLITE_OK)
        result = read_entry(file, store, size, &is_end);
    return result;
}

/* A file that is not there is that of a store without entries. */
int kv_load(struct unqlite *store)
{
    FILE *file = fopen(store->path, "re");
    int result;

    if (!file)
        return errno == ENOENT ? UNQLITE_OK : UNQLITE_IOERR;
    result = read_all(file, store);
    (void)fclose(file);
    return result;
}
