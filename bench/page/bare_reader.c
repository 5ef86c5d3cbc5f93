// SPDX-License-Identifier: Apache-2.0
// bare_reader FILE.mxp: what reading a trace takes by itself, as A1 to A3 have it: opens the file,
// decodes each record, adds up its end. Prints how many records there are, and the sum.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>

#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"

int main(int argc, char **argv)
{
    mxp_source *source;
    mxp_damage damage = {0};
    mxp_record_range range;
    uint64_t records = 0, sum_ns = 0;
    if (argc != 2 || mxp__native_open(argv[1], &source, &damage) != MXP_OK) {
        fprintf(stderr, "bare_reader: %s\n", argc != 2 ? "one FILE is wanted" : mxp_last_error());
        return 1;
    }
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        mxp_decoder decoder;
        mxp_event event;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        while (mxp__decoder_next(&decoder, &event) == 1) {
            sum_ns += (uint64_t)event.end_ns;
            records++;
        }
    }
    mxp__source_close(source);
    printf("%" PRIu64 " records, %" PRIu64 " ns\n", records, sum_ns);
    return 0;
}
