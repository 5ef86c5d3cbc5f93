// SPDX-License-Identifier: Apache-2.0
// A program that does what few do, compiled and run by test_run_odd.py: odd_program HOW [ARGUMENT].
// It records spans named "work" and writes how many of them have ended to the shared page ARGUMENT.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 12, FILE_BYTES = 100 };

static mxp_name work, around;

static void spans(int count)
{
    for (int i = 0; i < count; i++) {
        mxp_span_end(work, mxp_span_begin(work));
    }
}

// Closes all descriptors, and has files of its own under their numbers while it records on.
static void closes_all(void)
{
    int files[FILES];
    char text[FILE_BYTES], name[16];
    spans(1000);
    for (int number = 3; number < 1024; number++) {
        close(number);
    }
    memset(text, 'x', sizeof text);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "own%d", i);
        files[i] = open(name, O_CREAT | O_RDWR, 0600);
        if (write(files[i], text, sizeof text) != sizeof text) {
            exit(99);
        }
    }
    spans(600000);
    for (int i = 0; i < FILES; i++) {
        close(files[i]);
    }
}

static void forks_within_a_span(void)
{
    const uint64_t token = mxp_span_begin(around);
    spans(10);
    const pid_t child = fork();
    spans(5);
    mxp_span_end(around, token);
    spans(5);
    if (child == 0) {
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void *leaves_spans_open(void *unused)
{
    (void)unused;
    spans(10);
    mxp_span_begin(around);
    mxp_span_begin(around);
    return NULL;
}

static void thread_with_open_spans(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, leaves_spans_open, NULL);
    pthread_join(thread, NULL);
    spans(10);
}

// Which lives until there is a file "end", or for half a minute, and leaves a file "ended".
static void becomes_a_daemon(void)
{
    spans(10);
    if (fork() != 0) {
        return;
    }
    setsid();
    close(0), close(1), close(2);
    spans(30);
    for (int i = 0; i < 3000 && access("end", F_OK) != 0; i++) {
        usleep(10000);
    }
    close(open("ended", O_CREAT | O_WRONLY, 0666));
    _exit(0);
}

// Has no memory for the first record, nor for any other.
static void starves(void)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){0, RLIM_INFINITY});
    spans(10);
}

// Until it is killed.
static void counts(const char *file)
{
    volatile uint64_t *ended =
        mmap(NULL, sizeof *ended, PROT_READ | PROT_WRITE, MAP_SHARED, open(file, O_RDWR), 0);
    for (;;) {
        spans(1);
        ++*ended;
    }
}

static int does(const char *how, char **arguments)
{
    if (strcmp(how, "closes") == 0) {
        closes_all();
    } else if (strcmp(how, "forks") == 0) {
        forks_within_a_span();
    } else if (strcmp(how, "thread") == 0) {
        thread_with_open_spans();
    } else if (strcmp(how, "daemon") == 0) {
        becomes_a_daemon();
    } else if (strcmp(how, "starves") == 0) {
        starves();
    } else if (strcmp(how, "counts") == 0) {
        counts(arguments[2]);
    } else if (strcmp(how, "spans") == 0) {
        spans(arguments[2] != NULL ? atoi(arguments[2]) : 10);
    } else if (strcmp(how, "exits") == 0) {
        mxp_span_begin(around);
        spans(10);
        _exit(atoi(arguments[2]));
    } else if (strcmp(how, "anew") == 0) {
        spans(10);
        execl("/proc/self/exe", "odd", "spans", "20", (char *)NULL);
    } else if (strcmp(how, "clears") == 0) {
        unsetenv("LD_PRELOAD");
        execv(arguments[2], arguments + 2);
    }
    return 0;
}

int main(int count, char **arguments)
{
    work = mxp_span_name("odd", "work");
    around = mxp_span_name("odd", "around");
    printf("output\n");
    fflush(stdout);
    return count > 1 ? does(arguments[1], arguments) : 0;
}
