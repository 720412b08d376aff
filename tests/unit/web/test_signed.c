/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

/* Signed values: src/web/signed.c. */

enum { NOW = 1000, UNTIL = 2000 };

static const struct mk_str old_key = MK_STR_INIT("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk");
static const struct mk_str new_key = MK_STR_INIT("another key of thirty-two bytes!");
static const struct mk_str name = MK_STR_INIT("user");

/* As Python's hmac and base64 make it of old_key. */
static const struct mk_str known =
    MK_STR_INIT("YW5u.2000.BZqiAeWSd2WDA6Yl5hvMGUnhKx5_DmG_veV62FM59Yg");

static struct mk_signer *signer_of(size_t nkeys, struct mk_str first, struct mk_str second)
{
    const struct mk_str keys[] = {first, second};
    struct mk_signer *signer;

    assert_int_equal(mk_signer_new(&signer, keys, nkeys), 0);
    return signer;
}

static ssize_t read_at(const struct mk_signer *signer, struct mk_str text, int64_t now)
{
    char value[MK_SIGNED_VALUE];

    return mk_signed_read(value, sizeof(value), signer, name, text, now, NULL);
}

static void a_text_is_what_others_make_of_the_same(void **state)
{
    struct mk_signer *signer = signer_of(1, old_key, old_key);
    char text[MK_SIGNED_TEXT], value[16];
    unsigned key = 9;

    (void)state;
    assert_int_equal(mk_signed_write(text, sizeof(text), signer, name, MK_STR("ann"), UNTIL),
                     known.len);
    assert_memory_equal(text, known.p, known.len);
    assert_int_equal(mk_signed_read(value, sizeof(value), signer, name, known, NOW, &key), 3);
    assert_memory_equal(value, "ann", 3);
    assert_int_equal(key, 0);
    mk_signer_free(signer);
}

static void a_time_is_kept(void **state)
{
    static const int64_t times[] = {1, 9, 10, INT64_MAX - 1, INT64_MAX};
    struct mk_signer *signer = signer_of(1, old_key, old_key);
    char text[MK_SIGNED_TEXT];

    (void)state;
    assert_int_equal(read_at(signer, known, UNTIL - 1), 3);
    assert_int_equal(read_at(signer, known, UNTIL), MK_E_TIMEOUT);
    assert_int_equal(read_at(signer, known, INT64_MAX), MK_E_TIMEOUT);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        ssize_t len = mk_signed_write(text, sizeof(text), signer, name, MK_STR(""), times[i]);

        assert_true(len > 0);
        assert_int_equal(read_at(signer, (struct mk_str){text, (size_t)len}, times[i] - 1), 0);
        assert_int_equal(read_at(signer, (struct mk_str){text, (size_t)len}, times[i]),
                         MK_E_TIMEOUT);
    }
    mk_signer_free(signer);
}

/* Each byte in turn is cut off, changed in each bit, left out and doubled. */
static void whatever_is_changed_is_not_ours(void **state)
{
    struct mk_signer *signer = signer_of(2, new_key, old_key);
    char text[128];

    (void)state;
    assert_int_equal(read_at(signer, known, NOW), 3);
    for (size_t at = 0; at < known.len; at++) {
        assert_int_equal(read_at(signer, (struct mk_str){known.p, at}, NOW), MK_E_BAD);
        assert_int_equal(
            read_at(signer, (struct mk_str){known.p + at + 1, known.len - at - 1}, NOW), MK_E_BAD);
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, known.p, known.len);
            text[at] = (char)(text[at] ^ 1 << bit);
            assert_int_equal(read_at(signer, (struct mk_str){text, known.len}, NOW), MK_E_BAD);
        }
        memcpy(text, known.p, at);
        memcpy(text + at, known.p + at + 1, known.len - at - 1);
        assert_int_equal(read_at(signer, (struct mk_str){text, known.len - 1}, NOW), MK_E_BAD);
        memcpy(text, known.p, at + 1);
        memcpy(text + at + 1, known.p + at, known.len - at);
        assert_int_equal(read_at(signer, (struct mk_str){text, known.len + 1}, NOW), MK_E_BAD);
    }
    mk_signer_free(signer);
}

static void parts_of_two_texts_make_none(void **state)
{
    struct mk_signer *signer = signer_of(1, old_key, old_key);
    char other[MK_SIGNED_TEXT], mixed[MK_SIGNED_TEXT];
    ssize_t len = mk_signed_write(other, sizeof(other), signer, name, MK_STR("bob"), UNTIL);

    (void)state;
    assert_int_equal(len, known.len);
    memcpy(mixed, other, known.len);
    memcpy(mixed, known.p, 4); /* his value */
    assert_int_equal(read_at(signer, (struct mk_str){mixed, known.len}, NOW), MK_E_BAD);
    memcpy(mixed, other, known.len);
    memcpy(mixed + known.len - 43, known.p + known.len - 43, 43); /* his code */
    assert_int_equal(read_at(signer, (struct mk_str){mixed, known.len}, NOW), MK_E_BAD);
    memcpy(mixed, known.p, known.len);
    mixed[5] = '9'; /* a later time */
    assert_int_equal(read_at(signer, (struct mk_str){mixed, known.len}, NOW), MK_E_BAD);
    mk_signer_free(signer);
}

/* A name cannot take bytes of the value, or give it some. */
static void another_name_is_another_text(void **state)
{
    static const struct mk_str names[] = {MK_STR_INIT("use"), MK_STR_INIT("userY"),
                                          MK_STR_INIT("User"), MK_STR_INIT("admin"),
                                          MK_STR_INIT("4\nuser")};
    struct mk_signer *signer = signer_of(1, old_key, old_key);
    char value[16];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(mk_signed_read(value, sizeof(value), signer, names[i], known, NOW, NULL),
                         MK_E_BAD);
    assert_int_equal(mk_signed_read(value, sizeof(value), signer, MK_STR("userY"),
                                    (struct mk_str){known.p + 1, known.len - 1}, NOW, NULL),
                     MK_E_BAD);
    mk_signer_free(signer);
}

static void keys_change(void **state)
{
    struct mk_signer *before = signer_of(1, old_key, old_key);
    struct mk_signer *between = signer_of(2, new_key, old_key);
    struct mk_signer *after = signer_of(1, new_key, new_key);
    char text[MK_SIGNED_TEXT], value[16];
    unsigned key = 9;
    ssize_t len = mk_signed_write(text, sizeof(text), between, name, MK_STR("ann"), UNTIL);
    const struct mk_str fresh = {text, (size_t)len};

    (void)state;
    assert_int_equal(mk_signed_read(value, sizeof(value), between, name, known, NOW, &key), 3);
    assert_int_equal(key, 1);
    assert_int_equal(mk_signed_read(value, sizeof(value), between, name, fresh, NOW, &key), 3);
    assert_int_equal(key, 0);
    assert_int_equal(read_at(before, fresh, NOW), MK_E_BAD);
    assert_int_equal(read_at(after, known, NOW), MK_E_BAD);
    assert_int_equal(read_at(after, fresh, NOW), 3);
    mk_signer_free(before);
    mk_signer_free(between);
    mk_signer_free(after);
}

static void keys_are_bounded(void **state)
{
    static const char bytes[MK_SIGNER_KEY_MAX + 1];
    struct mk_str keys[MK_SIGNER_KEYS + 1];
    struct mk_signer *signer;

    (void)state;
    for (size_t i = 0; i <= MK_SIGNER_KEYS; i++)
        keys[i] = (struct mk_str){bytes, MK_SIGNER_KEY_MAX};
    assert_int_equal(mk_signer_new(&signer, keys, MK_SIGNER_KEYS + 1), MK_E_LIMIT);
    assert_int_equal(mk_signer_new(&signer, keys, 0), MK_E_INVALID);
    assert_int_equal(mk_signer_new(&signer, keys, MK_SIGNER_KEYS), 0);
    mk_signer_free(signer);
    keys[1].len = MK_SIGNER_KEY_MAX + 1;
    assert_int_equal(mk_signer_new(&signer, keys, 2), MK_E_LIMIT);
    keys[1].len = MK_SIGNER_KEY_MIN - 1;
    assert_int_equal(mk_signer_new(&signer, keys, 2), MK_E_INVALID);
    keys[1] = (struct mk_str){NULL, 0};
    assert_int_equal(mk_signer_new(&signer, keys, 2), MK_E_INVALID);
}

static void values_are_bounded(void **state)
{
    static char value[MK_SIGNED_VALUE + 1], long_name[MK_SIGNED_NAME + 1];
    struct mk_signer *signer = signer_of(1, old_key, old_key);
    char text[MK_SIGNED_TEXT], back[MK_SIGNED_VALUE];
    ssize_t len;

    (void)state;
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (char)i;
    memset(long_name, 'n', sizeof(long_name));
    for (size_t n = 0; n <= MK_SIGNED_VALUE; n += n < 70 ? 1 : 43) {
        len =
            mk_signed_write(text, sizeof(text), signer, name, (struct mk_str){value, n}, INT64_MAX);
        assert_true(len > 0);
        assert_int_equal(mk_signed_write(back, (size_t)len < sizeof(back) ? (size_t)len - 1 : 0,
                                         signer, name, (struct mk_str){value, n}, INT64_MAX),
                         MK_E_LIMIT);
        assert_int_equal(
            mk_signed_read(back, n, signer, name, (struct mk_str){text, (size_t)len}, NOW, NULL),
            n);
        assert_memory_equal(back, value, n);
        if (n > 0)
            assert_int_equal(mk_signed_read(back, n - 1, signer, name,
                                            (struct mk_str){text, (size_t)len}, NOW, NULL),
                             MK_E_LIMIT);
    }
    assert_int_equal(mk_signed_write(text, sizeof(text), signer, name,
                                     (struct mk_str){value, MK_SIGNED_VALUE + 1}, UNTIL),
                     MK_E_LIMIT);
    assert_true(mk_signed_write(text, sizeof(text), signer,
                                (struct mk_str){long_name, MK_SIGNED_NAME},
                                (struct mk_str){value, MK_SIGNED_VALUE}, UNTIL) > 0);
    assert_int_equal(mk_signed_write(text, sizeof(text), signer,
                                     (struct mk_str){long_name, sizeof(long_name)}, MK_STR("v"),
                                     UNTIL),
                     MK_E_LIMIT);
    assert_int_equal(mk_signed_write(text, sizeof(text), signer, name, MK_STR("v"), 0),
                     MK_E_INVALID);
    mk_signer_free(signer);
}

static void without_memory_there_is_no_signer(void **state)
{
    const long live = mk_heap_live();
    const struct mk_str keys[] = {old_key, new_key};
    struct mk_signer *signer;
    int err = MK_E_NOMEM;

    (void)state;
    for (long n = 0; err != 0 && n < 10; n++) {
        mk_heap_fail_after(n);
        err = mk_signer_new(&signer, keys, 2);
        mk_heap_fail_after(-1);
        assert_true(err == 0 || (err == MK_E_NOMEM && mk_heap_live() == live));
    }
    assert_int_equal(err, 0);
    mk_signer_free(signer);
    assert_int_equal(mk_heap_live(), live);
}

/* ---- cookies ---- */

static enum mk_verdict give_cookie(struct mk_request *r, void *arg)
{
    const struct mk_cookie cookie = {
        .size = sizeof(cookie), .name = name, .value = MK_STR("a;b\n")};
    const struct mk_cookie nameless = {.size = sizeof(cookie), .value = MK_STR("v")};
    struct mk_reply p;

    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    assert_int_equal(mk_reply_signed_cookie(&p, arg, &cookie, 60), 0);
    assert_int_equal(mk_reply_signed_cookie(&p, arg, &cookie, 0), MK_E_INVALID);
    assert_int_equal(mk_reply_signed_cookie(&p, arg, &nameless, 60), MK_E_INVALID);
    assert_int_equal(mk_reply_signed_cookie(&p, NULL, &cookie, 60), MK_E_INVALID);
    assert_int_equal(mk_reply_end(&p, 0), 0);
    return MK_VERDICT_DONE;
}

static enum mk_verdict take_cookie(struct mk_request *r, void *arg)
{
    char value[16], text[32];
    ssize_t len = mk_signed_cookie(r, arg, name, value, sizeof(value), NULL);

    if (len < 0)
        return mk_reply_bytes(
            r, 400, NULL, (struct mk_str){text, (size_t)snprintf(text, sizeof(text), "%zd", len)});
    return mk_reply_bytes(r, 200, NULL, (struct mk_str){value, (size_t)len});
}

static void put_text(char *fields, const char *text)
{
    snprintf(fields + strlen(fields), 4096 - strlen(fields), "%s", text);
}

/* "Set-Cookie: user=TEXT" of an answer, as "user=TEXT" */
static void cut_cookie(const struct mk_answer *answer, char *cookie, size_t size)
{
    static const struct mk_str line = MK_STR_INIT("Set-Cookie: ");
    const char *at = memmem(answer->fields.p, answer->fields.len, line.p, line.len);
    const char *end = answer->fields.p + answer->fields.len;
    size_t len = 0;

    assert_non_null(at);
    for (at += line.len; at + len < end && at[len] != ';' && at[len] != '\r';)
        len++;
    snprintf(cookie, size, "%.*s", (int)len, at);
}

static void cookies_come_back(void **state)
{
    struct mk_signer *signer = signer_of(1, new_key, new_key);
    struct mk_config *config = web_config();
    char cookie[256], fields[4096];
    struct mk_server *server;
    struct mk_answer *answer;

    (void)state;
    assert_int_equal(mk_config_handle(config, "GET", "/give", give_cookie, signer), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/take", take_cookie, signer), 0);
    server = web_serve(config);
    answer = web_ask(server, "GET", "/give", NULL, NULL);
    cut_cookie(answer, cookie, sizeof(cookie));
    mk_answer_free(answer);
    web_is(web_ask(server, "GET", "/take", NULL, NULL), 400, "-6"); /* MK_E_NOENT */
    snprintf(fields, sizeof(fields), "Cookie: %s\r\n", cookie);
    web_is(web_ask(server, "GET", "/take", fields, NULL), 200, "a;b\n");
    /* Others of that name, as another host of the domain plants them. */
    snprintf(fields, sizeof(fields), "Cookie: user=; user=x; user=%.*s; %s\r\n", (int)known.len,
             known.p, cookie);
    web_is(web_ask(server, "GET", "/take", fields, NULL), 200, "a;b\n");
    snprintf(fields, sizeof(fields), "Cookie: ");
    for (int i = 0; i < 8; i++)
        put_text(fields, "user=x; ");
    put_text(fields, cookie);
    put_text(fields, "\r\n");
    web_is(web_ask(server, "GET", "/take", fields, NULL), 400, "-2"); /* MK_E_BAD */
    mk_server_free(server);
    mk_signer_free(signer);
}

static void an_expired_cookie_says_so(void **state)
{
    struct mk_signer *signer = signer_of(1, old_key, old_key);
    struct mk_server *server = web_serve_one("GET", "/", take_cookie, signer);
    char fields[256];

    (void)state;
    snprintf(fields, sizeof(fields), "Cookie: user=%.*s; user=x\r\n", (int)known.len, known.p);
    web_is(web_ask(server, "GET", "/", fields, NULL), 400, "-10"); /* MK_E_TIMEOUT: 1970 */
    mk_server_free(server);
    mk_signer_free(signer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_what_others_make_of_the_same),
        cmocka_unit_test(a_time_is_kept),
        cmocka_unit_test(whatever_is_changed_is_not_ours),
        cmocka_unit_test(parts_of_two_texts_make_none),
        cmocka_unit_test(another_name_is_another_text),
        cmocka_unit_test(keys_change),
        cmocka_unit_test(keys_are_bounded),
        cmocka_unit_test(values_are_bounded),
        cmocka_unit_test(without_memory_there_is_no_signer),
        cmocka_unit_test(cookies_come_back),
        cmocka_unit_test(an_expired_cookie_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
