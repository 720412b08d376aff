/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/dirs.h"
#include "objects/objects.h"
#include "service/answer.h"
#include "views/render.h"

#include <stdlib.h>
#include <string.h>

/* A page of a service; its template lives as long. */
struct duda_view {
    const char *name;
    const struct mk_duda_template *t;
};

/* ---- loading ---- */

static void *room_alloc(void *arg, size_t size)
{
    return mk_duda_alloc(arg, size);
}

static struct mk_str read_open(struct mk_duda_service *s, int fd)
{
    struct stat st;
    char *bytes;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MK_DUDA_VIEW_BYTES)
        return (struct mk_str){NULL, 0};
    bytes = mk_duda_alloc(s, (size_t)st.st_size + 1);
    n = bytes ? read(fd, bytes, (size_t)st.st_size) : -1;
    return n == st.st_size ? (struct mk_str){bytes, (size_t)n} : (struct mk_str){NULL, 0};
}

static struct mk_str read_file(void *arg, const char *name)
{
    struct mk_duda_service *s = arg;
    char *path = mk_duda_dir_join(&s->ws, &s->ws.confdir, name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    struct mk_str text = {NULL, 0};

    if (fd >= 0) {
        text = read_open(s, fd);
        (void)close(fd);
    }
    free(path);
    return text;
}

static duda_view_t *load(const char *name)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct mk_duda_template_room room = {.alloc = room_alloc, .read = read_file, .arg = s};
    duda_view_t *view;

    if (!s || !mk_duda_is_set_up(s, "view->load"))
        return NULL;
    view = name ? mk_duda_alloc(s, sizeof(*view)) : NULL;
    if (!view || !mk_duda_dir_get(&s->ws, &s->ws.confdir)) {
        (void)mk_duda_refuse(s, "view->load(): a name, a ConfDir and memory are needed");
        return NULL;
    }
    view->name = mk_duda_copy(s, name, strlen(name));
    view->t = view->name ? mk_duda_template_new(&room, view->name) : NULL;
    if (view->t)
        return view;
    (void)mk_duda_refuse(s, "view->load(): %s", view->name ? room.why : "no memory");
    return NULL;
}

/* ---- pages ---- */

static int send_page(struct mk_duda_request *rq, int status, const struct page *page)
{
    if (mk_duda_answer_clear(rq) < 0)
        return -1;
    rq->sr.headers.status = status;
    if (mk_duda_answer_replace(rq, MK_STR("Content-Type"), MK_STR("text/html; charset=utf-8")) <
            0 ||
        mk_duda_answer_bytes(rq, page->p, page->len) < 0)
        return -1;
    return mk_duda_answer_end(rq);
}

static int show(duda_request_t *dr, int status, const duda_view_t *view,
                const struct mk_duda_shown *values)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "view->send");
    struct page page = {0};
    int err, result;

    if (!rq || !rq->r || !view || status < 200 || status > 599)
        return -1;
    err = mk_duda_render(view->t, values, &page);
    if (err < 0) {
        mk_duda_log(rq->service, MK_LOG_ERROR, "%s: the page %s %s", rq->callback, view->name,
                    err == MK_E_LIMIT ? "is longer than 8 MB or a million steps" : "had no memory");
        (void)mk_duda_response.problem(dr, 500, "The page cannot be made", NULL);
    }
    result = err < 0 ? -1 : send_page(rq, status, &page);
    page_free(&page);
    return result;
}

static int send_values(duda_request_t *dr, int status, const duda_view_t *view,
                       const struct duda_input *rows, const void *values)
{
    const struct mk_duda_shown shown = {.rows = values ? rows : NULL, .data = values};

    return show(dr, status, view, &shown);
}

static int send_tree(duda_request_t *dr, int status, const duda_view_t *view,
                     const struct cJSON *tree)
{
    const struct mk_duda_shown shown = {.item = tree};

    return show(dr, status, view, &shown);
}

const struct duda_api_view mk_duda_view = {
    .load = load, .send = send_values, .send_tree = send_tree};
