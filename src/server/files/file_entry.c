/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "core/clock.h"
#include "core/fd.h"
#include "http/date.h"
#include "kit/pure/hex.h"
#include "server/files/files_int.h"

/* What is known of one path: opened once, its head lines made once. */

enum { ETAG_LEN = 18 }; /* 16 hexadecimal digits in quotes */

int mk_file_open_at(const struct mk_files *f, const struct mk_file_root *root, struct mk_str path,
                    struct mk_file_facts *facts)
{
    if (root->fd < 0)
        return MK_E_NOENT;
    if (path.len > MK_LIMIT_PATH)
        return MK_E_NOENT;
    return mk_file_open_beneath(root->fd, path.p + 1, root->site->set.symlink, f->openat2, facts);
}

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

/* Strong (RFC 9110 section 8.8.3): another inode, size or change to the nanosecond is another tag. The numbers
 * themselves stay private. */
static void format_etag(char dst[ETAG_LEN], const struct mk_file_facts *facts)
{
    uint64_t h = mix(mix(mix(mix(0, facts->ino), facts->size), (uint64_t)facts->mtime_ns),
                     (uint64_t)facts->ctime_ns);

    dst[0] = dst[ETAG_LEN - 1] = '"';
    for (int i = 0; i < 16; i++)
        dst[1 + i] = hex_lower((unsigned)(h >> (60 - 4 * i)));
}

static void add_line(struct mk_buf *b, const struct mk_site *site, struct mk_str name,
                     struct mk_str value)
{
    if (mk_site_overrides(site, name))
        return;
    (void)mk_buf_append_str(b, name);
    (void)mk_buf_append(b, ": ", 2);
    (void)mk_buf_append_str(b, value);
    (void)mk_buf_append(b, "\r\n", 2);
}

/* The site cannot take this line's place: it frames the message. */
static void add_length(struct mk_buf *b, uint64_t size)
{
    char digits[20];

    (void)mk_buf_append_str(b, MK_STR("Content-Length: "));
    (void)mk_buf_append(b, digits, mk_u64_to_dec(digits, size));
    (void)mk_buf_append(b, "\r\n", 2);
}

static struct mk_str base_name(struct mk_str path)
{
    const char *slash = memrchr(path.p, '/', path.len);

    return slash ? mk_str_skip(path, (size_t)(slash - path.p) + 1) : path;
}

static void add_cache_control(struct mk_buf *b, const struct mk_site *site, struct mk_str path)
{
    for (const struct mk_site *at = site; at; at = at->parent) {
        for (size_t i = 0; i < at->set.ncache_lines; i++) {
            const struct mk_cache_line *line = &at->set.cache_lines[i];

            if (mk_pattern_matches(line->files, path)) {
                add_line(b, site, MK_STR("Cache-Control"), line->value);
                return;
            }
        }
    }
}

/* Caches must know of the choice whatever else the site says that its answers vary by: RFC 9110 section 12.5.5. */
static void add_vary(struct mk_buf *b, const struct mk_site *site)
{
    bool removed = false;

    for (size_t i = 0; i < site->set.nheaders; i++)
        removed = removed || (mk_str_ieq(site->set.headers[i].name, MK_STR("Vary")) &&
                              site->set.headers[i].value.len == 0);
    if (!removed)
        (void)mk_buf_append_str(b, MK_STR("Vary: Accept-Encoding\r\n"));
}

static void add_common_lines(struct mk_buf *b, const struct mk_files *f, const struct mk_site *site,
                             const struct mk_file *file)
{
    char date[MK_DATE_LEN];

    mk_date_format(date, file->mtime_s);
    add_line(b, site, MK_STR("Last-Modified"), (struct mk_str){date, MK_DATE_LEN});
    add_line(b, site, MK_STR("ETag"), file->etag);
    if (f->snapshot->set.resume && mk_site_gives_parts(site))
        add_line(b, site, MK_STR("Accept-Ranges"), MK_STR("bytes"));
    if (site->set.precompressed)
        add_vary(b, site);
    add_cache_control(b, site, file->path);
    (void)mk_buf_append_str(b, site->extra_lines);
}

/* The lines of a 200 in one piece, so that sending them is one copy. */
static int describe(struct mk_file *file, const struct mk_files *f, const struct mk_site *site,
                    struct mk_buf *b)
{
    size_t type_len, common_len;

    add_line(b, site, MK_STR("Content-Type"), file->type);
    type_len = b->len;
    add_common_lines(b, f, site, file);
    common_len = b->len - type_len;
    add_length(b, file->facts.size);
    if (b->error)
        return b->error;
    file->type_line = (struct mk_str){NULL, type_len};
    file->common_lines = (struct mk_str){NULL, common_len};
    file->length_line = (struct mk_str){NULL, b->len - type_len - common_len};
    return 0;
}

static enum mk_file_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode))
        return MK_FILE_REGULAR;
    return S_ISDIR(mode) ? MK_FILE_DIRECTORY : MK_FILE_NONE;
}

/* One allocation: the record, its path, its tag and its lines. */
static struct mk_file *make(const struct mk_file *found, const char *etag,
                            const struct mk_buf *lines)
{
    struct mk_file *file =
        mk_heap_alloc(sizeof(*file) + found->path.len + 1 + ETAG_LEN + lines->len);
    char *p = (char *)(file + 1);

    if (!file)
        return NULL;
    *file = *found;
    mk_list_init(&file->age);
    memcpy(p, found->path.p, found->path.len);
    p[found->path.len] = '\0';
    file->path.p = p;
    p += found->path.len + 1;
    memcpy(p, etag, ETAG_LEN);
    file->etag = (struct mk_str){p, ETAG_LEN};
    p += ETAG_LEN;
    if (lines->len > 0)
        memcpy(p, lines->p, lines->len);
    file->type_line.p = p;
    file->common_lines.p = p + file->type_line.len;
    file->length_line.p = file->common_lines.p + file->common_lines.len;
    return file;
}

/* A time that is still to come is replaced by the present one, which no later answer's Date is before. */
static int64_t modified_s(const struct mk_files *f, const struct mk_file_facts *facts)
{
    int64_t at_s = (facts->mtime_ns - (facts->mtime_ns < 0 ? 999999999 : 0)) / 1000000000;

    return at_s < f->clock->wall_s ? at_s : f->clock->wall_s;
}

struct mk_file *mk_file_open(const struct mk_files *f, struct mk_file_root *root,
                             struct mk_str path)
{
    struct mk_file found = {.root = root, .epoch = root->epoch, .refs = 1, .path = path};
    char etag[ETAG_LEN] = {0};
    struct mk_file *file = NULL;
    struct mk_buf lines;

    mk_buf_init(&lines, 128 << 10);
    found.fd = mk_file_open_at(f, root, path, &found.facts);
    found.kind = found.fd >= 0 ? kind_of(found.facts.mode) : MK_FILE_NONE;
    found.error =
        found.fd >= 0 ? MK_E_NOENT : found.fd; /* sockets, devices and FIFOs are not there */
    if (found.kind != MK_FILE_REGULAR)
        mk_fd_close(&found.fd);
    if (found.kind == MK_FILE_REGULAR) {
        found.mtime_s = modified_s(f, &found.facts);
        found.type = mk_mime_of(&f->snapshot->mime, base_name(path));
        format_etag(etag, &found.facts);
        found.etag = (struct mk_str){etag, ETAG_LEN};
    }
    if (found.kind != MK_FILE_REGULAR || describe(&found, f, root->site, &lines) == 0)
        file = make(&found, etag, &lines);
    if (!file)
        mk_fd_close(&found.fd);
    mk_buf_fini(&lines);
    return file;
}
