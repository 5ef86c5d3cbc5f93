// SPDX-License-Identifier: Apache-2.0
#include "mixed_steps.h"

#include <inttypes.h>

// The number of each such process between `before` and `behind`, apart by `between`.
static void put_processes(const mxp_aggregate *aggregate, size_t processes, const char *before,
                          const char *between, const char *behind, mxp_strbuf *out)
{
    bool found = false;
    for (size_t i = 0; i == 0 || i < processes; i++) {
        uint32_t pid;
        if (mxp__aggregate_mixed_steps(aggregate, i, &pid)) {
            mxp__strbuf_printf(out, "%s%" PRIu32, found ? between : before, pid);
            found = true;
        }
    }
    mxp__strbuf_puts(out, found ? behind : "");
}

void mxp__mixed_steps_line(const mxp_aggregate *aggregate, size_t processes, mxp_strbuf *out)
{
    put_processes(aggregate, processes, "Several threads marked steps, in process ", ", ",
                  ": where each one's ended is not known, so there is no table by step of it\n",
                  out);
}

void mxp__mixed_steps_json(const mxp_aggregate *aggregate, size_t processes, mxp_strbuf *out)
{
    put_processes(aggregate, processes, ",\n    \"Steps of Several Threads\": [", ", ", "]", out);
}

void mxp__mixed_steps_csv(const mxp_aggregate *aggregate, size_t processes, mxp_strbuf *out)
{
    static const char before[] = "\"mxprof\",\"steps of several threads\",report,process,,";
    static const char between[] =
        ",,,,,,\n\"mxprof\",\"steps of several threads\",report,process,,";
    put_processes(aggregate, processes, before, between, ",,,,,,\n", out);
}
