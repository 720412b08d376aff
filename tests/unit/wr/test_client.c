/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <string.h>

#define UNSAID (-1)

struct sample {
    const char *tool;
    bool is_open_loop;
    double requests, errors, us, p50, p90, p99, max;
    const char *text;
};

static const struct sample samples[] = {
    {"ab", false, 100, 9, 12500000, 4000, 9000, 12000, 20000,
     "This is ApacheBench, Version 2.3\nTime taken for tests:   12.500 seconds\nComplete requests: "
     "     100\n"
     "Failed requests:        2\n   (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)\nNon-2xx "
     "responses:      7\n"
     "  50%      4\n  90%      9\n  99%     12\n 100%     20 (longest request)\n"},
    {"siege", false, 5000, 3, 9990000, UNSAID, UNSAID, UNSAID, 120000,
     "{\t\"transactions\":\t\t\t        5000,\n\t\"availability\":\t\t\t       "
     "99.94,\n\t\"elapsed_time\":\t\t\t        "
     "9.99,\n\t\"failed_transactions\":\t\t\t           3,\n\t\"longest_transaction\":\t\t\t       "
     " 0.12,\n}\n"},
    {"siege", false, 5000, 3, 9990000, UNSAID, UNSAID, UNSAID, 120000,
     "Transactions:\t\t        5000 hits\nElapsed time:\t\t        9.99 secs\nFailed "
     "transactions:\t           3\n"
     "Longest transaction:\t        0.12\n"},
    {"wrk", false, 12345, 15, 10010000, 635, 1500, 2000000, UNSAID,
     "Running 10s test @ http://localhost/\n  2 threads and 10 connections\n  Latency "
     "Distribution\n     50%  "
     "635.00us\n     90%    1.50ms\n     99%    2.00s\n  12345 requests in 10.01s, 1.2MB read\n"
     "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n"},
    {"wrk2", true, 600, 0, 2000000, 1100, 2200, 3300, 4400,
     "  2 threads and 10 connections\n  Latency Distribution (HdrHistogram - Recorded Latency)\n "
     "50.000%    1.10ms\n"
     " 90.000%    2.20ms\n 99.000%    3.30ms\n100.000%    4.40ms\n  600 requests in 2.00s, 1MB "
     "read\n"},
    {"h2load", false, 100, 2, 12340, UNSAID, UNSAID, UNSAID, 5000,
     "finished in 12.34ms, 8103.73 req/s, 1MB/s\nrequests: 100 total, 100 started, 100 done, 98 "
     "succeeded, 2 failed, 1 "
     "errored, 0 timeout\n                     min         max\ntime for request:      100us      "
     "5.00ms   1ms\n"},
    {"weighttp", false, 50, 4, 1234567, UNSAID, UNSAID, UNSAID, UNSAID,
     "finished in 1 sec, 234 millisec and 567 microsec, 81000 req/s, 9000 kbyte/s\n"
     "requests: 50 total, 50 started, 50 done, 46 succeeded, 3 failed, 1 errored\n"},
    {"hey", false, 205, 9, 2000000, 1200, 3400, 5600, 9000,
     "Summary:\n  Total:\t2.0000 secs\n  Slowest:\t0.0090 secs\nResponse time histogram:\nLatency "
     "distribution:\n"
     "  50% in 0.0012 secs\n  90% in 0.0034 secs\n  99% in 0.0056 secs\nStatus code distribution:\n"
     "  [200]\t200 responses\n  [503]\t5 responses\nError distribution:\n  [4]\tGet \"http://x\": "
     "refused\n"},
    {"oha", false, 100, 10, 1500000, 1000, 2000, 3000, 4000,
     "Summary:\n  Success rate:\t90.00%\n  Total:\t1500.0000 ms\n  Slowest:\t4.0000 ms\nResponse "
     "time histogram:\n"
     "  50.00% in 1.0000 ms\n  90.00% in 2.0000 ms\n  99.00% in 3.0000 ms\n  [200] 100 "
     "responses\n"},
    {"vegeta", true, 500, 5, 62500000, 300, 400, 600, 1000000,
     "Requests      [total, rate, throughput]  500, 100.20, 99.1\nDuration      [total, attack, "
     "wait]      1m2.5s, 1m2s, "
     "500ms\nLatencies     [min, mean, 50, 90, 95, 99, max]  100\xc2\xb5s, 200\xc2\xb5s, "
     "300\xc2\xb5s, 400\xc2\xb5s, "
     "500\xc2\xb5s, 600\xc2\xb5s, 1s\nSuccess       [ratio]                    99.00%\n"},
    {"k6", false, 1000, 20, 10000000, 1300, 2500, UNSAID, 7000,
     "    http_req_duration..............: avg=1.5ms min=100\xc2\xb5s med=1.3ms max=7ms "
     "p(90)=2.5ms p(95)=3ms\n"
     "    http_req_failed................: 2.00%  20 out of 1000\n    "
     "http_reqs......................: 1000   100/s\n"},
};

static void assert_near(double said, double expected)
{
    if (expected == UNSAID)
        assert_true(isnan(said));
    else
        assert_true(fabs(said - expected) <= 1e-6 * (1 + expected));
}

static void test_each_tool_is_understood(void **state)
{
    struct client_result r;

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        const struct sample *s = &samples[i];

        assert_true(client_parse(s->text, &r));
        assert_string_equal(r.tool, s->tool);
        assert_int_equal(r.is_open_loop, s->is_open_loop);
        assert_near(r.values[CLIENT_REQUESTS], s->requests);
        assert_near(r.values[CLIENT_ERRORS], s->errors);
        assert_near(r.values[CLIENT_US], s->us);
        assert_near(r.values[CLIENT_P50_US], s->p50);
        assert_near(r.values[CLIENT_P90_US], s->p90);
        assert_near(r.values[CLIENT_P99_US], s->p99);
        assert_near(r.values[CLIENT_MAX_US], s->max);
    }
}

static void test_output_may_end_anywhere(void **state)
{
    struct client_result r;
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        for (size_t len = 0; len <= strlen(samples[i].text); len++) {
            memcpy(text, samples[i].text, len);
            text[len] = '\0';
            if (client_parse(text, &r))
                assert_false(isnan(r.values[CLIENT_REQUESTS]));
        }
}

static void test_other_text_is_not_understood(void **state)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "hello",
                                        "This is ApacheBench",
                                        "Transactions: many",
                                        "2 threads and 10 connections\n requests in 1s"};
    struct client_result r;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_false(client_parse(texts[i], &r));
}

static void test_an_expression_finds_the_count(void **state)
{
    struct client_result r;

    (void)state;
    assert_int_equal(client_parse_by("done: ([0-9]+)", "x\ndone: 17\n", &r), 0);
    assert_near(r.values[CLIENT_REQUESTS], 17);
    assert_true(isnan(r.values[CLIENT_ERRORS]));
    assert_int_equal(client_parse_by("done: ([0-9]+)", "done: 17\ndone: 3\n", &r), 0);
    assert_near(r.values[CLIENT_REQUESTS], 20);
    assert_int_equal(client_parse_by("done: ([0-9]+)", "done: x\n", &r), -1);
    assert_int_equal(client_parse_by("done: [0-9]+", "done: 1\n", &r), -1);
    assert_int_equal(client_parse_by("()*", "done: 1\n", &r), -1);
    assert_int_equal(client_parse_by("done: ([0-9]+", "done: 17\n", &r), -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tool_is_understood),
        cmocka_unit_test(test_output_may_end_anywhere),
        cmocka_unit_test(test_other_text_is_not_understood),
        cmocka_unit_test(test_an_expression_finds_the_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
