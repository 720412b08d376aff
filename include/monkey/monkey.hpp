/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_MONKEY_HPP
#define MONKEY_MONKEY_HPP

/*
 * Handlers of C++ programs. The library is C: an exception may not leave a handler, and monkey::guarded is where it ends.
 *
 *     mk_config_handle(config, "GET", "/", monkey::guarded<hello>, nullptr);
 *
 * The client has status 500, or its connection is closed if the answer had begun; the server goes on. C++17.
 */

#include <monkey/plugin.h>

#include <exception>

namespace monkey
{

/** Log what a handler threw and answer 500. Called by guarded. @param what  of the exception */
inline mk_verdict failed(mk_request *r, const char *what) noexcept
{
    struct mk_request_facts facts = {};

    mk_request_log(r, MK_LOG_ERROR, "a handler threw an exception: %s", what);
    facts.size = sizeof(facts);
    ::mk_request_facts(r, &facts);
    if (facts.status == 0)
        return mk_reply_error(r, 500, nullptr);
    mk_reply_abort(r);
    return MK_VERDICT_DONE;
}

/** A handler in a shell that no exception leaves, for mk_config_handle, and with other parameters for hooks of mk_plugin. */
template <auto handler, typename... Args> mk_verdict guarded(mk_request *r, Args... args) noexcept
{
    try {
        return handler(r, args...);
    } catch (const std::exception &e) {
        return failed(r, e.what());
    } catch (...) {
        return failed(r, "of an unknown type");
    }
}

} // namespace monkey

#endif
