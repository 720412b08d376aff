/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

/* NULL for what a call of <monkey/web.h> needs: a result that says so, and never a crash. */

static const struct mk_str no_text = {NULL, 0};

static ssize_t give(struct mk_request *r, void *arg, uint64_t at, char *dst, size_t len)
{
    (void)r, (void)arg, (void)at, (void)dst, (void)len;
    return 0;
}

static int take_part(void *arg, const struct mk_part *part)
{
    (void)arg, (void)part;
    return 0;
}

static int take_bytes(void *arg, struct mk_str bytes)
{
    (void)arg, (void)bytes;
    return 0;
}

static int take_end(void *arg)
{
    (void)arg;
    return 0;
}

static const struct mk_multipart_calls part_calls = {sizeof(part_calls), take_part, take_bytes,
                                                     take_end};
static const struct mk_entity entity = {.size = sizeof(entity), .length = 1};

static enum mk_verdict say(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("goes on"));
}

static void work(const struct mk_task *task, void *arg)
{
    (void)task, (void)arg;
}

static const struct mk_task_calls task_calls = {
    .size = sizeof(task_calls), .work = work, .answer = say};

#define NO_REQUEST ((struct mk_request *)NULL)

static struct mk_str text;
static struct mk_form *form;
static struct mk_signer *signer;
static struct mk_cache *cache;
static struct mk_sessions *sessions;
static struct mk_sse_group *group;
static struct mk_sse *sse;
static struct mk_multipart *parts;
static struct mk_json json;
static const struct mk_json_value *tree;
static size_t at;
static int64_t number;
static const char *why;
static char room[64];

/* X(name, call, its result). Texts are compared by whether there is one. */
#define CALLS(X)                                                                                   \
    X(body_without_request, mk_request_body(NO_REQUEST, 10, &text), MK_E_INVALID)                  \
    X(body_without_place, mk_request_body(r, 10, NULL), MK_E_INVALID)                              \
    X(refusal_without_request, mk_reply_refusal(NO_REQUEST, MK_E_LIMIT), MK_VERDICT_DONE)          \
    X(form_without_request, mk_form_read(NO_REQUEST, NULL, &form), MK_E_INVALID)                   \
    X(form_without_place, mk_form_read(r, NULL, NULL), MK_E_INVALID)                               \
    X(value_without_form, mk_form_value(NULL, MK_STR("a")).p != NULL, false)                       \
    X(file_without_form, mk_form_file(NULL, MK_STR("a")) != NULL, false)                           \
    X(field_without_form, mk_form_field(NULL, 0) != NULL, false)                                   \
    X(query_without_request, mk_query_value(NO_REQUEST, MK_STR("a"), &text), MK_E_INVALID)         \
    X(number_without_request, mk_query_int(NO_REQUEST, MK_STR("a"), &number), MK_E_INVALID)        \
    X(number_without_place, mk_query_int(r, MK_STR("a"), NULL), MK_E_INVALID)                      \
    X(path_number_without_request, mk_path_int(NO_REQUEST, MK_STR("a"), &number), MK_E_INVALID)    \
    X(path_number_without_place, mk_path_int(r, MK_STR("a"), NULL), MK_E_INVALID)                  \
    X(text_number_without_place, mk_text_int(MK_STR("1"), NULL), MK_E_INVALID)                     \
    X(field_without_request, mk_reply_field(NO_REQUEST, MK_STR("A"), MK_STR("b")), MK_E_INVALID)   \
    X(query_without_place, mk_query_value(r, MK_STR("a"), NULL), MK_E_INVALID)                     \
    X(walk_without_request, mk_query_next(NO_REQUEST, &at, &text, &text), MK_E_INVALID)            \
    X(walk_without_position, mk_query_next(r, NULL, &text, &text), MK_E_INVALID)                   \
    X(walk_without_name, mk_query_next(r, &at, NULL, &text), MK_E_INVALID)                         \
    X(walk_without_value, mk_query_next(r, &at, &text, NULL), MK_E_INVALID)                        \
    X(pair_without_text, mk_pair_next(NULL, &text, &text), false)                                  \
    X(pair_without_name, mk_pair_next(&text, NULL, &text), false)                                  \
    X(pair_without_value, mk_pair_next(&text, &text, NULL), false)                                 \
    X(decoded_to_nowhere, mk_pair_decode(NULL, MK_STR("a")), MK_E_INVALID)                         \
    X(cookie_without_request, mk_cookie_value(NO_REQUEST, MK_STR("a")).p != NULL, false)           \
    X(cookies_without_text, mk_cookie_next(NULL, &text, &text), false)                             \
    X(cookies_without_name, mk_cookie_next(&text, NULL, &text), false)                             \
    X(cookies_without_value, mk_cookie_next(&text, &text, NULL), false)                            \
    X(no_cookie_is_written, mk_cookie_write(room, sizeof(room), NULL, &why), MK_E_INVALID)         \
    X(cookie_without_room,                                                                         \
      mk_cookie_write(NULL, 10, &(struct mk_cookie){.size = sizeof(struct mk_cookie)}, NULL),      \
      MK_E_INVALID)                                                                                \
    X(cookie_without_reply,                                                                        \
      mk_reply_cookie(NULL, &(struct mk_cookie){.size = sizeof(struct mk_cookie)}), MK_E_INVALID)  \
    X(description_of_no_group, mk_routes_describe(NULL, "GET", "/", NULL, NULL), MK_E_INVALID)     \
    X(check_of_no_group, mk_routes_check(NULL), MK_E_INVALID)                                      \
    X(document_without_place, mk_openapi_new(NULL, NULL, "a", "1"), MK_E_INVALID)                  \
    X(no_document, mk_openapi_text(NULL).p != NULL, false)                                         \
    X(document_without_request, mk_reply_openapi(NO_REQUEST, NULL), MK_VERDICT_DONE)               \
    X(no_secret, mk_secret_eq(no_text, no_text), false)                                            \
    X(cache_without_place, mk_cache_new(NULL, NULL), MK_E_INVALID)                                 \
    X(no_cache_keeps, mk_cache_set(cache, MK_STR("a"), MK_STR("b"), 0), MK_E_INVALID)              \
    X(no_cache_gives, mk_cache_get(cache, MK_STR("a"), room, sizeof(room)), MK_E_INVALID)          \
    X(no_cache_finds, mk_cache_find(cache, r, MK_STR("a"), &text), MK_E_INVALID)                   \
    X(no_cache_drops, mk_cache_drop(cache, MK_STR("a")), false)                                    \
    X(sessions_without_place, mk_sessions_new(NULL, NULL), MK_E_INVALID)                           \
    X(no_sessions_are_there, mk_sessions_count(sessions), 0)                                       \
    X(no_sessions_give, mk_session_get(r, sessions, "a") != NULL, false)                           \
    X(no_sessions_keep, mk_session_set(r, sessions, "a", "b"), MK_E_INVALID)                       \
    X(no_sessions_remove, mk_session_remove(r, sessions, "a"), MK_E_INVALID)                       \
    X(no_sessions_renew, mk_session_renew(r, sessions), MK_E_INVALID)                              \
    X(no_sessions_end, mk_session_destroy(r, sessions), MK_E_INVALID)                              \
    X(signer_without_place, mk_signer_new(NULL, &text, 1), MK_E_INVALID)                           \
    X(signer_without_keys, mk_signer_new(&signer, NULL, 1), MK_E_INVALID)                          \
    X(nobody_signs, mk_signed_write(room, sizeof(room), NULL, MK_STR("a"), MK_STR("b"), 1),        \
      MK_E_INVALID)                                                                                \
    X(nobody_verifies,                                                                             \
      mk_signed_read(room, sizeof(room), NULL, MK_STR("a"), MK_STR("b"), 1, NULL), MK_E_INVALID)   \
    X(signed_cookie_without_request,                                                               \
      mk_signed_cookie(NO_REQUEST, NULL, MK_STR("a"), room, sizeof(room), NULL), MK_E_INVALID)     \
    X(signed_cookie_without_signer,                                                                \
      mk_signed_cookie(r, NULL, MK_STR("a"), room, sizeof(room), NULL), MK_E_INVALID)              \
    X(signed_cookie_without_reply,                                                                 \
      mk_reply_signed_cookie(NULL, NULL, &(struct mk_cookie){.size = sizeof(struct mk_cookie)},    \
                             1),                                                                   \
      MK_E_INVALID)                                                                                \
    X(tag_without_room, mk_etag_write(NULL, MK_STR("a"), false).p != NULL, false)                  \
    X(check_without_request, mk_entity_check(NO_REQUEST, &entity), 412)                            \
    X(check_without_entity, mk_entity_check(r, NULL), 412)                                         \
    X(unchanged_without_request, mk_reply_unchanged(NO_REQUEST, &entity, 304), MK_VERDICT_DONE)    \
    X(entity_without_request, mk_reply_entity(NO_REQUEST, &entity, give, NULL), MK_VERDICT_DONE)   \
    X(handler_without_configuration, mk_config_handle(NULL, "GET", "/", say, NULL), MK_E_INVALID)  \
    X(value_without_request, mk_path_value(NO_REQUEST, MK_STR("a")).p != NULL, false)              \
    X(router_without_place, mk_router_new(NULL), MK_E_INVALID)                                     \
    X(no_router_is_filled, mk_router_add(NULL, "GET", "/", say, NULL), MK_E_INVALID)               \
    X(routes_of_no_configuration, mk_config_routes(NULL) != NULL, false)                           \
    X(routes_of_no_router, mk_router_routes(NULL) != NULL, false)                                  \
    X(group_in_no_group, mk_routes_group(NULL, "/a", NULL), MK_E_INVALID)                          \
    X(route_in_no_group, mk_routes_add(NULL, "GET", "/", say, NULL), MK_E_INVALID)                 \
    X(hook_of_no_group, mk_routes_before(NULL, say, NULL), MK_E_INVALID)                           \
    X(end_of_no_group, mk_routes_after(NULL, NULL, NULL), MK_E_INVALID)                            \
    X(no_router_is_run, mk_router_run(NULL, r, 0), MK_VERDICT_PASS)                                \
    X(events_without_request, mk_sse_open(NO_REQUEST, NULL, &sse), MK_E_INVALID)                   \
    X(events_without_place, mk_sse_open(r, NULL, NULL), MK_E_INVALID)                              \
    X(event_without_stream,                                                                        \
      mk_sse_send(NULL, &(struct mk_sse_event){.size = sizeof(struct mk_sse_event)}),              \
      MK_E_INVALID)                                                                                \
    X(group_of_events_without_place, mk_sse_group_new(NULL, NULL, NULL), MK_E_INVALID)             \
    X(group_of_events_without_server, mk_sse_group_new(&group, NULL, NULL), MK_E_INVALID)          \
    X(no_group_is_joined, mk_sse_group_join(NULL, NULL), MK_E_INVALID)                             \
    X(event_without_group,                                                                         \
      mk_sse_group_send(NULL, &(struct mk_sse_event){.size = sizeof(struct mk_sse_event)}),        \
      MK_E_INVALID)                                                                                \
    X(no_group_is_closed, mk_sse_group_close(NULL), MK_E_INVALID)                                  \
    X(last_id_without_request, mk_sse_last_id(NO_REQUEST).p != NULL, false)                        \
    X(task_without_request, mk_task_start(NO_REQUEST, &task_calls, NULL), MK_E_INVALID)            \
    X(task_without_calls, mk_task_start(r, NULL, NULL), MK_E_INVALID)                              \
    X(runs_without_request, mk_task_runs(NO_REQUEST), false)                                       \
    X(no_task_is_wanted, mk_task_is_wanted(NULL), false)                                           \
    X(group_without_place, mk_task_group_new(NULL, NULL), MK_E_INVALID)                            \
    X(metrics_without_request, mk_reply_metrics(NO_REQUEST, NULL), MK_VERDICT_DONE)                \
    X(metrics_without_server, mk_metrics_write(NULL, NULL, NULL), MK_E_INVALID)                    \
    X(json_without_text, mk_json_end(NULL), MK_E_INVALID)                                          \
    X(json_without_request,                                                                        \
      (mk_json_begin_reply(&json, NO_REQUEST, 100), mk_json_null(&json), mk_json_end(&json)),      \
      MK_E_INVALID)                                                                                \
    X(json_reply_without_request,                                                                  \
      (mk_json_begin(&json, room, sizeof(room), NULL, NULL), mk_json_null(&json),                  \
       mk_reply_json(NO_REQUEST, 200, &json)),                                                     \
      MK_VERDICT_DONE)                                                                             \
    X(json_without_buffer,                                                                         \
      (mk_json_begin(&json, NULL, 10, NULL, NULL), mk_json_null(&json), mk_json_end(&json)),       \
      MK_E_LIMIT)                                                                                  \
    X(json_tree_without_place, mk_json_read(MK_STR("1"), NULL, NULL, NULL), MK_E_INVALID)          \
    X(json_tree_without_text, mk_json_read(no_text, NULL, &tree, NULL), MK_E_BAD)                  \
    X(json_body_without_request, mk_request_json(NO_REQUEST, NULL, &tree, NULL), MK_E_INVALID)     \
    X(json_body_without_place, mk_request_json(r, NULL, NULL, NULL), MK_E_INVALID)                 \
    X(member_of_no_object, mk_json_member(NULL, MK_STR("a")) != NULL, false)                       \
    X(no_token, mk_json_reader_next(NULL), MK_E_INVALID)                                           \
    X(no_type, mk_media_is(no_text, no_text), false)                                               \
    X(problem_without_request, mk_reply_problem(NO_REQUEST, 400, NULL, NULL), MK_VERDICT_DONE)     \
    X(refusal_of_json_without_request, mk_reply_json_refusal(NO_REQUEST, MK_E_BAD, NULL),          \
      MK_VERDICT_DONE)                                                                             \
    X(parts_without_place, mk_multipart_new(NULL, MK_STR("a/b"), &part_calls, NULL), MK_E_INVALID) \
    X(parts_without_calls, mk_multipart_new(&parts, MK_STR("a/b"), NULL, NULL), MK_E_INVALID)      \
    X(no_parts_are_fed, mk_multipart_feed(NULL, "a", 1), MK_E_INVALID)                             \
    X(no_parts_have_ended, mk_multipart_end(NULL), MK_E_INVALID)                                   \
    X(no_type_is_offered, mk_choose_type(no_text, NULL, 1), -1)                                    \
    X(no_language_is_offered, mk_choose_language(no_text, NULL, 1), -1)                            \
    X(no_coding_is_offered, mk_choose_coding(MK_STR("gzip"), NULL, 1), -1)                         \
    X(date_without_place, mk_date_read(MK_STR("Sun, 06 Nov 1994 08:49:37 GMT"), 0, NULL),          \
      MK_E_INVALID)

#define CALL(name, call, result)                                                                   \
    static long long name(struct mk_request *r)                                                    \
    {                                                                                              \
        (void)r;                                                                                   \
        return (call);                                                                             \
    }
CALLS(CALL)
#undef CALL

static const struct row {
    const char *name;
    long long (*call)(struct mk_request *r);
    long long result;
} rows[] = {
#define ROW(name, call, result) {#name, name, result},
    CALLS(ROW)
#undef ROW
};

/* The first row with another result, noted on the worker. */
static const struct row *wrong;
static long long wrong_result;

/* Calls without a result. */
static void call_the_silent(void)
{
    mk_router_free(NULL);
    mk_router_finish(NULL, NULL);
    mk_openapi_free(NULL);
    mk_cache_free(NULL);
    mk_cache_clear(NULL);
    mk_cache_facts(NULL, NULL);
    mk_sessions_free(NULL);
    mk_signer_free(NULL);
    mk_sse_close(NULL);
    mk_sse_group_free(NULL);
    mk_sse_group_leave(NULL, NULL);
    mk_sse_group_facts(NULL, NULL);
    mk_multipart_free(NULL);
    mk_task_group_free(NULL);
    mk_date_write(NULL, 0);
    mk_json_begin(NULL, room, sizeof(room), NULL, NULL);
    mk_json_begin_reply(NULL, NULL, 10);
    mk_json_object(NULL);
    mk_json_array(NULL);
    mk_json_close(NULL);
    mk_json_key(NULL, MK_STR("a"));
    mk_json_text(NULL, MK_STR("a"));
    mk_json_text(NULL, no_text);
    mk_json_int(NULL, -1);
    mk_json_uint(NULL, 1);
    mk_json_number(NULL, 0.5);
    mk_json_bool(NULL, true);
    mk_json_null(NULL);
    mk_json_raw(NULL, MK_STR("1"));
    mk_json_raw(NULL, no_text);
    mk_json_tree(NULL, NULL);
    mk_json_free(NULL);
    mk_json_reader_begin(NULL, NULL, NULL, 0);
    mk_json_reader_feed(NULL, no_text, true);
}

static enum mk_verdict call_all(struct mk_request *r, void *arg)
{
    text = no_text;
    call_the_silent();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const long long result = rows[i].call(r);

        if (result == rows[i].result || wrong)
            continue;
        wrong = &rows[i];
        wrong_result = result;
    }
    return say(r, arg);
}

static void nothing_is_refused_and_the_server_goes_on(void **state)
{
    struct mk_server *server = web_serve_one(NULL, "/", call_all, NULL);

    (void)state;
    web_expect(server, "/?a=1", 200, "goes on");
    web_is(
        web_ask(server, "POST", "/", "Content-Type: application/x-www-form-urlencoded\r\n", "a=1"),
        200, "goes on");
    mk_server_free(server);
}

static enum mk_verdict answer_nothing(struct mk_request *r, void *arg)
{
    (void)r, (void)arg;
    return mk_reply_refusal(NULL, MK_E_LIMIT);
}

static enum mk_verdict answer_no_entity(struct mk_request *r, void *arg)
{
    return mk_reply_entity(r, NULL, give, arg);
}

static enum mk_verdict answer_entity_of_nobody(struct mk_request *r, void *arg)
{
    return mk_reply_entity(r, &entity, NULL, arg);
}

static enum mk_verdict answer_unchanged_nothing(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_unchanged(r, NULL, 304);
}

static enum mk_verdict answer_no_json(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_reply_json(r, 200, NULL);
}

static void a_request_whose_answer_lacks_something_gets_500(void **state)
{
    static const mk_handle_fn handlers[] = {answer_nothing, answer_no_entity,
                                            answer_entity_of_nobody, answer_unchanged_nothing,
                                            answer_no_json};

    (void)state;
    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        struct mk_server *server = web_serve_one("GET", "/", handlers[i], NULL);

        web_expect(server, "/", 500, NULL);
        web_expect(server, "/", 500, NULL);
        mk_server_free(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_refused_and_the_server_goes_on),
        cmocka_unit_test(a_request_whose_answer_lacks_something_gets_500),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
