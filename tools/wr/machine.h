/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MACHINE_H
#define WR_MACHINE_H

/** Facts without which figures cannot be compared: JSON's name, what it is. Unknown ones are empty. */
#define WR_FACTS(X)                                                                                \
    X(CPU, "cpu")                                                                                  \
    X(CORES, "cores")                                                                              \
    X(ARCH, "arch")                                                                                \
    X(KERNEL, "kernel")                                                                            \
    X(GOVERNOR, "governor")                                                                        \
    X(SOMAXCONN, "somaxconn")                                                                      \
    X(SYN_BACKLOG, "tcp_max_syn_backlog")                                                          \
    X(PORTS, "ip_local_port_range")                                                                \
    X(REUSE, "tcp_tw_reuse")                                                                       \
    X(CONGESTION, "tcp_congestion_control")                                                        \
    X(HUGE, "transparent_hugepage")                                                                \
    X(CLOCK, "clocksource")                                                                        \
    X(FILES, "open_files")                                                                         \
    X(CLIENT, "client_version")

#define WR_FACT_ENUM(name, text) WR_FACT_##name,
enum wr_fact { WR_FACTS(WR_FACT_ENUM) WR_FACT_COUNT };

const char *wr_fact_name(int fact);

struct machine {
    char facts[WR_FACT_COUNT][128];
};

void machine_read(struct machine *m);

/**
 * Ask the first of the words that names a load generator we know for its version, for at most a second: it may stand
 * after others, as in taskset -c 1 wrk. Others are not started.
 */
void machine_ask_client(struct machine *m, char *const *words);

#endif
