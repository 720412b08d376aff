/* SPDX-License-Identifier: Apache-2.0 */
#include "ma.h"

#include "data/remote/address.h"

#include <stdlib.h>
#include <string.h>

/* Where to connect, and how. A host that is a name is refused: libmariadb would block while it is looked up. */

static void free_tls(struct ma_target *t)
{
    free(t->key);
    free(t->cert);
    free(t->ca);
    free(t->capath);
    free(t->cipher);
    t->key = t->cert = t->ca = t->capath = t->cipher = NULL;
}

void ma_target_free(struct ma_target *t)
{
    if (!t)
        return;
    free_tls(t);
    free(t->user);
    free(t->password);
    free(t->host);
    free(t->db);
    free(t->unix_socket);
    free(t);
}

/* @return -1: no memory */
static int copy(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? -1 : 0;
}

int ma_target_set_tls(struct ma_target *t, const char *key, const char *cert, const char *ca,
                      const char *capath, const char *cipher)
{
    free_tls(t);
    t->has_tls = true;
    return copy(&t->key, key) < 0 || copy(&t->cert, cert) < 0 || copy(&t->ca, ca) < 0 ||
                   copy(&t->capath, capath) < 0 || copy(&t->cipher, cipher) < 0
               ? -1
               : 0;
}

struct ma_target *ma_target_new(const char *call, const struct ma_target *values)
{
    const char *host = values->host;
    struct ma_target *t;

    if (host && host[0] && strcmp(host, "localhost") != 0 &&
        !address_is_numeric(host, strlen(host))) {
        msg->err("mariadb->%s(): the host is a name, which would block while it is looked up",
                 call);
        return NULL;
    }
    t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->port = values->port;
    t->flags = values->flags;
    if (copy(&t->user, values->user) < 0 || copy(&t->password, values->password) < 0 ||
        copy(&t->host, host) < 0 || copy(&t->db, values->db) < 0 ||
        copy(&t->unix_socket, values->unix_socket) < 0) {
        ma_target_free(t);
        return NULL;
    }
    return t;
}

/* A server may ask for a file of the client by LOAD DATA LOCAL: never. */
MYSQL *ma_target_handle(const struct ma_target *t)
{
    const unsigned none = 0;
    const my_bool yes = 1;
    const size_t most = MA_PACKET_MAX;
    MYSQL *my = mysql_init(NULL);
    int bad;

    if (!my)
        return NULL;
    bad = mysql_optionsv(my, MYSQL_OPT_NONBLOCK, 0);
    bad |= mysql_optionsv(my, MYSQL_OPT_LOCAL_INFILE, &none);
    bad |= mysql_optionsv(my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    bad |= mysql_optionsv(my, MYSQL_OPT_MAX_ALLOWED_PACKET, &most);
    if (t->has_tls) {
        bad |= mysql_ssl_set(my, t->key, t->cert, t->ca, t->capath, t->cipher);
        bad |= mysql_optionsv(my, MYSQL_OPT_SSL_ENFORCE, &yes);
        if (t->ca || t->capath)
            bad |= mysql_optionsv(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    }
    if (bad) {
        mysql_close(my);
        return NULL;
    }
    return my;
}
