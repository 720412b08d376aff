/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "fake.h"
#include "kit/gateway/answer.h"

/*
 * What a program writes becomes the same answer however it arrives, and one answer at most; fields that belong to the
 * connection never reach the client. Input: one byte of kind, the output.
 */

struct outcome {
    enum gateway_progress progress;
    char *body;
    size_t len;
    ssize_t end;
};

static struct outcome run(struct mk_request *r, enum mk_response_kind kind, struct fake_program p)
{
    struct gateway_answer a;
    struct outcome o = {.body =
                            exact_copy(p.bytes, p.len)}; /* a body is no longer than the output */
    char piece[64];
    ssize_t n = 0;

    gateway_answer_init(&a, r, kind, ANSWER_HEAD_DEFAULT, fake_output, &p);
    while (a.progress == GATEWAY_HEAD)
        (void)gateway_answer_input(&a);
    while (a.progress == GATEWAY_BODY &&
           ((n = r->produce(r, r->produce_arg, piece, sizeof(piece))) > 0 || n == MK_E_AGAIN)) {
        if (n < 0)
            continue;
        require(o.len + (size_t)n <= p.len);
        memcpy(o.body + o.len, piece, (size_t)n);
        o.len += (size_t)n;
    }
    o.end = a.progress == GATEWAY_BODY ? n : 0;
    o.progress = a.progress;
    gateway_answer_fini(&a);
    return o;
}

static void check_said(const char *said)
{
    static const char *const never[] = {
        "\nConnection:", "\nTransfer-Encoding:", "\nContent-Length:", "\nUpgrade:", "\nStatus:",
        "\nTE:"};

    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        require(!strcasestr(said, never[i]));
}

/* How much came through before an answer broke off depends on how it arrived; what came does not. */
static void require_same(const struct outcome *a, const struct outcome *b)
{
    size_t len = a->len < b->len ? a->len : b->len;

    require(a->progress == b->progress && (a->end == 0) == (b->end == 0));
    require(memcmp(a->body, b->body, len) == 0);
    require(a->end != 0 || a->len == b->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = {1, 7, 4096};
    static struct mk_request requests[3];
    unsigned kind = take_byte(&data, &size);
    struct outcome outcomes[3];

    if (size > 8192)
        return 0;
    for (int i = 0; i < 3; i++) {
        struct fake_program p = {.bytes = (const char *)data,
                                 .len = size,
                                 .step = steps[i],
                                 .ending = kind & 2 ? MK_E_PEER : 0};

        requests[i] = (struct mk_request){.facts = {.method = MK_STR("GET")}};
        outcomes[i] = run(&requests[i], kind & 1 ? MK_RESPONSE_HTTP : MK_RESPONSE_CGI, p);
        check_said(requests[i].said);
        require(outcomes[i].progress != GATEWAY_HEAD);
        require_same(&outcomes[i], &outcomes[0]);
        require(strcmp(requests[i].said, requests[0].said) == 0);
        require(strcmp(requests[i].moved_to, requests[0].moved_to) == 0);
    }
    for (int i = 0; i < 3; i++) {
        free(outcomes[i].body);
        fake_end(&requests[i]);
    }
    return 0;
}
