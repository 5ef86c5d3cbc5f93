// SPDX-License-Identifier: Apache-2.0
// See numbered.h.
#include "numbered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"

enum { NAMES_EVERY = 500 };

void *shared_page(size_t size_bytes)
{
    void *page = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED ? page : NULL;
}

// ---- the process that dies ---------------------------------------------------------------------
void numbered_record(numbered_page *page, uint64_t thread)
{
    char text[32];
    snprintf(text, sizeof text, "count %d", (int)thread);
    mxp_name count = mxp_intern("kill", text, MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    mxp_name outer = mxp_span_name("kill", "outer");
    (void)mxp_span_begin(outer);
    for (uint64_t number = 1;; number++) {
        while (number > __atomic_load_n(&page->quota, __ATOMIC_RELAXED)) {
            mxp__os_sleep_us(100);
        }
        mxp_name name = outer;
        if (number % NAMES_EVERY == 0) {
            snprintf(text, sizeof text, "%d.%llu", (int)thread, (unsigned long long)number);
            name = mxp_span_name("kill", text);
        }
        uint64_t token = mxp_span_begin(name);
        mxp_counter_u64(MXP_CLASS_USER, count, number);
        mxp_span_end(name, token);
        __atomic_store_n(&page->returned[thread], number, __ATOMIC_RELEASE);
    }
}

// ---- the one that reads ------------------------------------------------------------------------
static void check_counter(const mxp_source *source, const mxp_event *event, bool ring,
                          numbered_file *found)
{
    mxp_name_view name = source->name(source, event->name);
    assert_int_equal(strncmp(name.text, "count ", 6), 0);
    uint64_t thread = strtoull(name.text + 6, NULL, 10);
    assert_true(thread < NUMBERED_THREADS);
    if ((event->flags & MXP_COUNTER_STANDING) != 0) {
        assert_true(ring);  // what came before the oldest sample that is held
        found->standing[thread] = event->value.u64;
        return;
    }
    if (found->last[thread] != 0 || !ring) {
        assert_int_equal(event->value.u64, found->last[thread] + 1);
    }
    found->last[thread] = event->value.u64;
}

static void check_span(const mxp_source *source, const mxp_event *event, numbered_file *found)
{
    mxp_name_view name = source->name(source, event->name);
    mxp_name_view category = source->name(source, name.category);
    assert_string_equal(category.text, "kill");
    assert_true(strcmp(name.text, "outer") == 0 || strchr(name.text, '.') != NULL);
    found->open_spans += (event->flags & MXP_SPAN_OPEN_AT_CRASH) != 0;
}

static void read_range(const mxp_source *source, const mxp_record_range *range, bool ring,
                       numbered_file *found)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, source->timebase, range);
    mxp_event event;
    int more;
    while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
        if (event.kind == MXP_KIND_COUNTER) {
            check_counter(source, &event, ring, found);
        } else if (event.kind == MXP_KIND_SPAN) {
            check_span(source, &event, found);
        }
    }
    assert_int_equal(more, 0);
}

mxp_source *numbered_open(const char *path, bool ring, numbered_file *found)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(path, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    *found = (numbered_file){.pid = source->pid};
    if (damage.text != NULL) {
        snprintf(found->damage, sizeof found->damage, "at offset %llu: %s",
                 (unsigned long long)damage.offset, damage.text);
    }
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        read_range(source, &range, ring, found);
    }
    assert_int_equal(source->loss_count, 0);
    for (size_t i = 0; i < NUMBERED_THREADS; i++) {
        if (found->last[i] == 0) {  // the chunk with its last number has made room
            found->last[i] = found->standing[i];
        }
    }
    return source;
}
