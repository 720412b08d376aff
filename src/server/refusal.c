/* SPDX-License-Identifier: Apache-2.0 */
#include "server/refusal.h"

unsigned mk_refusal_status(enum mk_refusal refusal)
{
    static const uint16_t statuses[] = {
        [MK_REFUSAL_NONE] = 200,
#define STATUS(name, status, text) [MK_REFUSAL_##name] = (status),
        MK_REFUSALS(STATUS)
#undef STATUS
    };

    return statuses[refusal];
}

const char *mk_refusal_text(enum mk_refusal refusal)
{
    static const char *const texts[] = {
        [MK_REFUSAL_NONE] = "not refused",
#define TEXT(name, status, text) [MK_REFUSAL_##name] = (text),
        MK_REFUSALS(TEXT)
#undef TEXT
    };

    return texts[refusal];
}

unsigned mk_fault_status(enum mk_h1_fault fault)
{
    switch (fault) {
    case MK_H1_FAULT_TARGET_LONG:
        return 414;
    case MK_H1_FAULT_VERSION_MAJOR:
        return 505;
    case MK_H1_FAULT_FIELDS_MANY:
    case MK_H1_FAULT_HEAD_LONG:
        return 431;
    case MK_H1_FAULT_CODING_UNKNOWN:
        return 501;
    case MK_H1_FAULT_EXPECTATION:
        return 417;
    default:
        return 400;
    }
}

static const struct {
    const char *name, *text;
    bool is_error;
} closes[] = {
#define CLOSE(name, is_error, text) [MK_CLOSE_##name] = {#name, (text), (is_error)},
    MK_CLOSES(CLOSE)
#undef CLOSE
};

const char *mk_close_name(enum mk_close reason)
{
    return closes[reason].name;
}

const char *mk_close_text(enum mk_close reason)
{
    return closes[reason].text;
}

bool mk_close_is_error(enum mk_close reason)
{
    return closes[reason].is_error;
}
