/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/server_list.h"

#include "kit/backends/own.h"
#include "kit/text/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/un.h>

enum { HOST_MAX = 253, HTTP_PORT = 80, HTTPS_PORT = 443 };

static const char unix_prefix[] = "unix:";

static bool is_unix_server(const char *host)
{
    return strncmp(host, unix_prefix, sizeof(unix_prefix) - 1) == 0;
}

/* @return whether the text is a port; *port is 0 when there is no text. */
static bool read_port(const char *text, unsigned *port)
{
    char *end;
    unsigned long n;

    if (!isdigit((unsigned char)*text) || strlen(text) > 5)
        return false;
    n = strtoul(text, &end, 10);
    *port = (unsigned)n;
    return *end == '\0' && n > 0 && n <= 65535;
}

static bool is_host(const char *host, bool is_v6)
{
    if (!*host || strlen(host) > HOST_MAX)
        return false;
    for (; *host; host++) {
        if (!isalnum((unsigned char)*host) && *host != '.' && *host != '-' && *host != '_' &&
            !(is_v6 && (*host == ':' || *host == '%')))
            return false;
    }
    return true;
}

/* Take a word, which is changed, to pieces. */
static bool split(char *word, struct proxy_server *server)
{
    bool is_v6 = word[0] == '[';
    char *end;

    server->host = word;
    if (is_unix_server(word))
        return word[sizeof(unix_prefix) - 1] == '/' &&
               strlen(word) - (sizeof(unix_prefix) - 1) <
                   sizeof(((struct sockaddr_un *)0)->sun_path);
    if (is_v6) {
        server->host = word + 1;
        end = strchr(word, ']');
        if (!end || (end[1] != '\0' && end[1] != ':'))
            return false;
        *end++ = '\0';
    } else {
        end = strchr(word, ':');
    }
    if (!end || *end == '\0')
        return is_host(server->host, is_v6);
    *end = '\0';
    return is_host(server->host, is_v6) && read_port(end + 1, &server->port);
}

/* Full when the count is zero or a power of two. */
static int append_server(struct mk_setup *setup, struct proxy_settings *set,
                         const struct proxy_server *server)
{
    if ((set->nservers & (set->nservers - 1)) == 0) {
        struct proxy_server *more =
            mk_setup_alloc(setup, (set->nservers ? 2 * set->nservers : 1) * sizeof(*more));

        if (!more)
            return MK_E_NOMEM;
        if (set->nservers > 0)
            memcpy(more, set->servers, set->nservers * sizeof(*more));
        set->servers = more;
    }
    set->servers[set->nservers++] = *server;
    return 0;
}

/* Names have no case, paths do. */
static bool is_same_server(const struct proxy_server *a, const struct proxy_server *b)
{
    return a->port == b->port &&
           (is_unix_server(a->host) ? strcmp(a->host, b->host) : strcasecmp(a->host, b->host)) == 0;
}

/* Among the first servers of the list. */
static struct proxy_server *find_listed(const struct proxy_settings *set, size_t count,
                                        const struct proxy_server *like)
{
    for (size_t i = 0; i < count; i++) {
        if (is_same_server(&set->servers[i], like))
            return &set->servers[i];
    }
    return NULL;
}

void proxy_check_servers(struct mk_setup *setup, const struct proxy_settings *set)
{
    if (set->nmain == 0)
        mk_setup_warn(setup, mk_setup_place(setup, set, "ServerList"),
                      "ServerList: every server is a backup");
    for (size_t i = 0; i < set->nservers; i++) {
        const struct proxy_server *server = &set->servers[i];
        const struct backend_address address = {server->name, server->host, server->port};

        backend_warn_of_own(setup, mk_setup_place(setup, set, "ServerList"), "ServerList",
                            &address);
    }
}

/* As of Listen: the servers speak HTTP/2. h2c: and not by TLS. */
static bool is_flag(struct proxy_settings *set, struct mk_str word)
{
    bool is_clear = text_is_word(word, MK_STR("h2c"));

    if (!is_clear && !text_is_word(word, MK_STR("h2")))
        return false;
    set->is_h2 = true;
    set->is_clear = set->is_clear || is_clear;
    return true;
}

enum { NO_SERVER = PROXY_SERVERS_MAX }; /* stands before a word */

/* Of the server before it. */
static int mark_backup(struct mk_setup *setup, const struct mk_setting *s, size_t server)
{
    struct proxy_settings *set = mk_setup_settings(setup);

    if (server == NO_SERVER)
        return mk_setup_refuse(
            setup, s, "a server before the word backup, and a port behind a server of that name");
    set->servers[server].is_backup = true;
    return 0;
}

/* @param last  in, out: number of the server before the word in this line */
static int add_word(struct mk_setup *setup, const struct mk_setting *s, struct mk_str word,
                    size_t *last)
{
    struct proxy_settings *set = mk_setup_settings(setup);
    struct proxy_server server = {.weight = 1}, *same;
    char *text = (char *)(uintptr_t)mk_setup_copy(setup, word).p; /* our own copy */

    if (is_flag(set, word))
        return 0;
    if (text_is_word(word, MK_STR("backup")))
        return mark_backup(setup, s, *last);
    server.name = mk_setup_copy(setup, word).p;
    if (!text || !server.name)
        return MK_E_NOMEM;
    if (!split(text, &server))
        return mk_setup_refuse(
            setup, s,
            "words like HOST, HOST:PORT, [IPV6]:PORT and unix:/PATH, with a port from 1 to 65535");
    set->weights++;
    if (set->weights > PROXY_SEATS_MAX)
        return mk_setup_refuse(setup, s, "at most 4096 words");
    same = find_listed(set, set->nservers, &server);
    if (same) {
        same->weight++;
        *last = (size_t)(same - set->servers);
        return 0;
    }
    *last = set->nservers;
    if (set->nservers == PROXY_SERVERS_MAX)
        return mk_setup_refuse(setup, s, "at most 256 different servers");
    return append_server(setup, set, &server);
}

int proxy_parse_server_list(struct mk_setup *setup, const struct mk_setting *s)
{
    const char *at = s->value.p, *end = at + s->value.len;
    size_t last = NO_SERVER;
    int err = 0;

    if (at == end)
        return mk_setup_refuse(setup, s, "at least one server");
    while (at < end && err == 0) {
        const char *begin;

        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        begin = at;
        while (at < end && *at != ' ' && *at != '\t')
            at++;
        if (at > begin)
            err = add_word(setup, s, (struct mk_str){begin, (size_t)(at - begin)}, &last);
    }
    return err;
}

/* Ports are known now: what was written with and without is one. */
static void merge_servers(struct proxy_settings *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->nservers; i++) {
        struct proxy_server *same = find_listed(set, count, &set->servers[i]);

        if (same) {
            same->weight += set->servers[i].weight;
            same->is_backup |= set->servers[i].is_backup;
        } else {
            set->servers[count++] = set->servers[i];
        }
    }
    set->nservers = count;
}

/* Behind the others, each kind in the order written. @return 0 or MK_E_NOMEM. */
static int part_backups(struct mk_setup *setup, struct proxy_settings *set)
{
    struct proxy_server *parted = mk_setup_alloc(setup, set->nservers * sizeof(*parted));
    size_t at = 0;

    if (!parted)
        return MK_E_NOMEM;
    for (size_t i = 0; i < set->nservers; i++) {
        if (!set->servers[i].is_backup)
            parted[at++] = set->servers[i];
    }
    set->nmain = at;
    for (size_t i = 0; i < set->nservers; i++) {
        if (set->servers[i].is_backup)
            parted[at++] = set->servers[i];
    }
    set->servers = parted;
    return 0;
}

int proxy_complete_servers(struct mk_setup *setup, struct proxy_settings *set)
{
    char text[HOST_MAX + 16];
    unsigned usual;

    set->is_secure = set->transport && strcasecmp(set->transport, "liana") != 0;
    usual = set->is_secure ? HTTPS_PORT : HTTP_PORT;
    for (size_t i = 0; i < set->nservers; i++) {
        struct proxy_server *server = &set->servers[i];
        const char *open = strchr(server->host, ':') ? "[" : "", *close = *open ? "]" : "";
        int n;

        if (is_unix_server(server->host)) {
            server->authority = MK_STR("localhost");
            continue;
        }
        if (server->port == 0)
            server->port = usual;
        n = snprintf(text, sizeof(text), "%s%s%s:%u", open, server->host, close, server->port);
        if (server->port == usual)
            n = (int)(strrchr(text, ':') - text);
        server->authority = mk_setup_copy(setup, (struct mk_str){text, (size_t)n});
        if (!server->authority.p)
            return MK_E_NOMEM;
    }
    merge_servers(set);
    return part_backups(setup, set);
}
