/* SPDX-License-Identifier: Apache-2.0 */
#include "python.h"

/* environ, by PEP 3333 and RFC 3875 section 4.1. */

#define KEYS(X)                                                                                    \
    X(REQUEST_METHOD)                                                                              \
    X(SCRIPT_NAME)                                                                                 \
    X(PATH_INFO)                                                                                   \
    X(QUERY_STRING)                                                                                \
    X(REQUEST_URI)                                                                                 \
    X(CONTENT_TYPE)                                                                                \
    X(CONTENT_LENGTH)                                                                              \
    X(SERVER_NAME)                                                                                 \
    X(SERVER_PORT)                                                                                 \
    X(SERVER_PROTOCOL)                                                                             \
    X(REMOTE_ADDR)                                                                                 \
    X(REMOTE_PORT)                                                                                 \
    X(wsgi_url_scheme)

enum {
#define KEY_ENUM(name) KEY_##name,
    KEYS(KEY_ENUM)
#undef KEY_ENUM
        NKEYS
};

static const char *const key_names[] = {
#define KEY_NAME(name) #name,
    KEYS(KEY_NAME)
#undef KEY_NAME
};

static PyObject *keys[NKEYS];

bool mk_py_environ_ready(void)
{
    for (int i = 0; i < NKEYS && !keys[i]; i++) {
        const char *name = i == KEY_wsgi_url_scheme ? "wsgi.url_scheme" : key_names[i];

        keys[i] = PyUnicode_InternFromString(name);
        if (!keys[i])
            return false;
    }
    return true;
}

/* Takes the reference of value. */
static bool set(PyObject *environ, PyObject *key, PyObject *value)
{
    bool is_set = key && value && PyDict_SetItem(environ, key, value) == 0;

    Py_XDECREF(value);
    return is_set;
}

static PyObject *latin1(struct mk_str text)
{
    return PyUnicode_DecodeLatin1(text.p ? text.p : "", (Py_ssize_t)text.len, NULL);
}

static bool set_text(PyObject *environ, int key, struct mk_str text)
{
    return set(environ, keys[key], latin1(text));
}

/* ---- fields ---- */

static bool is_name(struct mk_str text, const char *name)
{
    return text.len == strlen(name) && strncasecmp(text.p, name, text.len) == 0;
}

/*
 * What is said of the connection, the framing or to a proxy is the server's: the body comes without its chunks, and
 * Content-Length is that of it. Expect has been met; HTTP_PROXY would be a setting of HTTP clients.
 */
static bool is_left_out(struct mk_str name)
{
    return memchr(name.p, '_', name.len) || (mk_field_rules(name) & MK_RULE_HOP) ||
           is_name(name, "Expect") || is_name(name, "Proxy");
}

static PyObject *key_of_field(struct mk_str name)
{
    PyObject *key;
    Py_UCS1 *at;

    if (is_name(name, "Content-Type"))
        return Py_NewRef(keys[KEY_CONTENT_TYPE]);
    key = PyUnicode_New((Py_ssize_t)name.len + 5, 127);
    if (!key)
        return NULL;
    at = PyUnicode_1BYTE_DATA(key);
    memcpy(at, "HTTP_", 5);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];

        at[5 + i] = (Py_UCS1)(c == '-' ? '_' : c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return key;
}

/* Lines of one name become one value (RFC 9110 section 5.3, RFC 6265 section 5.4). */
static PyObject *join(PyObject *before, struct mk_str name, struct mk_str value)
{
    PyObject *added = latin1(value);
    PyObject *both =
        added ? PyUnicode_FromFormat(is_name(name, "Cookie") ? "%U; %U" : "%U, %U", before, added)
              : NULL;

    Py_XDECREF(added);
    return both;
}

static bool set_field(PyObject *environ, const struct mk_py_line *line)
{
    PyObject *key, *before;
    bool is_set = false;

    if (is_left_out(line->name))
        return true;
    key = key_of_field(line->name);
    before = key ? PyDict_GetItemWithError(environ, key) : NULL;
    if (before)
        is_set = set(environ, key, join(before, line->name, line->value));
    else if (!PyErr_Occurred())
        is_set = set(environ, key, latin1(line->value));
    Py_XDECREF(key);
    return is_set;
}

static bool set_fields(PyObject *environ, const struct mk_py_head *head)
{
    bool is_set = true;

    for (size_t i = 0; i < head->nlines && is_set; i++)
        is_set = set_field(environ, &head->lines[i]);
    return is_set;
}

/* ---- the rest ---- */

/* A body that was gathered has a length even if it came in chunks. */
static bool set_length(PyObject *environ, const struct mk_py_call *c)
{
    uint64_t length = c->content_length >= 0 ? (uint64_t)c->content_length : c->input.total;
    bool is_announced = false;

    for (size_t i = 0; i < c->head->nlines; i++)
        is_announced |= is_name(c->head->lines[i].name, "Content-Length");
    if (!is_announced && (c->content_length >= 0 || !c->input.is_whole))
        return true;
    return set(environ, keys[KEY_CONTENT_LENGTH],
               PyUnicode_FromFormat("%llu", (unsigned long long)length));
}

/* Never empty, as PEP 3333 asks. */
static bool set_server(PyObject *environ, const struct mk_py_call *c)
{
    struct mk_str listen = mk_str_from(c->listen ? c->listen : "");
    const char *colon = memrchr(listen.p, ':', listen.len);
    bool has_port = colon && strncmp(listen.p, "unix:", 5) != 0 && colon[1];
    struct mk_str name = mk_str_from(has_port ? listen.p : "localhost");
    struct mk_str port = mk_str_from(has_port ? colon + 1 : "80");

    if (has_port)
        name.len = (size_t)(colon - listen.p);
    if (c->site_name && c->site_name[0])
        name = mk_str_from(c->site_name);
    return set_text(environ, KEY_SERVER_NAME, name) && set_text(environ, KEY_SERVER_PORT, port);
}

static bool set_peer(PyObject *environ, const struct mk_py_call *c)
{
    return set_text(environ, KEY_REMOTE_ADDR, mk_str_from(c->peer)) &&
           set(environ, keys[KEY_REMOTE_PORT], PyUnicode_FromFormat("%u", c->peer_port));
}

static bool is_below(struct mk_str path, struct mk_str script)
{
    return path.len >= script.len && memcmp(path.p, script.p, script.len) == 0 &&
           (path.len == script.len || path.p[script.len] == '/');
}

/* Below the name of the script is its own path; another path belongs to no script. */
static bool set_path(PyObject *environ, const struct mk_py_call *c, const char *script_name)
{
    struct mk_str script = mk_str_from(script_name), path = c->path;

    if (script.len > 0 && is_below(path, script))
        path = (struct mk_str){path.p + script.len, path.len - script.len};
    else
        script.len = 0;
    return set_text(environ, KEY_SCRIPT_NAME, script) && set_text(environ, KEY_PATH_INFO, path);
}

static bool fill(PyObject *environ, const struct mk_py_call *c, const char *script_name)
{
    return set_text(environ, KEY_REQUEST_METHOD, c->method) && set_path(environ, c, script_name) &&
           set_text(environ, KEY_QUERY_STRING, c->query) &&
           set_text(environ, KEY_REQUEST_URI, c->target) &&
           set_text(environ, KEY_SERVER_PROTOCOL,
                    mk_str_from(c->minor == 0 ? "HTTP/1.0" : "HTTP/1.1")) &&
           set_text(environ, KEY_wsgi_url_scheme, mk_str_from(c->scheme)) &&
           set_server(environ, c) && set_peer(environ, c) && set_length(environ, c) &&
           set_fields(environ, c->head);
}

PyObject *mk_py_environ_new(const struct mk_py_call *c, PyObject *common, const char *script_name)
{
    PyObject *environ = PyDict_Copy(common);

    if (environ && !fill(environ, c, script_name))
        Py_CLEAR(environ);
    return environ;
}
