// SPDX-License-Identifier: Apache-2.0
// A program that does what profilers do not expect, compiled and run by test_harm.py:
// harm_program HOW FOLDER PRECIOUS SPANS CODE. It records half of its spans, does HOW, records the
// rest, and writes a log of its own to PRECIOUS. It ends with CODE.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LINES = 50000, NUMBERS = 1024, TAKEN = 300, OUTPUT_LINES = 1000 };

static mxp_name work;

static void spans(long count)
{
    for (long i = 0; i < count; i++) {
        mxp_span_end(work, mxp_span_begin(work));
    }
}

static void require(bool condition, const char *what)
{
    if (!condition) {
        printf("not so: %s\n", what);
        exit(99);
    }
}

static void leave_the_parent(void)
{
    if (fork() != 0) {
        _exit(0);
    }
}

static void become_a_daemon(const char *pid_file)
{
    leave_the_parent();
    setsid();
    leave_the_parent();
    require(chdir("/") == 0, "chdir");
    FILE *file = fopen(pid_file, "w");
    require(file != NULL, "a pid file");
    fprintf(file, "%d", (int)getpid());
    fclose(file);
}

static void close_all(bool by_range)
{
    if (by_range) {
        require(close_range(3, ~0U, 0) == 0, "close_range");
    }
    for (int i = 3; i < NUMBERS && !by_range; i++) {
        close(i);
    }
}

static void empty_and_remove(const char *folder)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    require(system(command) == 0, "rm");
}

// Under all numbers that may have been another's: a write to any of them is one to the log.
static int open_log(const char *path)
{
    int first = open(path, O_RDWR);
    require(first >= 0 && flock(first, LOCK_EX | LOCK_NB) == 0, "the log is open and locked");
    for (int taken = first; taken < TAKEN;) {
        taken = dup(first);  // the lowest that is free
        require(taken >= 0, "dup");
    }
    return first;
}

static void write_log(int log, long from, long to)
{
    for (long i = from; i < to; i++) {
        char line[64];
        int length = snprintf(line, sizeof line, "line %ld of the log of a program\n", i);
        require(write(log, line, (size_t)length) == length, "write to the log");
    }
}

int main(int count, char **arguments)
{
    require(count == 6, "five arguments");
    const char *how = arguments[1], *folder = arguments[2];
    char pid_file[4200];
    snprintf(pid_file, sizeof pid_file, "%s.pid", arguments[3]);
    long all = atol(arguments[4]);
    work = mxp_span_name("app", "work");
    spans(all / 2);
    if (strcmp(how, "daemon") == 0) {
        become_a_daemon(pid_file);
    }
    if (strcmp(how, "range") == 0 || strcmp(how, "loop") == 0 || strcmp(how, "daemon") == 0) {
        close_all(strcmp(how, "range") == 0);
    }
    if (strcmp(how, "removed") == 0) {
        empty_and_remove(folder);
    }
    int log = open_log(arguments[3]);
    write_log(log, 0, LINES / 2);
    spans(all - all / 2);
    write_log(log, LINES / 2, LINES);
    for (int i = 0; i < OUTPUT_LINES; i++) {
        printf("output %d\n", i);
    }
    return atoi(arguments[5]);
}
