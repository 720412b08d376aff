/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/str.h"
#include "http/escape.h"
#include "server/h1/conn.h"
#include "server/h1/job.h"
#include "server/request/request.h"
#include "server/run/server_int.h"

/* What a thread was doing when it crashed: read where nothing can be relied on, so nothing is called that takes locks. */

enum { TARGET_MAX = 256 };

struct note {
    char *text;
    size_t size, len;
};

static void add(struct note *n, const char *name, struct mk_str value, bool is_quoted)
{
    size_t name_len = strlen(name), room = n->size - n->len;

    if (room < name_len + TARGET_MAX + 4)
        return;
    memcpy(n->text + n->len, name, name_len);
    n->len += name_len;
    if (is_quoted)
        n->text[n->len++] = '"';
    n->len += mk_escape_log(n->text + n->len, TARGET_MAX, value);
    if (is_quoted)
        n->text[n->len++] = '"';
    n->text[n->len] = '\0';
}

static const struct mk_request *request_of(const struct mk_worker *w)
{
    const struct mk_conn *c = w->running;

    return w->carried_turn ? w->carried_turn : c && c->job ? &c->job->request : NULL;
}

/* Without its query, which may have what no log is to have. */
static struct mk_str target_of(const struct mk_request *r)
{
    struct mk_str target = mk_request_text(r, r->head.target);
    const char *query = memchr(target.p, '?', target.len);

    return query ? (struct mk_str){target.p, (size_t)(query - target.p)} : target;
}

MK_AT_START size_t mk_thread_doing(char *text, size_t size)
{
    const struct mk_worker *w = mk_worker_here();
    struct note note = {text, size, 0};
    const struct mk_plugin *plugin;
    const struct mk_request *r;
    const char *hook;

    if (size > 0)
        text[0] = '\0';
    if (!w)
        return 0;
    plugin = mk_worker_doing(w, &hook);
    if (plugin) {
        add(&note, " plugin=", mk_str_from(plugin->name), false);
        add(&note, " hook=", mk_str_from(hook), false);
    }
    r = request_of(w);
    if (r && r->text && r->head.target.len > 0)
        add(&note, " target=", target_of(r), true);
    return note.len;
}
