/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REDIS_PROTOCOL_H
#define MK_DATA_REDIS_PROTOCOL_H

#include <monkey/redis.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The protocol of Redis, by hiredis: its formats for commands, and its reader for answers. Its connections are not used:
 * they abort the process when a server sends what they do not expect, and their structures differ from one version to
 * the next.
 */

/* ---- commands ---- */

/**
 * Write a command: `%s` is a text, `%b` bytes with a size_t, and words end at blanks.
 * @param bytes  gets the command, owned by the caller: redis_bytes_free()
 * @return its length; -1: the format is invalid, there is no word, or no memory
 */
ssize_t redis_format(char **bytes, const char *format, va_list args);

/** Likewise from words. @param lens  NULL: words are terminated */
ssize_t redis_format_words(char **bytes, int n, const char *const *words, const size_t *lens);

/** NULL is allowed. */
void redis_bytes_free(char *bytes);

struct redis_word {
    const char *p;
    size_t len;
};

/** A walk over the words of a command that was written here. */
struct redis_words {
    const char *at;
    unsigned left;
};

struct redis_words redis_words_of(const char *bytes);
/** @return whether there was one more */
bool redis_words_next(struct redis_words *words, struct redis_word *word);
/** @param text  in capitals. @return whether the word is the same, in whatever letters */
bool redis_word_is(const struct redis_word *word, const char *text);

/* ---- answers ---- */

struct redis_reader;

/** @return owned by the caller; NULL: no memory */
struct redis_reader *redis_reader_new(void);
/** NULL is allowed. */
void redis_reader_free(struct redis_reader *r);

/** Take bytes of the server. @return 0; -1: redis_reader_why() */
int redis_reader_feed(struct redis_reader *r, const char *bytes, size_t len);

/**
 * Give the next answer.
 * @param reply  owned by the caller; NULL: it has not arrived yet
 * @return 0; -1: it is none, or too long: redis_reader_why()
 */
int redis_reader_next(struct redis_reader *r, struct mk_redis_reply **reply);

/** @return how many bytes behind the last answer it has; after redis_reader_next() has given one */
size_t redis_reader_ahead(const struct redis_reader *r);

/** Why a call has failed. */
const char *redis_reader_why(const struct redis_reader *r);

/** NULL is allowed. */
void redis_reply_free(struct mk_redis_reply *reply);

#endif
