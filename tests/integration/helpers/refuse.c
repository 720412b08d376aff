/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse ERRNO CALL[,CALL...] PROGRAM [ARGUMENT...]
 *
 * Run a program with some system calls refused, as an old kernel (ENOSYS) or a container (EPERM) would: the filter is
 * plain BPF, needs no library and is inherited by whatever the program starts. "socket_ipv6" is socket() for IPv6 alone, as with
 * the kernel's option ipv6.disable=1 (EAFNOSUPPORT).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    int value;
    unsigned first; /* the first argument of the calls that are refused; 0: all are */
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
        {"socket_ipv6", SYS_socket, AF_INET6},
},
  errors[] = {
      {"ENOSYS", ENOSYS},
      {"EPERM", EPERM},
      {"EINVAL", EINVAL},
      {"EAFNOSUPPORT", EAFNOSUPPORT},
};

#define LEN(array) (int)(sizeof(array) / sizeof(array[0]))

static int call_index(const char *name)
{
    for (int i = 0; i < LEN(calls); i++) {
        if (strcmp(calls[i].name, name) == 0)
            return i;
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

#define LOAD(field)                                                                                \
    (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skipped)                                                                     \
    (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skipped)
#define REFUSE(error)                                                                              \
    (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)(error))

/* For each name: is it the number, and the first argument where that counts? Then the error; at the end: allow. */
static void install(char *names, int error)
{
    struct sock_filter filter[5 * LEN(calls) + 1];
    struct sock_fprog program = {.filter = filter};
    unsigned short n = 0;

    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        int i = call_index(name);

        filter[n++] = LOAD(nr);
        filter[n++] = UNLESS(calls[i].value, calls[i].first ? 3 : 1);
        if (calls[i].first) {
            filter[n++] = LOAD(args[0]); /* its lower half, on machines that this runs on */
            filter[n++] = UNLESS(calls[i].first, 1);
        }
        filter[n++] = REFUSE(error);
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
