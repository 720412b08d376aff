/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("examples", "a JSON API of another server, for the pages of this one");

/*
 * /gateway/api/PATH    what the API says of PATH, in any method, with the query and a JSON body
 *
 * The API is at GATEWAY_API of the environment, without a slash at the end; GATEWAY_KEY goes with each request, so that
 * browsers need no key.
 */

static const char *api, *key;

static const char *text_or(const char *text, const char *other)
{
    return text && text[0] ? text : other;
}

static void show(duda_request_t *dr, const struct duda_http_answer *answer, void *arg)
{
    if (answer->error) {
        journal->error("api", "url", answer->url, "why", answer->why, NULL);
        response->problem(dr, answer->error == DUDA_HTTP_TIMEOUT ? 504 : 502,
                          "The API does not answer", NULL);
        return;
    }
    response->http_status(dr, answer->status);
    response->header(dr, "Content-Type",
                     text_or(http->field(answer, "Content-Type"), "application/json"));
    response->print(dr, (char *)answer->body, (int)answer->length);
    response->end(dr, NULL);
}

/* As it was sent: path and query stay encoded. */
static char *url_of(duda_request_t *dr)
{
    static const char before[] = "/gateway/api";
    const mk_pointer target = dr->sr->uri;
    char *url = NULL;

    if (target.len <= sizeof(before) - 1 ||
        asprintf(&url, "%s%.*s", api, (int)(target.len - (sizeof(before) - 1)),
                 target.data + sizeof(before) - 1) < 0)
        return NULL;
    gc->add(dr, url);
    return url;
}

static void pass(duda_request_t *dr)
{
    char authorization[256];
    const char *fields[] = {authorization, "Content-Type: application/json", NULL};
    struct duda_http_options options = {
        .fields = fields, .time_ms = 10000, .redirects = 3, .max_body = 4 << 20};
    char *url = url_of(dr), method[32];

    snprintf(authorization, sizeof(authorization), "Authorization: Bearer %s", key);
    snprintf(method, sizeof(method), "%.*s", (int)dr->sr->method_p.len, dr->sr->method_p.data);
    options.method = method;
    options.body = request->body(dr, &options.length);
    if (!options.body)
        fields[1] = NULL;
    if (!url || http->call(dr, url, &options, show, NULL) < 0)
        response->problem(dr, 503, "Try again later", NULL);
}

int duda_main()
{
    api = text_or(getenv("GATEWAY_API"), "http://127.0.0.1:8080");
    key = text_or(getenv("GATEWAY_KEY"), "none");
    router->route("GET POST PUT PATCH DELETE", "/api/*path", pass);
    return 0;
}
