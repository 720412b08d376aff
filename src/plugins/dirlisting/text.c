/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdbool.h>
#include <stdio.h>

size_t dirlisting_size(char dst[DIRLISTING_SIZE_MAX], int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double n = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024)
        return (size_t)snprintf(dst, DIRLISTING_SIZE_MAX, "%d B", (int)bytes);
    while (n >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        n /= 1024;
        unit++;
    }
    return (size_t)snprintf(dst, DIRLISTING_SIZE_MAX, n < 9.95 ? "%.1f %s" : "%.0f %s", n,
                            units[unit]);
}
