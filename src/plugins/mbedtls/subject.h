/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_SUBJECT_H
#define MBED_SUBJECT_H

#include <mbedtls/x509.h>

/**
 * A name as text, after RFC 2253: "CN=a,O=b", the last part first.
 * @return heap, at most about 1000 bytes of it; NULL without memory.
 */
char *mbed_subject(const mbedtls_x509_name *name);

#endif
