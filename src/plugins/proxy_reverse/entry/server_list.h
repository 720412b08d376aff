/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_SERVER_LIST_H
#define PROXY_SERVER_LIST_H

#include "entry/settings.h"

/* ServerList: `host:port`, `host`, `1.2.3.4:80`, `[::1]:80` and `unix:/path`; behind one of them perhaps `backup`. */

/** The parser of the row: appends; a server that is there already counts more. */
int proxy_parse_server_list(struct mk_setup *setup, const struct mk_setting *s);
/**
 * When the settings are whole: ports that were not written, and what belongs into Host; backups stand behind the others then.
 * @return 0 or MK_E_NOMEM.
 */
int proxy_complete_servers(struct mk_setup *setup, struct proxy_settings *set);
/** Then: warn of servers that are an address of this server. */
void proxy_check_servers(struct mk_setup *setup, const struct proxy_settings *set);

#endif
