/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse ERRNO CALL[,CALL...] PROGRAM [ARGUMENT...]
 *
 * Run a program with some system calls refused, as an old kernel (ENOSYS) or a container (EPERM) would: the filter is
 * plain BPF, needs no library and is inherited by whatever the program starts.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    int value;
} calls[] =
    {
        {"openat2", 437},
        {"epoll_pwait2", 441},
        {"statx", SYS_statx},
        {"accept4", SYS_accept4},
        {"eventfd2", SYS_eventfd2},
        {"memfd_create", SYS_memfd_create},
        {"getrandom", SYS_getrandom},
        {"splice", SYS_splice},
        {"sendfile", SYS_sendfile},
        {"pidfd_open", 434},
        {"close_range", 436},
        {"faccessat2", 439},
        {"rseq", 334},
},
  errors[] = {
      {"ENOSYS", ENOSYS},
      {"EPERM", EPERM},
      {"EINVAL", EINVAL},
};

#define LEN(array) (int)(sizeof(array) / sizeof(array[0]))

static int call_number(const char *name)
{
    for (int i = 0; i < LEN(calls); i++) {
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].value;
    }
    fprintf(stderr, "refuse: no such system call in the list: %s\n", name);
    exit(125);
}

static int error_number(const char *name)
{
    for (int i = 0; i < LEN(errors); i++) {
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].value;
    }
    fprintf(stderr, "refuse: no such error: %s\n", name);
    exit(125);
}

/* Load the number; for each name: equal? then the error; at the end: allow. */
static void install(char *names, int error)
{
    struct sock_filter filter[2 + 2 * LEN(calls) + 1];
    struct sock_fprog program = {.filter = filter};
    unsigned short n = 0;

    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                   (unsigned)call_number(name), 0, 1);
        filter[n++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("refuse: seccomp");
        exit(125);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: refuse ERRNO CALL[,CALL...] PROGRAM [ARGUMENT...]\n");
        return 125;
    }
    install(argv[2], error_number(argv[1]));
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 126;
}
