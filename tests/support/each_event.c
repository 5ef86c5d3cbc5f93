// SPDX-License-Identifier: Apache-2.0
#include "each_event.h"

#include "cmocka_all.h"

void each_event(mxp_source *source, void (*take)(void *context, const mxp_event *event),
                void *context)
{
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        mxp_decoder decoder;
        mxp_event event;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        int more;
        while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
            take(context, &event);
        }
        assert_int_equal(more, 0);
    }
}

static void count_span(void *context, const mxp_event *event)
{
    *(uint64_t *)context += event->kind == MXP_KIND_SPAN;
}

uint64_t count_source_spans(mxp_source *source)
{
    uint64_t spans = 0;
    each_event(source, count_span, &spans);
    return spans;
}
