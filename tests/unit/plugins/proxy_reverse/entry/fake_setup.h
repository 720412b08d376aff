/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PROXY_FAKE_SETUP_H
#define TESTS_PROXY_FAKE_SETUP_H

/* As much of a configuration being checked as parsers need. For one test program, which includes it once, behind cmocka.h. */

#include <monkey/plugin.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct mk_setup {
    void *settings;
    void *memory[4096];
    size_t nmemory;
    unsigned nrefused;
    bool no_memory;
};

static void fake_setup_end(struct mk_setup *setup)
{
    while (setup->nmemory > 0)
        free(setup->memory[--setup->nmemory]);
}

void *mk_setup_settings(const struct mk_setup *setup)
{
    return setup->settings;
}

void *mk_setup_alloc(struct mk_setup *setup, size_t size)
{
    void *p = setup->no_memory ? NULL : calloc(1, size);

    if (!p)
        return NULL;
    assert_true(setup->nmemory < sizeof(setup->memory) / sizeof(setup->memory[0]));
    setup->memory[setup->nmemory++] = p;
    return p;
}

struct mk_str mk_setup_copy(struct mk_setup *setup, struct mk_str text)
{
    char *copy = mk_setup_alloc(setup, text.len + 1);

    if (copy && text.len > 0)
        memcpy(copy, text.p, text.len);
    return (struct mk_str){copy, copy ? text.len : 0};
}

int mk_setup_refuse(struct mk_setup *setup, const struct mk_setting *s, const char *expected)
{
    (void)s;
    assert_non_null(expected);
    setup->nrefused++;
    return MK_E_INVALID;
}

#endif
