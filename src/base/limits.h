/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_LIMITS_H
#define MK_BASE_LIMITS_H

/*
 * Every ceiling that is not a setting, in one table. Bytes unless the name says otherwise. What
 * an administrator may choose has its default and range in the settings tables instead.
 */
enum mk_limits {
    /* configuration text */
    MK_LIMIT_CONF_FILE = 4 << 20,
    MK_LIMIT_CONF_LINE = 8192,
    MK_LIMIT_CONF_FILES = 4096, /* files of one configuration, includes counted */
    MK_LIMIT_CONF_DEPTH = 16,   /* includes inside includes */
    MK_LIMIT_SITE_LINES =
        8192, /* what Header adds to each answer of a site, and mk_reply_field to one answer */
    MK_LIMIT_VARIANTS = 1024, /* of sites, for their [LOCATION] sections */
    MK_LIMIT_PLUGINS = 64,    /* Load lines */
    MK_LIMIT_PLUGIN_NAME = 64,
    MK_LIMIT_RELOAD_REPORT = 64 << 10, /* of faults that a shell can ask for */
    MK_LIMIT_CONF_FAULTS = 1000,       /* faults kept of one run; the rest is counted */

    MK_LIMIT_FAULT_TEXT =
        256 << 10,                  /* of one message; above anything that the others let through */
    MK_LIMIT_FIELD_TEXT = 64 << 10, /* of what a setting may be, for a message */

    /* one pattern */
    MK_LIMIT_PATTERN_STEPS = 4096, /* with the repetitions of {m,n} written out */
    MK_LIMIT_PATTERN_SETS = 512,   /* different sets of bytes in it */
    MK_LIMIT_PATTERN_DEPTH = 64,   /* parentheses in parentheses */
    MK_LIMIT_PATTERN_STATES = 4096,
    MK_LIMIT_PATTERN_CELLS = 65535, /* states by columns; one is two bytes */

    /* one request */
    MK_LIMIT_TARGET = 8192,          /* request target; 414 above (RFC 9112 section 3) */
    MK_LIMIT_HOST = 255,             /* longest DNS name; no site has a longer one */
    MK_LIMIT_PATH = 4095,            /* of a file below a root: PATH_MAX less its NUL */
    MK_LIMIT_CHUNK_OVERHEAD = 16384, /* needless framing of a chunked body beyond 1/4 of it */
    MK_LIMIT_TRAILERS = 8192,        /* trailer section of a chunked body */
    MK_LIMIT_RANGES = 8,             /* ranges of a request, after merging; above: the whole file */
    MK_LIMIT_RANGES_ASKED = 32,      /* ranges written in the request; above: the whole file */
    MK_LIMIT_ETAGS = 64,             /* entity tags looked at in one precondition */
    MK_LIMIT_FILLED =
        64 << 10, /* a text of a setting with the values of its variables, all escaped */
    MK_LIMIT_REQUEST_ARENA = 256 << 10, /* memory of one request beyond its head */
    MK_LIMIT_ANSWER_ROOM = 16384,       /* for the head of an answer at first; it grows to */
    MK_LIMIT_ANSWER_HEAD =
        (1 << 20) + (64 << 10),     /* what a backend may say, and the site's lines */
    MK_LIMIT_EXCHANGE_REST = 8192,  /* of a piece for which a protocol had no room */
    MK_LIMIT_TUNNEL = 65536,        /* of a stream that a protocol carries, for its client */
    MK_LIMIT_RESPONSE_FIELDS = 200, /* of a backend's response: MK_RESPONSE_FIELDS_MAX */
    MK_LIMIT_FILTERS = 8,           /* of one answer's body */
    MK_LIMIT_REROUTES = 10,         /* a request routed again for an index or fallback file */

    /* one turn of a worker's loop */
    MK_LIMIT_TURN_EVENTS = 128,
    MK_LIMIT_TURN_ACCEPTS = 64,
    MK_LIMIT_TURN_REQUESTS = 64,      /* of one connection */
    MK_LIMIT_TURN_BYTES = 1 << 20,    /* sent to or read from one connection */
    MK_LIMIT_GATHER_BYTES = 64 << 10, /* answers gathered into one send */

    /* one connection */
    MK_LIMIT_PROXY_HEAD = 2048,      /* addresses and values of a PROXY header, version 2 */
    MK_LIMIT_SMALL_BODY = 16 << 10,  /* sent from memory with its head; above: sendfile */
    MK_LIMIT_LINGER_MS = 30000,      /* input is discarded before a close, at most for so long */
    MK_LIMIT_LINGER_QUIET_MS = 5000, /* the same for a peer that has the answer and is silent */
    MK_LIMIT_LINGER_RATE = 4096,     /* bytes a second that it must send after that */
    MK_LIMIT_LINGER_HURRY_MS =
        2000,                   /* in place of LINGER_MS while the server stops or is nearly full */
    MK_LIMIT_STREAM_PARTS = 64, /* of one write to a stream; sendmsg refuses more than 1024 */
    MK_LIMIT_BODY_SKIP = 256 << 10, /* unwanted request body read to keep the connection */

    /* requests of one worker */
    MK_LIMIT_TICKETS =
        1 << 24, /* what a ticket has room for; far above the connections of a worker */

    /* files of one worker */
    MK_LIMIT_OPEN_FILES = 256,    /* entries of the table; fewer when descriptors are scarce */
    MK_LIMIT_MISSING_FILES = 128, /* remembered as not there */
    MK_LIMIT_USER_ROOTS = 64,     /* users whose folder is kept open */
    MK_LIMIT_USER_NAME = 64,
    MK_LIMIT_STRANGERS = 128, /* names remembered as no users */

    /* the server */
    MK_LIMIT_BUSY_ANSWERS = 256,   /* connections above the maximum that are answered at a time */
    MK_LIMIT_DRAIN_ACCEPTS = 4096, /* taken from the queue of a socket that is about to close */
    MK_LIMIT_LOG_PEER_LINES =
        20, /* a second, of those that a peer can provoke; the rest is counted */
    MK_LIMIT_WORKERS = 256,
    MK_LIMIT_LISTENERS = 64,
    MK_LIMIT_HANDOFF_RING = 1024, /* accepted sockets waiting for one worker (Fair) */
    MK_LIMIT_LOG_LINE = 1024,
    MK_LIMIT_OFFLOAD_QUEUE =
        64, /* pieces of work of one kind that wait for a thread; above: MK_E_BUSY */
    MK_LIMIT_HANDLER_QUEUE = 4096,   /* likewise of requests, which HandlerTimeout ends; at least */
    MK_LIMIT_HANDLER_THREADS = 1024, /* for them */
    MK_LIMIT_RESOLVE_ADDRESSES = 16, /* of one name */
    MK_LIMIT_RESOLVE_NAMES = 128,    /* names remembered or being looked up */
    MK_LIMIT_RESOLVE_WAITERS = 1024, /* calls that wait for names */
};

#endif
