/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_CODE_H
#define MK_BASE_CODE_H

/*
 * Code is memory too. What only starts, reloads and ends a server lies apart from what requests pass (src/layout.ld), so
 * that its pages can be given back in between. They come back by themselves when it is called; a debugger's breakpoints
 * in it do not.
 */

/** For functions that are entered only then, or that few programs call. What they alone call goes with them. */
#define MK_AT_START __attribute__((cold))

/** A function that libmonkey exports for libmonkey-upstream and libmonkey-protocol of the same build, and promises to nobody else: docs/abi.txt. */
#define MK_INSIDE __attribute__((visibility("default")))

/** Give the pages back to the system. From any thread, whatever runs. */
void mk_code_give_back(void);

#endif
