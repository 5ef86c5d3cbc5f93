// SPDX-License-Identifier: Apache-2.0
// A program that uses ITT as it should not, or at odd moments. Knows nothing of mxprof.
#define pause pause_of_the_system
#include <unistd.h>
#undef pause

#include "itt_static.h"

#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

static void put(domain *in, const char *text)
{
    task_begin(in, none, none, string_handle_create(text));
    task_end(in);
}

static void *begin_only(void *unused)
{
    task_begin(app, none, none, string_handle_create("open at the thread's end"));
    return unused;
}

static void unended(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, begin_only, NULL);
    pthread_join(thread, NULL);
    task_begin(app, none, none, string_handle_create("open at the process's end"));
    task_begin_overlapped(app, (id){1, 0, 0}, none, string_handle_create("overlapped, open"));
}

static void killed(void)
{
    put(app, "before");
    task_begin(app, none, none, string_handle_create("what it was at"));
    raise(SIGKILL);
}

// Handles on no list, ids that end twice, a program started in the middle of a task.
static void strange(void)
{
    static domain unknown = {.flags = 1, .name = "on no list"};
    static string name = {.text = "neither is its name"};
    char *arguments[] = {(char *)"true", NULL}, *environment[] = {NULL};
    pid_t child;
    task_begin(&unknown, none, none, &name);
    posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment);
    waitpid(child, NULL, 0);
    task_end(&unknown);
    task_begin_overlapped(app, (id){5, 0, 0}, none, string_handle_create("twice"));
    task_end_overlapped(app, (id){5, 0, 0});
    task_end_overlapped(app, (id){5, 0, 0});
    pause();
    pause();
    put(app, "paused");
    resume();
    put(app, "resumed");
    resume();
    put(app, "still on");
}

// Texts that lie one after the other at the same address, and one of them elsewhere as well.
static void reused(void)
{
    static const char *const texts[] = {"first", "second", "first and more", "", "first", "second"};
    char place[32];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        snprintf(place, sizeof place, "%s", texts[i]);
        put(app, place);
    }
    put(app, "first");
}

static void closed(void)
{
    void *library = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
    put(app, "before");
    for (int i = 0; i < 3; i++) {
        dlclose(library);  // more often than it was opened
    }
    put(app, "after");
}

static void forked(void)
{
    task_begin(app, none, none, string_handle_create("around the fork"));
    pid_t child = fork();
    put(app, child == 0 ? "in the child" : "in the parent");
    if (child != 0) {
        waitpid(child, NULL, 0);
    }
    task_end(app);
    if (child == 0) {
        exit(0);
    }
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
    (void)number;
    put(app, "in the handler");
    handled++;
}

static void signals(void)
{
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 100000; i++) {
        put(app, "in main");
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

static void at_exit(void)
{
    put(app, "in a handler of exit");
}

static void exits(void)
{
    atexit(at_exit);
    put(app, "before");
}

__attribute__((destructor)) static void in_destructor(void)
{
    if (app != NULL) {
        put(app, "in a destructor");
    }
}

int main(int argc, char **argv)
{
    static const part parts[] = {{"unended", unended}, {"killed", killed}, {"strange", strange},
                                 {"closed", closed},   {"forked", forked}, {"signals", signals},
                                 {"exits", exits},     {"reused", reused}};
    return run_part(parts, sizeof parts / sizeof parts[0], argc > 1 ? argv[1] : NULL);
}
