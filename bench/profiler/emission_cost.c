// SPDX-License-Identifier: Apache-2.0
// C8: what a span costs that is sent to a collector of Intel's instrumentation calls as well, one
// that does nothing, over a span. Both record into memory that was written before, each in a process
// of its own session: what is sent is decided once in a process.
#include <mxprof/record.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/recording.h"

enum { BATCH = 1 << 16, BATCHES = 16 };
