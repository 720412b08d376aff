/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_PLACE_H
#define MK_SETUP_PLACE_H

#include "setup/snapshot.h"

/* Where a setting that is in force was written. All of it as long as the text of the configuration is kept. */

/**
 * The setting of a key that holds for a site or a variant of it: of its location first, then of what is around that, then of the
 * site's [HOST], then of [SERVER].
 * @param word  the first word of its value, or all of it, in any case; a slash at the end does not count. p NULL: any value
 * @return NULL: it was not written.
 */
const struct mk_origin *mk_place_of_site(const struct mk_snapshot_source *source,
                                         const struct mk_site *site, const char *key,
                                         struct mk_str word);

/** Where a site begins: its [HOST]; NULL: it was not written. */
const struct mk_origin *mk_place_of_host(const struct mk_snapshot_source *source,
                                         const struct mk_site *site);

/** The same for a plugin's sections: see mk_explain_place. */
const struct mk_origin *mk_place_of_plugin(const struct mk_loaded *plugin,
                                           const struct mk_site *site, const char *key,
                                           struct mk_str word);

#endif
