/* SPDX-License-Identifier: Apache-2.0 */
#include "local.h"

#include "stream.h"

#include <stdlib.h>
#include <string.h>

/* Streams come and go with requests; a sanitizer is to see each of them. */
#ifdef __SANITIZE_ADDRESS__
enum { SPARE_STREAMS = 0 };
#else
enum { SPARE_STREAMS = 32 };
#endif

struct http2_local *http2_local_new(struct mk_worker *worker, const struct http2_settings *set)
{
    struct http2_local *local = malloc(sizeof(*local)); /* its buffers are not touched */

    if (!local)
        return NULL;
    local->worker = worker;
    local->set = *set;
    local->counts = http2_counts_get(set->counts);
    local->row = http2_counts_row(local->counts, worker);
    local->refs = 1;
    h2_desk_init(&local->desk, worker);
    local->spare = (struct h2_text){.p = NULL};
    local->again.number = local->again.len = 0;
    local->streams = NULL;
    local->nstreams = 0;
    local->writing = NULL;
    return local;
}

static struct http2_spare *take_spare(struct http2_local *local)
{
    struct http2_spare *spare = local->streams;

    local->streams = spare->next;
    local->nstreams--;
    return spare;
}

struct http2_stream *http2_local_stream(struct http2_local *local)
{
    struct http2_stream *s;

    if (!local->streams)
        return calloc(1, sizeof(*s));
    s = (struct http2_stream *)take_spare(local);
    memset(s, 0, sizeof(*s));
    return s;
}

void http2_local_keep_stream(struct http2_local *local, struct http2_stream *s)
{
    struct http2_spare *spare = (struct http2_spare *)s;

    if (local->nstreams == SPARE_STREAMS) {
        free(s);
        return;
    }
    spare->next = local->streams;
    local->streams = spare;
    local->nstreams++;
}

void http2_local_put(struct http2_local *local)
{
    if (--local->refs > 0)
        return;
    http2_counts_put(local->counts);
    h2_text_free(&local->spare);
    while (local->streams)
        free(take_spare(local));
    free(local);
}
