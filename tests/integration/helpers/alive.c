/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CGI program that tells how many of its kind are alive at once: it leaves a file in the folder that its query names,
 * counts the files there, stays for 5 ms and takes its own away.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    const char *folder = getenv("QUERY_STRING");
    char name[4096];
    struct dirent *entry;
    int alive = 0;
    DIR *dir;

    snprintf(name, sizeof(name), "%s/%d", folder ? folder : "", (int)getpid());
    close(open(name, O_CREAT | O_WRONLY, 0600));
    dir = opendir(folder);
    while (dir && (entry = readdir(dir)))
        alive += entry->d_name[0] != '.';
    usleep(5000);
    unlink(name);
    printf("Content-Type: text/plain\n\n%d", alive);
    return 0;
}
