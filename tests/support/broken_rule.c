// SPDX-License-Identifier: Apache-2.0
#include "broken_rule.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"

enum { TEXT_MAX = 4096 };

static void read_to_end(int from, char *text)
{
    size_t length = 0;
    ssize_t more;
    while (length < TEXT_MAX - 1 && (more = read(from, text + length, TEXT_MAX - 1 - length)) > 0) {
        length += (size_t)more;
    }
    text[length] = '\0';
}

static void break_in_child(void (*breaks)(void), const int pipe_ends[2])
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);  // else the test runner's
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    breaks();
    _exit(0);
}

void expect_abort(void (*breaks)(void), const char *rule)
{
    int pipe_ends[2], status;
    char text[TEXT_MAX];
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        break_in_child(breaks, pipe_ends);
    }
    close(pipe_ends[1]);
    read_to_end(pipe_ends[0], text);
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || strstr(text, rule) == NULL) {
        fail_msg("status %x instead of an abort that says\n%s\nbut\n%s", status, rule, text);
    }
}
