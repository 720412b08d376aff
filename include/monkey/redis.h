/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_REDIS_H
#define MONKEY_REDIS_H

/*
 * A client of Redis for handlers: commands are sent without waiting, and their answers come by callback on the request's
 * worker. In libmonkey-redis: pkg-config --libs monkey-redis.
 *
 *     static enum mk_verdict show(struct mk_request *r, const struct mk_redis_answer *answer, void *arg)
 *     {
 *         if (answer->result < 0)
 *             return mk_reply_failure(r, answer->result);
 *         return mk_reply_bytes(r, 200, "text/plain", mk_redis_text(answer->reply));
 *     }
 *
 *     static enum mk_verdict news(struct mk_request *r, void *redis)
 *     {
 *         const struct mk_str words[] = {MK_STR("GET"), MK_STR("news")};
 *         int err;
 *
 *         if (mk_later_waits(r))
 *             return MK_VERDICT_LATER;
 *         err = mk_redis_ask(redis, r, words, 2, show, NULL);
 *         return err < 0 ? mk_reply_failure(r, err) : MK_VERDICT_LATER;
 *     }
 *
 * A program makes a client before its server starts, and all workers share it. Each worker keeps its connections for all of
 * its requests and sends many commands over one of them, in their order, without waiting for answers. A connection that is
 * lost is made anew. A server that fails is left alone and probed, after 100 ms at first and every 2 s at most; until it
 * answers, commands are refused at once with MK_E_PEER. If the server is one of a cluster, commands follow MOVED and ASK. A worker
 * knows 16 servers at a time: for one more it forgets that which it has asked the longest ago, unless all have commands without an
 * answer; then MOVED is the answer.
 */

#include <monkey/web/later.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_redis;

/** What a client is made of. 0 and NULL are the defaults. */
struct mk_redis_options {
    size_t size; /* sizeof(struct mk_redis_options) */
    /**
     * redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE][?connections=N], where %XX stands for a byte in a user or password. N bounds the
     * connections of all workers together. rediss:// is the same over TLS, which verifies the server's certificate by its
     * host. A name is looked up without blocking, and again when no address accepts a connection. Copied.
     */
    const char *url;
    unsigned connections; /* of each worker, at most 16; 0: 1 */
    unsigned
        timeout_ms; /* of a command with its connection, exact to 200 ms, at most 3600000; 0: 1000 */
    unsigned commands; /* of each worker that have no answer, at most 65536; 0: 1024 */
    const char
        *transport; /* for rediss://, of the configuration: "tls" (NULL) or "mbedtls". Copied */
};

/**
 * Make a client. Nothing is connected before it is needed.
 * @param options  copied
 * @param why      out, on MK_E_INVALID: what is wrong, for people, without the password; static. NULL: not wanted
 * @return 0, MK_E_INVALID or MK_E_NOMEM. Any thread.
 */
MK_API int mk_redis_new(struct mk_redis **redis, const struct mk_redis_options *options,
                        const char **why) MK_MUST_USE;

/**
 * Free it with its connections: after mk_server_wait() of its server, or when that was never started, and before mk_server_free(). NULL
 * is allowed. Commands without an answer are forgotten, and no callback is called.
 */
MK_API void mk_redis_free(struct mk_redis *redis);

/** Kinds of replies. */
enum mk_redis_type {
    MK_REDIS_STRING = 1,
    MK_REDIS_ARRAY,
    MK_REDIS_INTEGER,
    MK_REDIS_NIL,
    MK_REDIS_STATUS, /* such as OK */
    MK_REDIS_ERROR   /* the server refused the command, or a part of a reply */
};

/** A reply, with the members of hiredis. */
struct mk_redis_reply {
    int type;          /* enum mk_redis_type */
    long long integer; /* of MK_REDIS_INTEGER */
    int len;           /* bytes of str */
    char *str;         /* of a string, status or error, terminated; else NULL */
    size_t elements;   /* of MK_REDIS_ARRAY */
    struct mk_redis_reply **element;
};

/** @return the text of a reply, valid as long as the reply; {NULL, 0}: it has none. */
static inline struct mk_str mk_redis_text(const struct mk_redis_reply *reply)
{
    struct mk_str text = {NULL, 0};

    if (reply && reply->str) {
        text.p = reply->str;
        text.len = (size_t)reply->len;
    }
    return text;
}

/** How a command has ended. Borrowed until the callback returns. */
struct mk_redis_answer {
    size_t size; /* of the library's struct */
    /**
     * 0; MK_E_INVALID: the server refused the command, with a reply of MK_REDIS_ERROR; MK_E_PEER: the server cannot be reached,
     * and has not carried it out; and, although the server may have carried it out: MK_E_TIMEOUT: no answer came in time, MK_E_EOF: the connection ended
     * before the answer, MK_E_BAD: the server sent what is no answer, or one of more than 64 MB.
     */
    int result;
    const struct mk_redis_reply *reply; /* NULL: none came */
    const char *text;                   /* what happened, in words, for logs */
};

/**
 * @return MK_VERDICT_DONE: the request is answered, and no other callback of it is called; MK_VERDICT_LATER: another command, or
 *         another callback, will answer it.
 */
typedef enum mk_verdict (*mk_redis_fn)(struct mk_request *r, const struct mk_redis_answer *answer,
                                       void *arg);

/**
 * Send a command. Several at once are allowed, and their answers come one by one; those over one connection in their order.
 * A client that goes away ends its request: the command is not taken back, but fn is not called. A request that ends by
 * HandlerTimeout likewise.
 * @param r       in its handler, which then returns MK_VERDICT_LATER, or in a callback of it
 * @param words   copied; the first is the name. Commands that would change the connection, which others use too (SELECT, MULTI,
 *                SUBSCRIBE, AUTH and the like), are refused
 * @param nwords  1 to 65536
 * @param fn      called once on the worker, never inside this call, unless the request ends before. NULL: nobody waits for the answer
 * @param arg     passed to fn; memory of mk_request_alloc() lives long enough
 * @return 0; MK_E_BUSY: too many commands of this worker have no answer; MK_E_PEER: the server is left alone; MK_E_INVALID: the
 *         command is refused, or the client belongs to another server of this program; MK_E_NOMEM. On error fn is not called.
 */
MK_API int mk_redis_ask(struct mk_redis *redis, struct mk_request *r, const struct mk_str *words,
                        size_t nwords, mk_redis_fn fn, void *arg) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
