/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that include the header without its folder. */
#include <monkey/libmonkey.h>
