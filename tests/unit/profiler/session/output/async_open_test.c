// SPDX-License-Identifier: Apache-2.0
// Asynchronous spans that were open when a process was killed stand in its file, and none that had
// ended; a file that is finished, or whose table is damaged, has none.
#include "cmocka_all.h"

#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "each_event.h"
#include "killed_recording.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"

static char native[] = "async.mxp";
static mxp_name request, transfer;

static void name_things(void)
{
    request = mxp_intern("test", "request", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    transfer = mxp_intern("test", "transfer", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
}

static mxp_async begin(mxp_name name, uint64_t id, uint64_t context)
{
    return mxp_async_begin(MXP_CLASS_USER, name, id, (mxp_context){context, 0});
}

static void run_and_kill(void (*work)(void), int after_us)
{
    record_and_kill(native, name_things, work, after_us);
}

// ---- what the file says ------------------------------------------------------------------------
typedef struct seen {
    char open[4096];
    uint64_t open_spans, ended_spans;
    const mxp_source *source;
} seen;

static void look_at(void *context, const mxp_event *event)
{
    seen *all = context;
    if (event->kind != MXP_KIND_SPAN) {
        return;
    }
    if ((event->flags & MXP_SPAN_OPEN_AT_CRASH) == 0) {
        all->ended_spans++;
        return;
    }
    all->open_spans++;
    uint32_t key, type;
    uint64_t id = 0;
    if (mxp__event_arg_count(event) > 0) {
        mxp__event_arg(event, 0, &key, &type, &id);
        assert_string_equal(all->source->name(all->source, key).text, "id");
    }
    size_t used = strlen(all->open);
    snprintf(all->open + used, sizeof all->open - used, "%s %llu for %llu\n",
             all->source->name(all->source, event->name).text, (unsigned long long)id,
             (unsigned long long)mxp__event_context(event));
}

static const seen *look(void)
{
    static seen all;
    mxp_source *source;
    assert_int_equal(mxp__native_open(native, &source, NULL), MXP_OK);
    all = (seen){.source = source};
    each_event(source, look_at, &all);
    mxp__source_close(source);
    return &all;
}

// ---- tests -------------------------------------------------------------------------------------
static void leave_two_open(void)
{
    mxp_async first = begin(request, 11, 11);
    mxp_async gone = begin(transfer, 5, 11);
    begin(transfer, 6, 11);
    mxp_async_end(&gone, NULL, 0);
    mxp_async_end(&first, NULL, 0);
    begin(request, 12, 12);
}

static bool says(const seen *all, const char *line)
{
    return strstr(all->open, line) != NULL;
}

static void open_ones_are_told_and_ended_ones_not(void **state)
{
    (void)state;
    run_and_kill(leave_two_open, 0);
    const seen *all = look();
    assert_int_equal(all->open_spans, 2);
    assert_int_equal(all->ended_spans, 2);
    assert_true(says(all, "transfer 6 for 11\n"));
    assert_true(says(all, "request 0 for 12\n"));
}

static void begin_in_a_later_session(void)
{
    mxp_session_stop(mxp_session_get());
    mxp_session_dump(mxp_session_get(), 1);
    assert_int_equal(mxp_session_run(mxp_session_get()), MXP_OK);
    begin(request, 2, 0);
}

static void a_later_file_has_them_too(void **state)
{
    (void)state;
    run_and_kill(begin_in_a_later_session, 0);
    assert_int_equal(look()->open_spans, 1);
}

static void finish(void)
{
    begin(request, 3, 0);
    mxp_session_stop(mxp_session_get());
    mxp_session_dump(mxp_session_get(), 1);
}

static void a_finished_file_has_them_closed(void **state)
{
    (void)state;
    run_and_kill(finish, 0);
    assert_int_equal(look()->open_spans, 0);
    assert_int_equal(look()->ended_spans, 1);
}

// ---- killed at any moment ----------------------------------------------------------------------
enum { THREADS = 3, OPEN_EACH = 5 };

static uint64_t *counts;  // shared with the child: ends of each thread that have returned

static void *begin_and_end(void *context)
{
    uint64_t *ended = context, number = (uint64_t)(ended - counts);
    mxp_async open[OPEN_EACH];
    for (uint64_t i = 0;; i++) {
        if (i >= OPEN_EACH) {
            mxp_async_end(&open[i % OPEN_EACH], NULL, 0);
            __atomic_fetch_add(ended, 1, __ATOMIC_RELAXED);
        }
        open[i % OPEN_EACH] = begin(transfer, number << 32 | i, 0);
    }
    return NULL;
}

static void begin_and_end_for_ever(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, begin_and_end, &counts[i]);
    }
    pause();
}

static void one_that_is_killed_has_what_ended_and_what_was_open(void **state)
{
    (void)state;
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < 10; round++) {
        uint64_t ended = 0;
        memset(counts, 0, THREADS * sizeof *counts);
        run_and_kill(begin_and_end_for_ever, 1000 + 1700 * round);
        const seen *all = look();
        for (int i = 0; i < THREADS; i++) {
            ended += counts[i];
        }
        assert_in_range(all->ended_spans, ended, ended + THREADS);
        assert_true(all->open_spans <= THREADS * OPEN_EACH);
    }
    munmap(counts, 4096);
}

static void a_damaged_slot_is_left_out(void **state)
{
    (void)state;
    run_and_kill(leave_two_open, 0);
    FILE *file = fopen(native, "r+b");
    assert_non_null(file);
    const mxp_section wanted = {.magic = MXP_SECTION_MAGIC, .type = MXP_SECTION_OPEN};
    mxp_section section;
    mxp_file_header header;
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    long at = header.header_bytes;
    for (; fseek(file, at, SEEK_SET) == 0 && fread(&section, sizeof section, 1, file) == 1 &&
           section.magic == wanted.magic && section.type != wanted.type;
         at += (long)section.length_bytes) {
    }
    assert_int_equal(section.type, wanted.type);
    static mxp_open_section open;
    fseek(file, at, SEEK_SET);
    assert_int_equal(fread(&open, sizeof open, 1, file), 1);
    for (uint32_t i = 0; i < MXP_ASYNC_SLOTS; i++) {
        open.slots[i].name ^= open.slots[i].begin_ticks != 0;
    }
    fseek(file, at, SEEK_SET);
    assert_int_equal(fwrite(&open, sizeof open, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(look()->open_spans, 0);
    assert_int_equal(look()->ended_spans, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_ones_are_told_and_ended_ones_not),
        cmocka_unit_test(a_later_file_has_them_too),
        cmocka_unit_test(a_finished_file_has_them_closed),
        cmocka_unit_test(one_that_is_killed_has_what_ended_and_what_was_open),
        cmocka_unit_test(a_damaged_slot_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
