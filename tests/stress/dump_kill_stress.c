// SPDX-License-Identifier: Apache-2.0
// A process that records is killed in the middle of a dump, at every place where a file changes:
// before it, or when a write has got as far as any byte of it. What was under the native file's
// name still is, or the new file is there whole, or what was added is damaged at its end and
// said to be; it can be exported again. The JSON of a dump before stays or is replaced by a whole
// one; only what is added to a file can be cut short in it. 20 deaths a case, or 200 with
// MXPROF_TEST_LONG=1.
#include "cmocka_all.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>

#include "base/os/os.h"
#include "export_text.h"
#include "numbered.h"
#include "random.h"
#include "stress_time.h"

enum { QUOTA = 1000 };  // numbers a thread before each dump, and again while the last one continues

static const char native_path[] = "dumped.mxp", json_path[] = "dumped.json";

typedef enum stage { STAGE_NONE, STAGE_JSON, STAGE_NATIVE, STAGE_COUNT } stage;

// What the process tells that dies, and what it is told.
typedef struct dump_page {
    numbered_page numbered;  // must stay first
    uint64_t asked[NUMBERED_THREADS];  // had returned when the last dump was begun
    uint64_t steps[STAGE_COUNT];  // changes of files in it so far
    uint64_t fatal_stage, fatal_step;  // where it dies
    uint64_t fatal_bytes;  // how much of that write is done
    uint64_t done;  // it has returned
    uint64_t stage;  // where it has died
} dump_page;

// What a good dump before has left under the names.
typedef struct good_files {
    uint32_t pid;
    uint64_t last[NUMBERED_THREADS];
} good_files;

typedef struct dump_case {
    const char *name;
    int store;
    bool ring, again;  // again: the second dump into its files
} dump_case;

static dump_page *page;
static __thread bool in_dump;  // what recording threads do to a file is no step

// ---- dying at a step ---------------------------------------------------------------------------
// These come before the C library's: what the dump writes passes here.
static bool is_fatal(stage where)
{
    return in_dump && ++page->steps[where] == page->fatal_step && where == page->fatal_stage;
}

static void die(stage where)
{
    page->stage = where;
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

static stage stage_of_path(const char *path)
{
    return strstr(path, native_path) != NULL ? STAGE_NATIVE : STAGE_JSON;
}

static stage stage_of(int fd)
{
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, path, sizeof path - 1) > 0 ? stage_of_path(path) : STAGE_JSON;
}

// What lies in one page is written as a whole or not at all.
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    stage where = stage_of(fd);
    if (is_fatal(where)) {
        size_t part = size > sizeof(uint32_t) ? page->fatal_bytes % (size + 1) : 0;
        syscall(SYS_pwrite64, fd, data, part, offset);
        die(where);
    }
    return syscall(SYS_pwrite64, fd, data, size, offset);
}

// A part of what the vectors hold, at `offset`; below 0: where the file stands.
static void write_some(int fd, const struct iovec *vectors, int count, off_t offset)
{
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        size += vectors[i].iov_len;
    }
    size_t left = page->fatal_bytes % (size + 1);
    for (int i = 0; i < count && left > 0; i++) {
        size_t part = left < vectors[i].iov_len ? left : vectors[i].iov_len;
        if (offset < 0) {
            syscall(SYS_write, fd, vectors[i].iov_base, part);
        } else {
            syscall(SYS_pwrite64, fd, vectors[i].iov_base, part, offset);
            offset += (off_t)part;
        }
        left -= part;
    }
}

ssize_t writev(int fd, const struct iovec *vectors, int count)
{
    stage where = stage_of(fd);
    if (is_fatal(where)) {
        write_some(fd, vectors, count, -1);
        die(where);
    }
    return syscall(SYS_writev, fd, vectors, count);
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset)
{
    stage where = stage_of(fd);
    if (is_fatal(where)) {
        write_some(fd, vectors, count, offset);
        die(where);
    }
    return syscall(SYS_pwritev, fd, vectors, count, offset, 0);
}

int ftruncate(int fd, off_t size)
{
    stage where = stage_of(fd);
    if (is_fatal(where)) {
        die(where);
    }
    return (int)syscall(SYS_ftruncate, fd, size);
}

int rename(const char *from, const char *to)
{
    stage where = stage_of_path(to);
    if (is_fatal(where)) {
        die(where);
    }
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 0);
}

// ---- the process that dies ---------------------------------------------------------------------
static void *record(void *thread)
{
    numbered_record(&page->numbered, (uintptr_t)thread);
    return NULL;
}

static mxp_session *run(const dump_case *how)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = how->store;
    if (how->ring) {
        config.full_policy = MXP_FULL_RING;
        config.memory_limit_bytes = 4 << 20;
    }
    config.filename = json_path;
    config.native_filename = native_path;
    config.dump_period_s = 1e10;
    mxp_session *session = mxp_session_get();
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        _exit(3);
    }
    return session;
}

static void record_some(void)
{
    uint64_t quota = __atomic_add_fetch(&page->numbered.quota, QUOTA, __ATOMIC_RELAXED);
    for (size_t i = 0; i < NUMBERED_THREADS; i++) {
        while (__atomic_load_n(&page->numbered.returned[i], __ATOMIC_ACQUIRE) < quota) {
            mxp__os_sleep_us(100);
        }
    }
}

static void dump_and_die(const dump_case *how)
{
    mxp_session *session = run(how);
    pthread_t threads[NUMBERED_THREADS];
    for (uintptr_t i = 0; i < NUMBERED_THREADS; i++) {
        pthread_create(&threads[i], NULL, record, (void *)i);
    }
    record_some();
    if (how->again) {
        if (mxp_session_dump(session, 0) != 0) {
            _exit(3);
        }
        record_some();
    }
    memcpy(page->asked, page->numbered.returned, sizeof page->asked);
    __atomic_add_fetch(&page->numbered.quota, QUOTA, __ATOMIC_RELAXED);
    in_dump = true;
    if (mxp_session_dump(session, 1) != 0) {
        _exit(3);
    }
    in_dump = false;
    page->done = 1;
    die(STAGE_NONE);
}

// ---- the one that reads ------------------------------------------------------------------------
static bool reaches(const numbered_file *found, const uint64_t *numbers)
{
    bool all = true;
    for (size_t i = 0; i < NUMBERED_THREADS; i++) {
        all = all && found->last[i] >= numbers[i];
    }
    return all;
}

static void check_export(mxp_source *source, const numbered_file *found, bool ring, bool parse)
{
    char *text = export_text("chrome", source, NULL);
    for (size_t i = 0; i < NUMBERED_THREADS && !ring; i++) {
        char name[32];
        snprintf(name, sizeof name, "\"name\":\"count %zu\"", i);
        assert_int_equal(count_text(text, name), found->last[i]);
    }
    if (parse) {
        assert_json(text, strlen(text));
    }
    free(text);
}

// What was added may be cut short, and is said to be; all else is whole, the old or the new.
static void check_numbers(const dump_case *how, const numbered_file *found, bool is_new,
                          const good_files *good)
{
    static const uint64_t first_dump[NUMBERED_THREADS] = {QUOTA, QUOTA, QUOTA};
    bool is_file = how->store == MXP_STORE_FILE;
    bool damaged = found->damage[0] != '\0';
    if (is_file || !how->again || page->stage != STAGE_NATIVE) {
        assert_string_equal(found->damage, "");
    }
    if (!is_new) {
        assert_true(!is_file && !how->again && !page->done);
        assert_int_equal(found->pid, good->pid);
        assert_memory_equal(found->last, good->last, sizeof good->last);
    } else if (is_file || page->done || !how->again) {
        assert_true(reaches(found, page->asked));
    } else if (damaged) {
        assert_true(reaches(found, first_dump));
    } else {
        assert_true(memcmp(found->last, first_dump, sizeof first_dump) == 0 ||
                    reaches(found, page->asked));
    }
    if (is_file && page->stage == STAGE_JSON) {  // it is still being recorded into
        assert_true(reaches(found, page->numbered.returned));
    }
}

// `at` says where: its fatal_stage, fatal_step and fatal_bytes.
static stage die_once(const dump_case *how, const dump_page *at, good_files *good, bool parse)
{
    *page = *at;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dump_and_die(how);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(page->done || page->stage != STAGE_NONE);
    numbered_file found;
    mxp_source *source = numbered_open(native_path, how->ring, &found);
    check_numbers(how, &found, found.pid == (uint32_t)child, good);
    check_export(source, &found, how->ring, parse);
    mxp__source_close(source);
    if (parse && (!how->again || page->stage != STAGE_JSON)) {
        assert_json_file(json_path);
    }
    good->pid = found.pid;
    memcpy(good->last, found.last, sizeof good->last);
    return (stage)page->stage;
}

static void die_often(const dump_case *how)
{
    good_files good = {0};
    unlink(native_path);
    unlink(json_path);
    assert_int_equal(die_once(how, &(dump_page){0}, &good, true), STAGE_NONE);
    uint64_t seed = 21, steps[STAGE_COUNT];
    memcpy(steps, page->steps, sizeof steps);
    size_t deaths = stress_is_long() ? 200 : 20;
    size_t died[STAGE_COUNT] = {0};
    for (size_t i = 0; i < deaths; i++) {  // both files in turn, and every part of each
        uint64_t where = i % 2 == 0 ? STAGE_NATIVE : STAGE_JSON, all = steps[where];
        uint64_t step = 1 + i * all / deaths + random_below(&seed, 1 + all / deaths);
        dump_page at = {
            .fatal_stage = where, .fatal_step = step, .fatal_bytes = random_next(&seed)};
        died[die_once(how, &at, &good, i % 5 == 0)]++;
    }
    print_message("%s: %d steps of the JSON and %d of the native file, %zu and %zu deaths\n",
                  how->name, (int)steps[STAGE_JSON], (int)steps[STAGE_NATIVE], died[STAGE_JSON],
                  died[STAGE_NATIVE]);
    assert_true(died[STAGE_JSON] > 0 && died[STAGE_NATIVE] > 0);
}

static void killed_in_a_dump_the_native_file_exports_again(void **state)
{
    (void)state;
    static const dump_case cases[] = {
        {"memory, first dump", MXP_STORE_MEMORY, false, false},
        {"memory, second dump", MXP_STORE_MEMORY, false, true},
        {"memory ring", MXP_STORE_MEMORY, true, false},
        {"file, first dump", MXP_STORE_FILE, false, false},
        {"file, second dump", MXP_STORE_FILE, false, true},
        {"file ring", MXP_STORE_FILE, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        die_often(&cases[i]);
    }
}

int main(void)
{
    page = shared_page(sizeof *page);
    if (page == NULL) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_in_a_dump_the_native_file_exports_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
