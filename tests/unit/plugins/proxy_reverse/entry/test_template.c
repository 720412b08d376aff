/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "entry/template.h"

static bool is_text(struct mk_str text, const char *wanted)
{
    return text.len == strlen(wanted) && memcmp(text.p, wanted, text.len) == 0;
}

static void test_pieces(void **state)
{
    static const struct {
        const char *text, *piece, *name, *rest; /* name NULL: text stands for itself */
    } rows[] = {
        {"plain", "plain", NULL, ""},
        {"a$host", "a", NULL, "$host"},
        {"$host", "$host", "host", ""},
        {"$host:80", "$host", "host", ":80"},
        {"$remote_addr$host", "$remote_addr", "remote_addr", "$host"},
        {"$$host", "$", NULL, "host"},
        {"${host}x", "${host}x", "{host}x", ""}, /* no variable: refused, never sent as it is */
        {"$", "$", "", ""},
        {"$-", "$", "", "-"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str rest = mk_str_from(rows[i].text), name;
        struct mk_str piece = proxy_template_next(&rest, &name);

        if (!is_text(piece, rows[i].piece) || !is_text(rest, rows[i].rest) ||
            (rows[i].name ? !name.p || !is_text(name, rows[i].name) : name.p != NULL))
            fail_msg("%s", rows[i].text);
    }
}

static void test_names(void **state)
{
    static const char *const no[] = {"", "Host", "hos", "hosts", "{host}"};
    char list[] = PROXY_VARIABLES;

    (void)state;
    for (char *word = strtok(list, " ,;()"); word; word = strtok(NULL, " ,;()")) {
        if (word[0] == '$' && word[1] != '$' && !proxy_is_variable(mk_str_from(word + 1)))
            fail_msg("%s is named and unknown", word);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        assert_false(proxy_is_variable(mk_str_from(no[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
