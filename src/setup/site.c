/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "setup/snapshot.h"

/* What a site of a snapshot says of paths, fields and statuses. */

const struct mk_error_page *mk_site_error_page(const struct mk_site *site, unsigned status)
{
    for (size_t i = 0; i < site->set.nerror_pages; i++) {
        if (site->set.error_pages[i].status == status)
            return &site->set.error_pages[i];
    }
    return NULL;
}

bool mk_site_is_within(const struct mk_site *site, const struct mk_hooked *who, struct mk_str path)
{
    for (size_t i = 0; path.p && i < site->nlimits; i++) {
        const struct mk_route *limit = &site->limits[i];

        if (limit->who.index == who->index && mk_pattern_matches(&limit->match, path))
            return true;
    }
    return !path.p;
}

bool mk_site_is_handled(const struct mk_site *site, struct mk_str path)
{
    site = mk_site_at(site, path);
    for (size_t i = 0; i < site->nroutes; i++) {
        const struct mk_route *route = &site->routes[i];

        if (!(route->who.plugin->traits & MK_TRAIT_ELSEWHERE) &&
            mk_pattern_matches(&route->match, path))
            return true;
    }
    return false;
}

bool mk_site_gives_parts(const struct mk_site *site)
{
    for (size_t i = 0; i < site->on_head.count; i++) {
        if (!(site->on_head.items[i].plugin->traits & MK_TRAIT_PARTS))
            return false;
    }
    return true;
}

bool mk_site_overrides(const struct mk_site *site, struct mk_str field)
{
    for (size_t i = 0; i < site->set.nheaders; i++) {
        if (mk_str_ieq(site->set.headers[i].name, field))
            return true;
    }
    return false;
}
