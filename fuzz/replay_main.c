/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>

/* Run a target on every file of the folders given: seeds and past crashes, without libFuzzer. */

static bool replay_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file) {
        perror(path);
        return false;
    }
    printf("%s\n", path);
    (void)fflush(stdout); /* a crash must not swallow the name */
    size = fread(data, 1, sizeof(data), file);
    (void)fclose(file);

    char *copy = exact_copy(data, size);
    LLVMFuzzerTestOneInput((const uint8_t *)copy, size);
    free(copy);
    return true;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int files = 0;

    if (!dir)
        return 0; /* a target without past crashes has no folder for them */
    while ((entry = readdir(dir)) != NULL) {
        char path[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (replay_file(path))
            files++;
    }
    closedir(dir);
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;

    for (int i = 1; i < argc; i++)
        files += replay_folder(argv[i]);
    printf("%d files\n", files);
    return files > 0 ? 0 : 1;
}
