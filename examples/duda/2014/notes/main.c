/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

DUDA_REGISTER("examples", "a service of several files");

int duda_main()
{
    pthread_mutex_init(&notes_lock, NULL);
    map->static_add("/add", "page_add");
    map->static_add("/last", "page_last");
    return 0;
}
