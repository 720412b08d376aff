/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_COUNTERS_H
#define WR_COUNTERS_H

/*
 * What is counted of a process from its start on, and how the same of its children that it waited for
 * is to be had: APART, in a number of their own; INSIDE the process's own number; NEVER.
 */

#define WR_COUNTERS(X)                                                                             \
    X(CPU, APART, "ns on a processor")                                                             \
    X(USER, APART, "ns of that in the program, as sampled by the tick")                            \
    X(KERNEL, APART, "ns of that in the kernel")                                                   \
    X(DELAY, NEVER, "ns ready, but without a processor")                                           \
    X(VOLUNTARY, NEVER, "context switches because it waited")                                      \
    X(INVOLUNTARY, NEVER, "context switches because others ran")                                   \
    X(MINOR, APART, "page faults without I/O")                                                     \
    X(MAJOR, APART, "page faults with I/O")                                                        \
    X(READ, INSIDE, "bytes that read calls returned")                                              \
    X(WRITTEN, INSIDE, "bytes given to write calls")                                               \
    X(DISK_READ, INSIDE, "bytes fetched from storage")                                             \
    X(DISK_WRITTEN, INSIDE, "bytes sent to storage")

#define WR_COUNTER_NAME(name, children, meaning) WR_##name,
enum wr_counter { WR_COUNTERS(WR_COUNTER_NAME) WR_COUNTER_COUNT };

#endif
