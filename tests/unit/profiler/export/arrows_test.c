// SPDX-License-Identifier: Apache-2.0
// Arrows from the call that pushed an operator to its run: who has one, in one text and in a file
// that grows.
#include <mxprof/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "export_text.h"
#include "fake_source.h"
#include "profiler/export/arrows.h"
#include "profiler/export/chrome/chrome_file.h"

enum { CALLER = 0, WORKER = 1, UNKNOWN = 0xffff };

static const char path[] = "arrows_test.json";

// A process that calls on one thread and computes on another. Parts of one trace have the same
// names and threads; `part` keeps their records apart.
static mxp_source *start(uint32_t part)
{
    mxp_source *source = fake_source_create();
    assert_int_equal(fake_thread(source, "caller"), CALLER);
    assert_int_equal(fake_thread(source, "worker"), WORKER);
    for (uint32_t i = 0; i < part; i++) {
        fake_range(source, WORKER, 1, 0);
    }
    return source;
}

static void call(mxp_source *source, uint64_t begin, uint64_t end)
{
    fake_span(source, CALLER, fake_span_name(source, "MXNET_C_API", "MXImperativeInvoke"), begin,
              end);
}

static void run_with(mxp_source *source, uint32_t push_thread, uint64_t push, uint64_t begin,
                     uint32_t flags)
{
    const mxp_operator op = {.name = fake_span_name(source, "operator", "dot"),
                             .id = (uint32_t)begin,
                             .push_ticks = push,
                             .start_ticks = begin,
                             .end_ticks = begin + 50,
                             .flags = flags,
                             .push_thread = push_thread};
    fake_operator(source, WORKER, &op);
}

static void run(mxp_source *source, uint64_t push, uint64_t begin)
{
    run_with(source, CALLER, push, begin, 0);
}

static size_t arrows_in(mxp_source *source)
{
    char *text = export_text("chrome", source, NULL);
    assert_json(text, strlen(text));
    size_t count = count_text(text, "{\"ph\":\"s\"");
    assert_int_equal(count_text(text, "{\"ph\":\"f\""), count);
    free(text);
    mxp__source_close(source);
    return count;
}

static void it_leads_from_the_push_within_the_call_to_the_run(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    call(source, 1000, 3000);
    run(source, 1500, 5000);
    char *text = export_text("chrome", source, NULL);
    assert_json(text, strlen(text));
    const char *begin =
        strstr(text, "{\"ph\":\"s\",\"cat\":\"push\",\"name\":\"push\",\"pid\":4711,"
                     "\"tid\":1000,\"ts\":1.500,\"id\":\"0x");
    const char *end = strstr(text, "{\"ph\":\"f\",\"cat\":\"push\",\"name\":\"push\",\"pid\":4711,"
                                   "\"tid\":1001,\"ts\":5.000,\"id\":\"0x");
    assert_non_null(begin);
    assert_non_null(end);
    const char *id = strstr(begin, "0x"), *same = strstr(end, "0x");
    size_t length = strcspn(id, "\"");
    assert_memory_equal(id, same, length + 1);
    assert_memory_equal(id + length, "\"}", 2);
    assert_memory_equal(same + length, "\",\"bp\":\"e\"}", 11);
    free(text);
    mxp__source_close(source);
}

static void each_operator_of_a_call_has_one_with_an_id_of_its_own(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    call(source, 1000, 3000);
    run(source, 1000, 2000);  // pushed as the call began, and done before it returned
    run(source, 3000, 5000);
    char *text = export_text("chrome", source, NULL);
    const char *first = strstr(text, "\"ts\":1.000,\"id\":\"");
    const char *second = strstr(text, "\"ts\":3.000,\"id\":\"");
    assert_non_null(first);
    assert_non_null(second);
    assert_memory_not_equal(first + 17, second + 17, 18);
    free(text);
    mxp__source_close(source);
}

static void an_operator_that_starts_with_its_push_has_one(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    call(source, 1000, 3000);
    run(source, 1000, 1000);
    assert_int_equal(arrows_in(source), 1);
}

static void what_a_thread_did_as_it_pushed_it_has_none(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    fake_span(source, WORKER, fake_span_name(source, "MXNET_C_API", "MXNDArrayFree"), 1000, 3000);
    run_with(source, WORKER, 1500, 1500, 0);
    run_with(source, WORKER, 1600, 1700, 0);  // within its push, as NaiveEngine does it
    assert_int_equal(arrows_in(source), 1);
}

static void there_is_none_without_a_known_push(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    call(source, 1000, 9000);
    run_with(source, UNKNOWN, 0, 5000, 0);
    run_with(source, UNKNOWN, 1500, 5100, 0);
    run_with(source, 77, 1500, 5200, 0);
    assert_int_equal(arrows_in(source), 0);
}

static void there_is_none_where_no_call_is_known(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    call(source, 1000, 3000);
    call(source, 4000, 4500);
    run(source, 999, 5000);
    run(source, 4501, 5100);
    run_with(source, WORKER, 1500, 5200, 0);  // this thread calls nothing
    assert_int_equal(arrows_in(source), 0);

    source = start(0);
    fake_span(source, CALLER, fake_span_name(source, "layer", "conv"), 1000, 3000);
    run(source, 1500, 5000);
    assert_int_equal(arrows_in(source), 0);
}

static void there_is_none_where_records_of_the_caller_were_lost(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    const mxp_loss_entry lost = {CALLER, MXP_LOSS_MEMORY_FULL, 3, 2000, 3000};
    const mxp_loss_entry elsewhere = {WORKER, MXP_LOSS_MEMORY_FULL, 3, 0, 9000};
    const mxp_loss_entry nameless = {CALLER, MXP_LOSS_NAMES_FULL, 3, 0, 9000};
    fake_loss(source, &lost);
    fake_loss(source, &elsewhere);
    fake_loss(source, &nameless);
    call(source, 1000, 1500);
    call(source, 4000, 4500);
    run(source, 1200, 5000);
    run(source, 2500, 5100);
    run(source, 4200, 5200);
    assert_int_equal(arrows_in(source), 2);
}

static void members_of_a_bulk_have_theirs_and_the_bulk_none(void **state)
{
    (void)state;
    mxp_source *source = start(0);
    call(source, 1000, 3000);
    run(source, 1500, 5000);
    run_with(source, CALLER, 1600, 5050, MXP_OP_SHARED);
    run_with(source, CALLER, 2900, 5000, MXP_OP_BULK_PARENT);
    assert_int_equal(arrows_in(source), 2);
}

// ---- a file that grows ------------------------------------------------------------------------
static mxp_chrome_file *begin_file(void)
{
    mxp_chrome_file *file;
    unlink(path);
    assert_int_equal(mxp__chrome_file_create(path, &file), MXP_OK);
    return file;
}

static size_t append(mxp_chrome_file *file, mxp_source *source)
{
    assert_int_equal(mxp__chrome_file_append(file, source), MXP_OK);
    mxp__source_close(source);
    assert_json_file(path);
    char *text = read_file(path, NULL);
    size_t count = count_text(text, "{\"ph\":\"s\"");
    assert_int_equal(count_text(text, "{\"ph\":\"f\""), count);
    free(text);
    return count;
}

static void an_operator_finds_its_call_in_an_earlier_part(void **state)
{
    (void)state;
    mxp_chrome_file *file = begin_file();
    mxp_source *source = start(0);
    call(source, 1000, 3000);
    assert_int_equal(append(file, source), 0);
    source = start(1);
    run(source, 1500, 5000);
    assert_int_equal(append(file, source), 1);
    mxp__chrome_file_close(file);
}

static void an_operator_waits_for_a_call_that_ends_in_a_later_part(void **state)
{
    (void)state;
    mxp_chrome_file *file = begin_file();
    mxp_source *source = start(0);
    call(source, 100, 200);
    run(source, 1500, 5000);
    assert_int_equal(append(file, source), 0);
    source = start(1);
    run(source, 1600, 5100);
    assert_int_equal(append(file, source), 0);
    source = start(2);
    call(source, 1000, 9000);
    assert_int_equal(append(file, source), 2);
    source = start(3);
    call(source, 9000, 9900);
    assert_int_equal(append(file, source), 2);
    mxp__chrome_file_close(file);
}

static void of_too_many_that_wait_the_newest_are_kept(void **state)
{
    (void)state;
    mxp_chrome_file *file = begin_file();
    mxp_source *source = start(0);
    call(source, 100, 200);
    for (uint64_t i = 0; i < MXP__ARROWS_WAITING + 10; i++) {
        run(source, 1000 + i, 5000 + 50 * i);
    }
    assert_int_equal(append(file, source), 0);
    source = start(1);
    call(source, 900, 99000);
    assert_int_equal(append(file, source), MXP__ARROWS_WAITING);
    char *text = read_file(path, NULL);
    assert_int_equal(count_text(text, "\"ts\":1.009,\"id\""), 0);
    assert_int_equal(count_text(text, "\"ts\":1.010,\"id\""), 1);
    free(text);
    mxp__chrome_file_close(file);
}

// A file size limit stands for a full disk.
static void a_part_that_could_not_be_written_gives_its_arrows_when_it_is(void **state)
{
    (void)state;
    mxp_chrome_file *file = begin_file();
    mxp_source *source = start(0);
    call(source, 100, 200);
    run(source, 1500, 5000);
    assert_int_equal(append(file, source), 0);
    source = start(1);
    call(source, 1000, 9000);
    run(source, 1600, 5100);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {.rlim_cur = mxp__chrome_file_bytes(file) + 10, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int error = mxp__chrome_file_append(file, source);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(error, MXP_EIO);
    assert_int_equal(append(file, source), 2);
    mxp__chrome_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_leads_from_the_push_within_the_call_to_the_run),
        cmocka_unit_test(each_operator_of_a_call_has_one_with_an_id_of_its_own),
        cmocka_unit_test(an_operator_that_starts_with_its_push_has_one),
        cmocka_unit_test(what_a_thread_did_as_it_pushed_it_has_none),
        cmocka_unit_test(there_is_none_without_a_known_push),
        cmocka_unit_test(there_is_none_where_no_call_is_known),
        cmocka_unit_test(there_is_none_where_records_of_the_caller_were_lost),
        cmocka_unit_test(members_of_a_bulk_have_theirs_and_the_bulk_none),
        cmocka_unit_test(an_operator_finds_its_call_in_an_earlier_part),
        cmocka_unit_test(an_operator_waits_for_a_call_that_ends_in_a_later_part),
        cmocka_unit_test(of_too_many_that_wait_the_newest_are_kept),
        cmocka_unit_test(a_part_that_could_not_be_written_gives_its_arrows_when_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
