// SPDX-License-Identifier: Apache-2.0
// The program of one side of a comparison with another profiler: runs a loop on one or two pinned
// threads, once, and prints {"operations", "wall_ns", "cpu_ns"} for bench/peer_claims.py, which
// runs the sides in turn.
#ifndef BENCH_PEER_LOOP_H
#define BENCH_PEER_LOOP_H

#include "support/harness.h"

typedef void (*bench_peer_work)(void *context, int thread, uint64_t count);

// One pass of `count / 16` to warm up, then `count` timed, on each of `threads` threads at once.
// What is printed are sums over the threads, so wall_ns / operations is a thread's own time.
void bench_peer_run(int threads, uint64_t count, bench_peer_work work, void *context);

// Prints a stretch that the program measured itself.
void bench_peer_print(const bench_stretch *stretch);

// A positive number from the command line, or the end of the program.
uint64_t bench_peer_number(const char *text);

// Takes pages from the system, touches them and gives them back. On a virtual machine the host may
// have taken idle memory away; what is measured then is the host's delay. After this, a program
// that grows pays for its own page faults and no more.
void bench_peer_warm_memory(size_t size_bytes);

#endif
