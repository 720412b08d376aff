/* SPDX-License-Identifier: Apache-2.0 */
#include "crash_note.h"

#include <monkey/server.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { LINE = 512, HEX = 16, OTHERS_MS = 2000, STACK = 64 << 10 };

struct mk_crash_note {
    atomic_flag taken; /* several threads may crash at the same time */
    char text[MK_CRASH_TEXT];
};

static struct mk_crash_note *watched;
static pid_t watched_by;

struct mk_crash_note *mk_crash_note_new(void)
{
    void *page = mmap(NULL, sizeof(struct mk_crash_note), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return page == MAP_FAILED ? NULL : page;
}

void mk_crash_note_clear(struct mk_crash_note *note)
{
    if (note)
        memset(note, 0, sizeof(*note));
}

void mk_crash_note_read(const struct mk_crash_note *note, char text[MK_CRASH_TEXT])
{
    size_t i = 0;

    for (; note && i < MK_CRASH_TEXT - 1 && note->text[i]; i++)
        text[i] = note->text[i] < ' ' || note->text[i] > '~' ? '?' : note->text[i];
    text[i] = '\0';
}

/* ---- in the handler: only what is async-signal-safe ---- */

/* The executable and the libraries whose code runs, as the kernel lists them: "BEGIN-END PERMS OFFSET DEVICE INODE PATH". */
struct maps {
    int fd;
    size_t len, at;
    char bytes[LINE];
};

static int next_byte(struct maps *m)
{
    if (m->at == m->len) {
        ssize_t n = read(m->fd, m->bytes, sizeof(m->bytes));

        if (n <= 0)
            return -1;
        m->len = (size_t)n;
        m->at = 0;
    }
    return (unsigned char)m->bytes[m->at++];
}

/* @return the length of a line without its end, cut to the room; -1: there are no more. */
static int next_line(struct maps *m, char line[LINE])
{
    int len = 0, c;

    while ((c = next_byte(m)) >= 0 && c != '\n') {
        if (len < LINE - 1)
            line[len++] = (char)c;
    }
    line[len] = '\0';
    return c < 0 ? -1 : len;
}

static const char *read_hex(const char *at, uintptr_t *value)
{
    for (*value = 0;; at++) {
        if (*at >= '0' && *at <= '9')
            *value = *value * HEX + (uintptr_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            *value = *value * HEX + (uintptr_t)(*at - 'a') + 10;
        else
            return at;
    }
}

static void write_hex(char *text, uintptr_t value)
{
    unsigned shift = sizeof(value) * 8;

    do {
        shift -= 4;
    } while (shift > 0 && value >> shift == 0);
    for (;; shift -= 4) {
        *text++ = "0123456789abcdef"[value >> shift & 0xf];
        if (shift == 0)
            break;
    }
    *text = '\0';
}

/* Is the address in the mapping of this line? @return the offset in its file, or 0. */
static uintptr_t offset_in(const char *line, uintptr_t address)
{
    uintptr_t begin, end, offset;

    line = read_hex(line, &begin);
    line = read_hex(line + (*line == '-'), &end);
    if (address < begin || address >= end || strlen(line) < sizeof(" r-xp "))
        return 0;
    (void)read_hex(line + sizeof(" r-xp ") - 1, &offset);
    return address - begin + offset;
}

/* " code=FILE+0xOFFSET", which addr2line makes a line of the source from. */
static void name_code(uintptr_t address, char *text, size_t size)
{
    struct maps maps = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    char line[LINE];

    while (maps.fd >= 0 && next_line(&maps, line) >= 0) {
        uintptr_t offset = offset_in(line, address);
        const char *name = strrchr(line, '/');

        if (offset == 0 || !name)
            continue;
        if (strlen(name + 1) + sizeof(" code=+0x") + HEX >= size)
            break;
        write_hex(stpcpy(stpcpy(stpcpy(text, " code="), name + 1), "+0x"), offset);
        break;
    }
}

static uintptr_t program_counter(const void *context)
{
    const ucontext_t *u = context;

#if defined(__x86_64__) && defined(REG_RIP)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#else
    (void)u;
    return 0;
#endif
}

static void write_note(const void *context)
{
    char *text = watched->text;
    size_t len = mk_thread_doing(text, MK_CRASH_TEXT);

    name_code(program_counter(context), text + len, MK_CRASH_TEXT - len);
}

/*
 * The first thread that crashes writes. Others wait for the end of the process, which is near; not for ever, in case somebody else
 * has taken the note. A child that a service has forked has the handler too, and nothing to say.
 */
static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)info;
    if (getpid() == watched_by) {
        if (atomic_flag_test_and_set(&watched->taken))
            (void)poll(NULL, 0, OTHERS_MS);
        else
            write_note(context);
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* blocked until we return */
}

void mk_crash_stack(void)
{
    stack_t stack = {.ss_size = STACK}, old;

    if (sigaltstack(NULL, &old) < 0 || !(old.ss_flags & SS_DISABLE))
        return;
    stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack.ss_sp != MAP_FAILED)
        (void)sigaltstack(&stack, NULL);
}

void mk_crash_note_watch(struct mk_crash_note *note)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    if (!note)
        return;
    watched = note;
    watched_by = getpid();
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]);
         i++) /* a fault of the handler ends the process */
        sigaddset(&action.sa_mask, fatal[i]);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        (void)sigaction(fatal[i], &action, NULL);
#else
    (void)note;
#endif
}
