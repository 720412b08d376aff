/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/request/request_state.h"
#include "server/request/ticket.h"
#include "server/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Tickets without a server: a table of their own, and one request that is many. */

enum { WORKER = 5 };

static struct mk_tickets tickets;
static struct mk_worker worker = {.index = WORKER, .tickets = &tickets};

static int set_up(void **state)
{
    (void)state;
    mk_tickets_init(&tickets);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mk_tickets_fini(&tickets);
    return 0;
}

static struct mk_request request_of(void)
{
    return (struct mk_request){.worker = &worker, .asking = MK_ASKING_ASKED};
}

/* Another ticket for the same request, which the table takes for another one. */
static uint64_t next_ticket(struct mk_request *r)
{
    r->ticket = 0;
    return mk_request_ticket(r);
}

static void a_request_keeps_its_ticket_until_it_ends(void **state)
{
    struct mk_request r = request_of();
    uint64_t ticket = mk_request_ticket(&r);

    (void)state;
    assert_int_equal(ticket >> 56, WORKER);
    assert_true(mk_request_ticket(&r) == ticket);
    assert_ptr_equal(mk_worker_request(&worker, ticket), &r);
    mk_ticket_end(&r);
    assert_null(mk_worker_request(&worker, ticket));
    mk_ticket_end(&r); /* it has none */
    r.asking = MK_ASKING_OVER;
    assert_true(mk_request_ticket(&r) == 0);
}

static void a_ticket_is_of_one_worker_place_and_request(void **state)
{
    struct mk_request one = request_of(), other = request_of();
    uint64_t first = mk_request_ticket(&one), second;

    (void)state;
    assert_null(mk_worker_request(&worker, first ^ 1ULL << 56)); /* another worker's */
    assert_null(mk_worker_request(&worker, first ^ 1ULL << 32)); /* a free place */
    assert_null(mk_worker_request(&worker, first + 1));          /* never given */
    mk_ticket_end(&one);
    second = mk_request_ticket(&other); /* takes the place */
    assert_true(second >> 32 == first >> 32 && second != first);
    assert_null(mk_worker_request(&worker, first));
    assert_ptr_equal(mk_worker_request(&worker, second), &other);
    mk_ticket_end(&other);
}

static void a_table_that_grows_keeps_its_tickets(void **state)
{
    struct mk_request all[1000];
    uint64_t given[MK_ARRAY_LEN(all)];

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(all); i++) {
        all[i] = request_of();
        given[i] = mk_request_ticket(&all[i]);
    }
    for (size_t i = 0; i < MK_ARRAY_LEN(all); i++)
        assert_ptr_equal(mk_worker_request(&worker, given[i]), &all[i]);
}

/* A serial that begins again leaves out 0: a ticket of worker 0 in place 0 would be none. */
static void serials_begin_again_at_one(void **state)
{
    struct mk_request r = request_of();

    (void)state;
    tickets.serial = UINT32_MAX - 1;
    assert_int_equal((uint32_t)next_ticket(&r), UINT32_MAX);
    assert_int_equal((uint32_t)next_ticket(&r), 1);
}

/* The last place has a ticket like the first; then there is none, until a request ends. */
static void tickets_are_bounded(void **state)
{
    struct mk_request r = request_of(), last = request_of(), late = request_of();
    uint64_t ticket = 0;

    (void)state;
    for (uint32_t i = 0; i < MK_LIMIT_TICKETS - 1; i++) {
        ticket = next_ticket(&r);
        if (ticket == 0)
            fail_msg("no ticket %u", i);
    }
    assert_int_equal(ticket >> 32 & 0xffffff, MK_LIMIT_TICKETS - 2);
    ticket = mk_request_ticket(&last);
    assert_int_equal(ticket >> 32 & 0xffffff, MK_LIMIT_TICKETS - 1);
    assert_int_equal(ticket >> 56, WORKER);
    assert_ptr_equal(mk_worker_request(&worker, ticket), &last);
    assert_true(mk_request_ticket(&late) == 0);
    assert_int_equal(tickets.nslots, MK_LIMIT_TICKETS);
    mk_ticket_end(&last);
    assert_true(mk_request_ticket(&late) != 0);
    assert_null(mk_worker_request(&worker, ticket));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_request_keeps_its_ticket_until_it_ends),
        CASE(a_ticket_is_of_one_worker_place_and_request),
        CASE(a_table_that_grows_keeps_its_tickets),
        CASE(serials_begin_again_at_one),
        CASE(tickets_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
