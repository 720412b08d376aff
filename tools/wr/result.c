/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <stdlib.h>
#include <unistd.h>

int result_save(const char *path, result_write_fn write, const struct result *r)
{
    char *temporary;
    FILE *file;
    int err = -1;

    if (asprintf(&temporary, "%s.new", path) < 0)
        return -1;
    file = fopen(temporary, "we");
    if (file) {
        write(file, r);
        err = ferror(file);
        if (fclose(file) != 0 || err != 0 || rename(temporary, path) < 0)
            err = -1;
    }
    if (file && err != 0)
        (void)unlink(temporary);
    free(temporary);
    return err ? -1 : 0;
}
