/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_GLOBAL_H
#define MK_DUDA_OBJECTS_GLOBAL_H

struct mk_duda_service;

/** Give the calling thread its value of each of the service's globals, by their call-backs. */
void mk_duda_global_begin(struct mk_duda_service *s);

#endif
