/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

struct mk_config *web_config_of(const char *workers)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, NULL), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Workers", workers, "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "LogLevel", "error", "test"), 0);
    return config;
}

struct mk_config *web_config(void)
{
    return web_config_of("1");
}

static void print_fault(void *arg, const char *text, size_t len)
{
    (void)arg;
    print_error("%.*s\n", (int)len, text);
}

struct mk_server *web_serve(struct mk_config *config)
{
    struct mk_server *server;
    int err = mk_server_new(&server, config, NULL);

    if (err > 0)
        mk_config_faults(config, print_fault, NULL);
    assert_int_equal(err, 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

struct mk_server *web_serve_one(const char *methods, const char *pattern, mk_handle_fn fn,
                                void *arg)
{
    struct mk_config *config = web_config();

    assert_int_equal(mk_config_handle(config, methods, pattern, fn, arg), 0);
    return web_serve(config);
}

struct mk_answer *web_ask(struct mk_server *server, const char *method, const char *target,
                          const char *fields, const char *body)
{
    const struct mk_question question = {
        .size = sizeof(question),
        .method = mk_str_from(method),
        .target = mk_str_from(target),
        .fields = mk_str_from(fields),
        .body = mk_str_from(body),
    };
    struct mk_answer *answer;

    assert_int_equal(mk_server_ask_wait(server, &question, &answer), 0);
    assert_int_equal(answer->error, 0);
    return answer;
}

void web_is(struct mk_answer *answer, unsigned status, const char *body)
{
    assert_int_equal(answer->status, status);
    if (body) {
        assert_int_equal(answer->body.len, strlen(body));
        if (answer->body.len > 0)
            assert_memory_equal(answer->body.p, body, strlen(body));
    }
    mk_answer_free(answer);
}

void web_expect(struct mk_server *server, const char *target, unsigned status, const char *body)
{
    web_is(web_ask(server, "GET", target, NULL, NULL), status, body);
}

bool web_has_line(const struct mk_answer *answer, const char *line)
{
    const size_t len = strlen(line);

    for (size_t i = 0; i + len + 2 <= answer->fields.len; i++) {
        const char *at = answer->fields.p + i;

        if ((i == 0 || at[-1] == '\n') && memcmp(at, line, len) == 0 && at[len] == '\r')
            return true;
    }
    return false;
}
