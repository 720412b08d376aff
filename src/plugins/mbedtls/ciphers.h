/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_CIPHERS_H
#define MBED_CIPHERS_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * Ciphers are written as OpenSSL writes them, because the key is the same for both plugins: names with colons
 * between. The library knows them by number (RFC 5246 section 7.4.1.2).
 */

enum { MBED_CIPHERS_MAX = 16 };

/**
 * Read a list. Only what encrypts with AEAD and has forward secrecy is known.
 * @param to       out: numbers, and 0 behind the last
 * @param with_dh  false: those that need DH parameters are left out
 * @param unknown  out, when the list has a word that is no name here: that word
 * @return 0; MK_E_INVALID: an unknown word; MK_E_NOENT: nothing is left.
 */
int mbed_ciphers_parse(int to[MBED_CIPHERS_MAX + 1], const char *list, bool with_dh,
                       struct mk_str *unknown) MK_MUST_USE;

/** OpenSSL's name of a number; NULL: none of ours. */
const char *mbed_cipher_name(int number);

#endif
