/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_PALM_LAUNCH_H
#define CGI_PALM_LAUNCH_H

#include "palm/order.h"

#include <sys/resource.h>
#include <sys/types.h>

/**
 * Start a program in a process group of its own.
 * @param files   its standard input, output and error, the caller's; all above 2
 * @param nfiles  how many it may have open, where the order does not say
 * @return its process, which is the number of the group too; or -1 with errno: also when the program could not be executed.
 */
pid_t launch(const struct order *o, const int files[3], const struct rlimit *nfiles);

/**
 * Become a user for good, if we may: only root can.
 * @param user  name or number; "": nobody else
 * @return false after telling why.
 */
bool become(const char *user);

#endif
