/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_facts.h"
#include "statistics/metrics.h"

static const struct proxy_facts facts[] = {
    {.name = "a",
     .health = {.state = HEALTH_UP},
     .latency = {.count = 9, .p50_us = 1500, .p90_us = 2000000, .p99_us = 3},
     .active = 1,
     .open = 5,
     .idle = 3,
     .waiting = 2,
     .requests = 100,
     .failures = 7,
     .repeated = 9,
     .checks = 12,
     .failed_checks = 4,
     .sent = 1000,
     .received = 2000,
     .status = {0, 0, 80, 3, 6, 1}},
    {.name = "b", .health = {.state = HEALTH_OFFLINE}, .is_drained = true},
    {.name = "c", .health = {.state = HEALTH_RETURNING}},
    {.name = "d", .health = {.state = HEALTH_PROBING}},
};

struct seen {
    char text[16384]; /* NAME{label=value,...} value, a line each */
    size_t len;
    const char *names[32];
    unsigned nnames;
};

static void note(void *arg, const struct mk_metric *m)
{
    struct seen *seen = arg;
    char labels[256] = "";

    assert_int_equal(m->size, sizeof(*m));
    assert_true(m->help && m->help[0]);
    /* Prometheus: a counter says so in its name */
    assert_int_equal(m->is_counter, strstr(m->name, "_total") != NULL);
    for (unsigned i = 0; i < m->nlabels; i++)
        (void)snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels), "%s%s=%.*s",
                       i ? "," : "", m->labels[i].name, (int)m->labels[i].value.len,
                       m->labels[i].value.p);
    seen->len += (size_t)snprintf(seen->text + seen->len, sizeof(seen->text) - seen->len,
                                  "%s{%s} %g\n", m->name, labels, m->value);
    if (seen->nnames == 0 || strcmp(seen->names[seen->nnames - 1], m->name) != 0)
        seen->names[seen->nnames++] = m->name;
}

static void collect(struct seen *seen)
{
    struct proxy_group groups[] = {{2, facts}, {2, facts + 2}};
    struct proxy_entry second = {.name = "two", .group = &groups[1]};
    struct proxy_entry first = {.name = "one", .group = &groups[0], .next = &second};
    struct proxy_config config = {.entries = &first};
    struct mk_context ctx = {.size = sizeof(ctx), .config = &config};

    memset(seen, 0, sizeof(*seen));
    proxy_metrics(&ctx, note, seen);
}

static void test_each_backend_is_told_of(void **state)
{
    static const char *const lines[] = {
        "monkey_proxy_up{entry=one,backend=a} 1\n",
        "monkey_proxy_up{entry=one,backend=b} 0\n",
        "monkey_proxy_up{entry=two,backend=c} 1\n",
        "monkey_proxy_up{entry=two,backend=d} 0\n",
        "monkey_proxy_drained{entry=one,backend=a} 0\n",
        "monkey_proxy_drained{entry=one,backend=b} 1\n",
        "monkey_proxy_active_requests{entry=one,backend=a} 1\n",
        "monkey_proxy_connections{entry=one,backend=a} 5\n",
        "monkey_proxy_idle_connections{entry=one,backend=a} 3\n",
        "monkey_proxy_waiting_requests{entry=one,backend=a} 2\n",
        "monkey_proxy_requests_total{entry=one,backend=a} 100\n",
        "monkey_proxy_failures_total{entry=one,backend=a} 7\n",
        "monkey_proxy_repeated_answers_total{entry=one,backend=a} 9\n",
        "monkey_proxy_checks_total{entry=one,backend=a} 12\n",
        "monkey_proxy_failed_checks_total{entry=one,backend=a} 4\n",
        "monkey_proxy_sent_bytes_total{entry=one,backend=a} 1000\n",
        "monkey_proxy_received_bytes_total{entry=one,backend=a} 2000\n",
        "monkey_proxy_answers_total{entry=one,backend=a,status=1xx} 0\n",
        "monkey_proxy_answers_total{entry=one,backend=a,status=2xx} 80\n",
        "monkey_proxy_answers_total{entry=one,backend=a,status=5xx} 1\n",
        "monkey_proxy_head_seconds{entry=one,backend=a,percentile=50} 0.0015\n",
        "monkey_proxy_head_seconds{entry=one,backend=a,percentile=90} 2\n",
        "monkey_proxy_head_seconds{entry=one,backend=a,percentile=99} 3e-06\n",
    };
    static struct seen seen;

    (void)state;
    collect(&seen);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (!strstr(seen.text, lines[i]))
            fail_msg("missing: %s", lines[i]);
    }
}

/* Samples of one name follow each other: the text format of Prometheus wants them in one group. */
static void test_names_are_not_mixed(void **state)
{
    static struct seen seen;

    (void)state;
    collect(&seen);
    for (unsigned i = 0; i < seen.nnames; i++) {
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(seen.names[i], seen.names[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_backend_is_told_of),
        cmocka_unit_test(test_names_are_not_mixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
