/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

DUDA_REGISTER("tests", "pages made of templates");

static duda_view_t *page;

struct line {
    const char *what;
    int64_t count;
};

struct values {
    const char *title;
    struct duda_list lines;
};

static const struct duda_input line_rows[] = {
    {.name = "what", .type = DUDA_TEXT, .to = offsetof(struct line, what)},
    {.name = "count", .type = DUDA_INTEGER, .to = offsetof(struct line, count)},
    {0}};
static const struct duda_input rows[] = {
    {.name = "title", .type = DUDA_TEXT, .to = offsetof(struct values, title)},
    {.name = "lines",
     .type = DUDA_LIST,
     .to = offsetof(struct values, lines),
     .items = line_rows,
     .item_size = sizeof(struct line)},
    {0}};

static void show(duda_request_t *dr)
{
    static const struct line lines[] = {{"tea", 2}, {"cup & saucer", 1}};
    const struct values values = {query->get(dr, "title"), {lines, 2}};

    response->header(dr, "X-Page", "yes");
    view->send(dr, 201, page, rows, &values);
}

static void tree(duda_request_t *dr)
{
    const struct cJSON *body = request->json_body(dr);

    if (body)
        view->send_tree(dr, 200, page, body);
}

static void wrong(duda_request_t *dr)
{
    int late = view->send(dr, 100, page, rows, NULL) + view->send(dr, 200, NULL, rows, NULL);

    view->send(dr, 200, page, NULL, NULL);
    msg->info("refused %d %d", late, view->send(dr, 200, page, NULL, NULL));
}

int duda_main()
{
    page = view->load("page.html");
    router->get("/", show);
    router->post("/tree", tree);
    router->get("/wrong", wrong);
    return 0;
}
