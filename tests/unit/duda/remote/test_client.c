/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_world.h"

/* Random schedules of calls, connects, answers, failures, time-outs and clients that leave. */

enum { SCHEDULES = 600, STEPS = 400 };

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

static void submit(bool has_request);

/* A service may do all sorts of things then. */
static void on_end(duda_request_t *dr, void *arg)
{
    const struct call *c = arg;

    (void)dr;
    assert_false(world.is_inside);
    assert_true(world.is_accepted[c->number]);
    assert_false(world.is_ended[c->number]);
    world.is_ended[c->number] = true;
    world.nended++;
    if (world.now_ms > world.begun_ms[c->number] + TIMEOUT_MS + 2 * REMOTE_TICK_MS)
        fail_msg("call %u ended after %lld ms", c->number,
                 (long long)(world.now_ms - world.begun_ms[c->number]));
    if (!world.is_ending && below(4) == 0)
        submit(below(2) == 0);
}

static void end_call(void *of, struct remote_call *call)
{
    const unsigned *asker = of;

    assert_int_equal(*asker, world.here);
    remote_client_answer(world.clients[*asker], call, on_end, call);
    free(call);
}

static void on_answer(void *of, struct remote_call *call, const void *reader)
{
    const struct reader *r = reader;
    const unsigned number = ((const struct call *)(const void *)call)->number;

    nanswers++;
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
    assert_int_equal(*asker, world.here);
    assert_true(call->deadline_ms <= world.now_ms && !world.is_swift);
    remote_client_answer(world.clients[*asker], call, on_end, call);
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
    .calls_max = 32,
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
    .calls_max = 32,
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

static void submit(bool has_request)
{
    struct remote_client *client = world.clients[world.here];
    const unsigned number = world.ncalls;
    struct guest *g = &world.guests[below(GUESTS / WORKERS) * WORKERS + world.here];
    struct remote_call *call;
    bool has_begun;

    if (number == CALLS || (has_request && !g->is_there))
        return;
    world.ncalls++;
    call = new_call(number);
    world.begun_ms[number] = world.now_ms;
    world.born_in[number] = world.told;
    world.worker_of[number] = world.here;
    has_begun = remote_client_begin(client, call, has_request ? &g->dr : NULL) == 0;
    if (has_begun && route(client, call) == 0) {
        world.is_accepted[number] = true;
        world.naccepted++;
        return;
    }
    if (has_begun)
        remote_client_cancel(client, call);
    free(call);
}

static void leave(struct guest *g)
{
    void (*gone)(void *arg) = g->gone;

    g->is_there = false;
    g->gone = NULL;
    g->nwaits = 0;
    if (gone)
        gone(g->arg);
}

/* A connection is not kept for a late answer for ever. */
static void look_at_patience(const struct remote_client *client)
{
    for (unsigned i = 0; i < SERVERS; i++) {
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
        struct duda_timer *t = world.timers[i];

        if (!t || world.now_ms < t->at_ms)
            continue;
        world.here = i;
        t->cb(t->arg);
        look_at_patience(world.clients[i]);
        if (world.timers[i] == t)
            t->at_ms = world.now_ms + REMOTE_TICK_MS;
    }
}

static void come(unsigned i)
{
    world.guests[i] = (struct guest){.is_there = true};
}

static void turn_any_stream(void)
{
    struct mk_stream *s = world.nstreams > 0 ? world.streams[below(world.nstreams)] : NULL;

    if (!s)
        return;
    if (below(2) == 0)
        serve_stream(s);
    else
        tell_stream(s);
}

static enum mood any_mood(void)
{
    static const enum mood swift[] = {GOOD, REFUSES, CLOSES, CONFUSES, FULL};

    if (world.is_swift)
        return swift[below(5)];
    return below(2) == 0 ? GOOD : (enum mood)below(NMOODS);
}

/* Is a connection on its way, or one that will be given back? */
static bool is_coming(const struct remote_pool *pool)
{
    const struct remote_link *l = pool->links;

    while (l && l->state == REMOTE_LINK_OPEN)
        l = l->next;
    return l != NULL;
}

/* What waits beside connections that work must have something to wait for. */
static void look_at_waiting(void)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned server = 0; server < SERVERS; server++) {
            const struct remote_pool *pool = &world.clients[i]->pools[server];

            if (pool->waiting.first)
                assert_true(is_coming(pool));
        }
    }
}

static void step(void)
{
    const unsigned guest = below(GUESTS), server = below(SERVERS);

    world.here = below(WORKERS);
    switch (below(12)) {
    case 0:
    case 1:
    case 2:
        submit(below(2) == 0);
        break;
    case 3:
    case 4:
        serve_wait(&world.upstreams[below(UPSTREAMS)]);
        break;
    case 5:
        pass_time(below(90));
        break;
    case 6:
        world.here = guest % WORKERS;
        if (!world.guests[guest].is_there)
            come(guest);
        else if (below(4) == 0)
            leave(&world.guests[guest]);
        break;
    case 7:
        if (below(6) == 0)
            world.moods[server] = any_mood();
        if (below(20) == 0)
            restart(server);
        break;
    default:
        for (int i = 0; i < 4; i++)
            turn_any_stream();
        break;
    }
    if (below(world.pace) == 0)
        pass_time(below(90));
    for (unsigned i = 0; i < UPSTREAMS; i++)
        assert_true(world.upstreams[i].nopen <= world.upstreams[i].max);
    look_at_waiting();
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

/* One that all workers add. */
static void add_server(struct remote_client *client, unsigned bound)
{
    struct remote_place place = {.port = SERVERS, .connections = bound};

    assert_int_equal(remote_client_add(client, &place, NULL), SERVERS - 1);
    assert_int_equal(remote_client_add(client, &place, NULL), -1);
    assert_ptr_equal(remote_client_place(client, SERVERS - 1), &world.servers[SERVERS - 1].place);
    assert_int_equal(remote_client_place(client, SERVERS - 1)->port, place.port);
}

static void open_world(unsigned seed, struct remote_spec *spec, unsigned of[WORKERS])
{
    unsigned bounds[SERVERS];

    memset(&world, 0, sizeof(world));
    memset(world.last_received, 0xff, sizeof(world.last_received));
    world.random = seed * 2654435761U + 1;
    world.now_ms = 1000;
    world.is_rough = below(2) == 0;
    world.is_swift = below(4) == 0;
    world.pace = 1U << below(5);
    world.connections = 1 + below(3);
    *spec = (struct remote_spec){.protocol = below(2) == 0 ? &protocol : &patient,
                                 .servers = world.servers,
                                 .nservers = SERVERS,
                                 .connections = world.connections,
                                 .timeout_ms = TIMEOUT_MS};
    world.greets = spec->protocol == &patient && below(4) > 0;
    spec->nmore = seed % 4 == 3;
    spec->nservers -= spec->nmore;
    for (unsigned i = 0; i < SERVERS; i++) {
        bounds[i] = below(2) == 0 ? 0 : 1 + below(3);
        if (i >= spec->nservers)
            continue;
        world.servers[i].place.port = i + 1;
        world.servers[i].place.connections = bounds[i];
        assert_int_equal(pthread_mutex_init(&world.servers[i].lock, NULL), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        world.here = world.workers[i].index = of[i] = i;
        world.clients[i] = remote_client_new(spec, &of[i]);
        assert_non_null(world.clients[i]);
        if (spec->nmore == 1)
            add_server(world.clients[i], bounds[SERVERS - 1]);
        assert_int_equal(remote_client_servers(world.clients[i]), SERVERS);
    }
}

/* @return whether nothing goes on any more */
static bool is_at_rest(void)
{
    return !world.timers[0] && !world.timers[1] && world.nended == world.naccepted;
}

/* All servers are good again: each call ends, all servers come back, and nothing is left but idle connections. */
static void calm_down(unsigned seed)
{
    int turns = 0;

    for (unsigned i = 0; i < SERVERS; i++) {
        world.moods[i] = GOOD;
        restart(i); /* what was silent has forgotten it */
    }
    world.is_ending = true;
    world.is_rough = false;
    while (!is_at_rest() && turns++ < 1000)
        run_all();
    if (!is_at_rest())
        fail_msg("seed %u: %u of %u calls have ended, and it does not rest", seed, world.nended,
                 world.naccepted);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(remote_client_alive(world.clients[i]), (1U << SERVERS) - 1);
    for (unsigned i = 0; i < GUESTS; i++)
        assert_int_equal(world.guests[i].nwaits, 0);
    assert_int_equal(world.nsaid, 0);
}

static void close_world(void)
{
    const unsigned nended = world.nended;

    world.is_ending = true;
    for (unsigned i = 0; i < WORKERS; i++) {
        free(world.timers[i]); /* timers end before */
        world.timers[i] = NULL;
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        world.here = i;
        remote_client_free(world.clients[i]);
    }
    assert_int_equal(world.nended, nended);
    for (unsigned i = 0; i < GUESTS; i++)
        leave(&world.guests[i]);
    for (unsigned i = 0; i < UPSTREAMS; i++) {
        assert_int_equal(world.upstreams[i].nopen, 0);
        assert_int_equal(count_waits(&world.upstreams[i]), 0);
        assert_false(world.upstreams[i].is_alive);
    }
    for (unsigned i = 0; i < SERVERS; i++)
        assert_int_equal(pthread_mutex_destroy(&world.servers[i].lock), 0);
    assert_int_equal(nreaders, 0);
    for (unsigned i = 0; i < world.nstreams; i++)
        free(world.streams[i]);
}

static void each_call_ends_once_in_any_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SCHEDULES; seed++) {
        struct remote_spec spec;
        unsigned of[WORKERS];

        open_world(seed, &spec, of);
        for (int i = 0; i < STEPS; i++) {
            step();
            if (world.is_swift)
                run_all();
        }
        if (seed % 3 > 0) /* the others end in the middle */
            calm_down(seed);
        close_world();
    }
    assert_true(nanswers > 10000);
    assert_true(nlate > 100);
    for (unsigned i = 0; i <= REMOTE_UNSENT; i++)
        assert_true(seen[i] > 100);
}

static void set_tight(bool is_tight)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned server = 0; server < SERVERS; server++)
            world.clients[i]->pools[server].is_tight = is_tight;
    }
}

/* Who holds the only connection passes it on, busy or not. */
static void workers_take_turns(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    open_world(1, &spec, of);
    world.is_rough = false;
    world.is_ending = true;
    for (unsigned i = 0; i < SERVERS; i++)
        world.upstreams[i].max = 1;
    set_tight(true);
    for (int turn = 0; turn < 200; turn++) {
        world.here = (unsigned)turn % WORKERS;
        submit(false);
        if (turn % 3 == 0)
            run_all();
    }
    while (!is_at_rest())
        run_all();
    assert_int_equal(world.naccepted, world.nended);
    assert_true(world.naccepted > 100);
    for (unsigned number = 0; number < world.ncalls; number++)
        assert_int_equal(world.is_accepted[number], world.was_received[number]);
    close_world();
}

static void serve_all_waits(void)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        for (unsigned n = count_waits(&world.upstreams[i]); n > 0; n--)
            serve_wait(&world.upstreams[i]);
    }
}

/* @return that of a worker which it leaves to others; NULL: none */
static struct mk_stream *find_leaving(const struct remote_client *client)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        for (const struct remote_link *l = client->pools[i].links; l; l = l->next) {
            if (l->state == REMOTE_LINK_LEAVING)
                return l->s;
        }
    }
    return NULL;
}

/* A worker leaves one of its two connections to another one, and cannot have a third: what waits for that has the second. */
static void a_call_does_not_wait_for_a_connection_that_failed(void **state)
{
    struct mk_stream *s;
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    open_world(1, &spec, of);
    spec.connections = 2;
    world.is_rough = false;
    world.is_ending = true;
    set_tight(false);
    for (unsigned i = 0; i < SERVERS; i++)
        world.upstreams[i].max = 2;
    for (int turn = 0; turn < 24; turn++) {
        world.here = turn < 16 ? 0 : 1;
        submit(false);
        serve_all_waits();
    }
    set_tight(true);
    world.here = 0;
    submit(false);
    assert_non_null(find_leaving(world.clients[0]));
    for (unsigned i = 0; i < SERVERS; i++)
        world.moods[i] = REFUSES;
    while ((s = find_leaving(world.clients[0]))) {
        serve_stream(s);
        tell_stream(s);
    }
    serve_all_waits();
    look_at_waiting();
    while (world.nended < world.naccepted)
        run_all();
    close_world();
}

/* ---- one server, step by step ---- */

static void begin_alone(struct remote_spec *spec, unsigned of[WORKERS], bool greets)
{
    open_world(1, spec, of);
    spec->protocol = &patient;
    spec->connections = 4;
    world.greets = greets;
    world.is_rough = world.is_swift = false;
    world.is_ending = world.is_alone = true;
    world.here = 0;
    set_tight(false);
    world.upstreams[0].max = CALLS;
}

static void end_alone(void)
{
    while (!is_at_rest())
        run_all();
    assert_int_equal(world.nended, world.naccepted);
    close_world();
}

/* Worker 0 asks server 0. @return the number of the call */
static unsigned ask(void)
{
    const unsigned number = world.ncalls++;
    struct remote_call *call = new_call(number);

    world.begun_ms[number] = world.now_ms;
    world.is_accepted[number] = true;
    world.naccepted++;
    world.here = 0;
    assert_int_equal(remote_client_begin(world.clients[0], call, NULL), 0);
    assert_int_equal(remote_client_send(world.clients[0], 0, call), 0);
    return number;
}

static bool is_up(void)
{
    return remote_client_alive(world.clients[0]) & 1;
}

static void go_on(struct mk_stream *s)
{
    serve_stream(s);
    tell_stream(s);
}

/* All is answered on it. */
static void finish(struct mk_stream *s)
{
    for (int i = 0; i < 100 && s->is_open; i++)
        go_on(s);
}

static void refuses(struct mk_stream *s)
{
    refuse(s);
    for (int i = 0; i < LINE && s->is_open; i++)
        tell_stream(s);
    assert_false(s->is_open);
}

/* The server closes it. */
static void ends(struct mk_stream *s)
{
    s->is_over = true;
    tell_stream(s);
    assert_false(s->is_open);
}

/* It is full, and has refused all connections but the first one before that has greeted. */
static void a_connection_that_is_still_made_is_waited_for(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    begin_alone(&spec, of, true);
    for (int i = 0; i < 4; i++)
        (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 4);
    for (unsigned i = 1; i < 4; i++)
        refuses(world.streams[i]);
    assert_true(is_up());
    assert_int_equal(world.nended, 0);
    finish(world.streams[0]);
    assert_int_equal(world.nended, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(world.was_received[i]);
    end_alone();
}

/* The calls of a refused connection were not sent. */
static void a_refused_connection_leaves_its_calls_to_others(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    begin_alone(&spec, of, false);
    for (int i = 0; i < 3; i++)
        (void)ask();
    for (unsigned i = 0; i < 2; i++) {
        serve_wait(&world.upstreams[0]);
        assert_int_equal(world.nstreams, i + 1);
    }
    refuses(world.streams[0]);
    assert_true(is_up());
    serve_wait(&world.upstreams[0]);
    refuses(world.streams[1]);
    assert_true(is_up());
    assert_int_equal(world.nended, 0);
    finish(world.streams[2]);
    assert_int_equal(world.nended, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(world.sent_on[i], world.streams[2]);
        assert_true(world.was_received[i]);
    }
    end_alone();
}

/* A connection that has answered was not refused, also if another link had it then. */
static void what_reads_like_a_refusal_later_is_an_answer(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS], number;

    (void)state;
    begin_alone(&spec, of, false);
    (void)ask();
    serve_all_waits();
    finish(world.streams[0]);
    while (!world.streams[0]->is_idle)
        pass_time(20);
    number = ask();
    serve_all_waits();
    while (world.streams[0]->in_at == world.streams[0]->in_len)
        tell_stream(world.streams[0]);
    while (world.streams[0]->in_len - world.streams[0]->in_at < LINE)
        tell_stream(world.streams[0]);
    world.streams[0]->in_at += LINE;
    world.was_received[number] = true;
    reply(world.streams[0], "F000000\n", LINE);
    finish(world.streams[0]);
    assert_true(world.is_ended[number]);
    assert_true(is_up());
    end_alone();
}

/* It gets no new ones, and refuses them all. */
static void a_server_is_asked_over_a_connection_that_it_has(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    begin_alone(&spec, of, false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    finish(world.streams[0]);
    ends(world.streams[1]);
    assert_false(is_up());
    world.moods[0] = REFUSES;
    for (int i = 0; i < 100 && !is_up(); i++)
        run_all();
    assert_true(is_up());
    end_alone();
}

/* The connection that there was is dead without a word, so the second question is over a new one, at once. */
static void a_server_is_asked_anew_where_a_connection_is_dead(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];
    int64_t asked_ms;

    (void)state;
    begin_alone(&spec, of, false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    finish(world.streams[0]);
    ends(world.streams[1]);
    while (count_waits(&world.upstreams[0]) == 0)
        pass_time(20);
    asked_ms = world.now_ms;
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    world.streams[0]->in_at = world.streams[0]->in_len; /* lost */
    while (world.now_ms <= asked_ms + TIMEOUT_MS + 2 * REMOTE_TICK_MS)
        pass_time(20);
    serve_all_waits();
    assert_int_equal(world.nstreams, 3);
    finish(world.streams[2]);
    assert_true(is_up());
    end_alone();
}

/* One connection is silent, and another one answers. */
static void a_server_that_answers_elsewhere_is_not_left_out(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    begin_alone(&spec, of, false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    while (world.streams[0]->in_at == world.streams[0]->in_len)
        tell_stream(world.streams[0]);
    while (world.streams[0]->is_open) {
        world.streams[0]->in_at = world.streams[0]->in_len; /* lost */
        finish(world.streams[1]);
        pass_time(20);
        (void)ask();
        assert_true(is_up());
    }
    assert_true(world.now_ms >= 1000 + 2 * TIMEOUT_MS);
    for (int i = 0; i < 100; i++)
        run_all();
    assert_int_equal(world.nended, world.naccepted);
    assert_true(is_up());
    end_alone();
}

/* What is over stays on its connection, where its answer is awaited. */
static void calls_that_are_over_count(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];
    struct remote_call *more;

    (void)state;
    begin_alone(&spec, of, false);
    spec.connections = 1;
    for (unsigned i = 0; i < patient.calls_max; i++)
        (void)ask();
    serve_all_waits();
    while (world.nended < world.naccepted)
        pass_time(20);
    more = new_call(world.ncalls);
    assert_int_equal(remote_client_begin(world.clients[0], more, NULL), -1);
    finish(world.streams[0]);
    assert_int_equal(remote_client_begin(world.clients[0], more, NULL), 0);
    remote_client_cancel(world.clients[0], more);
    free(more);
    for (unsigned i = 0; i < patient.calls_max; i++)
        (void)ask();
    serve_all_waits();
    while (world.streams[0]->is_open)
        pass_time(20);
    while (!is_up())
        run_all();
    (void)ask();
    assert_int_equal(world.clients[0]->ncalls, 1);
    end_alone();
}

/* It takes connections, and answers nothing: a new one is no better than the one before. */
static void a_server_that_is_silent_is_left_out(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    begin_alone(&spec, of, false);
    (void)ask();
    serve_all_waits();
    finish(world.streams[0]);
    world.moods[0] = SILENT;
    (void)ask();
    finish(world.streams[0]);
    while (world.now_ms < world.begun_ms[1] + TIMEOUT_MS * 3 / 2)
        pass_time(20);
    (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    while (world.streams[0]->is_open)
        pass_time(20);
    assert_true(world.streams[1]->is_open);
    assert_false(is_up());
    world.moods[0] = GOOD;
    end_alone();
}

/* Another connection has failed. */
static void an_answer_brings_a_server_back(void **state)
{
    struct remote_spec spec;
    unsigned of[WORKERS];

    (void)state;
    begin_alone(&spec, of, false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    ends(world.streams[1]);
    assert_false(is_up());
    while (count_waits(&world.upstreams[0]) == 0)
        pass_time(20);
    finish(world.streams[0]);
    assert_true(is_up());
    serve_all_waits(); /* nobody wants the probe any more */
    assert_int_equal(world.nstreams, 2);
    assert_int_equal(ask(), 2);
    end_alone();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_ends_once_in_any_order),
        cmocka_unit_test(workers_take_turns),
        cmocka_unit_test(a_call_does_not_wait_for_a_connection_that_failed),
        cmocka_unit_test(a_connection_that_is_still_made_is_waited_for),
        cmocka_unit_test(a_refused_connection_leaves_its_calls_to_others),
        cmocka_unit_test(what_reads_like_a_refusal_later_is_an_answer),
        cmocka_unit_test(a_server_is_asked_over_a_connection_that_it_has),
        cmocka_unit_test(a_server_is_asked_anew_where_a_connection_is_dead),
        cmocka_unit_test(a_server_that_answers_elsewhere_is_not_left_out),
        cmocka_unit_test(a_server_that_is_silent_is_left_out),
        cmocka_unit_test(calls_that_are_over_count),
        cmocka_unit_test(an_answer_brings_a_server_back),
    };

    duda_objects_given = &given;
    timer = &timers;
    gc = &gcs;
    msg = &messages;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
