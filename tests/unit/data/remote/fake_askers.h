/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that ask the servers of fake_world.h through a client, each by one of two protocols: what tests of the client share. */
#include "fake_world.h"

static struct remote_spec asked;
static unsigned askers[WORKERS];
static unsigned seen[REMOTE_UNSENT + 1], nanswers,
    nlate; /* ways in which calls ended, in all schedules */
static int nreaders;

/* ---- the protocol ---- */

struct reader {
    char line[LINE];
    unsigned len;
    unsigned wanted;
    bool is_first;
    char *kept; /* until the connection ends */
};

static struct remote_call *new_call(unsigned number)
{
    struct call *c = calloc(1, sizeof(*c));

    assert_non_null(c);
    c->number = number;
    (void)snprintf(c->line, sizeof(c->line), "%07u\n", number % 10000000);
    c->call.bytes = c->line;
    c->call.len = LINE;
    return &c->call;
}

static struct remote_call *probe(void)
{
    return fails() ? NULL : new_call(PROBE);
}

static int greet(void *of, struct remote_call **call)
{
    assert_int_equal(*(unsigned *)of, world.here);
    assert_null(*call);
    if (fails())
        return -1;
    if (world.greets)
        *call = new_call(GREETING);
    return 0;
}

static void begin(void *of, void *reader, const struct remote_call *call, bool is_first)
{
    struct reader *r = reader;

    (void)of;
    assert_int_equal(r->len, 0);
    r->wanted = ((const struct call *)(const void *)call)->number;
    r->is_first = is_first;
}

static enum remote_progress read_line(void *reader, const char *bytes, size_t len, size_t *used)
{
    struct reader *r = reader;

    assert_true(len > 0);
    for (*used = 0; *used < len && r->len < LINE; (*used)++)
        r->line[r->len++] = bytes[*used];
    if (r->len < LINE)
        return REMOTE_MORE;
    if (r->line[0] == 'F')
        return r->is_first ? REMOTE_FULL : world.is_alone ? REMOTE_DONE : REMOTE_BAD;
    if (r->line[0] != 'X' && (unsigned)strtoul(r->line + 1, NULL, 10) != r->wanted)
        return REMOTE_BAD;
    return r->line[0] == 'C' ? REMOTE_CONFUSED : REMOTE_DONE;
}

static const char *why(const void *reader)
{
    (void)reader;
    return "another line";
}

static void reset(void *reader)
{
    struct reader *r = reader;

    *r = (struct reader){.kept = r->kept};
}

static void begin_kept(void *of, void *reader, const struct remote_call *call, bool is_first)
{
    struct reader *r = reader;

    begin(of, reader, call, is_first);
    if (r->kept)
        return;
    r->kept = malloc(1);
    assert_non_null(r->kept);
    nreaders++;
}

static void fini(void *reader)
{
    struct reader *r = reader;

    assert_int_equal(r->len, 0);
    nreaders -= r->kept != NULL;
    free(r->kept);
}

static void submit(void);

/* Of the next call that ends: it asks for another one, for which there is no memory. */
static bool asks_in_vain;

static void ask_in_vain(void)
{
    asks_in_vain = false;
    world.is_poor = true;
    submit();
    world.is_poor = false;
}

/* A service may do all sorts of things then. */
static void on_end(const struct remote_call *call)
{
    const struct call *c = (const struct call *)(const void *)call;

    assert_false(world.is_inside);
    assert_true(world.is_accepted[c->number]);
    assert_false(world.is_ended[c->number]);
    world.is_ended[c->number] = true;
    world.nended++;
    if (world.now_ms > world.begun_ms[c->number] + TIMEOUT_MS + 2 * REMOTE_TICK_MS)
        fail_msg("call %u ended after %lld ms", c->number,
                 (long long)(world.now_ms - world.begun_ms[c->number]));
    if (asks_in_vain)
        ask_in_vain();
    else if (!world.is_ending && below(4) == 0)
        submit();
}

static void end_call(void *of, struct remote_call *call)
{
    const unsigned *asker = of;

    assert_int_equal(*asker, world.here);
    remote_client_end(world.clients[*asker], call);
    on_end(call);
    free(call);
}

static void on_answer(void *of, struct remote_call *call, const void *reader)
{
    const struct reader *r = reader;
    const unsigned number = ((const struct call *)(const void *)call)->number;

    nanswers++;
    assert_false(world.is_inside);
    assert_int_equal(r->wanted, number);
    if (r->line[0] != 'X')
        assert_true(world.was_received[number]);
    else if (world.told &&
             world.born_in[number] == world.told) /* it was unread then, and is read first */
        assert_true(number < (unsigned)strtoul(r->line + 1, NULL, 10));
    end_call(of, call);
}

static void on_late(void *of, struct remote_call *call)
{
    const unsigned *asker = of;

    nlate++;
    assert_false(world.is_inside);
    assert_int_equal(*asker, world.here);
    assert_true(call->deadline_ms <= world.now_ms && !world.is_swift);
    remote_client_end(world.clients[*asker], call);
    on_end(call);
}

static int route(struct remote_client *client, struct remote_call *call)
{
    const unsigned first = below(SERVERS);
    int result = -1;

    world.is_inside = true;
    for (unsigned i = 0; i < SERVERS && result < 0; i++) {
        const unsigned server = (first + i) % SERVERS;
        const uint64_t bit = (uint64_t)1 << server;

        if (remote_client_alive(client) & bit)
            result = remote_client_send(client, server, call);
    }
    world.is_inside = false;
    return result;
}

static void on_lost(void *of, struct remote_call *call, enum remote_end end, const char *text)
{
    const unsigned *asker = of, number = ((const struct call *)(const void *)call)->number;

    assert_non_null(text);
    assert_false(world.is_inside);
    seen[end]++;
    if (end == REMOTE_LATE)
        assert_true(call->deadline_ms <= world.now_ms && !world.is_swift);
    if (end == REMOTE_UNSENT) {
        if (world.was_begun[number] && !world.sent_on[number]->refuses)
            fail_msg("call %u was begun, and is unsent", number);
        world.was_unsent[number] = true;
        if (!world.is_alone && route(world.clients[*asker], call) == 0)
            return;
    }
    end_call(of, call);
}

static const struct remote_protocol protocol = {
    .name = "test",
    .reader_size = sizeof(struct reader),
    .retry_first_ms = 100,
    .retry_last_ms = 800,
    .probe = probe,
    .begin = begin,
    .read = read_line,
    .why = why,
    .answer = on_answer,
    .lost = on_lost,
    .reset = reset,
};

static const struct remote_protocol patient = {
    .name = "patient",
    .reader_size = sizeof(struct reader),
    .retry_first_ms = 100,
    .retry_last_ms = 800,
    .probe = probe,
    .greet = greet,
    .begin = begin_kept,
    .read = read_line,
    .why = why,
    .answer = on_answer,
    .lost = on_lost,
    .late = on_late,
    .reset = reset,
    .fini = fini,
};

/* ---- a schedule ---- */

static void submit(void)
{
    struct remote_client *client = world.clients[world.here];
    const unsigned number = world.ncalls;
    struct remote_call *call;
    bool has_begun;

    if (number == CALLS)
        return;
    world.ncalls++;
    call = new_call(number);
    world.begun_ms[number] = world.now_ms;
    world.born_in[number] = world.told;
    world.worker_of[number] = world.here;
    has_begun = remote_client_begin(client, call) == 0;
    if (has_begun && route(client, call) == 0) {
        world.is_accepted[number] = true;
        world.naccepted++;
        return;
    }
    if (has_begun)
        remote_client_cancel(client);
    free(call);
}

/* A connection is not kept for a late answer for ever. */
static void look_at_patience(const struct remote_client *client)
{
    for (unsigned i = 0; i < remote_client_servers(client); i++) {
        for (const struct remote_link *l = client->pools[i].links; l; l = l->next) {
            const struct remote_call *first = l->calls.first;

            if (first && first->is_over)
                assert_true(world.now_ms < first->deadline_ms + TIMEOUT_MS);
        }
    }
}

static void pass_time(unsigned ms)
{
    world.now_ms += ms;
    for (unsigned i = 0; i < WORKERS; i++) {
        struct mk_alarm *a = world.alarms[i];

        if (!a || world.now_ms < a->at_ms)
            continue;
        world.here = i;
        a->at_ms = INT64_MAX;
        a->fn(a, a->arg);
        look_at_patience(world.clients[i]);
    }
}

/* Everything goes on at once. */
static void run_all(void)
{
    const unsigned n = world.nstreams;

    for (unsigned i = 0; i < UPSTREAMS; i++)
        serve_wait(&world.upstreams[i]);
    for (unsigned i = 0; i < n; i++) {
        serve_stream(world.streams[i]);
        tell_stream(world.streams[i]);
    }
    pass_time(20);
}

/* One that all workers add, and share. */
static inline void add_server(unsigned worker, unsigned bound)
{
    struct remote_client *client = world.clients[worker];
    struct remote_place place = {.port = SERVERS, .connections = bound};

    assert_int_equal(remote_client_add(client, &place, NULL), SERVERS - 1);
    assert_int_equal(remote_client_place(client, SERVERS - 1)->port, place.port);
    for (unsigned i = 0; i < worker; i++)
        assert_ptr_equal(remote_client_place(client, SERVERS - 1),
                         remote_client_place(world.clients[i], SERVERS - 1));
}

static inline void open_world(unsigned seed)
{
    struct remote_home home = {.run = run_at, .log = say};
    unsigned bounds[SERVERS];

    memset(&world, 0, sizeof(world));
    memset(world.last_received, 0xff, sizeof(world.last_received));
    world.random = seed * 2654435761U + 1;
    world.now_ms = 1000;
    world.is_rough = below(2) == 0;
    world.is_swift = below(4) == 0;
    world.pace = 1U << below(5);
    world.connections = 1 + below(3);
    asked = (struct remote_spec){.protocol = below(2) == 0 ? &protocol : &patient,
                                 .servers = world.servers,
                                 .nservers = SERVERS,
                                 .connections = world.connections,
                                 .timeout_ms = TIMEOUT_MS,
                                 .calls_max = 32};
    world.greets = asked.protocol == &patient && below(4) > 0;
    asked.nmore = seed % 4 == 3;
    asked.nservers -= asked.nmore;
    for (unsigned i = 0; i < SERVERS; i++) {
        bounds[i] = below(2) == 0 ? 0 : 1 + below(3);
        if (i >= asked.nservers)
            continue;
        world.servers[i].place.port = i + 1;
        world.servers[i].place.connections = bounds[i];
        assert_int_equal(pthread_mutex_init(&world.servers[i].lock, NULL), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        world.here = world.workers[i].index = askers[i] = i;
        home.worker = &world.workers[i];
        world.clients[i] = remote_client_new(&asked, &home, &askers[i]);
        assert_non_null(world.clients[i]);
        if (asked.nmore == 1)
            add_server(i, bounds[SERVERS - 1]);
        assert_int_equal(remote_client_servers(world.clients[i]), SERVERS);
    }
}

/* @return whether nothing goes on any more */
static inline bool is_at_rest(void)
{
    return !world.alarms[0] && !world.alarms[1] && world.nended == world.naccepted;
}

static void close_world(void)
{
    const unsigned nended = world.nended;

    world.is_ending = true;
    for (unsigned i = 0; i < WORKERS; i++) {
        world.here = i;
        remote_client_free(world.clients[i]);
    }
    assert_int_equal(world.nended, nended);
    for (unsigned i = 0; i < UPSTREAMS; i++) {
        assert_int_equal(world.upstreams[i].nopen, 0);
        assert_int_equal(count_waits(&world.upstreams[i]), 0);
        assert_false(world.upstreams[i].is_alive);
    }
    for (unsigned i = 0; i < asked.nservers; i++)
        assert_int_equal(pthread_mutex_destroy(&world.servers[i].lock), 0);
    assert_null(world.servers[0].next);
    assert_int_equal(nreaders, 0);
    for (unsigned i = 0; i < world.nstreams; i++)
        free(world.streams[i]);
}

static inline void set_tight(bool is_tight)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned server = 0; server < SERVERS; server++)
            world.clients[i]->pools[server].is_tight = is_tight;
    }
}

static void serve_all_waits(void)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        for (unsigned n = count_waits(&world.upstreams[i]); n > 0; n--)
            serve_wait(&world.upstreams[i]);
    }
}
