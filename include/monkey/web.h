/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_H
#define MONKEY_WEB_H

/*
 * All of libmonkey-web: pkg-config --libs monkey-web.
 *
 * NULL for a request, or for an object or a result that a call needs, does no harm. A call with a return code gives
 * MK_E_INVALID, one that looks for something finds nothing, mk_json_ calls do nothing. A call that answers gives
 * MK_VERDICT_DONE, which a request without an answer turns into 500 and a line in the error log; mk_entity_check gives 412,
 * which lets nothing happen, and mk_router_run MK_VERDICT_PASS.
 */

#include <monkey/web/body.h>
#include <monkey/web/cache.h>
#include <monkey/web/choice.h>
#include <monkey/web/cookie.h>
#include <monkey/web/describe.h>
#include <monkey/web/entity.h>
#include <monkey/web/form.h>
#include <monkey/web/json.h>
#include <monkey/web/json_read.h>
#include <monkey/web/later.h>
#include <monkey/web/media.h>
#include <monkey/web/metrics.h>
#include <monkey/web/multipart.h>
#include <monkey/web/problem.h>
#include <monkey/web/query.h>
#include <monkey/web/router.h>
#include <monkey/web/secret.h>
#include <monkey/web/session.h>
#include <monkey/web/signed.h>
#include <monkey/web/sse.h>
#include <monkey/web/task.h>

#endif
