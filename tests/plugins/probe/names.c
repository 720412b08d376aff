/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

/*
 * A transport that tells its clients apart by the name that they ask for, as one does that has a certificate for
 * each: the client begins with a line `NAME`, the answer is a line `CERTIFICATE`, and then everything is plain. Links
 * outlive configurations, so that the table is shared with a count of references.
 */

enum { ENTRIES_MAX = 32, WORD_MAX = 64 };

struct entry {
    char name[WORD_MAX], certificate[WORD_MAX];
};

struct names {
    atomic_uint references;
    unsigned count;
    struct entry entries[ENTRIES_MAX];
};

/* The state of a link. */
struct greeting {
    struct names *names;
    bool is_over;
    size_t len;
    char name[WORD_MAX];
};

struct names *names_copy(const struct names *listed)
{
    struct names *names = calloc(1, sizeof(*names));

    if (!names)
        return NULL;
    atomic_init(&names->references, 1);
    names->count = listed->count;
    memcpy(names->entries, listed->entries, sizeof(names->entries));
    return names;
}

void names_put(struct names *names)
{
    if (names && atomic_fetch_sub(&names->references, 1) == 1)
        free(names);
}

/* ---- from the sites, in memory of the configuration: one that was only checked is not stopped ---- */

struct names *names_list(struct mk_setup *setup)
{
    return mk_setup_alloc(setup, sizeof(struct names));
}

static bool copy_word(char dst[WORD_MAX], struct mk_str word)
{
    if (word.len >= WORD_MAX)
        return false;
    memcpy(dst, word.p, word.len);
    dst[word.len] = '\0';
    return true;
}

int names_of_site(struct mk_setup *setup, struct names *names)
{
    const struct mk_words *words = mk_setup_site_names(setup);

    for (size_t i = 0; i < words->count; i++) {
        struct entry *e = &names->entries[names->count];

        if (names->count == ENTRIES_MAX || !copy_word(e->name, words->items[i]) ||
            !copy_word(e->certificate, words->items[0])) {
            mk_setup_fault(setup, NULL, "probe: too many names, or too long ones");
            return MK_E_LIMIT;
        }
        names->count++;
    }
    return 0;
}

/* ---- on a link ---- */

static int names_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    const struct probe *probe = ctx->config;
    struct greeting *g = calloc(1, sizeof(*g));

    (void)name;
    if (!g)
        return MK_E_NOMEM;
    g->names = probe->names;
    atomic_fetch_add(&g->names->references, 1);
    l->state = g;
    return 0;
}

static void names_close(struct mk_link *l)
{
    struct greeting *g = l->state;

    names_put(g->names);
    free(g);
}

static ssize_t failed(void)
{
    return errno == EAGAIN ? MK_E_AGAIN : MK_E_PEER;
}

static const char *find(const struct greeting *g)
{
    for (unsigned i = 0; i < g->names->count; i++) {
        if (strcmp(g->names->entries[i].name, g->name) == 0)
            return g->names->entries[i].certificate;
    }
    return "default";
}

/* The answer is short, and the first that is sent: it fits. */
static bool present(struct mk_link *l)
{
    const char *certificate = find(l->state);
    size_t len = strlen(certificate);

    return send(l->fd, certificate, len, MSG_NOSIGNAL | MSG_MORE) == (ssize_t)len &&
           send(l->fd, "\n", 1, MSG_NOSIGNAL) == 1;
}

static ssize_t greet(struct mk_link *l)
{
    struct greeting *g = l->state;

    while (!g->is_over) {
        char byte;
        ssize_t n = recv(l->fd, &byte, 1, 0);

        if (n < 0)
            return failed();
        g->is_over = n == 1 && byte == '\n';
        if (n == 0 || (g->is_over && !present(l)) || (!g->is_over && g->len == WORD_MAX - 1))
            return MK_E_PEER;
        if (!g->is_over)
            g->name[g->len++] = byte;
    }
    return 0;
}

static ssize_t names_recv(struct mk_link *l, void *buf, size_t len)
{
    ssize_t n = greet(l);

    if (n < 0)
        return n;
    n = recv(l->fd, buf, len, 0);
    return n < 0 ? failed() : n;
}

static ssize_t names_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    const struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)iov,
                               .msg_iovlen = (size_t)niov};
    ssize_t n = greet(l);

    if (n < 0)
        return n;
    n = sendmsg(l->fd, &msg, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    return n < 0 ? failed() : n;
}

static void names_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    const struct greeting *g = l->state;

    facts->server_name = mk_str_from(g->name);
}

const struct mk_transport names_transport = {
    .size = sizeof(struct mk_transport),
    .name = "probe",
    .open = names_open,
    .recv = names_recv,
    .send = names_send,
    .close = names_close,
    .facts = names_facts,
};
