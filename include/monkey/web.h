/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_H
#define MONKEY_WEB_H

/* All of libmonkey-web: pkg-config --libs monkey-web. */

#include <monkey/web/body.h>
#include <monkey/web/choice.h>
#include <monkey/web/cookie.h>
#include <monkey/web/entity.h>
#include <monkey/web/form.h>
#include <monkey/web/json.h>
#include <monkey/web/metrics.h>
#include <monkey/web/multipart.h>
#include <monkey/web/query.h>
#include <monkey/web/router.h>
#include <monkey/web/sse.h>
#include <monkey/web/task.h>

#endif
