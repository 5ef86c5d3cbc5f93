// SPDX-License-Identifier: Apache-2.0
// A program that becomes a daemon while its trace is being written: who reads the source has all
// descriptors beyond the standard ones closed, at each block.
#ifndef CLOSING_SOURCE_H
#define CLOSING_SOURCE_H

#include "profiler/trace/source.h"

// The same source; one at a time.
mxp_source *closing_source(mxp_source *source);

#endif
