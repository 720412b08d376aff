/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/2012/dashboard.h"

#include "service/routes.h"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                           "<title>Dashboard</title>\n<h1>Dashboard</h1>\n<table>\n";

/* Names of folders and services are their owner's, but a page has no text that was not escaped. */
static void put_escaped(duda_request_t *dr, const char *text)
{
    for (; text && *text; text++) {
        switch (*text) {
        case '<':
            (void)mk_duda_response.printf(dr, "&lt;");
            break;
        case '&':
            (void)mk_duda_response.printf(dr, "&amp;");
            break;
        default:
            (void)mk_duda_response.printf(dr, "%c", *text);
        }
    }
}

static void put_row(duda_request_t *dr, const char *name, const char *text)
{
    (void)mk_duda_response.printf(dr, "<tr><th>%s<td>", name);
    put_escaped(dr, text ? text : "-");
    (void)mk_duda_response.printf(dr, "\n");
}

static void show(duda_request_t *dr)
{
    static char html[] = "html";
    const struct web_service *ws = dr->ws_root;

    (void)mk_duda_response.http_status(dr, MK_HTTP_OK);
    (void)mk_duda_response.http_content_type(dr, html);
    (void)mk_duda_response.printf(dr, "%s", head);
    put_row(dr, "Service", ws->name.data);
    put_row(dr, "Internal name", ws->fixed_name.data);
    put_row(dr, "DocumentRoot", ws->docroot.data);
    put_row(dr, "ConfDir", ws->confdir.data);
    put_row(dr, "DataDir", ws->datadir.data);
    put_row(dr, "LogDir", ws->logdir.data);
    put_row(dr, "Is root", ws->is_root ? "yes" : "no");
    put_row(dr, "Binds messages", ws->bind_messages ? "yes" : "no");
    (void)mk_duda_response.printf(dr, "</table>\n</html>\n");
    (void)mk_duda_response._end(dr, NULL);
}

int mk_duda_dashboard_add(char *uri, struct web_service *ws)
{
    struct mk_duda_service *s = ws ? mk_duda_service_of(ws) : NULL;
    const struct mk_duda_target target = {.function = show, .name = "console->dashboard"};
    char *pattern;
    int err;

    if (!s || !uri || uri[0] != '/' || strchr(uri, ':'))
        return -1;
    if (asprintf(&pattern, "%s%s", uri, uri[strlen(uri) - 1] == '/' ? "" : "/") < 0)
        return -1;
    err = mk_duda_add_rule(s, "console->dashboard", pattern, &target);
    free(pattern);
    return err;
}
