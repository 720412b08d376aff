/* SPDX-License-Identifier: Apache-2.0 */
#include "run/order.h"

#include <stdlib.h>
#include <string.h>

/* A packet that grows; the first error stays. */
struct packet {
    char *bytes;
    size_t len, room;
    int error;
    struct palm_order head;
};

static bool make_room(struct packet *p, size_t more)
{
    size_t room = p->room ? p->room : 4096;
    char *bytes;

    if (more > PALM_ORDER_MAX - p->len) {
        p->error = MK_E_LIMIT;
        return false;
    }
    while (room < p->len + more)
        room *= 2;
    if (room == p->room)
        return true;
    bytes = realloc(p->bytes, room);
    if (!bytes) {
        p->error = MK_E_NOMEM;
        return false;
    }
    p->bytes = bytes;
    p->room = room;
    return true;
}

static void put(struct packet *p, const char *bytes, size_t len)
{
    if (p->error || !make_room(p, len))
        return;
    if (len > 0)
        memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
}

static void put_text(struct packet *p, const char *text)
{
    put(p, text, strlen(text) + 1);
}

static void put_argument(struct packet *p, const char *text)
{
    put_text(p, text);
    p->head.narguments++;
}

static int put_variable(void *arg, struct mk_str name, struct mk_str value)
{
    struct packet *p = arg;

    if (p->head.nvariables == PALM_VARIABLES_MAX)
        return MK_E_LIMIT;
    put(p, name.p, name.len);
    put(p, "=", 1);
    put(p, value.p, value.len);
    put(p, "", 1);
    p->head.nvariables++;
    return p->error;
}

/* Scripts run in the folder that they are in (RFC 3875 section 7.2). */
static void put_directory(struct packet *p, const char *filename)
{
    const char *slash = strrchr(filename, '/');
    size_t len = slash && slash > filename ? (size_t)(slash - filename) : 1;

    put(p, slash ? filename : "/", len);
    put(p, "", 1);
}

static void put_words(struct packet *p, const struct cgi_route *route, const char *filename)
{
    const char *program = route->interpreter ? route->interpreter : filename;

    put_directory(p, filename);
    put_text(p, program);
    put_argument(p, program);
    if (route->interpreter && route->prefix_len == 0)
        put_argument(p, filename);
}

ssize_t cgi_order_write(char **dst, struct mk_request *r, const struct cgi_site *site,
                        const struct cgi_route *route, const struct gateway_script *script,
                        bool has_body, int64_t length)
{
    const struct gateway_variables variables = {.script = script,
                                                .content_length = length,
                                                .has_body = has_body,
                                                .own = site->variables,
                                                .nown = site->nvariables};
    struct packet p = {.len = 0};
    int err;

    memcpy(p.head.limits, site->limits, sizeof(p.head.limits));
    p.head.flags = site->new_privileges ? PALM_NEW_PRIVILEGES : 0;
    put(&p, (const char *)&p.head, sizeof(p.head));
    put_words(&p, route, script->filename);
    err = gateway_variables_each(&variables, r, put_variable, &p);
    if (err == 0)
        err = p.error;
    if (err < 0) {
        free(p.bytes);
        return err;
    }
    memcpy(p.bytes, &p.head, sizeof(p.head)); /* now that its numbers are known */
    *dst = p.bytes;
    return (ssize_t)p.len;
}
