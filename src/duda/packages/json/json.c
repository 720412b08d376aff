/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

#include "duda_package.h"

/* Where the last parse of this thread stopped: in the text of parse(), or a copy, as a body need not end with a zero byte. */
static _Thread_local const char *stopped;
static _Thread_local char excerpt[64];

/* A client's body of a few megabytes would be some hundred as a tree. */
static const struct json_bounds of_body = {.depth = JSON_DEPTH_MAX, .values = 250000};

static json_t *create_null(void)
{
    return json_new(cJSON_NULL);
}

static json_t *create_true(void)
{
    return json_new(cJSON_True);
}

static json_t *create_false(void)
{
    return json_new(cJSON_False);
}

static json_t *create_bool(int b)
{
    return json_new(b ? cJSON_True : cJSON_False);
}

static json_t *create_array(void)
{
    return json_new(cJSON_Array);
}

static json_t *create_object(void)
{
    return json_new(cJSON_Object);
}

static json_t *parse(const char *text)
{
    const char *stop = NULL;
    json_t *item = text ? json_parse(text, strlen(text), &stop) : NULL;

    stopped = item ? NULL : stop;
    return item;
}

static json_t *parse_data(duda_request_t *dr)
{
    mk_pointer body = {0};
    struct json_fault fault;
    json_t *item;
    size_t left;

    stopped = NULL;
    if (request->is_data(dr))
        body = dr->sr->data;
    if (!body.data)
        return NULL;
    item = json_parse_within(body.data, body.len, 0, &of_body, &fault);
    if (item)
        return item;
    left = body.len - fault.offset;
    left = left < sizeof(excerpt) ? left : sizeof(excerpt) - 1;
    memcpy(excerpt, body.data + fault.offset, left);
    excerpt[left] = '\0';
    stopped = excerpt;
    return NULL;
}

static json_t *parse_text(const char *text, size_t len, int options, struct json_fault *fault)
{
    return json_parse_text(text ? text : "", text ? len : 0, options, fault);
}

static const char *get_error(void)
{
    return stopped;
}

static char *print(json_t *item)
{
    return json_print(item, true);
}

static char *print_unformatted(json_t *item)
{
    return json_print(item, false);
}

/* @return the text, which is freed with the request; NULL: there is none, or no memory to note it */
static char *leave_to(duda_request_t *dr, char *text)
{
    if (!text || gc->add(dr, text) == 0)
        return text;
    mem->free(text);
    return NULL;
}

static void delete_tree(void *item)
{
    json_delete(item);
}

static json_t *body_of(duda_request_t *dr, struct json_fault *fault)
{
    size_t len;
    const char *text = request->body(dr, &len);
    json_t *item = text ? json_parse_within(text, len, JSON_UNIQUE_KEYS, &of_body, fault) : NULL;

    if (!text && fault)
        *fault = (struct json_fault){.line = 1, .column = 1, .reason = "there is no body"};
    if (item && gc->call(dr, delete_tree, item) < 0) {
        json_delete(item);
        return NULL;
    }
    return item;
}

static char *print_gc(duda_request_t *dr, json_t *item)
{
    return leave_to(dr, print(item));
}

static char *print_unformatted_gc(duda_request_t *dr, json_t *item)
{
    return leave_to(dr, print_unformatted(item));
}

static int put_in_answer(void *user, const char *bytes, size_t len)
{
    return response->print(user, (char *)(uintptr_t)bytes, (int)len);
}

static int end_answer(void *user)
{
    return response->_end(user, NULL); /* end() returns from its function */
}

static json_writer_t *answer(duda_request_t *dr, int status)
{
    static char type[] = "Content-Type: application/json";
    json_writer_t *w;

    if (response->http_status(dr, status) < 0 || response->http_header(dr, type) < 0)
        return NULL;
    w = json_writer_new(put_in_answer, dr);
    json_writer_finish(w, end_answer);
    return w;
}

static json_object_t calls = {
    .create_null = create_null,
    .create_true = create_true,
    .create_false = create_false,
    .create_bool = create_bool,
    .create_number = json_new_number,
    .create_string = json_new_string,
    .create_array = create_array,
    .create_object = create_object,
    .add_to_array = json_add,
    .add_to_object = json_add_member,
    .parse = parse,
    .print = print,
    .print_gc = print_gc,
    .print_unformatted = print_unformatted,
    .print_unformatted_gc = print_unformatted_gc,
    .delete = json_delete,
    .get_array_size = json_size,
    .get_array_item = json_item,
    .get_object_item = json_member,
    .get_error = get_error,
    .parse_data = parse_data,
    .parse_text = parse_text,
    .create_int64 = json_new_int64,
    .create_uint64 = json_new_uint64,
    .get_int64 = json_int64,
    .get_uint64 = json_uint64,
    .pointer = json_pointer,
    .merge_patch = json_merge_patch,
    .writer_new = json_writer_new,
    .write_object = json_write_object,
    .write_array = json_write_array,
    .write_close = json_write_close,
    .write_key = json_write_key,
    .write_string = json_write_string,
    .write_number = json_write_number,
    .write_int64 = json_write_int64,
    .write_bool = json_write_bool,
    .write_null = json_write_null,
    .write_item = json_write_item,
    .writer_end = json_writer_end,
    .body = body_of,
    .write_raw = json_write_raw,
    .answer = answer,
};

duda_package_t *duda_package_main()
{
    static char name[] = "json", version[] = "2.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    json_memory = mem;
    return &package;
}
