/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_KIT_GATEWAY_FAKE_H
#define TESTS_KIT_GATEWAY_FAKE_H

/*
 * As much of a server as the kit needs: a request that is a table, and an answer that is written down. For one test program
 * each, which includes it once.
 */

#include <monkey/plugin.h>
#include <monkey/response.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct fake_field {
    const char *name, *value;
};

struct mk_request {
    struct mk_request_facts facts;
    struct mk_conn_facts conn;
    const struct fake_field *fields; /* to one without name; NULL: none */
    const char *pattern;             /* a path matches that has it in it; NULL: all do */
    const char *const *folders;      /* NULL-terminated paths of what there is */
    const char *const *files;
    const char *peer;
    unsigned opened;   /* paths that were tried */
    unsigned *asked;   /* how often the pattern was; NULL: not counted */
    void *notes;       /* mk_request_kept: the only object; NULL: none */
    void *memory[256]; /* to be freed */
    size_t nmemory;
    /* the answer */
    char said[65536]; /* status, fields, length and errors, a line each */
    size_t said_len;
    mk_produce_fn produce;
    void *produce_arg;
    unsigned resumed;
    char moved_to[256];
    int move_error, begin_error, end_error; /* of calls that may fail; 0: they do not */
};

static inline bool fake_is(struct mk_str a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.p, b, a.len) == 0;
}

MK_PRINTF(2, 3) static inline void fake_say(struct mk_request *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    r->said_len +=
        (size_t)vsnprintf(r->said + r->said_len, sizeof(r->said) - r->said_len, fmt, args);
    va_end(args);
}

static inline void fake_end(struct mk_request *r)
{
    while (r->nmemory > 0)
        free(r->memory[--r->nmemory]);
}

void mk_request_facts(const struct mk_request *r, struct mk_request_facts *facts)
{
    *facts = r->facts;
    facts->conn = (struct mk_conn *)(uintptr_t)r; /* found again below */
}

void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts)
{
    *facts = ((const struct mk_request *)(const void *)c)->conn;
}

size_t mk_conn_peer(const struct mk_conn *c, char dst[MK_PEER_TEXT])
{
    return (size_t)snprintf(dst, MK_PEER_TEXT, "%s",
                            ((const struct mk_request *)(const void *)c)->peer);
}

const char *mk_version(void)
{
    return "9.9";
}

bool mk_request_next_header(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                            struct mk_str *value)
{
    if (!r->fields || !r->fields[*at].name)
        return false;
    *name = mk_str_from(r->fields[*at].name);
    *value = mk_str_from(r->fields[*at].value);
    ++*at;
    return true;
}

void *mk_request_kept(const struct mk_request *r, const void *key)
{
    (void)key;
    return r->notes;
}

struct mk_str mk_request_header(const struct mk_request *r, struct mk_str name)
{
    struct mk_str found, value;
    uint32_t at = 0;

    while (mk_request_next_header(r, &at, &found, &value)) {
        if (found.len == name.len && strncasecmp(found.p, name.p, name.len) == 0)
            return value;
    }
    return (struct mk_str){NULL, 0};
}

void *mk_request_alloc(struct mk_request *r, size_t size)
{
    if (r->nmemory == sizeof(r->memory) / sizeof(r->memory[0]))
        return NULL;
    return r->memory[r->nmemory++] = malloc(size);
}

char *mk_request_printf(struct mk_request *r, const char *fmt, ...)
{
    char text[8192], *copy;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    copy = mk_request_alloc(r, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

bool mk_request_matches(const struct mk_request *r, struct mk_str path)
{
    if (r->asked)
        ++*r->asked;
    return !r->pattern || memmem(path.p, path.len, r->pattern, strlen(r->pattern));
}

/* As the server would have it: a path that goes on where the last one ended. */
bool mk_request_matches_on(const struct mk_request *r, struct mk_match *m, struct mk_str path)
{
    if (path.len < m->len)
        abort();
    m->len = path.len;
    return mk_request_matches(r, path);
}

static inline bool fake_has(const char *const *names, struct mk_str path)
{
    for (; names && *names; names++) {
        if (fake_is(path, *names))
            return true;
    }
    return false;
}

int mk_request_open(struct mk_request *r, struct mk_str path)
{
    struct mk_str bare = path;

    r->opened++;
    while (bare.len > 1 && bare.p[bare.len - 1] == '/')
        bare.len--;
    if (fake_has(r->files, bare))
        return bare.len < path.len ? MK_E_NOENT : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fake_has(r->folders, bare))
        return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return MK_E_NOENT;
}

int mk_request_reroute(struct mk_request *r, struct mk_str target)
{
    if (r->move_error == 0)
        (void)snprintf(r->moved_to, sizeof(r->moved_to), "%.*s", (int)target.len, target.p);
    return r->move_error;
}

void mk_request_resume(struct mk_request *r)
{
    r->resumed++;
}

void mk_request_log(const struct mk_request *r, enum mk_log_level level, const char *fmt, ...)
{
    (void)r;
    (void)level;
    (void)fmt;
}

int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    *p = (struct mk_reply){.r = r, .status = status};
    if (r->begin_error == 0)
        fake_say(r, "%u\n", status);
    return r->begin_error;
}

void mk_reply_line(struct mk_reply *p, struct mk_str name, struct mk_str value)
{
    fake_say(p->r, "%.*s: %.*s\n", (int)name.len, name.p, (int)value.len, value.p);
}

int mk_reply_end(struct mk_reply *p, int64_t length)
{
    fake_say(p->r, "length %lld\n", (long long)length);
    return p->r->end_error;
}

int mk_reply_producer(struct mk_request *r, mk_produce_fn produce, void *arg)
{
    r->produce = produce;
    r->produce_arg = arg;
    return 0;
}

void mk_reply_abort(struct mk_request *r)
{
    fake_say(r, "aborted\n");
}

enum mk_verdict mk_reply_error(struct mk_request *r, unsigned status, const char *lines)
{
    fake_say(r, "error %u %s\n", status, lines ? lines : "");
    return MK_VERDICT_DONE;
}

/* ---- a program ---- */

/* It writes what it is told to, step bytes at a time. */
struct fake_program {
    const char *bytes;
    size_t at, len, step;
    bool dry;   /* nothing for now: every other call */
    int ending; /* what comes at the end */
};

/* As gateway_output_fn. */
static inline ssize_t fake_output(void *arg, char *dst, size_t len)
{
    struct fake_program *p = arg;

    p->dry = !p->dry;
    if (p->dry)
        return MK_E_AGAIN;
    if (p->at == p->len)
        return p->ending;
    if (len > p->step)
        len = p->step;
    if (len > p->len - p->at)
        len = p->len - p->at;
    memcpy(dst, p->bytes + p->at, len);
    p->at += len;
    return (ssize_t)len;
}

#endif
