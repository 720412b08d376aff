/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_EMBED_ANSWERS_H
#define BENCH_EMBED_ANSWERS_H

/*
 * What every program of this folder answers, so that only the libraries differ:
 *
 *     GET  /hello   13 bytes that are ready
 *     GET  /json    a document of about 1 KB, written for each request
 *     any  /count   the number of bytes of the body, which is read whole and not kept
 *
 * Each takes the port of 127.0.0.1 as its argument, has one thread for connections where its library allows it, and runs
 * until it is ended.
 */

#include <stdio.h>
#include <string.h>

#define HELLO "Hello, world\n"
enum {
    JSON_ROOM = 2048,
    COUNT_ROOM = 24,
    MAX_CONNECTIONS = 10240,
    KEEP_SECONDS = 120,
    BODY_MAX = 100 << 20
};

static inline size_t write_json(char room[JSON_ROOM])
{
    static unsigned number;
    size_t len = (size_t)snprintf(room, JSON_ROOM, "{\"number\": %u, \"sensors\": [", ++number);

    for (int i = 0; i < 16; i++)
        len +=
            (size_t)snprintf(room + len, JSON_ROOM - len,
                             "%s{\"name\": \"sensor-%02d\", \"value\": %u.%02d, \"unit\": \"K\"}",
                             i ? ", " : "", i, 270 + (number + (unsigned)i) % 50, i);
    return len + (size_t)snprintf(room + len, JSON_ROOM - len, "]}\n");
}

static inline size_t write_count(char room[COUNT_ROOM], unsigned long long bytes)
{
    return (size_t)snprintf(room, COUNT_ROOM, "%llu\n", bytes);
}

#endif
