/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_FILES_FILES_H
#define MK_SERVER_FILES_FILES_H

#include "base/list.h"
#include "core/file.h"
#include "setup/snapshot.h"

/*
 * The open-file table of a worker: what a path below a root led to, with its descriptor, the ready-made
 * head lines, the bytes of small files, and also that there is nothing. Everything is looked at again
 * when it is older than a second, the roots too, so that a changed file or a switched link is seen.
 */

enum mk_file_kind { MK_FILE_REGULAR, MK_FILE_DIRECTORY, MK_FILE_NONE };

struct mk_file_root {
    struct mk_list link;
    const struct mk_site *site;
    const char *path;
    const char
        *beneath; /* of a user's root: the folder in path, which owner must have; else NULL */
    uid_t owner;
    int fd; /* -1: not there */
    struct mk_file_facts facts;
    int64_t checked_ms;
    uint32_t epoch; /* grows when the root turns out to be another directory */
    size_t user_len;
    char user[]; /* of a user's root; the path of a folder that is no site's */
};

struct mk_file {
    struct mk_file *hash_next;
    struct mk_list age; /* least recently used first; unlinked: not in the table */
    struct mk_file_root *root;
    uint32_t hash, epoch, refs;
    enum mk_file_kind kind;
    int error; /* NONE: MK_E_NOENT, MK_E_ACCESS, ... */
    int fd;    /* REGULAR; -1 otherwise */
    struct mk_file_facts facts;
    int64_t checked_ms;
    char *body; /* all bytes of a small file, or NULL */
    struct mk_str etag, type;
    int64_t
        mtime_s; /* in the answers; never later than when it was opened: RFC 9110 section 8.8.2.1 */
    /* One after the other in memory: type_line, common_lines, length_line: what a 200 sends. */
    struct mk_str type_line, common_lines, length_line;
    struct mk_str path; /* below the root, with its leading slash; terminated */
};

struct mk_files {
    const struct mk_snapshot *snapshot;
    const struct mk_clock *clock; /* of the worker, which answers name the time of */
    bool openat2;
    size_t max_entries;
    size_t nentries, body_bytes;
    struct mk_list age,
        missing_age; /* entries that exist, and those that do not: a flood of misses evicts only misses */
    size_t nmissing;
    struct mk_list roots;
    size_t nroots;
    struct mk_list strangers; /* names of no user, for some seconds */
    size_t nstrangers;
    struct mk_file_root *site_roots; /* one a site, and one a variant of it */
    struct mk_file *buckets[256];
};

/** @return 0 or MK_E_NOMEM. */
int mk_files_init(struct mk_files *f, const struct mk_snapshot *snapshot, size_t max_entries,
                  bool openat2, const struct mk_clock *clock) MK_MUST_USE;
void mk_files_fini(struct mk_files *f);

/** The root of a site. */
struct mk_file_root *mk_files_site_root(struct mk_files *f, const struct mk_site *site);
/** Look whether a root still leads to the same directory, when that was a second ago. */
void mk_files_refresh_root(const struct mk_files *f, struct mk_file_root *root, int64_t now_ms);
/** Is it of a folder that is no site's: not even its index files are asked of handlers. */
static inline bool mk_file_root_is_apart(const struct mk_file_root *root)
{
    return root->user_len > 0 && root->user[0] == '/';
}
/** The root of a user's directory, or of the folder that the absolute path user names, terminated. Users and names of no user are kept in bounded lists. @return NULL: no such user, or not allowed. */
struct mk_file_root *mk_files_user_root(struct mk_files *f, const struct mk_site *site,
                                        struct mk_str user, int64_t now_ms);

/**
 * What is at a path below a root.
 * @param path  decoded, normalised, terminated, with its leading slash
 * @return a reference (kind NONE when nothing is there), or NULL without memory.
 */
struct mk_file *mk_files_get(struct mk_files *f, struct mk_file_root *root, struct mk_str path,
                             int64_t now_ms) MK_MUST_USE;
void mk_file_put(struct mk_file *file);

static inline struct mk_file *mk_file_ref(struct mk_file *file)
{
    file->refs++;
    return file;
}

/** Open a path below a root. @return a descriptor or an error, as mk_file_open_beneath. */
int mk_file_open_at(const struct mk_files *f, const struct mk_file_root *root, struct mk_str path,
                    struct mk_file_facts *facts) MK_MUST_USE;

#endif
