/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "entry/settings.h"
#include "fake_setup.h"

/* What values of [PROXY_ENTRY] mean and which are refused, and how entries become routes. */

const char *const intake_modes[] = {"auto", NULL};

static struct mk_setup setup;
static struct proxy_settings set;

/* ---- a configuration being checked ---- */

static char fault[512];
static unsigned nfaults, nwarnings;
static struct proxy_settings *written; /* the sections of the file that is checked, an array */
static size_t nwritten;
static void *kept, *config;
static char
    routes[1024]; /* a line each: pattern, name of its entry, whether it is for every site */
static int route_error;
static unsigned acted; /* hooks that act on the site */

void mk_setup_fault(struct mk_setup *s, const struct mk_origin *at, const char *fmt, ...)
{
    va_list args;

    (void)s, (void)at;
    nfaults++;
    va_start(args, fmt);
    (void)vsnprintf(fault, sizeof(fault), fmt, args);
    va_end(args);
}

void mk_setup_warn(struct mk_setup *s, const struct mk_origin *at, const char *fmt, ...)
{
    (void)s, (void)at, (void)fmt;
    nwarnings++;
}

const char *mk_setup_nearest(struct mk_str word, const char *const *names)
{
    return word.len > 5 ? names[0] : NULL;
}

int mk_setup_template(struct mk_setup *s, const struct mk_setting *setting, struct mk_str text,
                      unsigned flags, struct mk_template *t)
{
    struct mk_template_piece *pieces = mk_setup_alloc(s, MK_TEMPLATE_MAX * sizeof(*pieces));
    struct mk_str wrong;

    if (!pieces)
        return MK_E_NOMEM;
    t->pieces = pieces;
    if (mk_template_read(pieces, &t->count, text, flags, &wrong) < 0)
        return mk_setup_refuse(s, setting, "known variables");
    return 0;
}

void *mk_setup_section(struct mk_setup *s, const struct mk_section_spec *spec, void *before)
{
    size_t at = before ? (size_t)((struct proxy_settings *)before - written) + 1 : 0;

    (void)s;
    if (spec == proxy_sections[0])
        return NULL; /* defaults, which were not written */
    assert_ptr_equal(spec, proxy_sections[1]);
    return at < nwritten ? &written[at] : NULL;
}

const struct mk_origin *mk_setup_origin(struct mk_setup *s, const void *settings)
{
    (void)s, (void)settings;
    return NULL;
}

const struct mk_origin *mk_setup_place(struct mk_setup *s, const void *settings, const char *key)
{
    (void)s, (void)settings, (void)key;
    return NULL;
}

void mk_setup_keep(struct mk_setup *s, void *object)
{
    (void)s;
    kept = object;
}

void *mk_setup_config(struct mk_setup *s)
{
    (void)s;
    return config;
}

void mk_setup_act(struct mk_setup *s, unsigned acts)
{
    (void)s;
    acted = acts;
}

int mk_setup_route(struct mk_setup *s, struct mk_str pattern, void *data,
                   const struct mk_origin *at, bool global)
{
    const struct proxy_entry *e = data;

    (void)s, (void)at;
    (void)snprintf(routes + strlen(routes), sizeof(routes) - strlen(routes), "%.*s %s%s\n",
                   (int)pattern.len, pattern.p,
                   !e       ? "(page)"
                   : e->set ? e->name
                            : "(guard)",
                   global ? " global" : "");
    return route_error;
}

bool mk_setup_has_transport(struct mk_setup *s, struct mk_str name)
{
    (void)s;
    return strcasecmp(name.p, "liana") == 0 || strcasecmp(name.p, "tls") == 0;
}

void mk_setup_addresses(struct mk_setup *s, void (*fn)(void *arg, const char *text, size_t len),
                        void *arg)
{
    (void)s;
    fn(arg, "[::]:2001", strlen("[::]:2001"));
}

static int begin(void **state)
{
    (void)state;
    fake_setup_end(&setup);
    setup = (struct mk_setup){.settings = &set};
    set = (struct proxy_settings){.hash_key = -1, .host = -1, .balancer = -1};
    fault[0] = routes[0] = '\0';
    nfaults = nwarnings = 0;
    route_error = 0;
    kept = config = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    fake_setup_end(&setup);
    return 0;
}

/* The parser of a key, in [PROXY_ENTRY]. */
static int read_value(const char *key, const char *value)
{
    const struct mk_section_spec *spec = proxy_sections[1];
    const struct mk_setting s = {.key = mk_str_from(key), .value = mk_str_from(value)};

    for (size_t i = 0; i < spec->nfields; i++) {
        if (strcmp(spec->fields[i].name, key) == 0)
            return spec->fields[i].parse(&setup, &s);
    }
    fail_msg("there is no %s", key);
    return 0;
}

/* Values that are refused change nothing that the server would use. */
static void refuse_all(const char *key, const char *const *values)
{
    for (; *values; values++) {
        begin(NULL);
        if (read_value(key, *values) != MK_E_INVALID || setup.nrefused + nfaults != 1)
            fail_msg("%s \"%s\" was not refused", key, *values);
    }
}

static bool is(struct mk_str text, const char *expected)
{
    return text.p && text.len == strlen(expected) && memcmp(text.p, expected, text.len) == 0;
}

/* Its pieces as they were read, variables with their dollar. */
static bool reads(const struct mk_template *t, const char *expected)
{
    char joined[100] = "";

    for (size_t i = 0; i < t->count; i++) {
        const struct mk_str text = t->pieces[i].text;

        (void)snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%.*s",
                       (int)text.len, text.p);
    }
    return strcmp(joined, expected) == 0;
}

/* ---- values ---- */

static void balancers_are_found_or_guessed(void **state)
{
    (void)state;
    assert_int_equal(read_value("LoadBalancer", "leastconnections"), 0);
    assert_int_equal(set.balancer, proxy_balancer_find(MK_STR("LeastConnections")));
    assert_int_equal(read_value("LoadBalancer", "Leas"), MK_E_INVALID);
    assert_int_equal(setup.nrefused, 1);
    assert_int_equal(nfaults, 0);
    assert_int_equal(read_value("LoadBalancer", "RoundRobbin"), MK_E_INVALID);
    assert_int_equal(nfaults, 1);
    assert_non_null(strstr(fault, "got \"RoundRobbin\"; did you mean \"Naive\"?"));
    assert_int_equal(set.balancer, proxy_balancer_find(MK_STR("LeastConnections")));
}

static void keys_of_a_hash(void **state)
{
    static const char *const wrong[] = {"",           "Cookie",     "Address x", "URI x", "Header",
                                        "Header a b", "Header a:b", "x Header",  NULL};

    assert_int_equal(read_value("HashKey", "address"), 0);
    assert_int_equal(set.hash_key, PROXY_HASH_ADDRESS);
    assert_int_equal(read_value("HashKey", "URI"), 0);
    assert_int_equal(set.hash_key, PROXY_HASH_URI);
    assert_int_equal(read_value("HashKey", " header \t X-User "), 0);
    assert_int_equal(set.hash_key, PROXY_HASH_HEADER);
    assert_true(is(set.hash_header, "X-User"));
    refuse_all("HashKey", wrong);
    begin(state);
    setup.no_memory = true;
    assert_int_equal(read_value("HashKey", "Header a"), MK_E_NOMEM);
}

static void names_of_cookies(void **state)
{
    static const char *const wrong[] = {"",      "cookie",     "cookie a b", "header a",
                                        "off a", "cookie a=b", "cookie a;b", NULL};
    static const char *const short_keys[] = {"", "0123456789abcde", NULL};
    char text[80];

    assert_int_equal(read_value("Sticky", "cookie at"), 0);
    assert_true(is(set.sticky, "at"));
    assert_int_equal(read_value("Sticky", " Off "), 0);
    assert_null(set.sticky.p);
    refuse_all("Sticky", wrong);
    for (int len = 64; len <= 65; len++) {
        (void)snprintf(text, sizeof(text), "cookie %0*d", len, 0);
        assert_int_equal(read_value("Sticky", text), len == 64 ? 0 : MK_E_INVALID);
    }
    assert_int_equal(read_value("StickyKey", "0123456789abcdef"), 0);
    assert_string_equal(set.sticky_key, "0123456789abcdef");
    refuse_all("StickyKey", short_keys);
    begin(state);
    setup.no_memory = true;
    assert_int_equal(read_value("Sticky", "cookie a"), MK_E_NOMEM);
    assert_int_equal(read_value("StickyKey", "0123456789abcdef"), MK_E_NOMEM);
}

static void paths_of_accel_redirect(void **state)
{
    static const char *const wrong[] = {"",      "yes",    "/",      "/a",     "a/",
                                        "//",    "/a/ b/", "/a//b/", "/a/../", "/.a/",
                                        "/%61/", "/a/ on", NULL};

    assert_int_equal(read_value("AccelRedirect", "On"), 0);
    assert_int_equal(set.accel, PROXY_ACCEL_ON);
    assert_true(proxy_takes_orders(&set));
    assert_int_equal(read_value("AccelRedirect", "/a/b.c/"), 0);
    assert_int_equal(set.accel, PROXY_ACCEL_BENEATH);
    assert_true(is(set.accel_path, "/a/b.c/"));
    assert_int_equal(read_value("AccelRedirect", "off"), 0);
    assert_int_equal(set.accel, PROXY_ACCEL_OFF);
    assert_false(proxy_takes_orders(&set));
    refuse_all("AccelRedirect", wrong);
    begin(state);
    setup.no_memory = true;
    assert_int_equal(read_value("AccelRedirect", "/a/"), MK_E_NOMEM);
}

static void statuses_to_retry_on(void **state)
{
    static const char *const wrong[] = {"",   "501",   "505",     "404",     "200",
                                        "50", "5030",  "502,503", "502 off", "off 502",
                                        "on", "502 x", NULL};

    assert_int_equal(read_value("RetryOn", "502 \t 504"), 0);
    for (unsigned status = 0; status < 1000; status++)
        assert_int_equal(proxy_retries_on(set.retry_on, status), status == 502 || status == 504);
    assert_int_equal(read_value("RetryOn", "500 503 503"), 0);
    assert_true(proxy_retries_on(set.retry_on, 500) && proxy_retries_on(set.retry_on, 503));
    assert_false(proxy_retries_on(set.retry_on, 502)); /* the line before has no say any more */
    assert_int_equal(read_value("RetryOn", " Off "), 0);
    assert_int_equal(set.retry_on, 0);
    refuse_all("RetryOn", wrong);
    (void)state;
}

static void health_checks(void **state)
{
    static const struct {
        const char *value, *path;
        int64_t ms;
        unsigned status;
    } rows[] = {
        {"/", "/", 5000, 0},
        {"/up?x=1 2", "/up?x=1", 2000, 0},
        {"/up 100ms", "/up", 100, 0},
        {"/up 15s 204", "/up", 15000, 204},
        {"/up 2M", "/up", 120000, 0},
        {"/up 24h", "/up", 86400000, 0},
        {"/up 1d 599", "/up", 86400000, 599},
        {"/up 1 100", "/up", 1000, 100},
    };
    static const char *const wrong[] = {"",
                                        "up",
                                        "/\x7f",
                                        "/\xc3\xa4",
                                        "/up 99ms",
                                        "/up 86401s",
                                        "/up 25h",
                                        "/up 2d",
                                        "/up s",
                                        "/up 1w",
                                        "/up -1",
                                        "/up 1.5s",
                                        "/up 1s 99",
                                        "/up 1s 600",
                                        "/up 1s 2000",
                                        "/up 1s abc",
                                        "/up 9999999999999",
                                        "/up 0",
                                        "/up 1s 20",
                                        "/up 1s 2a4",
                                        "/up 1s 20a",
                                        "/up 1 204 x",
                                        NULL};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        if (read_value("HealthCheck", rows[i].value) != 0 ||
            strcmp(set.check_path, rows[i].path) != 0 || set.check_ms != rows[i].ms ||
            set.check_status != rows[i].status)
            fail_msg("%s: %s %lld %u", rows[i].value, set.check_path, (long long)set.check_ms,
                     set.check_status);
    }
    refuse_all("HealthCheck", wrong);
}

static void patterns_are_kept_in_their_order(void **state)
{
    static char longest[1024 + 2];

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    assert_int_equal(read_value("Match", longest), MK_E_INVALID);
    longest[1024] = '\0';
    assert_int_equal(read_value("Match", longest), 0);
    assert_int_equal(read_value("Match", "^/two"), 0);
    assert_int_equal(read_value("Match", ""), MK_E_INVALID);
    assert_int_equal(set.matches->pattern.len, 1024);
    assert_true(is(set.matches->next->pattern, "^/two"));
    assert_null(set.matches->next->next);
    setup.no_memory = true;
    assert_int_equal(read_value("Match", "^/"), MK_E_NOMEM);
}

static void hosts(void **state)
{
    static const char *const wrong[] = {"", "a b", "a\tb", NULL};

    (void)state;
    assert_int_equal(read_value("Host", "Client"), 0);
    assert_int_equal(set.host, PROXY_HOST_CLIENT);
    assert_int_equal(read_value("Host", "SERVER"), 0);
    assert_int_equal(set.host, PROXY_HOST_SERVER);
    assert_int_equal(read_value("Host", "a.example:80"), 0);
    assert_int_equal(set.host, PROXY_HOST_TEXT);
    assert_true(is(set.host_text, "a.example:80"));
    refuse_all("Host", wrong);
}

static void rewrites(void **state)
{
    static const char *const wrong[] = {"",        "/a",        "a /b",      "/a b",
                                        "/a /b c", "/a\x7f /b", "/a /b\x80", NULL};

    (void)state;
    assert_int_equal(read_value("Rewrite", "/api/ /"), 0);
    assert_true(is(set.rewrite_from, "/api/") && is(set.rewrite_to, "/"));
    refuse_all("Rewrite", wrong);
}

static void fields_that_are_set_and_removed(void **state)
{
    static const char *const wrong[] = {
        "",
        "X-A",
        "X-A  ",
        "X:A b",
        "X-A b\x01",
        "X-A b\x7f",
        "Host b",
        "expect 100-continue",
        "Content-Length 5",
        "Transfer-Encoding chunked",
        "Connection close",
        "X-A $nothing",
        "X-A ${remote_addr",
        NULL,
    };
    static const char *const not_removed[] = {"",       "X-A X-B",        "X:A",        "Host",
                                              "Expect", "Content-Length", "connection", NULL};

    (void)state;
    assert_int_equal(read_value("SetHeader", "X-A  one, \ttwo "), 0);
    assert_int_equal(read_value("SetHeader", "X-B \"$remote_addr\" $$5 \xc3\xa4"), 0);
    assert_true(is(set.sets->name, "X-A") && reads(&set.sets->value, "one, \ttwo"));
    assert_true(reads(&set.sets->next->value, "\"$remote_addr\" $5 \xc3\xa4"));
    assert_null(set.sets->next->next);
    assert_int_equal(read_value("RemoveHeader", " Authorization "), 0);
    assert_true(is(set.removes->name, "Authorization") && set.removes->value.count == 0);
    refuse_all("SetHeader", wrong);
    refuse_all("RemoveHeader", not_removed);
}

static void pages_of_statistics(void **state)
{
    static const char *const wrong[] = {"", "/", "status", "/a b", NULL};

    (void)state;
    assert_int_equal(read_value("StatisticsURL", "/status"), 0);
    assert_string_equal(set.statistics_url, "/status");
    refuse_all("StatisticsURL", wrong);
}

static void defaults_are_all_but_what_makes_an_entry(void **state)
{
    const struct mk_section_spec *defaults = proxy_sections[0], *entry = proxy_sections[1];

    (void)state;
    assert_ptr_equal(entry->base, defaults);
    assert_null(proxy_sections[2]);
    assert_int_equal(defaults->nfields, entry->nfields - 2);
    assert_string_equal(entry->fields[0].name, "Name");
    assert_string_equal(entry->fields[1].name, "Match");
    assert_string_equal(defaults->fields[0].name, entry->fields[2].name);
}

/* ---- entries ---- */

static struct proxy_server servers[] = {
    {.name = "a:1", .host = "a", .port = 1},
    {.name = "A:1", .host = "A", .port = 1},
    {.name = "b", .host = "b"},
};
static struct proxy_match match_x = {.pattern = MK_STR_INIT("^/x")};
static struct proxy_match match_y = {.pattern = MK_STR_INIT("^/y"), .next = &match_x};

static struct proxy_settings entry(struct proxy_server *server, const char *name,
                                   struct proxy_match *matches)
{
    return (struct proxy_settings){
        .servers = server, .nservers = server != NULL, .name = name, .matches = matches};
}

static struct proxy_config *check_all(struct proxy_settings *all, size_t count)
{
    written = all;
    nwritten = count;
    assert_int_equal(proxy_check(&setup), 0);
    return config = kept;
}

static int check_site(struct proxy_settings *all, size_t count)
{
    written = all;
    nwritten = count;
    routes[0] = '\0';
    return proxy_check_site(&setup);
}

/* Counters and the page tell entries apart by these. */
static void each_entry_has_a_name_of_its_own(void **state)
{
    struct proxy_settings all[] = {
        entry(&servers[0], NULL, &match_x), entry(&servers[1], NULL, &match_x),
        entry(&servers[0], "a:1#3", NULL),  entry(&servers[0], NULL, &match_x),
        entry(&servers[2], "own", NULL),    entry(&servers[2], NULL, &match_x),
    };
    static const char *const names[] = {"a:1", "A:1#2", "a:1#3", "a:1#4", "own", "b"};
    const struct proxy_entry *e;

    (void)state;
    e = check_all(all, 6)->entries;
    for (size_t i = 0; i < 6; i++, e = e->next)
        assert_string_equal(e->name, names[i]);
    assert_null(e);
    assert_int_equal(((struct proxy_config *)config)->nentries, 6);
    assert_int_equal(nfaults, 0);
}

static void entries_that_are_none_are_faults(void **state)
{
    struct proxy_settings all[] = {
        entry(NULL, NULL, &match_x),
        entry(&servers[0], "one", NULL),
        entry(&servers[0], "ONE", NULL),
    };

    (void)state;
    assert_int_equal(check_all(all, 1)->nentries, 0);
    assert_int_equal(nfaults, 1);
    assert_string_equal(fault, "[PROXY_ENTRY] has no ServerList");
    assert_int_equal(check_all(all + 1, 2)->nentries, 1);
    assert_int_equal(nfaults, 2);
    assert_string_equal(fault, "Name: another [PROXY_ENTRY] has the name \"ONE\"");
    assert_int_equal(nwarnings, 0);
}

static void an_entry_that_nobody_reaches_is_a_warning(void **state)
{
    struct proxy_settings all[] = {entry(&servers[0], NULL, NULL), entry(&servers[0], "n", NULL),
                                   entry(&servers[0], NULL, &match_x)};

    (void)state;
    assert_int_equal(check_all(all, 3)->nentries, 3);
    assert_int_equal(nwarnings, 1);
    assert_int_equal(nfaults, 0);
}

static void transports_are_checked(void **state)
{
    static const struct {
        const char *transport;
        int protocol;
        const char *fault;
        unsigned port; /* of a server that has none written */
    } rows[] = {
        {NULL, PROXY_PROTOCOL_V1, NULL, 80},
        {"liana", PROXY_PROTOCOL_V2, NULL, 80},
        {"Liana", PROXY_PROTOCOL_V2, NULL, 80},
        {"TLS", PROXY_PROTOCOL_OFF, NULL, 443},
        {"tls", PROXY_PROTOCOL_V1, "ProxyProtocol: its header cannot come before a handshake", 443},
        {"rope", PROXY_PROTOCOL_OFF,
         "Transport: \"rope\" needs the plugin of that name, which is not loaded", 443},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct proxy_server server = {.name = "b", .host = "b"};
        struct proxy_settings one = entry(&server, NULL, &match_x);

        begin(state);
        one.transport = rows[i].transport;
        one.protocol = rows[i].protocol;
        (void)check_all(&one, 1);
        if (nfaults != (rows[i].fault != NULL) || server.port != rows[i].port)
            fail_msg("row %zu: %u faults, port %u", i, nfaults, server.port);
        assert_string_equal(fault, rows[i].fault ? rows[i].fault : "");
        assert_true(is(server.authority, "b")); /* the port is the usual one */
    }
}

static void wrong_viewers_are_faults(void **state)
{
    struct mk_str word = MK_STR_INIT("nonsense");
    struct proxy_settings one = entry(&servers[0], NULL, &match_x);

    (void)state;
    one.statistics_allow = (struct mk_words){.items = &word, .count = 1};
    (void)check_all(&one, 1);
    assert_int_equal(nfaults, 1);
}

/* ---- routes ---- */

/* Entries of a site come before those of the plugin's file, which are for every site. */
static void entries_become_routes(void **state)
{
    struct proxy_settings global[] = {entry(&servers[0], "all", &match_x)};
    struct proxy_settings own[] = {entry(&servers[0], "own", &match_y),
                                   entry(&servers[0], "more", &match_x)};
    struct proxy_config *c = check_all(global, 1);

    (void)state;
    assert_int_equal(check_site(own, 2), 0);
    assert_string_equal(routes, "^/y own\n^/x own\n^/x more\n^/x all global\n");
    assert_int_equal(((struct proxy_site *)kept)->number, 1);
    assert_int_equal(check_site(own, 0), 0); /* another site has none of its own */
    assert_string_equal(routes, "^/x all global\n");
    assert_int_equal(((struct proxy_site *)kept)->number, 2);
    assert_int_equal(c->nentries, 3);
    assert_int_equal(c->entries->site, 0);
    assert_int_equal(c->entries->next->site, 1);
    assert_false(c->has_statistics);
}

static void errors_of_routes(void **state)
{
    struct proxy_settings all[] = {entry(&servers[0], "all", &match_y)};

    (void)state;
    (void)check_all(all, 1);
    route_error = MK_E_INVALID; /* the pattern is bad, which was noted: on to the next entry */
    assert_int_equal(check_site(all, 0), 0);
    route_error = MK_E_NOMEM;
    assert_int_equal(check_site(all, 0), MK_E_NOMEM);
}

/* A page is a path and no pattern, once on a site. */
static void pages_become_routes(void **state)
{
    struct proxy_settings global[] = {entry(&servers[0], "all", NULL),
                                      entry(&servers[0], "b", NULL)};
    struct proxy_settings own[] = {entry(&servers[0], "own", NULL), entry(&servers[0], "c", NULL)};

    (void)state;
    global[0].statistics_url = global[1].statistics_url = "/a.b+(c)";
    own[0].statistics_url = "/own";
    own[1].statistics_url = "/a.b+(c)";
    assert_true(check_all(global, 2)->has_statistics);
    assert_int_equal(check_site(own, 2), 0);
    assert_string_equal(routes, "^/own$ (page)\n^/a\\.b\\+\\(c\\)$ (page)\n");
    own[0].name = "other";
    assert_int_equal(check_site(own, 1), 0); /* that of another site is no page here */
    assert_string_equal(routes, "^/own$ (page)\n^/a\\.b\\+\\(c\\)$ (page)\n");
}

/* They come before all paths of entries; heads are looked at only where there are orders. */
static void paths_of_orders_are_guarded(void **state)
{
    struct proxy_settings global[] = {entry(&servers[0], "all", &match_x)};
    struct proxy_settings own[] = {entry(&servers[0], "own", &match_y)};

    (void)state;
    (void)check_all(global, 1);
    assert_int_equal(check_site(own, 1), 0);
    assert_int_equal(acted, 0);
    own[0].name = "second";
    own[0].accel = PROXY_ACCEL_BENEATH;
    own[0].accel_path = MK_STR("/a.b/");
    assert_int_equal(check_site(own, 1), 0);
    assert_string_equal(routes, "^/a\\.b/ (guard)\n^/y second\n^/x second\n^/x all global\n");
    assert_int_equal(acted, MK_ACTS_HEAD);
    own[0].name = "third";
    own[0].accel = PROXY_ACCEL_ON;
    assert_int_equal(check_site(own, 1), 0);
    assert_string_equal(routes, "^/y third\n^/x third\n^/x all global\n");
    assert_int_equal(acted, MK_ACTS_HEAD);
}

static void lines_of_handlers_name_entries(void **state)
{
    struct proxy_settings all[] = {entry(&servers[0], NULL, &match_x),
                                   entry(&servers[2], "Own", NULL)};
    struct mk_str words[] = {MK_STR_INIT("own"), MK_STR_INIT("a:1")};
    struct mk_words one = {.items = words, .count = 1}, two = {.items = words, .count = 2},
                    unnamed = {.items = words + 1, .count = 1};
    const struct mk_setting line = {.key = MK_STR_INIT("Match")};
    struct proxy_config *c = check_all(all, 2);
    void *data = NULL;

    (void)state;
    assert_int_equal(proxy_check_match(&setup, &line, &one, &data), 0);
    assert_ptr_equal(data, c->entries->next);
    assert_int_equal(nfaults, 0);
    assert_int_equal(proxy_check_match(&setup, &line, &unnamed, &data), 0);
    assert_null(data); /* only names that were written count */
    assert_int_equal(nfaults, 1);
    assert_non_null(strstr(fault, "no [PROXY_ENTRY] of the name \"a:1\""));
    assert_int_equal(proxy_check_match(&setup, &line, &two, &data), 0);
    assert_int_equal(nfaults, 2);
}

static void without_memory_it_is_said(void **state)
{
    struct proxy_settings all[] = {entry(&servers[0], NULL, &match_x)};

    (void)state;
    (void)check_all(all, 1);
    setup.no_memory = true;
    written = all;
    nwritten = 1;
    assert_int_equal(proxy_check(&setup), MK_E_NOMEM);
    assert_int_equal(proxy_check_site(&setup), MK_E_NOMEM);
    assert_int_equal(read_value("SetHeader", "X-A b"), MK_E_NOMEM);
    assert_int_equal(read_value("Rewrite", "/a /b"), MK_E_NOMEM);
    assert_int_equal(read_value("Host", "a"), MK_E_NOMEM);
    assert_int_equal(read_value("StatisticsURL", "/a"), MK_E_NOMEM);
    assert_int_equal(read_value("HealthCheck", "/a"), MK_E_NOMEM);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(balancers_are_found_or_guessed),
        CASE(keys_of_a_hash),
        CASE(names_of_cookies),
        CASE(paths_of_accel_redirect),
        CASE(statuses_to_retry_on),
        CASE(health_checks),
        CASE(patterns_are_kept_in_their_order),
        CASE(hosts),
        CASE(rewrites),
        CASE(fields_that_are_set_and_removed),
        CASE(pages_of_statistics),
        CASE(defaults_are_all_but_what_makes_an_entry),
        CASE(each_entry_has_a_name_of_its_own),
        CASE(entries_that_are_none_are_faults),
        CASE(an_entry_that_nobody_reaches_is_a_warning),
        CASE(transports_are_checked),
        CASE(wrong_viewers_are_faults),
        CASE(entries_become_routes),
        CASE(errors_of_routes),
        CASE(pages_become_routes),
        CASE(paths_of_orders_are_guarded),
        CASE(lines_of_handlers_name_entries),
        CASE(without_memory_it_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
