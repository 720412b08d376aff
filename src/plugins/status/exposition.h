/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_EXPOSITION_H
#define STATUS_EXPOSITION_H

#include "kit/page/page.h"

/*
 * Samples as text: the format 0.0.4 of Prometheus, OpenMetrics 1.0, and JSON for pages. Names and texts may come from
 * anywhere: whatever they are, the text is valid, in UTF-8. Samples of one name are given after each other; a sample is
 * left out, and counted, if its name or one of its labels' is none, or if its family was written before another one.
 */

enum exposition_format { EXPOSITION_PROMETHEUS, EXPOSITION_OPENMETRICS, EXPOSITION_JSON };

enum exposition_type { EXPOSITION_GAUGE, EXPOSITION_COUNTER, EXPOSITION_HISTOGRAM };

enum {
    EXPOSITION_LABELS = 5,     /* of a sample */
    EXPOSITION_FAMILIES = 512, /* of an exposition */
    EXPOSITION_NAME_MAX = 200,
};

struct exposition_label {
    const char *name;
    struct mk_str value;
};

/** Borrowed for the call. */
struct exposition_sample {
    const char *name;   /* of the family */
    const char *suffix; /* of a histogram: "_bucket", "_sum", "_count"; otherwise NULL */
    const char *help;   /* NULL: none */
    enum exposition_type type;
    struct exposition_label labels[EXPOSITION_LABELS];
    unsigned nlabels;
    double value;
};

struct exposition {
    struct page *page; /* the caller's */
    enum exposition_format format;
    unsigned left_out; /* samples */
    bool has_samples;
    char family[EXPOSITION_NAME_MAX + 1];   /* that is open; "": none */
    uint64_t families[EXPOSITION_FAMILIES]; /* hashes of those that were written */
    unsigned nfamilies;
};

/** JSON is a list of samples, `[{"name": ..., "labels": {...}, "value": ...}, ...]`. */
void status_exposition_begin(struct exposition *e, struct page *page,
                             enum exposition_format format);
void status_exposition_put(struct exposition *e, const struct exposition_sample *s);
/** What a reader waits for at the end. */
void status_exposition_end(struct exposition *e);

/** The same number in every locale: 0, 0.0625, 1e+300, +Inf, -Inf, NaN. In JSON the last three are null. */
void status_exposition_number(struct page *page, double value, bool json);
/** What printf made of a number, with a point in place of what the program's locale has there, which may be several bytes. */
void status_exposition_put_digits(struct page *page, const char *text);

#endif
