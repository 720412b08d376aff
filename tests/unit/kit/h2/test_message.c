/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/message.h"

#include <string.h>

/* Fields as `name=value` with a line end after each. A line `-` begins the trailers. */
static bool is_good(const char *fields, bool is_response)
{
    struct h2_message m;
    bool is_good = true;

    h2_message_init(&m, is_response);
    while (*fields && is_good) {
        size_t len = strcspn(fields, "\n"), name_len = strcspn(fields, "=");
        struct hpack_field f = {.name = {fields, name_len}, .value = {fields + name_len + 1, 0}};

        if (len == 1 && fields[0] == '-') {
            is_good = h2_message_is_whole(&m);
            m.is_trailer = true;
        } else {
            f.value.len = len - name_len - 1;
            is_good = h2_message_field(&m, &f) != H2_FIELD_MALFORMED;
        }
        fields += len + 1;
    }
    return is_good && h2_message_is_whole(&m);
}

#define GET ":method=GET\n:scheme=http\n:path=/\n"
#define HEAD GET ":authority=a\n"

static const struct {
    const char *sentence, *fields;
    bool is_good;
} requests[] = {
    {"the least", HEAD, true},
    {"Host in place of :authority: 8.3.1", GET "host=a\n", true},
    {"neither of them: 8.3.1", GET, false},
    {"no :method: 8.3.1", ":scheme=http\n:path=/\n:authority=a\n", false},
    {"no :scheme: 8.3.1", ":method=GET\n:path=/\n:authority=a\n", false},
    {"no :path: 8.3.1", ":method=GET\n:scheme=http\n:authority=a\n", false},
    {"an empty :path: 8.3.1", ":method=GET\n:scheme=http\n:path=\n:authority=a\n", false},
    {"a :path that is an address", ":method=GET\n:scheme=http\n:path=http://b/\n:authority=a\n",
     false},
    {"OPTIONS *: 8.3.1", ":method=OPTIONS\n:scheme=http\n:path=*\n:authority=a\n", true},
    {"another scheme", ":method=GET\n:scheme=ftp\n:path=/\n:authority=a\n", false},
    {":method twice: 8.3", HEAD ":method=GET\n", false},
    {":path twice: 8.3", HEAD ":path=/\n", false},
    {":scheme twice: 8.3", HEAD ":scheme=http\n", false},
    {":authority twice: 8.3", HEAD ":authority=a\n", false},
    {"a pseudo-header field after another one: 8.3", GET "x=y\n:authority=a\n", false},
    {"one that nobody knows: 8.3", HEAD ":x=y\n", false},
    {"one of responses: 8.3.1", HEAD ":status=200\n", false},
    {"CONNECT: 8.5", ":method=CONNECT\n:authority=a:1\n", true},
    {"CONNECT without :authority: 8.5", ":method=CONNECT\nhost=a\n", false},
    {"CONNECT with :path: 8.5", ":method=CONNECT\n:authority=a\n:path=/\n", false},
    {"CONNECT with :scheme: 8.5", ":method=CONNECT\n:authority=a\n:scheme=http\n", false},
    {"extended CONNECT: RFC 8441, 4",
     ":method=CONNECT\n:protocol=websocket\n:scheme=http\n:path=/\n:authority=a\n", true},
    {"it without :path: RFC 8441, 4",
     ":method=CONNECT\n:protocol=websocket\n:scheme=http\n:authority=a\n", false},
    {"it without :authority: RFC 8441, 4",
     ":method=CONNECT\n:protocol=websocket\n:scheme=http\n:path=/\nhost=a\n", false},
    {":protocol of another method: RFC 8441, 4", HEAD ":protocol=websocket\n", false},
    {"upper case: 8.2.1", HEAD "Upper=x\n", false},
    {"a name with a blank: 8.2.1", HEAD "a b=x\n", false},
    {"a name with a colon: 8.2.1", HEAD "a:b=x\n", false},
    {"an empty name: 8.2.1", HEAD "=x\n", false},
    {"a name with a byte above 127: 8.2.1", HEAD "\xc3\xa4=x\n", false},
    {"all letters that a name may have",
     HEAD "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz=x\n", true},
    {"an empty value", HEAD "x=\n", true},
    {"a value with a carriage return: 8.2.1", HEAD "x=1234567890\r12345\n", false},
    {"a value with a control byte", HEAD "x=12345678\x01\n", false},
    {"a value with DEL", HEAD "x=1234\x7f\n", false},
    {"a control byte at the end of eight", HEAD "x=1234567\x01\n", false},
    {"one before the last eight",
     HEAD "x=12345678\x01"
          "2345678901234567\n",
     false},
    {"one in the last byte of nine", HEAD "x=12345678\x1f\n", false},
    {"a tab, and a control byte behind it",
     HEAD "x=1234\t6789\x02"
          "2345678\n",
     false},
    {"a value with a tab inside", HEAD "x=12345678\t12345678\n", true},
    {"a value with bytes above 127", HEAD "x=\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xff\n", true},
    {"a value with a blank before it: 8.2.1", HEAD "x= y\n", false},
    {"a value with a tab after it: 8.2.1", HEAD "x=y\t\n", false},
    {"Connection: 8.2.2", HEAD "connection=close\n", false},
    {"Keep-Alive: 8.2.2", HEAD "keep-alive=1\n", false},
    {"Proxy-Connection: 8.2.2", HEAD "proxy-connection=x\n", false},
    {"Transfer-Encoding: 8.2.2", HEAD "transfer-encoding=chunked\n", false},
    {"Upgrade: 8.2.2", HEAD "upgrade=x\n", false},
    {"Keep_Alive, which some read so", HEAD "keep_alive=1\n", false},
    {"Transfer_Encoding, which some read so", HEAD "transfer_encoding=chunked\n", false},
    {"Content_Length, which some read so", HEAD "content_length=1\n", false},
    {"HTTP2-Settings: 3.1", HEAD "http2-settings=x\n", false},
    {"a name as long as one of these", HEAD "user-agent=x\n", true},
    {"TE: trailers: 8.2.2", HEAD "te=Trailers\n", true},
    {"TE with anything else: 8.2.2", HEAD "te=gzip\n", false},
    {"Host twice", HEAD "host=a\nhost=a\n", false},
    {"a length", HEAD "content-length=12\n", true},
    {"a length twice: RFC 9110, 8.6", HEAD "content-length=12\ncontent-length=12\n", false},
    {"a length that is none: RFC 9110, 8.6", HEAD "content-length=1a\n", false},
    {"an empty length: RFC 9110, 8.6", HEAD "content-length=\n", false},
    {"a length beyond numbers", HEAD "content-length=99999999999999999999\n", false},
    {"crumbs: 8.2.3", HEAD "cookie=a=1\ncookie=b=2\n", true},
    {"trailers: 8.1", HEAD "-\nx=y\n", true},
    {"a pseudo-header field in trailers: 8.1", HEAD "-\n:path=/\n", false},
    {"upper case in trailers: 8.2.1", HEAD "-\nUpper=x\n", false},
};

static const struct {
    const char *sentence, *fields;
    bool is_good;
} responses[] = {
    {"the least: 8.3.2", ":status=200\n", true},
    {"no :status: 8.3.2", "x=y\n", false},
    {":status of two digits: 8.3.2", ":status=20\n", false},
    {":status with a letter: 8.3.2", ":status=2x0\n", false},
    {":status below 100: 8.3.2", ":status=099\n", false},
    {":status twice: 8.3", ":status=200\n:status=200\n", false},
    {"one of requests: 8.3.2", ":status=200\n:path=/\n", false},
    {"TE, of which 8.2.2 speaks for requests alone", ":status=200\nte=gzip\n", true},
    {"Host, which means nothing", ":status=200\nhost=a\nhost=b\n", true},
    {"Connection: 8.2.2", ":status=200\nconnection=close\n", false},
    {"Transfer-Encoding: 8.2.2", ":status=200\ntransfer-encoding=chunked\n", false},
    {"a length twice: RFC 9110, 8.6", ":status=200\ncontent-length=1\ncontent-length=1\n", false},
    {":status in trailers: 8.1", ":status=200\n-\n:status=200\n", false},
};

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (is_good(requests[i].fields, false) != requests[i].is_good)
            fail_msg("%s", requests[i].sentence);
    }
}

static void test_responses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        if (is_good(responses[i].fields, true) != responses[i].is_good)
            fail_msg("%s", responses[i].sentence);
    }
}

/* A name of the static table needs no look at its text. */
static void test_static_names(void **state)
{
    static const struct {
        uint8_t id;
        enum h2_field field;
    } rows[] = {{1, H2_FIELD_AUTHORITY}, {28, H2_FIELD_CONTENT_LENGTH}, {32, H2_FIELD_COOKIE},
                {38, H2_FIELD_HOST},     {58, H2_FIELD_OTHER},          {57, H2_FIELD_MALFORMED}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hpack_field f = {
            .name = MK_STR_INIT("?"), .value = MK_STR_INIT("1"), .id = rows[i].id};
        struct h2_message m;

        h2_message_init(&m, false);
        assert_int_equal(h2_message_field(&m, &f), rows[i].field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_responses),
        cmocka_unit_test(test_static_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
