/* SPDX-License-Identifier: Apache-2.0 */
#include "heard.h"

#include "base/list.h"

enum { TURNS = 200 };

static void keep(char *to, size_t size, struct mk_str s)
{
    assert_true(s.len < size);
    if (s.len > 0)
        memcpy(to, s.p, s.len);
    to[s.len] = '\0';
}

static void hear(const struct mk_answer *a, void *arg)
{
    struct heard *h = arg;

    h->calls++;
    h->error = a->error;
    h->status = a->status;
    h->fields = test_malloc(a->fields.len + 1);
    keep(h->fields, a->fields.len + 1, a->fields);
    keep(h->trailers, sizeof(h->trailers), a->trailers);
    h->body_len = a->body.len;
    h->body = test_malloc(a->body.len + 1);
    keep(h->body, a->body.len + 1, a->body);
}

struct mk_question heard_question(const char *target)
{
    return (struct mk_question){.size = sizeof(struct mk_question), .target = mk_str_from(target)};
}

int heard_ask(struct fixture *f, const struct mk_question *q, struct heard *h)
{
    *h = (struct heard){.calls = 0};
    return mk_server_ask(f->server, q, hear, h);
}

void heard_turns(struct fixture *f, const struct heard *h)
{
    for (int i = 0; i < TURNS && h->calls == 0; i++)
        mk_loop_turn(&f->worker->loop, 0, NULL, NULL);
}

void heard_talk(struct fixture *f, const struct mk_question *q, struct heard *h)
{
    assert_int_equal(heard_ask(f, q, h), 0);
    heard_turns(f, h);
    assert_int_equal(h->calls, 1);
    mk_loop_turn(&f->worker->loop, 0, NULL, NULL);
    assert_true(mk_list_is_empty(&f->worker->carried));
}

void heard_get(struct fixture *f, const char *target, const char *fields, struct heard *h)
{
    struct mk_question q = heard_question(target);

    q.fields = mk_str_from(fields);
    heard_talk(f, &q, h);
}

void heard_free(struct heard *h)
{
    test_free(h->fields);
    test_free(h->body);
    h->fields = h->body = NULL;
}
