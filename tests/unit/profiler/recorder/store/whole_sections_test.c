// SPDX-License-Identifier: Apache-2.0
// A process may be killed after any instruction: the sections of its recording file are a chain
// even so. The recording process goes from one chunk of a ring to the next, one instruction after
// the other, and after each of them another process looks at the file.
#include "cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/format.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <mxprof/record_inline.h>

enum { RING_BYTES = 1 << 20, SPANS = 400000, LAST_SPANS = 1, STEPS_AFTER = 1000 };

static const char path[] = "whole.mxp";

// ---- the process that records ------------------------------------------------------------------
// The next record does not fit into the chunk.
static int is_before_the_next_chunk(void)
{
    const uint64_t *cursor = mxp_atomic_own(&mxp_self->cursor);
    const uint64_t *limit = mxp_atomic_load(&mxp_self->limit);
    return limit != NULL && limit - cursor < 2 * LAST_SPANS;
}

static void record_into_a_ring(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.native_filename = path;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = RING_BYTES;
    config.continuous_dump = 0;
    mxp_session *session = mxp_session_get();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(2);
    }
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        _exit(3);
    }
    mxp_name name = mxp_span_name("test", "a");
    for (int i = 0; i < SPANS || !is_before_the_next_chunk(); i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    raise(SIGSTOP);
    for (int i = 0; i < LAST_SPANS + 1; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    raise(SIGSTOP);
    _exit(0);
}

// ---- the one that looks ------------------------------------------------------------------------
typedef struct shown_file {
    const char *base;
    size_t size_bytes;
    size_t end;  // of the chain
    uint32_t newest;  // sequence of the newest chunk
} shown_file;

static shown_file map_file(void)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    shown_file shown = {.size_bytes = (size_t)lseek(file, 0, SEEK_END)};
    void *base = mmap(NULL, shown.size_bytes, PROT_READ, MAP_SHARED, file, 0);
    assert_true(base != MAP_FAILED);
    close(file);
    shown.base = base;
    return shown;
}

static void assert_chain(shown_file *shown)
{
    size_t at = ((const mxp_file_header *)shown->base)->header_bytes;
    uint32_t newest = 0;
    while (at + sizeof(mxp_section) <= shown->size_bytes) {
        const mxp_section *section = (const mxp_section *)(shown->base + at);
        if (section->magic == 0 && section->length_bytes == 0) {
            break;  // the room ahead
        }
        assert_int_equal(section->magic, MXP_SECTION_MAGIC);
        assert_in_range(section->length_bytes, sizeof *section, shown->size_bytes - at);
        uint32_t sequence = section->type == MXP_SECTION_CHUNK
                                ? ((const mxp_chunk_header *)section)->sequence
                                : MXP_SEQUENCE_STANDING;
        newest = sequence != MXP_SEQUENCE_STANDING && sequence > newest ? sequence : newest;
        at += section->length_bytes;
    }
    assert_true(at >= shown->end);
    shown->end = at;
    shown->newest = newest;
}

static bool single_step(pid_t child)
{
    int status;
    assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    return WSTOPSIG(status) == SIGTRAP;
}

static void sections_are_whole_after_every_instruction(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();  // twenty times as many instructions
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        record_into_a_ring();
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        skip();  // nobody may trace here
    }
    assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    shown_file shown = map_file();
    assert_chain(&shown);
    uint32_t before = shown.newest;
    uint64_t steps = 0;
    for (int more = STEPS_AFTER; more > 0 && single_step(child); more -= shown.newest > before) {
        assert_chain(&shown);
        steps++;
    }
    print_message("%llu instructions\n", (unsigned long long)steps);
    assert_true(before > RING_BYTES / MXP_CHUNK_BYTES);  // the ring is used again
    assert_int_equal(shown.newest, before + 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    munmap((void *)(uintptr_t)shown.base, shown.size_bytes);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_whole_after_every_instruction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
