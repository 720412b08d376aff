/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "objects/answer/problem.h"
#include "service/answer.h"

#include <monkey/web/choice.h>
#include <monkey/web/entity.h>
#include <monkey/web/json.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mk_duda_request *check(duda_request_t *dr, const char *call)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, call);

    return rq && rq->r ? rq : NULL;
}

/* ---- the head ---- */

static int http_status(duda_request_t *dr, int status)
{
    struct mk_duda_request *rq = check(dr, "response->http_status");

    if (!rq)
        return -1;
    if (status != MK_CUSTOM_STATUS && (status < 100 || status > 599)) {
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: http_status(%d) is none", rq->callback, status);
        return -1;
    }
    rq->sr.headers.status = status;
    return 0;
}

static int http_header_n(duda_request_t *dr, char *row, int len)
{
    struct mk_duda_request *rq = check(dr, "response->http_header");

    return rq && row && len > 0 ? mk_duda_answer_line(rq, (struct mk_str){row, (size_t)len}) : -1;
}

static int http_header(duda_request_t *dr, char *row)
{
    return http_header_n(dr, row, row ? (int)strlen(row) : 0);
}

static int http_content_length(duda_request_t *dr, long length)
{
    struct mk_duda_request *rq = check(dr, "response->http_content_length");

    if (!rq)
        return -1;
    rq->out.length = length < 0 ? -1 : length;
    return 0;
}

static int http_content_type(duda_request_t *dr, char *extension)
{
    struct mk_duda_request *rq = check(dr, "response->http_content_type");
    struct mk_str type, unknown;
    char *name;

    if (!rq || !extension)
        return -1;
    name = mk_request_printf(rq->r, "x.%s", extension);
    if (!name)
        return -1;
    type = mk_request_mime(rq->r, mk_str_from(name));
    unknown = mk_request_mime(rq->r, MK_STR("x.no-such-extension"));
    if (type.len == unknown.len && memcmp(type.p, unknown.p, type.len) == 0)
        return -1;
    return mk_duda_answer_field(rq, MK_STR("Content-Type"), type);
}

static int headers_off(duda_request_t *dr)
{
    struct mk_duda_request *rq = check(dr, "response->headers_off");

    if (!rq || rq->state != MK_DUDA_REQUEST_CALLED)
        return -1;
    rq->out.headers_off = true;
    return 0;
}

static int send_headers(duda_request_t *dr)
{
    struct mk_duda_request *rq = check(dr, "response->send_headers");

    return rq ? mk_duda_answer_open(rq) : -1;
}

/* ---- the body ---- */

/* What was queued after the head left goes as soon as the client takes it. */
static int queued(struct mk_duda_request *rq, int result)
{
    if (rq->is_starved) {
        rq->is_starved = false;
        mk_duda_answer_push(rq);
    }
    return result;
}

static int print(duda_request_t *dr, char *raw, int len)
{
    struct mk_duda_request *rq = check(dr, "response->print");

    if (!rq || !raw || len < 0)
        return -1;
    return queued(rq, mk_duda_answer_bytes(rq, raw, (size_t)len));
}

/* More is a mistake in the format, or it is somebody else's. */
enum { TEXT_MAX = 64 << 20, WIDTH_MAX = 1 << 20 };

/* @return what follows the digits; NULL: they are a number above WIDTH_MAX */
static const char *skip_width(const char *at)
{
    long width = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        width = width * 10 + (*at - '0');
        if (width > WIDTH_MAX)
            return NULL;
    }
    return at;
}

/* A width of 2000000000 would keep the worker for seconds before its text is too long. */
static bool has_widths(const char *fmt)
{
    for (const char *at = strchr(fmt, '%'); at; at = strchr(at, '%')) {
        at++;
        at = skip_width(at + strspn(at, "-+ #0'"));
        if (at && *at == '.')
            at = skip_width(at + 1);
        if (!at)
            return false;
        if (*at == '%')
            at++;
    }
    return true;
}

__attribute__((format(printf, 2, 0))) static int vprint(struct mk_duda_request *rq, const char *fmt,
                                                        va_list ap)
{
    char small[512], *text = small;
    int len, result;
    va_list again;

    va_copy(again, ap);
    len = has_widths(fmt) ? vsnprintf(small, sizeof(small), fmt, ap) : -1;
    if (len < 0 || len > TEXT_MAX) {
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: printf() of more than 64 MB", rq->callback);
        len = -1;
    } else if (len >= (int)sizeof(small)) {
        text = malloc((size_t)len + 1);
        rq->out.lacks_bytes = rq->out.lacks_bytes || !text;
        len = text ? vsnprintf(text, (size_t)len + 1, fmt, again) : -1;
    }
    va_end(again);
    result = len < 0 ? -1 : mk_duda_answer_bytes(rq, text, (size_t)len);
    if (text != small)
        free(text);
    return queued(rq, result);
}

MK_PRINTF(2, 3) static int print_formatted(duda_request_t *dr, const char *fmt, ...)
{
    struct mk_duda_request *rq = check(dr, "response->printf");
    va_list ap;
    int result;

    if (!rq || !fmt)
        return -1;
    va_start(ap, fmt);
    result = vprint(rq, fmt, ap);
    va_end(ap);
    return result;
}

static int send_range(duda_request_t *dr, char *path, off_t offset, size_t count)
{
    struct mk_duda_request *rq = check(dr, "response->sendfile");
    struct stat st;
    int fd;

    if (!rq || !path || offset < 0)
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || offset > st.st_size ||
        count > (uint64_t)(st.st_size - offset)) {
        close(fd);
        return -1;
    }
    if (count == 0)
        count = (size_t)(st.st_size - offset);
    return queued(rq, mk_duda_answer_file(rq, fd, (uint64_t)offset, count));
}

static int send_file(duda_request_t *dr, char *path)
{
    return send_range(dr, path, 0, 0);
}

static int flush(duda_request_t *dr)
{
    struct mk_duda_request *rq = check(dr, "response->flush");

    if (!rq || rq->out.headers_off)
        return -1;
    if (rq->state == MK_DUDA_REQUEST_CALLED && mk_duda_answer_open(rq) < 0)
        return -1;
    return queued(rq, (int)rq->out.queued);
}

/* ---- its time ---- */

static int wait_for(duda_request_t *dr)
{
    struct mk_duda_request *rq = check(dr, "response->wait");

    if (!rq || mk_duda_request_has_ended(rq))
        return -1;
    rq->is_waiting = true;
    mk_duda_request_rest(rq);
    return 0;
}

static int cont(duda_request_t *dr)
{
    struct mk_duda_request *rq = check(dr, "response->cont");

    if (!rq)
        return -1;
    if (!rq->is_waiting && rq->has_waited)
        return 0;
    if (!rq->is_waiting) {
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: cont() without wait()", rq->callback);
        return -1;
    }
    rq->is_waiting = false;
    mk_duda_request_wake(rq);
    return 0;
}

static int end(duda_request_t *dr, void (*callback)(duda_request_t *))
{
    struct mk_duda_request *rq = check(dr, "response->end");

    if (!rq)
        return -1;
    if (mk_duda_request_has_ended(rq)) {
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: end() for the second time", rq->callback);
        return -1;
    }
    dr->end_callback = callback;
    return mk_duda_answer_end(rq);
}

static int header(duda_request_t *dr, const char *name, const char *value)
{
    struct mk_duda_request *rq = check(dr, "response->header");

    return rq && name && value ? mk_duda_answer_replace(rq, mk_str_from(name), mk_str_from(value))
                               : -1;
}

/* ---- whole answers, level 3 ---- */

/* @return whether the answer can still be any other; then it has this status, and nothing queued */
static bool begin(struct mk_duda_request *rq, int status, int lowest, const char *call)
{
    if (!rq)
        return false;
    if (status < lowest || status > 599) {
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: %s(%d) has no such status", rq->callback, call,
                    status);
        return false;
    }
    if (mk_duda_answer_clear(rq) < 0) {
        mk_duda_log(rq->service, MK_LOG_WARN, "%s: %s(%d) after the head", rq->callback, call,
                    status);
        return false;
    }
    rq->sr.headers.status = status;
    return true;
}

MK_PRINTF(4, 5)
static int send_text(duda_request_t *dr, int status, const char *type, const char *fmt, ...)
{
    struct mk_duda_request *rq = check(dr, "response->send");
    va_list ap;
    int result;

    if (!fmt || !begin(rq, status, 200, "response->send"))
        return -1;
    if (type && mk_duda_answer_replace(rq, MK_STR("Content-Type"), mk_str_from(type)) < 0)
        return mk_duda_answer_whole(rq, -1);
    va_start(ap, fmt);
    result = vprint(rq, fmt, ap);
    va_end(ap);
    return mk_duda_answer_whole(rq, result);
}

static int redirect(duda_request_t *dr, int status, const char *location)
{
    struct mk_duda_request *rq = check(dr, "response->redirect");
    bool is_redirect =
        status == 301 || status == 302 || status == 303 || status == 307 || status == 308;

    if (!location || !begin(rq, is_redirect ? status : 0, 300, "response->redirect"))
        return -1;
    return mk_duda_answer_whole(
        rq, mk_duda_answer_replace(rq, MK_STR("Location"), mk_str_from(location)));
}

int mk_duda_problem_begin(struct mk_json *j, struct mk_duda_request *rq, int status,
                          const char *title, const char *detail)
{
    if (!title || !begin(rq, status, 400, "response->problem"))
        return -1;
    if (mk_duda_answer_replace(rq, MK_STR("Content-Type"), MK_STR("application/problem+json")) < 0)
        return mk_duda_answer_whole(rq, -1);
    mk_json_begin_reply(j, rq->r, 65536);
    mk_json_object(j);
    mk_json_key(j, MK_STR("title"));
    mk_json_text(j, mk_str_from(title));
    mk_json_key(j, MK_STR("status"));
    mk_json_int(j, status);
    if (detail) {
        mk_json_key(j, MK_STR("detail"));
        mk_json_text(j, mk_str_from(detail));
    }
    return 0;
}

int mk_duda_problem_end(struct mk_json *j, struct mk_duda_request *rq)
{
    int err;

    mk_json_close(j);
    err = mk_json_end(j);
    if (err == MK_E_NOMEM)
        rq->out.lacks_bytes = true;
    return mk_duda_answer_whole(rq, err < 0 ? -1 : mk_duda_answer_bytes(rq, j->p, j->len));
}

static int problem(duda_request_t *dr, int status, const char *title, const char *detail)
{
    struct mk_duda_request *rq = check(dr, "response->problem");
    struct mk_json j;

    return mk_duda_problem_begin(&j, rq, status, title, detail) < 0 ? -1
                                                                    : mk_duda_problem_end(&j, rq);
}

static int unchanged(duda_request_t *dr, const char *version, time_t modified)
{
    struct mk_duda_request *rq = check(dr, "response->unchanged");
    struct mk_entity e = {.size = sizeof(e), .has_modified = modified != 0, .modified = modified};
    char tag[MK_ETAG_TEXT], date[MK_DATE_TEXT];
    unsigned status;

    if (!rq || rq->state != MK_DUDA_REQUEST_CALLED)
        return MK_FALSE;
    if (version) {
        e.etag = mk_etag_write(tag, mk_str_from(version), false);
        (void)mk_duda_answer_replace(rq, MK_STR("ETag"), e.etag);
    }
    if (modified) {
        mk_date_write(date, modified);
        (void)mk_duda_answer_replace(rq, MK_STR("Last-Modified"),
                                     (struct mk_str){date, sizeof(date)});
    }
    status = mk_entity_check(rq->r, &e);
    if (status == 200 || !begin(rq, (int)status, 300, "response->unchanged"))
        return MK_FALSE;
    return mk_duda_answer_end(rq) == 0 ? MK_TRUE : MK_FALSE;
}

static int stream(duda_request_t *dr, void (*more)(duda_request_t *dr, void *arg), void *arg)
{
    struct mk_duda_request *rq = check(dr, "response->stream");

    if (!rq || !more || rq->out.headers_off)
        return -1;
    return mk_duda_answer_stream(rq, more, arg);
}

static int status_of(duda_request_t *dr)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "response->status");

    return rq ? rq->sr.headers.status : -1;
}

const struct duda_api_response mk_duda_response = {
    .send_headers = send_headers,
    .headers_off = headers_off,
    .http_status = http_status,
    .http_header = http_header,
    .http_header_n = http_header_n,
    .http_content_length = http_content_length,
    .http_content_type = http_content_type,
    .print = print,
    .printf = print_formatted,
    .sendfile = send_file,
    .sendfile_range = send_range,
    .wait = wait_for,
    .cont = cont,
    ._end = end,
    .flush = flush,
    .header = header,
    .send = send_text,
    .redirect = redirect,
    .problem = problem,
    .unchanged = unchanged,
    .stream = stream,
    .status = status_of,
};
