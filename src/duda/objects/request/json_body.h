/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_JSON_BODY_H
#define MK_DUDA_JSON_BODY_H

struct cJSON;
struct mk_duda_request;

enum {
    MK_DUDA_JSON_BYTES = 1 << 20,
    MK_DUDA_JSON_DEPTH = 32,
    MK_DUDA_JSON_VALUES = 10000,
};

/** @return the tree of the body, which the request keeps; NULL: the request was answered. */
const struct cJSON *mk_duda_json_body(struct mk_duda_request *rq);

#endif
