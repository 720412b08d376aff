/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PLUGINS_PROBE_H
#define TESTS_PLUGINS_PROBE_H

#include <monkey/plugin.h>
#include <monkey/upstream.h>

/*
 * Small applications in one plugin, each of which needs of the server what larger ones need: a proxy, CGI, a
 * chat, requests that other threads wake, services that own a prefix or a site, and some that misbehave.
 * `Match REGEX probe NAME` of [HANDLERS] chooses one.
 */

struct bell;
struct names;
struct room;

struct probe_settings {
    const char *backend;
    int64_t port, connections, backend_ms;
    struct mk_words turned_away; /* addresses that are not served */
};

/* ctx->config */
struct probe {
    const struct probe_settings *settings;
    struct mk_upstream *backend;
    struct bell *bell;
    struct room *room;
    struct names *listed; /* in check_site */
    struct names *names;
};

/* ctx->local */
struct probe_worker {
    struct visit *visits;
    unsigned index;
};

/* data of on_handle; the first member of what is longer */
struct probe_route {
    const char *name;
    enum mk_verdict (*handle)(struct mk_request *r, const struct mk_context *ctx,
                              const struct probe_route *route);
};

/* ---- visit.c ---- */

/*
 * What a handler keeps of a request between two calls of on_handle; the first member of something larger,
 * which ends with the request.
 */
struct visit {
    struct mk_request *r;
    struct probe_worker *home;
    struct visit *next;
    void (*end)(struct visit *v); /* releases what it holds; the memory itself goes behind it */
};

/** The visit that this handler began for this request, or a new one, zeroed, with its size. @return NULL without memory. */
void *visit_of(struct mk_request *r, const struct mk_context *ctx, size_t size,
               void (*end)(struct visit *v));
/** Answer a request that waits with an error page, from an event. */
void visit_fail(struct visit *v, unsigned status);

/* ---- body.c ---- */

/**
 * Keep the body of a request, so far as it came.
 * @param body  in and out: NULL at first, then the receiver's
 * @return MK_VERDICT_PASS: it is whole; LATER: call again; DONE: answered with an error.
 */
enum mk_verdict body_keep(struct mk_request *r, struct mk_spool **body);

/* ---- the applications ---- */

enum mk_verdict proxy_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route);
enum mk_verdict cgi_handle(struct mk_request *r, const struct mk_context *ctx,
                           const struct probe_route *route);

struct bell *bell_new(struct mk_server *server);
void bell_free(struct bell *bell);
enum mk_verdict bell_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route);
enum mk_verdict wake_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route);

struct room *room_new(struct mk_server *server);
/** Give up a reference. */
void room_put(struct room *room);
/** A worker's seats in it. */
int room_open(struct room *room, struct mk_worker *w);
void room_close(struct room *room, struct mk_worker *w);
enum mk_verdict chat_listen(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route);
enum mk_verdict chat_say(struct mk_request *r, const struct mk_context *ctx,
                         const struct probe_route *route);

extern const struct mk_section_spec service_section;
int service_check_site(struct mk_setup *setup);

/** An empty list, in check. */
struct names *names_list(struct mk_setup *setup);
/** What was listed, with one reference; NULL without memory. */
struct names *names_copy(const struct names *listed);
/** Give up a reference; NULL is allowed. */
void names_put(struct names *names);
/** Add those of the site in check_site. @return 0, or MK_E_LIMIT after noting the fault. */
int names_of_site(struct mk_setup *setup, struct names *names);
extern const struct mk_transport names_transport;

enum mk_verdict echo_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route);
enum mk_verdict parts_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route);
enum mk_verdict patient_handle(struct mk_request *r, const struct mk_context *ctx,
                               const struct probe_route *route);

enum mk_verdict never_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route);
enum mk_verdict stale_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route);
enum mk_verdict dry_handle(struct mk_request *r, const struct mk_context *ctx,
                           const struct probe_route *route);
enum mk_verdict filtered_handle(struct mk_request *r, const struct mk_context *ctx,
                                const struct probe_route *route);
enum mk_verdict busy_handle(struct mk_request *r, const struct mk_context *ctx,
                            const struct probe_route *route);
int misbehave_on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head);

#endif
