/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <monkey/web/router.h>

/*
 * Any lines as patterns of one router: each is added or refused, a second time never added again, and nobody reads behind a
 * text. Input: lines of methods, a tab and a pattern.
 */

static enum mk_verdict pass(struct mk_request *r, void *arg)
{
    (void)r, (void)arg;
    return MK_VERDICT_PASS;
}

static void add_line(struct mk_router *router, char *line)
{
    char *tab = strchr(line, '\t');
    const char *pattern = tab ? tab + 1 : line;
    int err;

    if (tab)
        *tab = '\0';
    err = mk_router_add(router, tab ? line : NULL, pattern, pass, NULL);
    if (err == 0)
        err = mk_router_add(router, tab ? line : NULL, pattern, pass, NULL) == MK_E_EXISTS ? 0 : 1;
    require(err <= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *line;
    struct mk_router *router;

    require(text && mk_router_new(&router) == 0);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *copy = exact_copy(line, strlen(line) + 1);

        add_line(router, copy);
        free(copy);
    }
    mk_router_free(router);
    free(text);
    return 0;
}
