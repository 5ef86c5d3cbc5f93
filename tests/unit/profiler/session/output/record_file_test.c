// SPDX-License-Identifier: Apache-2.0
// Store "file": what is in the file while it is written, at its end, on a full disk, in a child.
// posix_fallocate is ours here, with as much disk as a test gives it.
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/file/section.h"
#include "relay.h"

static const char path[] = "store.mxp";
static mxp_session *session;
static mxp_name name_a;

// ---- a disk of our own -------------------------------------------------------------------------
static uint64_t disk_bytes = UINT64_MAX;
static bool reserves_nothing;

int posix_fallocate(int fd, off_t offset, off_t length)
{
    if (reserves_nothing) {
        return EOPNOTSUPP;
    }
    if ((uint64_t)(offset + length) > disk_bytes) {
        return ENOSPC;
    }
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size < offset + length) {
        return ftruncate(fd, offset + length) == 0 ? 0 : errno;
    }
    return 0;
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct content {
    uint64_t spans, open, lost;
    uint32_t threads;
    bool finished;
} content;

static uint64_t count_spans(mxp_source *source, const char *wanted, content *found)
{
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        mxp_decoder decoder;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        mxp_event event;
        int more;
        while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
            bool ours = event.kind == MXP_KIND_SPAN &&
                        strcmp(source->name(source, event.name).text, wanted) == 0;
            found->spans += ours;
            found->open += ours && (event.flags & MXP_SPAN_OPEN_AT_CRASH) != 0;
        }
        assert_int_equal(more, 0);
    }
    return found->spans;
}

static content read_file(const char *file, const char *name)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(file, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    content found = {.threads = source->thread_count, .finished = true};
    count_spans(source, name, &found);
    for (size_t i = 0; i < source->loss_count; i++) {
        found.lost += source->losses[i].count;
    }
    for (size_t i = 0; i < source->info_count; i++) {
        found.finished = found.finished && strcmp(source->info[i].key, "unfinished") != 0;
    }
    mxp__source_close(source);
    return found;
}

// Losses of before this test stay counted.
static uint64_t lost_so_far(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    return report.lost;
}

// ---- recording ---------------------------------------------------------------------------------
static void spans(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
}

static int configure(const char *file, int store, uint64_t limit_bytes)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.filename = "store.json";
    config.native_filename = file;
    config.continuous_dump = 0;
    config.memory_limit_bytes = limit_bytes;
    return mxp_session_configure(session, &config);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    name_a = mxp_span_name("test", "a");
    disk_bytes = UINT64_MAX;
    unlink(path);
    return configure(path, MXP_STORE_FILE, UINT64_C(256) << 20);
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    return 0;
}

// ---- tests -------------------------------------------------------------------------------------
// Must be the first test: both are found out once in a process.
static void cost_and_program_are_in_the_file_from_its_begin(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    mxp_source *source;
    assert_int_equal(mxp__native_open(path, &source, NULL), 0);
    const char *cost = mxp__source_info(source, "record_cost_ns");
    const char *command = mxp__source_info(source, "command");
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    assert_true(report.record_cost_ns > 0 && report.has_file == 1);
    double ratio = strtod(cost, NULL) / report.record_cost_ns;
    assert_true(ratio > 0.9 && ratio < 1.1);  // the clock's rate is known better by now
    assert_non_null(strstr(command, "record_file_test"));
    mxp__source_close(source);
}

static void records_are_in_the_file_before_any_dump(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(10000);
    uint64_t open = mxp_span_begin(name_a);
    content found = read_file(path, "a");
    assert_int_equal(found.spans, 10001);
    assert_int_equal(found.open, 1);
    assert_false(found.finished);
    mxp_span_end(name_a, open);
    found = read_file(path, "a");
    assert_int_equal(found.spans, 10001);
    assert_int_equal(found.open, 0);
}

// The file's sections without the space that is reserved after them.
static size_t read_sections(char *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    const size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    assert_true(size < capacity);
    mxp_file_header header;
    memcpy(&header, bytes, sizeof header);
    size_t at = header.header_bytes;
    for (mxp_section section; at < size; at += section.length_bytes) {
        memcpy(&section, bytes + at, sizeof section);
        if (section.magic == 0) {
            break;
        }
    }
    return at;
}

// Where no space was left after the sections, a process that dies while it writes the tables that
// finish the file leaves any number of their bytes, the first four of them zeros.
static void a_file_that_ends_in_the_begin_of_its_tables_is_no_damaged_one(void **state)
{
    (void)state;
    enum { CAPACITY = 16 << 20 };
    char *bytes = calloc(CAPACITY, 1);
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    const size_t size = read_sections(bytes, CAPACITY);
    memset(bytes + size + 4, 1, sizeof(mxp_section));
    for (size_t more = 0; more <= sizeof(mxp_section) + 4; more++) {
        FILE *file = fopen("cut.mxp", "wb");
        assert_int_equal(fwrite(bytes, 1, size + more, file), size + more);
        fclose(file);
        const content found = read_file("cut.mxp", "a");
        assert_int_equal(found.spans, 100);
        assert_false(found.finished);
    }
    unlink("cut.mxp");
    free(bytes);
}

static void a_finishing_dump_completes_the_file(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(10000);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(stat(path, &after), 0);
    content found = read_file(path, "a");
    assert_int_equal(found.spans, 10000);
    assert_true(found.finished);
    assert_true(after.st_size < before.st_size);  // reserved room is given back
}

static void what_follows_a_finishing_dump_is_in_the_next_file(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(10);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    spans(20);  // still running: in memory
    assert_int_equal(mxp_session_run(session), 0);
    spans(12000);
    assert_int_equal(read_file(path, "a").spans, 12020);
}

static void another_name_finishes_the_file_and_begins_the_next(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    assert_int_equal(configure("other.mxp", MXP_STORE_FILE, UINT64_C(256) << 20), 0);
    spans(200);
    content first = read_file(path, "a");
    assert_int_equal(first.spans, 100);
    assert_true(first.finished);
    content second = read_file("other.mxp", "a");
    assert_int_equal(second.spans, 200);
}

// "folder/../x" is x: the file continues.
static void another_spelling_of_the_name_is_the_same_file(void **state)
{
    (void)state;
    mkdir("spelling", 0700);
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    assert_int_equal(configure("spelling/../store.mxp", MXP_STORE_FILE, UINT64_C(256) << 20), 0);
    spans(200);
    assert_int_equal(read_file(path, "a").spans, 300);
    rmdir("spelling");
}

static void *spans_of_a_thread(void *nothing)
{
    spans(5);
    return nothing;
}

// Also what was recorded in memory before the first, on threads that stay and on threads that go.
static void each_record_is_in_one_of_the_files(void **state)
{
    (void)state;
    static const char *const files[] = {"one.mxp", "two.mxp", "three.mxp"};
    assert_int_equal(configure("none.mxp", MXP_STORE_MEMORY, 1 << 30), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(10);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(configure(files[i], MXP_STORE_FILE, 1 << 30), 0);
        assert_int_equal(mxp_session_run(session), 0);
        spans(100);
        pthread_t thread;
        pthread_create(&thread, NULL, spans_of_a_thread, NULL);
        pthread_join(thread, NULL);
    }
    assert_int_equal(configure("last.mxp", MXP_STORE_MEMORY, 1 << 30), 0);
    assert_int_equal(read_file(files[0], "a").spans, 115);
    assert_int_equal(read_file(files[1], "a").spans, 105);
    assert_int_equal(read_file(files[2], "a").spans, 105);
    for (size_t i = 0; i < 3; i++) {
        unlink(files[i]);
    }
}

static void a_dump_from_memory_leaves_out_what_a_file_has(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(configure("next.mxp", MXP_STORE_MEMORY, 1 << 30), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(5);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(read_file(path, "a").spans, 100);
    assert_int_equal(read_file("next.mxp", "a").spans, 5);
    unlink("next.mxp");
}

static void names_of_before_and_after_are_known(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    mxp_name late = mxp_span_name("test", "a name that did not exist when the file began");
    mxp_span_end(late, mxp_span_begin(late));
    char *huge = malloc(300001);
    memset(huge, 'x', 300000);
    huge[300000] = 0;
    mxp_name long_one = mxp_span_name("test", huge);
    mxp_span_end(long_one, mxp_span_begin(long_one));
    mxp_name last = mxp_span_name("test", "and one behind it");
    mxp_span_end(last, mxp_span_begin(last));
    assert_int_equal(read_file(path, "a name that did not exist when the file began").spans, 1);
    assert_int_equal(read_file(path, huge).spans, 1);
    assert_int_equal(read_file(path, "and one behind it").spans, 1);
    free(huge);
}

static void *three_spans(void *nothing)
{
    spans(3);
    return nothing;
}

static void threads_that_come_and_go_leave_their_records(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, three_spans, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(read_file(path, "a").spans, 600);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(read_file(path, "a").spans, 600);
}

// ---- disks -------------------------------------------------------------------------------------
static void a_full_disk_is_counted(void **state)
{
    (void)state;
    disk_bytes = 1 << 20;
    uint64_t before = lost_so_far();
    assert_int_equal(mxp_session_run(session), 0);
    enum { COUNT = 200000 };
    spans(COUNT);
    content found = read_file(path, "a");
    assert_true(found.spans > 1000 && found.spans < COUNT);
    assert_int_equal(found.spans + found.lost - before, COUNT);
}

static uint64_t lines_with(const char *file, const char *text)
{
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    uint64_t count = 0;
    char line[512];
    while (fgets(line, sizeof line, stream) != NULL) {
        count += strstr(line, text) != NULL;
    }
    fclose(stream);
    return count;
}

// The thread that looks after the file tells it, or who ends the file: whoever comes first.
static void a_full_disk_is_told_once(void **state)
{
    (void)state;
    static const char line[] = "/store.mxp' cannot grow: No space left on device";
    const int before = dup(STDERR_FILENO);
    const int said = open("said.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    disk_bytes = 1 << 20;
    assert_int_equal(mxp_session_run(session), 0);
    dup2(said, STDERR_FILENO);
    spans(100);
    const uint64_t early = lines_with("said.txt", line);
    spans(200000);
    const int error = mxp_session_dump(session, 1);
    dup2(before, STDERR_FILENO);
    close(before);
    close(said);
    assert_int_equal(error, 0);
    assert_int_equal(early, 0);
    assert_int_equal(lines_with("said.txt", line), 1);
    unlink("said.txt");
}

static void what_the_file_has_no_room_for_is_in_the_trace(void **state)
{
    (void)state;
    enum { LIMIT_BYTES = 16 << 20, COUNT = 200000 };
    uint64_t lost = lost_so_far();
    assert_int_equal(configure(path, MXP_STORE_MEMORY, LIMIT_BYTES), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(COUNT);
    assert_int_equal(configure(path, MXP_STORE_FILE, LIMIT_BYTES / 8), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "no room for what was recorded before"));
    assert_int_equal(lost_so_far(), lost);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(lines_with("store.json", "\"name\":\"a\""), COUNT);
}

static void file_systems_that_reserve_nothing_get_zeros(void **state)
{
    (void)state;
    reserves_nothing = true;
    assert_int_equal(mxp_session_run(session), 0);
    spans(200000);  // several steps of room
    assert_int_equal(read_file(path, "a").spans, 200000);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(read_file(path, "a").spans, 200000);
    reserves_nothing = false;
}

static void a_limit_on_files_is_no_signal(void **state)
{
    (void)state;
    uint64_t before = lost_so_far();
    struct rlimit limit, small = {.rlim_cur = 1 << 20};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small.rlim_max = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(200000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    content found = read_file(path, "a");
    assert_int_equal(found.spans + found.lost - before, 200000);
}

static void the_cap_is_kept(void **state)
{
    (void)state;
    assert_int_equal(configure(path, MXP_STORE_FILE, 2 << 20), 0);
    uint64_t before = lost_so_far();
    assert_int_equal(mxp_session_run(session), 0);
    spans(300000);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size <= 2 << 20);
    content found = read_file(path, "a");
    assert_int_equal(found.spans + found.lost - before, 300000);
}

static void without_a_file_recording_goes_on_in_memory(void **state)
{
    (void)state;
    disk_bytes = 0;
    assert_int_equal(mxp_session_run(session), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "in memory"));
    assert_int_equal(access(path, F_OK), -1);
    spans(1000);
    disk_bytes = UINT64_MAX;
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(read_file(path, "a").spans, 1000);
    mxp_session_stop(session);
    assert_int_equal(configure("missing/store.mxp", MXP_STORE_FILE, UINT64_C(256) << 20), 0);
    assert_int_equal(mxp_session_run(session), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "missing/store.mxp"));
    assert_int_equal(configure(path, MXP_STORE_FILE, UINT64_C(256) << 20), 0);
}

// ---- processes ---------------------------------------------------------------------------------
static void a_child_records_into_its_own_file(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    uint64_t open = mxp_span_begin(name_a);
    pid_t child = fork();
    if (child == 0) {
        spans(50);
        _exit(0);
    }
    mxp_span_end(name_a, open);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char own[64];
    snprintf(own, sizeof own, "store.%d.mxp", (int)child);
    content of_child = read_file(own, "a");
    assert_int_equal(of_child.spans, 50);
    assert_int_equal(of_child.open, 0);
    assert_int_equal(read_file(path, "a").spans, 101);
    unlink(own);
}

static void a_file_that_is_being_recorded_is_not_taken(void **state)
{
    (void)state;
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    pid_t child = fork();
    if (child == 0) {
        configure(path, MXP_STORE_FILE, UINT64_C(256) << 20);
        mxp_session_stop(session);
        bool refused = mxp_session_run(session) == MXP_EIO &&
                       strstr(mxp_last_error(), "another recording") != NULL;
        _exit(refused ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read_file(path, "a").spans, 100);
    char own[64];
    snprintf(own, sizeof own, "store.%d.mxp", (int)child);
    unlink(own);
}

// ---- threads, for the sanitizers ---------------------------------------------------------------
static int turn;

static void configure_ring(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.full_policy = MXP_FULL_RING;
    config.native_filename = path;
    config.continuous_dump = 0;
    config.memory_limit_bytes = 4 << 20;
    assert_int_equal(mxp_session_configure(session, &config), 0);
}

static void *record_in_turns(void *nothing)
{
    spans(10000);  // into chunks of the file
    relay_pass(&turn, 1);
    relay_wait(&turn, 2);
    spans(1);
    return nothing;
}

static void a_thread_goes_on_when_the_file_of_a_ring_has_ended(void **state)
{
    (void)state;
    configure_ring();
    assert_int_equal(mxp_session_run(session), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_in_turns, NULL), 0);
    relay_wait(&turn, 1);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    relay_pass(&turn, 2);
    pthread_join(thread, NULL);
    assert_int_equal(mxp_session_run(session), 0);  // with a file that takes over what is in memory
    assert_int_equal(read_file(path, "a").spans, 1);
}

static void *record_until_told(void *task)
{
    while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) {
        spans(10);
        mxp_duration_start(task);
        mxp_duration_stop(task);
    }
    return NULL;
}

static void files_of_rings_come_and_go_beside_recording(void **state)
{
    (void)state;
    mxp_handle domain, task;
    assert_int_equal(mxp_domain_create("test", &domain), 0);
    assert_int_equal(mxp_task_create(domain, "task", &task), 0);
    configure_ring();
    turn = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_until_told, task), 0);
    for (int i = 0; i < 100; i++) {
        // A file that begins may be too small for all that was recorded since the last one ended.
        if (mxp_session_run(session) != 0) {
            assert_non_null(strstr(mxp_last_error(), "no room"));
        }
        mxp__os_sleep_us(1000);
        assert_int_equal(mxp_session_dump(session, 1), 0);
    }
    __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_int_equal(mxp_object_destroy(task), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(cost_and_program_are_in_the_file_from_its_begin),
        TEST(records_are_in_the_file_before_any_dump),
        TEST(a_file_that_ends_in_the_begin_of_its_tables_is_no_damaged_one),
        TEST(a_finishing_dump_completes_the_file),
        TEST(what_follows_a_finishing_dump_is_in_the_next_file),
        TEST(another_name_finishes_the_file_and_begins_the_next),
        TEST(another_spelling_of_the_name_is_the_same_file),
        TEST(each_record_is_in_one_of_the_files),
        TEST(a_dump_from_memory_leaves_out_what_a_file_has),
        TEST(names_of_before_and_after_are_known),
        TEST(threads_that_come_and_go_leave_their_records),
        TEST(a_full_disk_is_counted),
        TEST(a_full_disk_is_told_once),
        TEST(what_the_file_has_no_room_for_is_in_the_trace),
        TEST(file_systems_that_reserve_nothing_get_zeros),
        TEST(a_limit_on_files_is_no_signal),
        TEST(the_cap_is_kept),
        TEST(without_a_file_recording_goes_on_in_memory),
        TEST(a_child_records_into_its_own_file),
        TEST(a_file_that_is_being_recorded_is_not_taken),
        TEST(a_thread_goes_on_when_the_file_of_a_ring_has_ended),
        TEST(files_of_rings_come_and_go_beside_recording),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
