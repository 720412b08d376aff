/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/handshake.h"

#include "guard.h"

#define KEY "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="
#define GOOD                                                                                       \
    {"Connection", "keep-alive, Upgrade"}, {"Upgrade", "WebSocket"}, {KEY},                        \
    {                                                                                              \
        "Sec-WebSocket-Version", "13"                                                              \
    }

/* Rows of RFC 6455 sections 4.2.1 and 10.2. */
static const struct {
    const char *name;
    const char *fields[8][2];
    const char *protocols, *origins;
    unsigned status;
    const char *protocol;
    const char *method;
    unsigned minor;
    bool has_body;
} rows[] = {
    {"a good one", {GOOD}, NULL, NULL, 101, "", "GET", 1, false},
    {"method", {GOOD}, NULL, NULL, 405, "", "POST", 1, false},
    {"HTTP/1.0", {GOOD}, NULL, NULL, 426, "", "GET", 0, false},
    {"a body", {GOOD}, NULL, NULL, 400, "", "GET", 1, true},
    {"no Connection",
     {{"Upgrade", "websocket"}, {KEY}, {"Sec-WebSocket-Version", "13"}},
     NULL,
     NULL,
     426,
     "",
     "GET",
     1,
     false},
    {"another protocol",
     {{"Connection", "Upgrade"}, {"Upgrade", "h2c"}, {KEY}},
     NULL,
     NULL,
     426,
     "",
     "GET",
     1,
     false},
    {"two lines of Connection",
     {GOOD, {"Connection", "close"}},
     NULL,
     NULL,
     101,
     "",
     "GET",
     1,
     false},
    {"version 8",
     {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {KEY}, {"Sec-WebSocket-Version", "8"}},
     NULL,
     NULL,
     426,
     "",
     "GET",
     1,
     false},
    {"two versions", {GOOD, {"sec-websocket-version", "13"}}, NULL, NULL, 400, "", "GET", 1, false},
    {"two keys", {GOOD, {KEY}}, NULL, NULL, 400, "", "GET", 1, false},
    {"a short key",
     {{"Connection", "Upgrade"},
      {"Upgrade", "websocket"},
      {"Sec-WebSocket-Key", "dGhl"},
      {"Sec-WebSocket-Version", "13"}},
     NULL,
     NULL,
     400,
     "",
     "GET",
     1,
     false},
    {"a key of 17 bytes",
     {{"Connection", "Upgrade"},
      {"Upgrade", "websocket"},
      {"Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAAA="},
      {"Sec-WebSocket-Version", "13"}},
     NULL,
     NULL,
     400,
     "",
     "GET",
     1,
     false},
    {"same origin",
     {GOOD, {"Origin", "http://Example.org:80"}},
     NULL,
     NULL,
     101,
     "",
     "GET",
     1,
     false},
    {"another origin", {GOOD, {"Origin", "http://evil.org"}}, NULL, NULL, 403, "", "GET", 1, false},
    {"another scheme",
     {GOOD, {"Origin", "https://example.org:80"}},
     NULL,
     NULL,
     403,
     "",
     "GET",
     1,
     false},
    {"origin null", {GOOD, {"Origin", "null"}}, NULL, NULL, 403, "", "GET", 1, false},
    {"an origin of the list",
     {GOOD, {"Origin", "https://b.org"}},
     NULL,
     "https://a.org https://b.org",
     101,
     "",
     "GET",
     1,
     false},
    {"none of the list",
     {GOOD, {"Origin", "https://c.org"}},
     NULL,
     "https://a.org https://b.org",
     403,
     "",
     "GET",
     1,
     false},
    {"any origin", {GOOD, {"Origin", "https://c.org"}}, NULL, "*", 101, "", "GET", 1, false},
    {"two origins",
     {GOOD, {"Origin", "https://c.org"}, {"Origin", "https://c.org"}},
     NULL,
     "*",
     403,
     "",
     "GET",
     1,
     false},
    {"the server's best protocol",
     {GOOD, {"Sec-WebSocket-Protocol", "a, b"}, {"Sec-WebSocket-Protocol", "c"}},
     "c b",
     NULL,
     101,
     "c",
     "GET",
     1,
     false},
    {"protocols are case-sensitive",
     {GOOD, {"Sec-WebSocket-Protocol", "Chat"}},
     "chat",
     NULL,
     101,
     "",
     "GET",
     1,
     false},
    {"no protocol here",
     {GOOD, {"Sec-WebSocket-Protocol", "chat"}},
     NULL,
     NULL,
     101,
     "",
     "GET",
     1,
     false},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct ws_rules rules = {.protocols = rows[i].protocols, .origins = rows[i].origins};
        const struct ws_asked asked = {
            .method = mk_str_from(rows[i].method),
            .host = MK_STR("example.org:80"),
            .scheme = MK_STR("http"),
            .minor = rows[i].minor,
            .has_body = rows[i].has_body,
        };
        struct ws_opening o = {0};
        const char *why = NULL;
        unsigned status;

        for (size_t k = 0; k < 8 && rows[i].fields[k][0]; k++)
            ws_opening_field(&o, &rules, mk_str_from(rows[i].fields[k][0]),
                             mk_str_from(rows[i].fields[k][1]));
        status = ws_opening_judge(&o, &rules, &asked, &why);
        if (status != rows[i].status || (status == 101) != (why == NULL) ||
            o.protocol.len != strlen(rows[i].protocol))
            fail_msg("%s: %u, %s", rows[i].name, status, why ? why : "");
        if (o.protocol.len > 0)
            assert_memory_equal(o.protocol.p, rows[i].protocol, o.protocol.len);
    }
}

/* RFC 6455 section 1.3 */
static void test_accept(void **state)
{
    char accept[WS_ACCEPT_LEN];

    (void)state;
    ws_accept_key(accept, MK_STR("dGhlIHNhbXBsZSBub25jZQ=="));
    assert_memory_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WS_ACCEPT_LEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_accept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
