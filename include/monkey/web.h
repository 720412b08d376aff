/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_H
#define MONKEY_WEB_H

/* All of libmonkey-web: pkg-config --libs monkey-web. */

#include <monkey/web/router.h>

#endif
