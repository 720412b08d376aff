/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_TICKETS_H
#define KIT_TLS_TICKETS_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * The keys of session tickets (RFC 5077, RFC 8446 section 4.6.1): shared by all workers, so that a session begun
 * on one is resumed on any, and by a configuration and the next, so that a reload loses none. A key issues
 * tickets for a while and is accepted for some time after; then it is wiped, and what was sent under it
 * stays secret even from who gets hold of the server later. They are never written anywhere.
 */

enum {
    TLS_TICKET_KEYS = 3,
    TLS_TICKET_PERIOD_S = 6 * 3600, /* a key issues tickets for so long */
    TLS_TICKET_LIFE_S =
        (TLS_TICKET_KEYS - 1) * TLS_TICKET_PERIOD_S, /* at least so long each is accepted */
};

struct tls_ticket_key {
    uint8_t name[16]; /* in the ticket, in the clear */
    uint8_t cipher[32], mac[32];
};

struct tls_tickets;

/** @return one reference, or NULL without memory or randomness. */
struct tls_tickets *tls_tickets_new(void) MK_MUST_USE;
/** Another reference. Any thread. */
struct tls_tickets *tls_tickets_ref(struct tls_tickets *t);
/** The last one wipes the keys. NULL is allowed. Any thread. */
void tls_tickets_put(struct tls_tickets *t);

/**
 * The key for a new ticket; made or renewed when the one before is old.
 * @param now_s  seconds of a clock that does not jump
 * @param key    out: a copy; wipe it
 * @return false: no randomness, issue no ticket. Any thread.
 */
bool tls_tickets_issue(struct tls_tickets *t, int64_t now_s,
                       struct tls_ticket_key *key) MK_MUST_USE;
/**
 * The key that a ticket names.
 * @param is_current  out: false: it still works, but the client should get a new ticket
 * @return false: no such key any more; do a full handshake. Any thread.
 */
bool tls_tickets_find(struct tls_tickets *t, int64_t now_s, const uint8_t name[16],
                      struct tls_ticket_key *key, bool *is_current) MK_MUST_USE;

#endif
