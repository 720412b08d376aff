/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_HTTP_REQUEST_H
#define MK_DUDA_OBJECTS_HTTP_REQUEST_H

#include "objects/client/http_url.h"

#include "webservice.h"

enum { HTTP_METHOD_MAX = 31, HTTP_FIELDS_MAX = 8192, HTTP_REDIRECTS_MAX = 100 };

/** What a call of `http` asks, through all of its redirects. */
struct http_request {
    char *url; /* terminated */
    struct http_url to;
    char method[HTTP_METHOD_MAX + 1];
    char *fields; /* lines with their ends; NULL: none */
    size_t fields_len;
    char *body; /* NULL: none, or of the options' more() */
    size_t body_len;
    unsigned redirects; /* that may still be followed */
    bool has_body;      /* here or of more() */
};

/**
 * Copy and check what a service wishes.
 * @return 0; MK_E_INVALID: as http->call() says; MK_E_NOMEM. Call http_request_fini after all of them.
 */
int http_request_init(struct http_request *q, const char *url,
                      const struct duda_http_options *options) MK_MUST_USE;

/**
 * Turn to the URL of an answer's Location: RFC 9110 section 15.4.
 * @return 0; MK_E_LIMIT: no more redirects are allowed; MK_E_BAD: it is no URL of http or https, or leads from https to http;
 *         MK_E_NOMEM
 */
int http_request_redirect(struct http_request *q, unsigned status,
                          struct mk_str location) MK_MUST_USE;

/** Is it an answer with which http_request_redirect does something? */
bool http_request_is_redirect(unsigned status);

/**
 * Write the head.
 * @param length  of the body; -1: it comes in chunks
 * @return its bytes, owned by the caller; NULL: no memory
 */
char *http_request_head(const struct http_request *q, int64_t length, size_t *len) MK_MUST_USE;

void http_request_fini(struct http_request *q);

#endif
