/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h1_field_id_int.h"

const struct mk_field_name mk_field_names[MK_FIELD_COUNT] = {
#define MK_FIELD_ROW(name, text) {sizeof(text) - 1, text},
    MK_FIELDS(MK_FIELD_ROW)
#undef MK_FIELD_ROW
};

const uint8_t mk_field_slots[32] = {
    [0] = MK_FIELD_IF_UNMODIFIED_SINCE,
    [2] = MK_FIELD_EXPECT,
    [5] = MK_FIELD_RANGE,
    [10] = MK_FIELD_AUTHORIZATION,
    [12] = MK_FIELD_TRANSFER_ENCODING,
    [13] = MK_FIELD_COOKIE,
    [16] = MK_FIELD_IF_MATCH,
    [18] = MK_FIELD_IF_NONE_MATCH,
    [19] = MK_FIELD_CONNECTION,
    [22] = MK_FIELD_USER_AGENT,
    [23] = MK_FIELD_UPGRADE,
    [26] = MK_FIELD_IF_RANGE,
    [27] = MK_FIELD_ACCEPT,
    [29] = MK_FIELD_REFERER,
    [31] = MK_FIELD_CONTENT_LENGTH,
};

const uint8_t mk_field_others[MK_FIELD_COUNT] = {
    [MK_FIELD_CONTENT_LENGTH] = MK_FIELD_CONTENT_TYPE,
    [MK_FIELD_IF_MATCH] = MK_FIELD_IF_MODIFIED_SINCE,
    [MK_FIELD_ACCEPT] = MK_FIELD_ACCEPT_ENCODING,
};
