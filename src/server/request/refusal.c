/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/refusal.h"

unsigned mk_refusal_status(enum mk_refusal refusal)
{
    static const uint16_t statuses[] = {[MK_REFUSAL_NONE] = 200,
#define STATUS(name, status, text) [MK_REFUSAL_##name] = (status),
                                        MK_REFUSALS(STATUS)
#undef STATUS
    };

    return statuses[refusal];
}

/* Texts for logs lie one behind the other: a pointer to each would take more room than all of this. */
static const char *nth_text(const char *texts, unsigned n)
{
    while (n-- > 0)
        texts += strlen(texts) + 1;
    return texts;
}

const char *mk_refusal_text(enum mk_refusal refusal)
{
    static const char texts[] = "not refused\0"
#define TEXT(name, status, text) text "\0"
        MK_REFUSALS(TEXT);
#undef TEXT

    return nth_text(texts, refusal);
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

const char *mk_close_name(enum mk_close reason)
{
    static const char names[] =
#define NAME(name, is_error, text) #name "\0"
        MK_CLOSES(NAME);
#undef NAME

    return nth_text(names, reason);
}

const char *mk_close_text(enum mk_close reason)
{
    static const char texts[] =
#define TEXT(name, is_error, text) text "\0"
        MK_CLOSES(TEXT);
#undef TEXT

    return nth_text(texts, reason);
}

const char *mk_reason_name(unsigned row)
{
    static const char names[] =
#define REFUSED(name, status, text) "refused." #name "\0"
#define HEAD(name, text, rfc) "head." #name "\0"
#define CLOSED(name, is_error, text) "closed." #name "\0"
        MK_REFUSALS(REFUSED) MK_H1_FAULTS(HEAD) MK_CLOSES(CLOSED);
#undef REFUSED
#undef HEAD
#undef CLOSED

    return nth_text(names, row);
}

bool mk_close_is_error(enum mk_close reason)
{
    static const bool errors[] = {
#define IS_ERROR(name, is_error, text) (is_error),
        MK_CLOSES(IS_ERROR)
#undef IS_ERROR
    };

    return errors[reason];
}
