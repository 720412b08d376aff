/* SPDX-License-Identifier: Apache-2.0 */
#include "energy.h"

#include "proc.h"
#include "source.h"

#include <fcntl.h>
#include <string.h>

static bool read_number(const char *sys, int zone, const char *file, uint64_t *number)
{
    const char *text = source_text(AT_FDCWD, "%s/class/powercap/intel-rapl:%d/%s", sys, zone, file);

    return text && proc_find(text, "", number);
}

/* Other zones are parts of packages, or have packages as their parts. */
static bool is_package(const char *sys, int zone)
{
    const char *name = source_text(AT_FDCWD, "%s/class/powercap/intel-rapl:%d/name", sys, zone);

    return name && strncmp(name, "package", 7) == 0;
}

struct energy energy_read(const char *sys)
{
    struct energy e = {.count = 0};

    for (int zone = 0; zone < ENERGY_PACKAGES_MAX; zone++)
        if (is_package(sys, zone) && read_number(sys, zone, "energy_uj", &e.uj[e.count]) &&
            read_number(sys, zone, "max_energy_range_uj", &e.end_uj[e.count]))
            e.count++;
    return e;
}

double energy_between(const struct energy *before, const struct energy *after)
{
    uint64_t uj = 0;

    for (int i = 0; i < before->count && i < after->count; i++)
        uj += after->uj[i] - before->uj[i] + (after->uj[i] < before->uj[i] ? after->end_uj[i] : 0);
    return (double)uj / 1e3;
}
