/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include "plan.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void dir_make(char dir[32])
{
    (void)snprintf(dir, 32, "/tmp/mk-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void dir_remove(const char *dir)
{
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

char file_byte(size_t at)
{
    return (char)('a' + (at * 7 + at / 251) % 26);
}

void file_write(const char *dir, const char *name, const char *bytes, size_t len)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "we");
    assert_non_null(file);
    for (size_t i = 0; i < len; i++)
        (void)fputc(bytes ? bytes[i] : file_byte(i), file);
    assert_int_equal(fclose(file), 0);
}

bool is_root(void)
{
    return geteuid() == 0;
}
