// SPDX-License-Identifier: Apache-2.0
// A core that has slept may take tens of milliseconds to reach its full clock again (seen: a fresh
// thread 1.6 times slower for a whole dump of 35 ms, and only on the core that had been idle).
// Where work on several cores is compared with work on one, the others are kept awake until it
// begins.
#ifndef BENCH_AWAKE_H
#define BENCH_AWAKE_H

// Starts a thread that spins until bench_let_go, which returns when its core is free.
void bench_keep_awake(void);
void bench_let_go(void);

#endif
