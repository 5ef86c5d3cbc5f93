// SPDX-License-Identifier: Apache-2.0
// Two tracepoints that together are what a span is: begin and end with a number for its name. Read
// several times by LTTng's headers, so the guard is theirs.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER mxprof_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "peers/lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(mxprof_bench, span_begin, LTTNG_UST_TP_ARGS(uint32_t, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, name, name)))
LTTNG_UST_TRACEPOINT_EVENT(mxprof_bench, span_end, LTTNG_UST_TP_ARGS(uint32_t, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, name, name)))

#endif

#include <lttng/tracepoint-event.h>
