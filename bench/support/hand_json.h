// SPDX-License-Identifier: Apache-2.0
// The references of dumps: the same trace events written as JSON by hand, as fast as plain C does
// it, and by fprintf.
#ifndef BENCH_HAND_JSON_H
#define BENCH_HAND_JSON_H

#include "support/workload.h"

// Writes to `path`, in pieces of 1 MiB. Returns the bytes written, ends the program on an error.
uint64_t bench_hand_json(const char *path, const bench_event *events, uint64_t count);
uint64_t bench_fprintf_json(const char *path, const bench_event *events, uint64_t count);

#endif
