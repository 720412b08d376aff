/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"

#include "data/crew/crew.h"

/* Seats of the workers of servers that are fakes: all of them have the same address, one after the other. */

enum { WORKERS_MAX = 3, SERVERS_MAX = 4 };

struct mk_worker {
    unsigned index;
};

struct mk_server_handle {
    int refs;
};

struct mk_server {
    unsigned number, nworkers;
};

static struct mk_worker workers[WORKERS_MAX] = {{0}, {1}, {2}};
static struct mk_server_handle handles[SERVERS_MAX];
static struct mk_server present;
static bool has_no_handle;

/* ---- what the room calls ---- */

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    (void)w;
    return &present;
}

struct mk_worker *mk_server_worker(struct mk_server *server, unsigned index)
{
    return index < server->nworkers ? &workers[index] : NULL;
}

unsigned mk_worker_index(const struct mk_worker *w)
{
    return w->index;
}

struct mk_server_handle *mk_server_handle(struct mk_server *server)
{
    if (has_no_handle)
        return NULL;
    handles[server->number].refs++;
    return &handles[server->number];
}

bool mk_server_handle_is_of(const struct mk_server_handle *h, struct mk_server *server)
{
    return h == &handles[server->number];
}

void mk_server_handle_put(struct mk_server_handle *h)
{
    h->refs--;
}

/* ---- */

static unsigned nended;

static void end(void *seat)
{
    nended++;
    *(bool *)seat = true;
}

static void each_worker_has_a_seat(void **state)
{
    struct crew_place place;
    bool is_ended[2] = {false, false};
    void **seats[3];

    (void)state;
    present = (struct mk_server){.number = 0, .nworkers = 3};
    nended = 0;
    crew_init(&place);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(crew_seat(&place, &workers[i], &seats[i]), 0);
        assert_null(*seats[i]);
    }
    *seats[0] = &is_ended[0];
    *seats[2] = &is_ended[1];
    assert_int_equal(crew_seat(&place, &workers[2], &seats[1]), 0);
    assert_ptr_equal(seats[1], seats[2]);
    crew_fini(&place, end);
    assert_int_equal(nended, 2);
    assert_true(is_ended[0] && is_ended[1]);
    assert_int_equal(handles[0].refs, 0);
}

static void a_later_server_at_the_same_address_has_no_seats(void **state)
{
    struct crew_place place;
    void **seat = NULL;

    (void)state;
    present = (struct mk_server){.number = 0, .nworkers = 1};
    crew_init(&place);
    assert_int_equal(crew_seat(&place, &workers[0], &seat), 0);
    present = (struct mk_server){.number = 1, .nworkers = 3};
    assert_int_equal(crew_seat(&place, &workers[0], &seat), MK_E_INVALID);
    assert_int_equal(crew_seat(&place, &workers[2], &seat), MK_E_INVALID);
    crew_fini(&place, end);
    assert_int_equal(handles[0].refs + handles[1].refs, 0);
}

static void without_memory_nobody_has_one(void **state)
{
    struct crew_place place;
    void **seat;

    (void)state;
    present = (struct mk_server){.number = 2, .nworkers = 2};
    has_no_handle = true;
    crew_init(&place);
    assert_int_equal(crew_seat(&place, &workers[0], &seat), MK_E_NOMEM);
    has_no_handle = false;
    assert_int_equal(crew_seat(&place, &workers[0], &seat), 0);
    crew_fini(&place, end);
    crew_init(&place);
    crew_fini(&place, end); /* of a client that nobody has asked */
    assert_int_equal(handles[2].refs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_has_a_seat),
        cmocka_unit_test(a_later_server_at_the_same_address_has_no_seats),
        cmocka_unit_test(without_memory_nobody_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
