/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_ONE_FILE_H
#define MK_SETUP_ONE_FILE_H

#include "settings/tree.h"

/*
 * One file is enough: monkey.conf may have everything. [SERVER], [PLUGINS] and [MIMETYPES] stand anywhere in it. [HOST]
 * begins a site, which has all sections up to the next [HOST] or [SERVER]; sections in front of a site are for all sites.
 */

/** Where the sections of monkey.conf belong. */
struct mk_divided {
    struct mk_tree *server, *plugins, *mimes; /* [SERVER], [PLUGINS] and [MIMETYPES] */
    struct mk_tree *common;                   /* for all sites */
    struct mk_tree *hosts;                    /* of sites: each begins with its [HOST] */
};

/** Move the sections of a file to where they belong, in their order. @return the number of sites. */
size_t mk_file_divide(struct mk_tree *file, const struct mk_divided *to);

/** Move the first site out of hosts. @return false: there is none. */
bool mk_file_next_site(struct mk_tree *hosts, struct mk_tree *site);

#endif
