/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("basic", "what a service of level 1 does");

void hello(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_header(dr, "Content-Type: text/plain");
    response->print(dr, "Hello", 5);
    response->printf(dr, " %s", "world");
    response->end(dr, NULL);
}

/* The body, as the service gets it. */
static void echo(duda_request_t *dr)
{
    unsigned long len;
    char *text = request->get_data(dr, &len);

    gc->add(dr, text);
    response->http_status(dr, 200);
    response->printf(dr, "%d %ld %lu %s", request->is_data(dr), request->content_length(dr), len,
                     text ? text : "NULL");
    response->end(dr, NULL);
}

static void large(duda_request_t *dr)
{
    response->http_status(dr, 200);
    for (int i = 0; i < 100000; i++)
        response->printf(dr, "%09d\n", i);
    response->end(dr, NULL);
}

static void own_head(duda_request_t *dr)
{
    char raw[] = "HTTP/1.1 202 Fine\r\nX-Own: yes\r\nContent-Length: 5\r\n\r\nhello";

    response->headers_off(dr);
    response->print(dr, raw, sizeof(raw) - 1);
    response->end(dr, NULL);
}

/* Pieces, with the head before them. */
static void stream(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->send_headers(dr);
    response->print(dr, "one ", 4);
    response->flush(dr);
    response->print(dr, "two ", 4);
    response->printf(dr, "%d", response->send_headers(dr));
    response->end(dr, NULL);
}

static void unknown_length(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_content_length(dr, -1);
    response->print(dr, "abc", 3);
    response->end(dr, NULL);
}

static void fields(duda_request_t *dr)
{
    char *agent = request->header_get(dr, "User-Agent"),
         *clean = request->header_get(dr, "User-Agent:");
    char *part = request->header_get(dr, "User");

    response->http_status(dr, 200);
    response->printf(dr, "[%s][%s][%s] %d %d %d", agent, clean, part ? part : "",
                     request->header_cmp(dr, "X-A", "ab"), request->header_cmp(dr, "X-A:", "ab"),
                     request->header_contains(dr, "x-a", "BC"));
    mem->free(agent);
    mem->free(clean);
    response->end(dr, NULL);
}

static void type(duda_request_t *dr)
{
    int unknown = response->http_content_type(dr, "nothing");
    int known = response->http_content_type(dr, "css");

    response->http_status(dr, 200);
    response->printf(dr, "%d %d", unknown, known);
    response->end(dr, NULL);
}

/* Text and parts of a file, in this order: /basic/files?PATH=1 */
static void files(duda_request_t *dr)
{
    char path[1024];
    int n = dr->sr->query_string.len - 2;

    snprintf(path, sizeof(path), "%.*s", n, dr->sr->query_string.data);
    response->http_status(dr, 200);
    response->printf(dr, "%d ", response->sendfile_range(dr, path, 1000, 1));
    response->sendfile_range(dr, path, 2, 3);
    response->printf(dr, "|");
    response->sendfile(dr, path);
    response->printf(dr, "|");
    response->sendfile_range(dr, path, 7, 0);
    response->end(dr, NULL);
}

static void whole_file(duda_request_t *dr)
{
    char path[1024];

    snprintf(path, sizeof(path), "%.*s", (int)dr->sr->query_string.len, dr->sr->query_string.data);
    response->http_status(dr, response->sendfile(dr, path) == 0 ? 200 : 404);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_root("hello");
    map->static_add("/hello", "hello");
    map->static_add_ref("/echo", echo);
    map->static_add_ref("/large", large);
    map->static_add_ref("/own", own_head);
    map->static_add_ref("/stream", stream);
    map->static_add_ref("/unknown", unknown_length);
    map->static_add_ref("/fields", fields);
    map->static_add_ref("/type", type);
    map->static_add_ref("/files", files);
    map->static_add_ref("/whole", whole_file);
    return 0;
}
