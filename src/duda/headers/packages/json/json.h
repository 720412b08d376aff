/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_JSON_H
#define DUDA_PACKAGE_JSON_H
#include "duda_api.h"
#ifdef __cplusplus
#define delete del
#endif
#define cJSON_False 0
#define cJSON_True 1
#define cJSON_NULL 2
#define cJSON_Number 3
#define cJSON_String 4
#define cJSON_Array 5
#define cJSON_Object 6
#define cJSON_IsReference 256
typedef struct cJSON {
    struct cJSON *next, *prev; /* siblings in an array/object */
    struct cJSON *child;       /* first element */
    int type;
    char *valuestring;
    int valueint;
    double valuedouble;
    char *string; /* key, when member of an object */
} cJSON;
typedef cJSON json_t;
#if DUDA_API_LEVEL >= 3
/* why and where parse_text() refused a text */
struct json_fault {
    size_t offset;         /* bytes before it */
    unsigned line, column; /* from 1; a column is a character */
    const char *reason;    /* borrowed for ever */
};
#define JSON_UNIQUE_KEYS 1 /* of parse_text(): an object with a key twice is refused, at its end */
/* where a writer's text goes, in pieces of at most 4 KB: 0, or -1 to end the writer */
typedef int (*json_put_fn)(void *user, const char *bytes, size_t len);
typedef struct json_writer json_writer_t;
#endif
/* json: Trees of JSON values (RFC 8259). A tree is of one thread at a time. Items come from these calls alone. Items and strings
   of one text share memory, which goes with the last of its items: a service does not free a string of an item, but may set
   it to memory of mem->alloc(), which goes with the item. */
struct duda_api_json {
    /* A value of its own; delete() frees it, or the tree that it is put into. NULL: no memory; so for all of these. */
    json_t *(*create_null)(void);
    json_t *(*create_true)(void);
    json_t *(*create_false)(void);
    json_t *(*create_bool)(int b);
    /* A number; one that is not finite prints as null. */
    json_t *(*create_number)(double num);
    /* A copy of a text in UTF-8. */
    json_t *(*create_string)(const char *str);
    json_t *(*create_array)(void);
    json_t *(*create_object)(void);
    /* Put an item at the end; it belongs to the array then. */
    void (*add_to_array)(json_t *array, json_t *item);
    /* Likewise, under a key, which is copied. */
    void (*add_to_object)(json_t *object, const char *key, json_t *item);
    /* The tree of a text; NULL: no memory, or a fault: get_error() says where. Text behind the value is a fault,
       and so are more than 512 levels. */
    json_t *(*parse)(const char *text);
    /* The text of a tree, with tabs and line ends, owned by the caller; numbers in the shortest form that reads
       back the same. */
    char *(*print)(json_t *item);
    /* [R] Likewise, freed with the request. */
    char *(*print_gc)(duda_request_t *dr, json_t *item);
    /* The text without blanks, owned by the caller. */
    char *(*print_unformatted)(json_t *item);
    /* [R] Likewise, freed with the request. */
    char *(*print_unformatted_gc)(duda_request_t *dr, json_t *item);
    /* Free a tree; NULL is allowed. */
    void (*delete)(json_t *item);
    /* Items of an array, or members of an object. */
    int (*get_array_size)(json_t *array);
    /* The item at a place from 0 on; NULL: there are fewer. */
    json_t *(*get_array_item)(json_t *array, int idx);
    /* The first member of that key, in any case; NULL: none. */
    json_t *(*get_object_item)(json_t *object, const char *key);
    /* Where the last parse of this thread stopped, in its text; NULL: it succeeded. */
    const char *(*get_error)(void);
    /* [R] The tree of the body of POST or PUT; NULL as for parse(), for more than 250,000 values, or without a body. */
    json_t *(*parse_data)(duda_request_t *dr);
#if DUDA_API_LEVEL >= 3
    /* Parse len bytes. fault: caller's, set when NULL is returned; may be NULL. An object with a key twice has both
       members, and calls that look for a key find the first, unless options has JSON_UNIQUE_KEYS. RFC 8259 */
    json_t *(*parse_text)(const char *text, size_t len, int options, struct json_fault *fault);
    /* Integers of 64 bits without loss; the tree keeps their digits beside valuedouble. */
    json_t *(*create_int64)(int64_t num);
    json_t *(*create_uint64)(uint64_t num);
    int (*get_int64)(
        const json_t *item,
        int64_t *num); /* 0; -1: by its digits no integer of this type; never rounded */
    int (*get_uint64)(const json_t *item, uint64_t *num); /* likewise */
    /* The item at a JSON Pointer such as "/list/0/name", keys in exact case; NULL: none. RFC 6901 */
    json_t *(*pointer)(json_t *item, const char *path);
    /* A new tree: a copy of target (NULL: none) with the patch applied, owned by the caller; NULL: no memory, no patch, or
       more than 512 levels. A member that the patch sets comes last. RFC 7396 */
    json_t *(*merge_patch)(const json_t *target, const json_t *patch);
    /* A text without a tree. A call that does not fit its place (a value without a key, an end too many), bytes that are not
       UTF-8, more than 512 levels, and a put that returns -1 end the text: writer_end() says so. Strings are terminated. */
    json_writer_t *(*writer_new)(json_put_fn put, void *user); /* NULL: no memory */
    void (*write_object)(json_writer_t *w);
    void (*write_array)(json_writer_t *w);
    void (*write_close)(json_writer_t *w); /* the innermost object or array */
    void (*write_key)(json_writer_t *w, const char *key);
    void (*write_string)(json_writer_t *w, const char *text); /* NULL is null */
    void (*write_number)(json_writer_t *w, double num);       /* null if it is not finite */
    void (*write_int64)(json_writer_t *w, int64_t num);
    void (*write_bool)(json_writer_t *w, int b);
    void (*write_null)(json_writer_t *w);
    void (*write_item)(json_writer_t *w, const json_t *item); /* a tree */
    int (*writer_end)(json_writer_t *w); /* frees it. 0: the text is whole and put; -1 */
    /* [R] The tree of the body of any method, freed with the request, strict about keys. NULL as for parse_text(), for
       more than 250,000 values, or without a body, whose reason is "there is no body". */
    json_t *(*body)(duda_request_t *dr, struct json_fault *fault);
    /* One value that is JSON already, as a database or a cache has it; of it only the length is looked at. */
    void (*write_raw)(json_writer_t *w, const char *text, size_t len);
    /* [R] A writer of an answer with this status and application/json, which writer_end() sends; where that returns -1,
       response->problem() may take its place. NULL: no memory, or the answer has begun. */
    json_writer_t *(*answer)(duda_request_t *dr, int status);
#endif
};
#ifdef __cplusplus
#undef delete
#endif
typedef struct duda_api_json json_object_t;
DUDA_OBJ json_object_t *json;
#endif
