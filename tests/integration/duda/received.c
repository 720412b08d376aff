/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdatomic.h>

DUDA_REGISTER("tests", "forms that are received part by part");

static const char *const errors[] = {"ok", "bad", "too large", "stopped", "no memory", "left"};
static atomic_int begun, done_calls, left;
static atomic_ulong taken;

struct upload {
    duda_request_t *dr;
    unsigned long length;
    unsigned long long sum;
    long late, stop;
    char lines[4096];
};

static int begin(duda_request_t *dr, const struct duda_part *part, void *arg)
{
    struct upload *u = arg;

    u->length = u->sum = 0;
    return part->name && strcmp(part->name, "unwanted") == 0 ? -2 : 0;
}

static void go_on(void *arg)
{
    duda_request_t *dr = arg;

    if (request->validate_request(dr))
        form->go_on(dr);
}

static int take(duda_request_t *dr, const struct duda_part *part, const char *bytes, size_t length,
                void *arg)
{
    struct upload *u = arg;

    for (size_t i = 0; i < length; i++)
        u->sum += (unsigned char)bytes[i];
    u->length += length;
    taken += length;
    if (!u->late && form->go_on(dr) == 0)
        abort();
    if (u->stop) {
        response->problem(dr, 403, "not that", NULL);
        return 0;
    }
    if (u->late && u->late != 7) {
        timer->after(1, go_on, dr);
        return DUDA_FORM_LATER;
    }
    return u->late == 7 ? DUDA_FORM_LATER : 0;
}

static int end_part(duda_request_t *dr, const struct duda_part *part, void *arg)
{
    struct upload *u = arg;
    size_t at = strlen(u->lines);

    snprintf(u->lines + at, sizeof(u->lines) - at, "%s|%s|%s|%lu|%llu\n",
             part->name ? part->name : "(body)", part->filename ? part->filename : "-",
             part->type ? part->type : "-", u->length, u->sum);
    return 0;
}

static void done(duda_request_t *dr, int error, void *arg)
{
    struct upload *u = arg;
    long long total, received;

    done_calls++;
    if (!dr) {
        if (error != DUDA_FORM_LEFT)
            abort();
        left++;
    } else if (error == DUDA_FORM_OK) {
        received = form->progress(dr, &total);
        response->send(dr, 200, "text/plain", "%s%lld of %lld", u->lines, received, total);
    } else if (!u->stop) {
        response->problem(dr, 400, errors[error], NULL);
    }
    mem->free(u);
}

static void take_upload(duda_request_t *dr,
                        int (*receive)(duda_request_t *dr, const struct duda_receiver *receiver,
                                       void *arg))
{
    struct duda_receiver receiver = {.begin = begin, .data = take, .end = end_part, .done = done};
    struct upload *u;
    long parts = 0, length = 0;

    if (query->get(dr, "no")) {
        response->problem(dr, 401, "no", NULL);
        return;
    }
    u = mem->alloc_z(sizeof(*u));
    u->dr = dr;
    query->get_number(dr, "late", &u->late);
    query->get_number(dr, "stop", &u->stop);
    query->get_number(dr, "parts", &parts);
    query->get_number(dr, "length", &length);
    receiver.parts = (unsigned)parts;
    receiver.length = (size_t)length;
    if (form->progress(dr, NULL) != -1 || form->go_on(dr) != -1 || receive(dr, NULL, u) != -1)
        abort();
    if (receive(dr, &receiver, u) < 0) {
        mem->free(u);
        response->problem(dr, 415, "no form", NULL);
        return;
    }
    begun++;
    if (form->receive(dr, &receiver, u) != -1 || request->read(dr, &receiver, u) != -1)
        abort();
}

static void upload(duda_request_t *dr)
{
    take_upload(dr, form->receive);
}

static void any(duda_request_t *dr)
{
    take_upload(dr, request->read);
}

static void usual(duda_request_t *dr)
{
    struct duda_receiver receiver = {.data = take, .done = done};

    response->send(dr, 200, "text/plain", "%d", form->receive(dr, &receiver, NULL));
}

static void counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d %lu", (int)begun, (int)done_calls, (int)left,
                   (unsigned long)taken);
}

int duda_main()
{
    router->early("POST", "/upload", upload);
    router->early("POST", "/any", any);
    router->post("/usual", usual);
    router->get("/counts", counts);
    return 0;
}
