/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_HPACK_H
#define KIT_H2_HPACK_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * HPACK (RFC 7541), the field compression of HTTP/2, without I/O: a decoder takes the bytes of field blocks as they come,
 * an encoder appends a block's bytes. Each direction of a connection has one dynamic table; it has no memory before its
 * first entry. Nothing here is safe for two threads at once.
 */

enum {
    HPACK_TABLE_SIZE = 4096, /* of the dynamic tables, as RFC 7541 section 4.1 counts */
    HPACK_FIELD_MAX = 65536, /* bytes of a name and its value together, as they come and decoded */
    HPACK_STATIC = 61,       /* entries of the static table (RFC 7541 appendix A) */
    HPACK_INTEGER_MAX = 1 << 24 /* of integers that are decoded */
};

/** An entry of a dynamic table: its name begins at `at` of the table's text, its value follows. */
struct hpack_entry {
    uint16_t at, name_len, value_len;
    uint16_t tag; /* the encoder's, to find it: of name and value */
    uint8_t
        older; /* the encoder's: the low bits of the number of the entry before it in its chain */
    uint8_t note; /* of who reads the decoder's fields; 0 at first */
    uint8_t id;   /* as in a field; not 0: the text has no copy of the name */
};

/** A dynamic table (RFC 7541 section 2.3.2), first in, first out. Zeroed at first, but for max. */
struct hpack_table {
    char *text;                  /* heap; the entries' bytes, the oldest first */
    struct hpack_entry *entries; /* heap; a ring, its capacity a power of two */
    uint32_t begin, end, cap;    /* of text: the bytes in use, and all */
    uint32_t inserted;           /* entries ever: the newest has the number inserted - 1 */
    uint16_t count, ring;        /* entries now; capacity of entries */
    uint32_t size, max; /* as RFC 7541 section 4.1 counts: now; at most, HPACK_TABLE_SIZE or less */
};

/** Bytes of heap that a table has. */
size_t hpack_table_held(const struct hpack_table *t);

/* ---- decoding ---- */

struct hpack_decoder {
    struct hpack_table table;
    bool
        has_field; /* one of the block came: a change of the table's size is an error from then on */
    uint8_t nchanges; /* of the table's size in this block: at most two (RFC 7541 section 4.2) */
};

/** A field as it was decoded. Both texts are borrowed until the decoder is called again. */
struct hpack_field {
    struct mk_str name, value;
    uint8_t
        id; /* 1 to 61: the name is that of this entry of the static table, the first with it; 0: it may be any */
    bool is_static; /* it is an entry of the static table, value and all */
    bool is_never;  /* a proxy is to keep it out of tables (RFC 7541 section 6.2.3) */
    uint8_t
        *note; /* a byte that stays with this name and value while the table has them; NULL: none */
};

void hpack_decoder_init(struct hpack_decoder *d);
void hpack_decoder_fini(struct hpack_decoder *d);

/** A field block begins. */
static inline void hpack_decoder_begin(struct hpack_decoder *d)
{
    d->has_field = false;
    d->nchanges = 0;
}

/**
 * Decode the next field of a block.
 * @param bytes  of the block, len of them; borrowed for the call
 * @param room   HPACK_FIELD_MAX bytes for texts that are Huffman-coded or come from the table
 * @param field  out: name.p is NULL where these bytes changed the table's size and hold no field
 * @return > 0: the bytes that were used; 0: they are the beginning of a field, call again with more of them; MK_E_BAD: a
 *         decoding error, which ends the connection (RFC 7541 section 2.1: COMPRESSION_ERROR); MK_E_LIMIT: the field is
 *         larger than HPACK_FIELD_MAX, which does too; MK_E_NOMEM: so does this, for the table lacks an entry.
 */
ssize_t hpack_decode(struct hpack_decoder *d, const uint8_t *bytes, size_t len, char *room,
                     struct hpack_field *field) MK_MUST_USE;

/* ---- encoding ---- */

enum { HPACK_CHAINS = 64, HPACK_SEEN = 16, HPACK_PLACES = 16, HPACK_CODE_MAX = 32 };

/** A part of a block that may be sent again until the table changes. */
struct hpack_code {
    uint64_t of; /* the number of its fields, by whoever counts them */
    uint8_t len; /* 0: there is none */
    uint8_t bytes[HPACK_CODE_MAX];
};

/*
 * Entries are found by chains of those whose tags end the same. Numbers of entries are low bits here: 256 entries on they are
 * those of others, which a comparison tells.
 */
struct hpack_encoder {
    struct hpack_table table;
    uint8_t newest[HPACK_CHAINS]; /* number of the newest entry of each chain */
    uint8_t used[HPACK_PLACES]; /* of the entry that the field at each place of a block had last */
    uint8_t place;              /* of the field that was encoded last */
    uint8_t nseen;              /* tags that were put there so far, or fewer: by its low bits */
    uint16_t seen[HPACK_SEEN];  /* tags of fields that enter the table when they come again */
    uint32_t wanted;            /* table's size that the peer's settings say now */
    uint32_t smallest;          /* that they said since the last block */
    bool is_changed;            /* the next block says both (RFC 7541 section 4.2) */
    bool is_steady; /* the fields since it was set would be encoded to the same bytes again */
    struct hpack_code code;
};

void hpack_encoder_init(struct hpack_encoder *e);
void hpack_encoder_fini(struct hpack_encoder *e);
/** SETTINGS_HEADER_TABLE_SIZE of the peer; more than HPACK_TABLE_SIZE is not used. */
void hpack_encoder_resize(struct hpack_encoder *e, uint32_t size);

/** At most so many bytes are appended by hpack_encode for texts of these lengths. */
static inline size_t hpack_encoded_max(size_t name_len, size_t value_len)
{
    return name_len + value_len + 2 * 5 + 1;
}

enum { HPACK_BEGIN_MAX = 2 * 5 }; /* bytes at most that hpack_encode_begin appends */

/** A block begins: changes of the table's size that are due. @return the end of what was written at dst. */
uint8_t *hpack_encode_begin(struct hpack_encoder *e, uint8_t *dst);
/**
 * Append a field. Names and values that both tables have are an index; what is likely to come again is entered in the
 * dynamic table, what is secret never (RFC 7541 section 7.1.3), what changes with each response is not. Without memory
 * for an entry it is a literal that enters no table.
 * @param dst   has room for hpack_encoded_max
 * @param name  a token or a pseudo-field's; in any case, it is written in lower case (RFC 9113 section 8.2.1)
 * @return the end of what was written
 */
uint8_t *hpack_encode(struct hpack_encoder *e, uint8_t *dst, struct mk_str name,
                      struct mk_str value);
/**
 * Append the first of these lines, as HTTP/1 has them (`NAME: VALUE` and a line end), if it is the field that came at its
 * place in the last block: then it need not be taken apart.
 * @param lines  without it then
 * @return the end of what was written; NULL: it is another one, and hpack_encode is to be called
 */
uint8_t *hpack_encode_line(struct hpack_encoder *e, uint8_t *dst, struct mk_str *lines);
/** Append `:status`. @param status  100 to 999 */
uint8_t *hpack_encode_status(struct hpack_encoder *e, uint8_t *dst, unsigned status);

/* ---- Huffman code (RFC 7541 section 5.2) ---- */

/** @return bytes that a text takes when it is encoded. */
size_t huffman_encoded_len(const char *text, size_t len);
/** @return the end of what was written at dst. */
uint8_t *huffman_encode(uint8_t *dst, const char *text, size_t len);
/**
 * @param dst  room bytes
 * @return bytes of text; MK_E_BAD: EOS, or padding that is none (RFC 7541 section 5.2); MK_E_LIMIT: they need more room.
 */
ssize_t huffman_decode(char *dst, size_t room, const uint8_t *bytes, size_t len) MK_MUST_USE;

#endif
