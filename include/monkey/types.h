/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_TYPES_H
#define MONKEY_TYPES_H

/*
 * Types of every layer and every embedder: a borrowed string slice and one negative error enum. A function copies the texts
 * that it is given, or uses them within the call only, unless its comment says otherwise. All public headers are C99 and
 * C++17, with the attributes and __extension__ of gcc and clang; tables with designated initialisers in the order of the
 * members are C++20.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MK_API __attribute__((visibility("default")))
#define MK_MUST_USE __attribute__((warn_unused_result))
#define MK_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/**
 * A slice of bytes, borrowed: the function that returns it documents how long the bytes live. Not terminated.
 * An absent value is {NULL, 0}; an empty one has a non-NULL p.
 */
struct mk_str {
    const char *p;
    size_t len;
};

/** A slice over a string literal, or over a char array that was initialised with one; borrowed, as every struct mk_str. */
#ifdef __cplusplus
#define MK_STR(literal) (mk_str{(literal), sizeof(literal) - 1})
#else
#define MK_STR(literal) ((struct mk_str){(literal), sizeof(literal) - 1})
#endif
/** The same for initialisers of static tables. */
#define MK_STR_INIT(literal)                                                                       \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

/* Borrows s; NULL gives the absent value. Hot: the linker merges its copies into one, which must not lie among code that is seldom in memory. */
__attribute__((hot)) static inline struct mk_str mk_str_from(const char *s)
{
    struct mk_str str = {s, s ? strlen(s) : 0};

    return str;
}

/**
 * Errors. Functions return 0 or a count on success and one of these otherwise.
 * mk_error_text() returns the sentence.
 */
#define MK_ERRORS(X)                                                                               \
    X(MK_E_AGAIN, -1, "not yet: more input or another turn needed")                                \
    X(MK_E_BAD, -2, "malformed input")                                                             \
    X(MK_E_LIMIT, -3, "a limit was exceeded")                                                      \
    X(MK_E_NOMEM, -4, "out of memory")                                                             \
    X(MK_E_NOFD, -5, "out of file descriptors")                                                    \
    X(MK_E_NOENT, -6, "not found")                                                                 \
    X(MK_E_ACCESS, -7, "permission denied")                                                        \
    X(MK_E_EOF, -8, "end of input")                                                                \
    X(MK_E_PEER, -9, "the peer reset or left")                                                     \
    X(MK_E_TIMEOUT, -10, "timed out")                                                              \
    X(MK_E_BUSY, -11, "in use or full")                                                            \
    X(MK_E_UNSUPPORTED, -12, "not supported")                                                      \
    X(MK_E_INVALID, -13, "invalid argument or setting")                                            \
    X(MK_E_EXISTS, -14, "already exists")                                                          \
    X(MK_E_SYS, -15, "system call failed, errno tells why")

enum mk_error {
    MK_OK = 0,
#define MK_ERROR_ENUM(name, value, text) name = (value),
    MK_ERRORS(MK_ERROR_ENUM)
#undef MK_ERROR_ENUM
};

/** Levels of lines in the error log. */
enum mk_log_level { MK_LOG_ERROR, MK_LOG_WARN, MK_LOG_INFO, MK_LOG_DEBUG, MK_LOG_TRACE };

/** @return the sentence for an enum mk_error value; static, never NULL. Any thread. */
MK_API const char *mk_error_text(int error);
/** @return the enum mk_error nearest to an errno value, MK_E_SYS without a near one; 0 for 0. Any thread. */
MK_API int mk_error_from_errno(int system_error);

#ifdef __cplusplus
}
#endif

#endif
