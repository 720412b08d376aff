/* SPDX-License-Identifier: Apache-2.0 */
#include "web/body_int.h"
#include "web/json_int.h"

#include <monkey/web/media.h>

#include "base/str.h"

/* The body of a request as JSON. */

static const char body_key;

static void drop(void *arg)
{
    mk_json_free(arg);
}

/* A type that is JSON, with no coding around it (RFC 9110 section 15.5.16). */
static bool is_json(const struct mk_request *r)
{
    return mk_media_is(mk_request_header(r, MK_STR("Content-Type")), MK_STR("application/json")) &&
           !mk_request_header(r, MK_STR("Content-Encoding")).p;
}

static size_t bytes_of(const struct mk_json_bounds *bounds)
{
    const size_t end = offsetof(struct mk_json_bounds, bytes) + sizeof(bounds->bytes);

    return bounds && bounds->size >= end && bounds->bytes ? bounds->bytes : JSON_BYTES;
}

static int keep(struct mk_request *r, const struct mk_json_value *root)
{
    void *tree = (void *)(uintptr_t)root; /* it is freed there, not changed */

    if (mk_request_on_end(r, drop, tree) < 0) {
        mk_json_free(root);
        return MK_E_NOMEM;
    }
    return mk_request_keep(r, &body_key, tree);
}

static int read_body(struct mk_request *r, const struct mk_json_bounds *bounds,
                     const struct mk_json_value **root, struct mk_json_fault *fault)
{
    struct mk_str body;
    size_t held = 0;
    int err;

    if (mk_request_content_length(r) != 0 && !is_json(r))
        return MK_E_UNSUPPORTED;
    err = mk_request_body(r, bytes_of(bounds), &body);
    if (err == 0)
        err = mk_json_read_held(body, bounds, root, fault, &held);
    if (err < 0)
        return err;
    if (body.len > 0)
        mk_body_hold_beside(r, held);
    return keep(r, *root);
}

int mk_request_json(struct mk_request *r, const struct mk_json_bounds *bounds,
                    const struct mk_json_value **root, struct mk_json_fault *fault)
{
    const struct mk_json_value *found;
    int err;

    if (!r || !root)
        return MK_E_INVALID;
    if (fault && fault->size >= sizeof(*fault))
        *fault = (struct mk_json_fault){.size = fault->size};
    found = mk_request_kept(r, &body_key);
    err = found ? 0 : read_body(r, bounds, &found, fault);
    if (err == 0)
        *root = found;
    return err;
}
