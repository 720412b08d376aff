/* SPDX-License-Identifier: Apache-2.0 */
#include "../tests/unit/settings/sample.h"

#include "base/heap.h"
#include "conf/conf.h"

#include <stdlib.h>

/*
 * Any bytes as a configuration: read, checked and applied to a section with a field of each type.
 * Whatever is wrong must come out as a fault that fits a screen, and nothing may leak.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Includes of whatever the fuzzer makes up must not touch the machine. */
static int open_nothing(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return MK_E_NOENT;
}

/* A header line, and for a fault in a line the line and a caret below it; all of it harmless. */
static void check_fault(const struct mk_fault *fault, struct mk_arena *arena)
{
    const char *text = mk_fault_text(fault, arena);
    size_t lines = 0, last = 0;

    require(text);
    for (const char *p = text; *p; p++) {
        require(*p == '\n' || ((unsigned char)*p >= 0x20 && *p != 0x7f));
        if (*p == '\n') {
            lines++;
            last = p[1] ? (size_t)(p + 1 - text) : last;
        }
    }
    require(fault->at.line == 0 || (fault->at.column >= 1 && fault->at.text.len > 0));
    require(lines == (fault->at.line > 0 ? 3 : 1));
    if (lines == 3)
        require(text[last + strspn(text + last, " ")] == '^');
}

/* Every value that was accepted is one that the table allows, and can be written down. */
static void check_values(const struct sample *sample, struct mk_arena *arena)
{
    require(sample->workers >= 0 && sample->workers <= 256);
    require(sample->headers >= 0 && sample->small >= 0 && sample->size >= 1024);
    require(sample->timeout_ms >= 1000 && sample->timeout_ms <= 86400000);
    require(sample->scheduler >= 0 && sample->scheduler <= 2);
    for (size_t i = 0; i < sample_server.nfields; i++)
        require(mk_field_format(&sample_fields[i], sample, arena));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mk_conf_host host = {open_nothing, NULL};
    struct sample sample = {0};
    struct mk_faults faults;
    struct mk_arena arena;
    struct mk_tree tree;
    long live = mk_heap_live();

    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    mk_tree_init(&tree, &arena);
    mk_faults_init(&faults, &arena);
    require(mk_conf_read_text(&tree, &faults, (struct mk_str){(const char *)data, size}, "fuzz",
                              "/nowhere", &host) == 0);
    require(sample_apply(&tree, &faults, &sample) == 0);
    for (const struct mk_fault *f = faults.first; f; f = f->next)
        check_fault(f, &arena);
    require(!faults.no_memory);
    check_values(&sample, &arena);
    mk_arena_fini(&arena);
    require(mk_heap_live() == live);
    return 0;
}
