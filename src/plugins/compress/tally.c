/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <stdlib.h>

struct tally *compress_tally_new(void)
{
    struct tally *t = calloc(1, sizeof(*t));

    if (t)
        counted_init(&t->refs, 1);
    return t;
}

struct tally *compress_tally_get(struct tally *t)
{
    counted_get(&t->refs);
    return t;
}

void compress_tally_put(struct tally *t)
{
    if (t && counted_put(&t->refs))
        free(t);
}

/* ---- metrics ---- */

static const struct family {
    const char *name, *help;
    bool is_counter, is_brief;
    size_t offset; /* of struct tally_row */
} families[] = {
    {"monkey_compress_streams", "Answers that are being compressed.", false, true,
     offsetof(struct tally_row, under_way)},
    {"monkey_compress_answers_total", "Answers whose compression was begun.", true, false,
     offsetof(struct tally_row, streams)},
    {"monkey_compress_pauses_total",
     "Compressors whose memory was given to others while a client took nothing.", true, false,
     offsetof(struct tally_row, put_aside)},
    {"monkey_compress_in_bytes_total", "Bytes before compression.", true, false,
     offsetof(struct tally_row, in)},
    {"monkey_compress_out_bytes_total", "Bytes after compression.", true, false,
     offsetof(struct tally_row, out)},
};

static void tell_family(const struct tally *t, const struct family *f, mk_metric_fn tell, void *arg)
{
    const struct encoder *e;

    for (unsigned i = 0; (e = compress_encoder_at(i)); i++) {
        const char *row = (const char *)&t->rows[i];
        const _Atomic uint64_t *value = (const _Atomic uint64_t *)(const void *)(row + f->offset);

        tell(arg, &(struct mk_metric){.size = sizeof(struct mk_metric),
                                      .name = f->name,
                                      .help = f->help,
                                      .is_counter = f->is_counter,
                                      .is_brief = f->is_brief,
                                      .value = (double)*value,
                                      .nlabels = 1,
                                      .labels = {{"coding", e->coding}}});
    }
}

void compress_tally_metrics(const struct tally *t, mk_metric_fn tell, void *arg)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        tell_family(t, &families[i], tell, arg);
    tell(arg, &(struct mk_metric){.size = sizeof(struct mk_metric),
                                  .name = "monkey_compress_memory_bytes",
                                  .help = "Memory that is set aside for streams under way.",
                                  .value = (double)t->held});
    tell(arg, &(struct mk_metric){.size = sizeof(struct mk_metric),
                                  .name = "monkey_compress_left_out_total",
                                  .help = "Answers that were sent uncompressed for want of memory.",
                                  .is_counter = true,
                                  .value = (double)t->left_out});
}
