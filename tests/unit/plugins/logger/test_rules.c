/* SPDX-License-Identifier: Apache-2.0 */
#include "logger_test.h"

#include "rules.h"

#include "../proxy_reverse/entry/fake_setup.h"

#include <fnmatch.h>

/* ---- what the setup has besides: globs that begin with a slash alone ---- */

struct mk_pattern {
    const char *glob;
};

int mk_setup_pattern(struct mk_setup *setup, const struct mk_origin *at, const char *key,
                     struct mk_str text, const struct mk_pattern **pattern)
{
    struct mk_pattern *made;

    (void)at;
    (void)key;
    *pattern = NULL;
    if (!memchr(text.p, '*', text.len))
        return 0;
    made = mk_setup_alloc(setup, sizeof(*made));
    if (!made)
        return MK_E_NOMEM;
    made->glob = mk_setup_copy(setup, text).p;
    *pattern = made;
    return made->glob ? 0 : MK_E_NOMEM;
}

bool mk_pattern_is_of(const struct mk_pattern *pattern, struct mk_str path)
{
    char text[100];

    assert_true(path.len < sizeof(text));
    memcpy(text, path.p ? path.p : "", path.len);
    text[path.len] = '\0';
    return fnmatch(pattern->glob, text, 0) == 0;
}

const char *mk_setup_nearest(struct mk_str word, const char *const *names)
{
    (void)word;
    return names[0];
}

void mk_setup_fault(struct mk_setup *setup, const struct mk_origin *at, const char *fmt, ...)
{
    (void)at;
    assert_non_null(fmt);
    setup->nrefused++;
}

/* ---- reading ---- */

static int read_with(int (*parse)(struct mk_setup *, const struct mk_setting *),
                     struct mk_setup *setup, const char *text)
{
    const struct mk_setting s = {.key = MK_STR_INIT("LogIf"), .value = mk_str_from(text)};

    return parse(setup, &s);
}

/* @param lines  LogIf lines; a NULL ends them */
static void read_lines(struct mk_setup *setup, const char *const *lines)
{
    for (; *lines; lines++) {
        if (read_with(logger_rules_parse_condition, setup, *lines) < 0)
            fail_msg("refused: %s", *lines);
    }
}

static const uint8_t inside[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7};

static struct logger_asked usual(void)
{
    return (struct logger_asked){.status = 200,
                                 .took_ms = 500,
                                 .method = MK_STR("GET"),
                                 .path = MK_STR("/api/a.css"),
                                 .ip = inside};
}

static bool wants(const char *const *lines, const struct logger_asked *asked)
{
    struct logger_rules rules = {.first = NULL};
    struct mk_setup setup = {.settings = &rules};
    uint64_t random = 1;
    bool is_wanted;

    read_lines(&setup, lines);
    is_wanted = logger_rules_want(&rules, asked, &random);
    fake_setup_end(&setup);
    return is_wanted;
}

static void conditions_hold_or_not(void **state)
{
    static const struct {
        const char *line;
        bool holds;
    } rows[] = {
        {"status=200", true},
        {"status!=200", false},
        {"status>=200", true},
        {"status>200", false},
        {"status<=200", true},
        {"status<200", false},
        {"STATUS<201", true},
        {"time>=500ms", true},
        {"time<500ms", false},
        {"time<1s", true},
        {"time<1", true},
        {"request_time>=500ms", true},
        {"request_time<1m", true},
        {"method=GET", true},
        {"method=get", false}, /* RFC 9110 section 9.1: it is case-sensitive */
        {"method!=POST", true},
        {"path=/api/a.css", true},
        {"path=/api/", false},
        {"path!=/api/", true},
        {"path=/api/*", true},
        {"path!=/api/*", false},
        {"path=*.css", true},
        {"path=*.js", false},
        {"remote=10.0.0.7", true},
        {"remote=10.0.0.0/8", true},
        {"remote!=10.0.0.0/8", false},
        {"remote=11.0.0.0/8", false},
        {"remote=::ffff:10.0.0.7", true},
        {"remote!=2001:db8::/32", true},
        {"remote=::/0", true},
        {"status=200 method=GET  remote=10.0.0.0/8", true},
        {"status=200\tmethod=PUT", false},
    };
    const struct logger_asked asked = usual();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *const lines[] = {rows[i].line, NULL};

        if (wants(lines, &asked) != rows[i].holds)
            fail_msg("%s", rows[i].line);
    }
}

static void one_line_of_several_is_enough(void **state)
{
    static const char *const lines[] = {"status=404", "method=GET time>1s", "path=/api/*", NULL};
    struct logger_asked asked = usual();

    (void)state;
    assert_true(wants(lines, &asked));
    asked.path = MK_STR("/other");
    assert_false(wants(lines, &asked));
    asked.took_ms = 1001;
    assert_true(wants(lines, &asked));
}

/* A head that was refused has neither method nor path; a client at a unix socket has no address. */
static void what_is_not_known_is_no_value(void **state)
{
    static const char *const is[] = {"method=GET", "path=/*", "path=/", "remote=::/0", NULL};
    static const char *const is_not[] = {"method!=GET path!=/* path!=/ remote!=::/0", NULL};
    const struct logger_asked asked = {.status = 400};

    (void)state;
    assert_false(wants(is, &asked));
    assert_true(wants(is_not, &asked));
}

static void tells_whether_an_address_is_asked_for(void **state)
{
    struct logger_rules rules = {.first = NULL};
    struct mk_setup setup = {.settings = &rules};

    (void)state;
    assert_int_equal(read_with(logger_rules_parse_condition, &setup, "status=200"), 0);
    assert_false(rules.asks_remote);
    assert_int_equal(read_with(logger_rules_parse_condition, &setup, "time>1 remote=::1"), 0);
    assert_true(rules.asks_remote);
    fake_setup_end(&setup);
}

static void refuses_what_is_no_condition(void **state)
{
    static const char *const rows[] = {
        "status",
        "status=",
        "status=0",
        "status=600",
        "status=4x",
        "status = 200",
        "=200",
        ">=",
        "size>1",
        "time>=0",
        "time>=ms",
        "time>=1h",
        "time>=99999999999s",
        "method=",
        "method>GET",
        "path=",
        "path=a",
        "path<=/a",
        "remote=",
        "remote=a.example",
        "remote=10.0.0.0/33",
        "remote=10.0.0.1/8",
        "remote>10.0.0.1",
        "status=200 and",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct logger_rules rules = {.first = NULL};
        struct mk_setup setup = {.settings = &rules};

        if (read_with(logger_rules_parse_condition, &setup, rows[i]) != MK_E_INVALID)
            fail_msg("taken: %s", rows[i]);
        assert_int_equal(setup.nrefused, 1);
        fake_setup_end(&setup);
    }
}

static void lines_and_their_conditions_are_bounded(void **state)
{
    struct logger_rules rules = {.first = NULL};
    struct mk_setup setup = {.settings = &rules};
    char text[200] = "";

    (void)state;
    for (int i = 0; i < LOGGER_TERMS_MAX; i++)
        strcat(text, "status=200 ");
    for (int i = 0; i < LOGGER_CONDITIONS_MAX; i++)
        assert_int_equal(read_with(logger_rules_parse_condition, &setup, text), 0);
    assert_int_equal(read_with(logger_rules_parse_condition, &setup, text), MK_E_INVALID);
    rules = (struct logger_rules){.first = NULL};
    strcat(text, "status=200");
    assert_int_equal(read_with(logger_rules_parse_condition, &setup, text), MK_E_INVALID);
    fake_setup_end(&setup);
}

static void without_memory_nothing_is_read(void **state)
{
    struct logger_rules rules = {.first = NULL};
    struct mk_setup setup = {.settings = &rules, .no_memory = true};

    (void)state;
    assert_int_equal(read_with(logger_rules_parse_condition, &setup, "method=GET"), MK_E_NOMEM);
}

/* ---- samples ---- */

static struct logger_rules sample_of(const char *text)
{
    struct logger_rules rules = {.first = NULL};
    struct mk_setup setup = {.settings = &rules};

    if (read_with(logger_rules_parse_sample, &setup, text) < 0)
        fail_msg("refused: %s", text);
    return rules;
}

static unsigned count_of(const struct logger_rules *rules, bool has_ids, unsigned of)
{
    struct logger_asked asked = usual();
    uint64_t random = 1;
    unsigned count = 0;
    char id[20];

    for (unsigned i = 0; i < of; i++) {
        (void)snprintf(id, sizeof(id), "id-%u", i);
        if (has_ids)
            asked.id = mk_str_from(id);
        count += logger_rules_want(rules, &asked, &random);
    }
    return count;
}

/* Ids that differ in little are as good as random numbers. */
static void a_sample_has_its_part(void **state)
{
    const struct logger_rules tenth = sample_of("1/10"), all = sample_of("7/7");

    (void)state;
    for (int has_ids = 0; has_ids < 2; has_ids++) {
        const unsigned count = count_of(&tenth, has_ids, 10000);

        assert_in_range(count, 850, 1150); /* the deviation is 30 */
        assert_int_equal(count_of(&all, has_ids, 1000), 1000);
    }
}

/* Of two servers with different parts, the one with the larger part has all that the other has. */
static void an_id_is_in_each_sample_or_in_none(void **state)
{
    const struct logger_rules tenth = sample_of("1/10"), other = sample_of("10/100"),
                              half = sample_of("1/2");
    struct logger_asked asked = usual();
    uint64_t a = 1, b = 99, c = 7;
    char id[20];

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        bool is_in;

        (void)snprintf(id, sizeof(id), "id-%u", i);
        asked.id = mk_str_from(id);
        is_in = logger_rules_want(&tenth, &asked, &a);
        assert_int_equal(logger_rules_want(&other, &asked, &b), is_in);
        if (is_in)
            assert_true(logger_rules_want(&half, &asked, &c));
    }
    assert_int_equal(a, 1); /* no random number was spent */
}

/* The choice is the same in every version and on every machine: these ids are or are not in a sample of a tenth. */
static void the_choice_is_settled(void **state)
{
    const struct logger_rules tenth = sample_of("1/10");
    struct logger_asked asked = usual();
    uint64_t random = 1;
    char chosen[200] = "", id[20];

    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        (void)snprintf(id, sizeof(id), "r%u", i);
        asked.id = mk_str_from(id);
        if (logger_rules_want(&tenth, &asked, &random))
            strcat(strcat(chosen, " "), id);
    }
    assert_string_equal(chosen, " r24 r40");
}

static void errors_may_be_in_each_sample(void **state)
{
    const struct logger_rules rare = sample_of("1/1000000 errors"), strict = sample_of("1/1000000");
    struct logger_asked asked = usual();
    uint64_t random = 1;

    (void)state;
    asked.status = 400;
    asked.id = MK_STR("id");
    assert_true(logger_rules_want(&rare, &asked, &random));
    assert_false(logger_rules_want(&strict, &asked, &random));
    asked.status = 399;
    assert_false(logger_rules_want(&rare, &asked, &random));
}

static void refuses_what_is_no_sample(void **state)
{
    static const char *const rows[] = {
        "", "1", "1/", "/1", "0/1", "2/1", "1/1000001", "1/-1", "1/10 error", "1/10 errors x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct logger_rules rules = {.first = NULL};
        struct mk_setup setup = {.settings = &rules};

        if (read_with(logger_rules_parse_sample, &setup, rows[i]) != MK_E_INVALID)
            fail_msg("taken: %s", rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_hold_or_not),
        cmocka_unit_test(one_line_of_several_is_enough),
        cmocka_unit_test(what_is_not_known_is_no_value),
        cmocka_unit_test(tells_whether_an_address_is_asked_for),
        cmocka_unit_test(refuses_what_is_no_condition),
        cmocka_unit_test(lines_and_their_conditions_are_bounded),
        cmocka_unit_test(without_memory_nothing_is_read),
        cmocka_unit_test(a_sample_has_its_part),
        cmocka_unit_test(an_id_is_in_each_sample_or_in_none),
        cmocka_unit_test(the_choice_is_settled),
        cmocka_unit_test(errors_may_be_in_each_sample),
        cmocka_unit_test(refuses_what_is_no_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
