// SPDX-License-Identifier: Apache-2.0
// A child process that records into a file and is killed.
#ifndef KILLED_RECORDING_H
#define KILLED_RECORDING_H

// Records `work` into the native file `native` (store file, no crashed copies kept) in a child and
// kills it: `after_us` microseconds after recording began and `work` was called, or, if that is 0,
// when `work` has returned. `name_things` is called once recording has begun. Only for cmocka
// tests.
void record_and_kill(const char *native, void (*name_things)(void), void (*work)(void),
                     int after_us);

#endif
