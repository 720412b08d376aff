/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <fcntl.h>

struct fixture answer_site;

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct answer *answer = data;

    (void)ctx;
    return answer->handle(r);
}

static const struct mk_plugin probe = {
    MK_PLUGIN("probe", "answers as a test says"),
    .on_handle = on_handle,
};

int answer_set_up(void **state)
{
    static const struct row rows[] = {
        {"SERVER", "HideVersion", "on", 0},
        {"HANDLERS", "Match", "/ echo", 0},
        {NULL, NULL, NULL, 0},
    };

    (void)state;
    dir_make(answer_site.dir);
    file_write(answer_site.dir, "hello", "hello", 5);
    file_write(answer_site.dir, "large", NULL, 200000);
    fixture_open(&answer_site, rows);
    mk_log_set_fd(&answer_site.server->shared.log,
                  open("/dev/null", O_WRONLY | O_CLOEXEC)); /* mistakes are made on purpose */
    return 0;
}

int answer_tear_down(void **state)
{
    (void)state;
    mk_heap_fail_after(-1);
    fixture_close(&answer_site);
    dir_remove(answer_site.dir);
    return 0;
}

void answer_begin(struct loopback *lb, const struct answer *answer)
{
    union {
        const void *in;
        void *out;
    } data = {answer};

    fixture_handle(&answer_site, &probe, data.out);
    loopback_init(lb, answer_site.worker, mk_str_from(answer->in));
    lb->half_close = false;
}

enum mk_verdict answer_head(struct mk_request *r, unsigned status, int64_t length)
{
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, status), 0);
    assert_int_equal(mk_reply_end(&p, length), 0);
    return MK_VERDICT_DONE;
}
