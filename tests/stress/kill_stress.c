// SPDX-License-Identifier: Apache-2.0
// A process that records into a file is killed at a random moment, again and again. Each of its
// threads numbers its records and publishes the last number that a call returned for, in a page the
// parent maps. In the file the numbers of each thread are without a gap and reach at least that,
// names are the ones that were interned, and what was open is shown. Every second time the file is
// a ring: then the numbers begin anywhere. 100 kills, or 1,000 with MXPROF_TEST_LONG=1.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "random.h"
#include "trace/event.h"
#include "trace/native.h"

enum { THREADS = 3, NAMES_EVERY = 500 };

static const char path[] = "killed.mxp";

// What the killed process tells: written by it, read by the parent after its death.
typedef struct shared_page {
    uint64_t started;  // mxp_session_run has returned
    uint64_t returned[THREADS];  // the last number whose call has returned
} shared_page;

static shared_page *page;

// ---- the process that dies ---------------------------------------------------------------------
// Counters carry the numbers; spans around them and new names from time to time keep everything
// that a file holds in motion.
static void *record(void *argument)
{
    uint64_t thread = (uintptr_t)argument;
    char text[32];
    snprintf(text, sizeof text, "count %d", (int)thread);
    mxp_name count = mxp_intern("kill", text, MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    mxp_name outer = mxp_span_name("kill", "outer");
    uint64_t open = mxp_span_begin(outer);
    for (uint64_t number = 1;; number++) {
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
    mxp_span_end(outer, open);
    return NULL;
}

static void run_and_wait_for_death(bool ring)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    if (ring) {
        config.full_policy = MXP_FULL_RING;
        config.memory_limit_bytes = 2 << 20;
    }
    config.native_filename = path;
    config.continuous_dump = 0;
    mxp_session *session = mxp_session_get();
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        _exit(3);
    }
    __atomic_store_n(&page->started, 1, __ATOMIC_RELEASE);
    pthread_t threads[THREADS];
    for (uintptr_t i = 1; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, record, (void *)i);
    }
    record(NULL);
}

// ---- the one that reads ------------------------------------------------------------------------
typedef struct tally {
    uint64_t last[THREADS];
    uint64_t open_spans;
    bool ring;  // the oldest numbers are gone
} tally;

static void check_counter(const mxp_source *source, const mxp_event *event, tally *found)
{
    mxp_name_view name = source->name(source, event->name);
    assert_int_equal(strncmp(name.text, "count ", 6), 0);
    uint64_t thread = strtoull(name.text + 6, NULL, 10);
    assert_true(thread < THREADS);
    if (found->last[thread] != 0 || !found->ring) {
        assert_int_equal(event->value.u64, found->last[thread] + 1);
    }
    found->last[thread] = event->value.u64;
}

static void check_span(const mxp_source *source, const mxp_event *event, tally *found)
{
    mxp_name_view name = source->name(source, event->name);
    mxp_name_view category = source->name(source, name.category);
    assert_string_equal(category.text, "kill");
    assert_true(strcmp(name.text, "outer") == 0 || strchr(name.text, '.') != NULL);
    found->open_spans += (event->flags & MXP_SPAN_OPEN_AT_CRASH) != 0;
}

static void read_file(mxp_source *source, tally *found)
{
    mxp_block block;
    for (size_t i = 0; source->block(source, i, &block) == 1; i++) {
        mxp_decoder decoder;
        mxp__decoder_begin(&decoder, source->timebase, &block);
        mxp_event event;
        int more;
        while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
            if (event.kind == MXP_KIND_COUNTER) {
                check_counter(source, &event, found);
            } else if (event.kind == MXP_KIND_SPAN) {
                check_span(source, &event, found);
            }
        }
        assert_int_equal(more, 0);
    }
}

static void check_file(bool ring)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(path, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    if (damage.text != NULL) {
        fail_msg("damaged at offset %llu: %s", (unsigned long long)damage.offset, damage.text);
    }
    tally found = {.ring = ring};
    read_file(source, &found);
    for (size_t i = 0; i < THREADS; i++) {
        if (found.last[i] < page->returned[i]) {
            fail_msg("thread %zu: number %llu had returned, the file ends at %llu", i,
                     (unsigned long long)page->returned[i], (unsigned long long)found.last[i]);
        }
        assert_true(found.last[i] <= page->returned[i] + 1);
    }
    // Whoever has begun to count is inside of `outer`.
    for (size_t i = 0; i < THREADS; i++) {
        found.open_spans -= page->returned[i] > 0 && found.open_spans > 0;
    }
    assert_int_equal(source->loss_count, 0);
    mxp__source_close(source);
}

// Often very early, sometimes after several chunks.
static void kill_once(uint64_t *seed, bool ring)
{
    memset(page, 0, sizeof *page);
    unlink(path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_and_wait_for_death(ring);
        _exit(4);
    }
    uint64_t scale = UINT64_C(1) << random_below(seed, 17);
    mxp__os_sleep_us(random_below(seed, scale));
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    bool there = access(path, F_OK) == 0;
    assert_true(there || !page->started);
    if (there) {
        check_file(ring);
    }
}

static void killed_at_any_moment_everything_returned_is_there(void **state)
{
    (void)state;
    int kills = getenv("MXPROF_TEST_LONG") != NULL ? 1000 : 100;
    uint64_t seed = 20;
    uint64_t records = 0;
    for (int i = 0; i < kills; i++) {
        kill_once(&seed, i % 2 != 0);
        for (size_t k = 0; k < THREADS; k++) {
            records += page->returned[k];
        }
    }
    print_message("%d kills, %llu records\n", kills, (unsigned long long)records);
    assert_true(records > 0);
}

int main(void)
{
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_any_moment_everything_returned_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
