/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/files.h"

#include "base/code.h"
#include "base/invariant.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "core/fd.h"
#include "http/date.h"
#include "server/files/files_int.h"

#include <unistd.h>

enum {
    FRESH_MS = 1000, /* younger than this is believed without a look */
    BUCKETS = 256,
};

MK_AT_START int mk_files_init(struct mk_files *f, const struct mk_snapshot *snapshot,
                              size_t max_entries, bool openat2, const struct mk_clock *clock)
{
    *f = (struct mk_files){
        .snapshot = snapshot, .clock = clock, .openat2 = openat2, .max_entries = max_entries};
    mk_list_init(&f->age);
    mk_list_init(&f->missing_age);
    mk_list_init(&f->roots);
    mk_list_init(&f->strangers);
    f->site_roots = mk_heap_zalloc(mk_snapshot_places(snapshot), sizeof(*f->site_roots));
    if (!f->site_roots)
        return MK_E_NOMEM;
    for (size_t i = 0; i < mk_snapshot_places(snapshot); i++)
        mk_file_root_init(&f->site_roots[i], &snapshot->sites[i],
                          snapshot->sites[i].set.document_root);
    return 0;
}

struct mk_file_root *mk_files_site_root(struct mk_files *f, const struct mk_site *site)
{
    return &f->site_roots[site->index];
}

/* ---- the table ---- */

static bool is_in_table(const struct mk_file *file)
{
    return mk_list_is_linked(&file->age);
}

static void remove_from_table(struct mk_files *f, struct mk_file *file)
{
    struct mk_file **at = &f->buckets[file->hash % BUCKETS];

    while (*at != file)
        at = &(*at)->hash_next;
    *at = file->hash_next;
    mk_list_remove(&file->age);
    if (file->kind == MK_FILE_NONE)
        f->nmissing--;
    else
        f->nentries--;
    if (file->body)
        f->body_bytes -= (size_t)file->facts.size;
    mk_file_put(file);
}

static void evict_oldest(struct mk_files *f, struct mk_list *age)
{
    remove_from_table(f, MK_CONTAINER_OF(age->next, struct mk_file, age));
}

static void forget_in(struct mk_files *f, struct mk_list *age, const struct mk_file_root *root)
{
    MK_LIST_EACH (age, link) {
        struct mk_file *file = MK_CONTAINER_OF(link, struct mk_file, age);

        if (file->root == root)
            remove_from_table(f, file);
    }
}

void mk_files_forget(struct mk_files *f, const struct mk_file_root *root)
{
    forget_in(f, &f->age, root);
    forget_in(f, &f->missing_age, root);
}

static void add_to_table(struct mk_files *f, struct mk_file *file)
{
    struct mk_list *age = file->kind == MK_FILE_NONE ? &f->missing_age : &f->age;
    size_t *count = file->kind == MK_FILE_NONE ? &f->nmissing : &f->nentries;

    if (*count >= (file->kind == MK_FILE_NONE ? (size_t)MK_LIMIT_MISSING_FILES : f->max_entries))
        evict_oldest(f, age);
    (*count)++;
    file->hash_next = f->buckets[file->hash % BUCKETS];
    f->buckets[file->hash % BUCKETS] = mk_file_ref(file);
    mk_list_add_tail(age, &file->age);
}

static struct mk_file *find_entry(const struct mk_files *f, const struct mk_file_root *root,
                                  struct mk_str path, uint32_t hash)
{
    struct mk_file *file = f->buckets[hash % BUCKETS];

    while (file && !(file->hash == hash && file->root == root && mk_str_eq(file->path, path)))
        file = file->hash_next;
    return file;
}

static void touch(struct mk_files *f, struct mk_file *file)
{
    struct mk_list *age = file->kind == MK_FILE_NONE ? &f->missing_age : &f->age;

    if (age->prev == &file->age)
        return;
    mk_list_remove(&file->age);
    mk_list_add_tail(age, &file->age);
}

MK_AT_START void mk_files_fini(struct mk_files *f)
{
    while (!mk_list_is_empty(&f->age))
        evict_oldest(f, &f->age);
    while (!mk_list_is_empty(&f->missing_age))
        evict_oldest(f, &f->missing_age);
    for (size_t i = 0; f->site_roots && i < mk_snapshot_places(f->snapshot); i++)
        mk_fd_close(&f->site_roots[i].fd);
    mk_heap_free(f->site_roots);
    mk_file_roots_free(f);
}

/* ---- bytes of small files ---- */

static bool make_body_room(struct mk_files *f, size_t size)
{
    size_t budget = (size_t)f->snapshot->set.file_cache;

    if (size > budget)
        return false;
    while (f->body_bytes + size > budget && !mk_list_is_empty(&f->age))
        evict_oldest(f, &f->age);
    return f->body_bytes + size <= budget;
}

static bool is_worth_loading(const struct mk_files *f, const struct mk_file *file)
{
    return !file->body && file->kind == MK_FILE_REGULAR && file->facts.size > 0 &&
           file->facts.size <= MK_LIMIT_SMALL_BODY &&
           file->facts.size <= (uint64_t)f->snapshot->set.file_cache / 2;
}

/*
 * A file that is asked for again and is small enough stays in memory.
 * @return false when it was changed since it was looked at: its tag would not fit the bytes.
 */
static bool load_body(struct mk_files *f, struct mk_file *file)
{
    size_t size = (size_t)file->facts.size;
    struct mk_file_facts now;

    if (!is_worth_loading(f, file) || !make_body_room(f, size))
        return true;
    file->body = mk_heap_alloc(size);
    if (!file->body)
        return true;
    if (pread(file->fd, file->body, size, 0) == (ssize_t)size &&
        mk_file_facts_of(file->fd, &now) == 0 && mk_file_is_same(&now, &file->facts)) {
        f->body_bytes += size;
        return true;
    }
    mk_heap_free(
        file->body); /* an answer under way may hold this entry, and must not send what was never read */
    file->body = NULL;
    return false;
}

/* ---- looking up ---- */

/* Older than a second: is it still what is there? */
static bool still_holds(struct mk_files *f, struct mk_file *file, int64_t now_ms)
{
    struct mk_file_facts facts;
    int fd, err;

    if (file->epoch != file->root->epoch)
        return false;
    if (now_ms - file->checked_ms < FRESH_MS)
        return true;
    fd = mk_file_open_at(f, file->root, file->path, &facts);
    err = fd < 0 ? fd : 0;
    mk_fd_close(&fd);
    file->checked_ms = now_ms;
    if (err < 0)
        return file->kind == MK_FILE_NONE && err == file->error;
    return file->kind != MK_FILE_NONE && mk_file_is_same(&facts, &file->facts);
}

void mk_files_refresh_root(const struct mk_files *f, struct mk_file_root *root, int64_t now_ms)
{
    if (now_ms - root->checked_ms >= FRESH_MS || root->checked_ms == 0)
        mk_file_root_check(f, root, now_ms);
}

struct mk_file *mk_files_get(struct mk_files *f, struct mk_file_root *root, struct mk_str path,
                             int64_t now_ms)
{
    bool cached = f->snapshot->set.fdt;
    uint32_t hash = mk_str_hash(path, root->site->index);
    struct mk_file *file;

    mk_files_refresh_root(f, root, now_ms);
    file = cached ? find_entry(f, root, path, hash) : NULL;
    if (file) {
        touch(f,
              file); /* the newest is evicted last, so loading its bytes leaves it in the table */
        if (still_holds(f, file, now_ms) && load_body(f, file))
            return mk_file_ref(file);
        remove_from_table(f, file);
    }
    file = mk_file_open(f, root, path);
    if (!file)
        return NULL;
    file->hash = hash;
    file->checked_ms = now_ms;
    /* Passing shortages are no fact about the file. */
    if (cached &&
        (file->kind != MK_FILE_NONE || file->error == MK_E_NOENT || file->error == MK_E_ACCESS))
        add_to_table(f, file);
    return file;
}

void mk_file_put(struct mk_file *file)
{
    if (--file->refs > 0)
        return;
    MK_ASSERT(!is_in_table(file));
    mk_fd_close(&file->fd);
    mk_heap_free(file->body);
    mk_heap_free(file);
}
