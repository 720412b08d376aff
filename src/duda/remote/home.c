/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/home.h"

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3
#include "duda_api.h"
#include "duda_host.h"
#include "duda_package.h"

static void run(const struct remote_home *home, void (*fn)(void *arg), void *arg)
{
    const struct duda_place place = {.seat = home->seat, .worker = home->worker, .tls = home->tls};

    duda_objects_given->host->run_at(&place, fn, arg);
}

static void write_line(const struct remote_home *home, enum mk_log_level level, const char *line)
{
    (void)home;
    if (level == MK_LOG_INFO)
        msg->info("%s", line);
    else
        msg->warn("%s", line);
}

int remote_home_here(struct remote_home *home)
{
    struct duda_place place;
    const int result = duda_objects_given->host->place(&place);

    *home = (struct remote_home){.worker = place.worker,
                                 .tls = place.tls,
                                 .seat = place.seat,
                                 .run = run,
                                 .log = write_line};
    return result;
}

bool remote_has_tls(void)
{
    struct remote_home home;

    (void)remote_home_here(&home);
    return home.tls != NULL;
}
