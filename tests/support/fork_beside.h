// SPDX-License-Identifier: Apache-2.0
// Forks beside what another thread does for the first time in a process.
#ifndef MXP_TEST_FORK_BESIDE_H
#define MXP_TEST_FORK_BESIDE_H

// Two hundred processes of one thread each: another one runs `first`, beside which the process
// forks, a little later each time. Then the child runs `use`, and so does the process when `first`
// is over; `use` returns whether all is right there. One that hangs is ended after ten seconds.
// Skips the test under ThreadSanitizer, which bears no thread that a forked child starts, and under
// AddressSanitizer, whose allocator another thread may have locked at the fork: for ever in the
// child.
void fork_beside(void *(*first)(void *), int (*use)(void));

#endif
