/* SPDX-License-Identifier: Apache-2.0 */
#include "theme.h"

#include <monkey/plugin.h>

#include <stdio.h>

static void note(struct mk_setup *setup, const char *file, const struct dirlisting_fault *fault)
{
    struct mk_origin at = {file, fault->line, fault->column, fault->line_text};

    if (fault->known)
        mk_setup_fault(setup, &at, "the tag %.*s describes one entry and belongs in entry.theme",
                       (int)fault->tag.len, fault->tag.p);
    else
        mk_setup_fault(setup, &at, "there is no tag %.*s", (int)fault->tag.len, fault->tag.p);
}

/* @param file  for faults */
static int cut(struct dirlisting_template *t, struct mk_setup *setup, struct mk_str text,
               unsigned places, const char *file)
{
    struct dirlisting_fault fault = {0};
    ssize_t count = dirlisting_template_check(text, places, &fault);
    struct dirlisting_piece *pieces;

    if (count < 0) {
        note(setup, file, &fault);
        return MK_E_INVALID;
    }
    pieces = mk_setup_alloc(setup, ((size_t)count + 1) * sizeof(*pieces));
    if (!pieces)
        return MK_E_NOMEM;
    dirlisting_template_cut(t, text, pieces);
    return 0;
}

int dirlisting_theme_of_texts(struct dirlisting_theme *theme, struct mk_setup *setup,
                              const struct dirlisting_texts *texts, unsigned places)
{
    const unsigned page = places | DIRLISTING_PAGE, entry = page | DIRLISTING_ENTRY;
    int err = cut(&theme->header, setup, texts->header, page, "header");

    if (err == 0)
        err = cut(&theme->entry, setup, texts->entry, entry, "entry");
    if (err == 0)
        err = cut(&theme->footer, setup, texts->footer, page, "footer");
    return err;
}

static int read_file(struct dirlisting_template *t, struct mk_setup *setup, const char *path,
                     unsigned places, const struct mk_origin *named)
{
    struct mk_str text = {NULL, 0};
    int err = mk_setup_needs(setup, MK_RESOURCE_READ, path);

    if (err == 0)
        text = mk_setup_read(setup, path, DIRLISTING_THEME_FILE_MAX, &err);
    if (text.p)
        return cut(t, setup, text, places, path);
    if (err == MK_E_NOMEM)
        return err;
    if (err == MK_E_LIMIT)
        mk_setup_fault(setup, named, "Theme: %s has more than %d KB", path,
                       DIRLISTING_THEME_FILE_MAX >> 10);
    else
        mk_setup_fault(setup, named, "Theme: cannot read %s: %s", path, mk_error_text(err));
    return MK_E_INVALID;
}

int dirlisting_theme_read(struct dirlisting_theme *theme, struct mk_setup *setup,
                          const char *folder, const struct mk_origin *at)
{
    const struct {
        const char *name;
        struct dirlisting_template *t;
        unsigned places;
    } files[] = {
        {"header.theme", &theme->header, DIRLISTING_PAGE},
        {"entry.theme", &theme->entry, DIRLISTING_PAGE | DIRLISTING_ENTRY},
        {"footer.theme", &theme->footer, DIRLISTING_PAGE},
    };
    int result = 0;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t room = strlen(folder) + strlen(files[i].name) + 2;
        char *path = mk_setup_alloc(setup, room);
        int err;

        if (!path)
            return MK_E_NOMEM;
        (void)snprintf(path, room, "%s/%s", folder, files[i].name);
        err = read_file(files[i].t, setup, path, files[i].places, at);
        if (err == MK_E_NOMEM)
            return err;
        if (err < 0)
            result = err; /* and the faults of the other files in the same run */
    }
    return result;
}
