// SPDX-License-Identifier: Apache-2.0
// Compiled with -finstrument-functions. Its first argument is the part to run; each calls functions
// a known number of times.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))
#define OWN __attribute__((noinline))

static volatile int sum;

OWN static void leaf(int value)
{
    sum += value;
}

OWN static void twig(int value)
{
    leaf(value);
    leaf(value + 1);
    sum--;
}

OWN static int down(int depth)
{
    int below = depth > 1 ? down(depth - 1) : 0;
    sum++;
    return below + 1;
}

// ---- parts -------------------------------------------------------------------------------------
static void plain(void)
{
    for (int i = 0; i < 1000; i++) {
        twig(i);
    }
}

static void recursion(void)
{
    for (int i = 0; i < 3; i++) {
        if (down(10000) != 10000) {
            exit(3);
        }
    }
}

static void too_deep(void)
{
    down(70000);
    twig(1);
}

static jmp_buf place;

OWN static void jumper(int depth)
{
    if (depth == 0) {
        longjmp(place, 1);
    }
    jumper(depth - 1);
    sum++;
}

static void jumps(void)
{
    for (volatile int i = 0; i < 10; i++) {
        if (setjmp(place) == 0) {
            jumper(3);
        }
        twig(i);
    }
}

// A function that jumps back into itself: its last entry is that of another call.
OWN static int again(int depth)
{
    if (depth == 0) {
        longjmp(place, 1);
    }
    if (depth == 5 && setjmp(place) != 0) {
        return depth;
    }
    int below = again(depth - 1);
    sum++;
    return below;
}

static void jumps_into_itself(void)
{
    for (int i = 0; i < 10; i++) {
        if (again(5) != 5) {
            exit(3);
        }
    }
    twig(1);
}

OWN static void keeps(int number)
{
    if (errno != number) {
        exit(4);
    }
}

OWN static void *keep_errno(void *nothing)
{
    errno = 1234;
    keeps(1234);
    return nothing;
}

static void keeps_errno(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, keep_errno, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        exit(3);
    }
    keep_errno(NULL);
}

OWN static void *call(void *nothing)
{
    for (int i = 0; i < 500; i++) {
        twig(i);
    }
    return nothing;
}

static void threads(void)
{
    pthread_t all[8];
    for (int i = 0; i < 8; i++) {
        if (pthread_create(&all[i], NULL, call, NULL) != 0) {
            exit(3);
        }
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(all[i], NULL);
    }
}

OWN static void in_the_middle(void)
{
    pid_t child = fork();
    int status = 0;
    twig(1);
    if (child != 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        exit(3);
    }
}

static void forks(void)
{
    in_the_middle();
    leaf(1);
}

OWN static void plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "work") : NULL;
    void (*work)(void);
    if (symbol == NULL) {
        exit(3);
    }
    memcpy(&work, &symbol, sizeof work);
    work();
    dlclose(library);
}

OWN static void at_signal(int number)
{
    leaf(number);
}

static void signals(void)
{
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, at_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20000; i++) {
        twig(i);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

// ---- other stacks ------------------------------------------------------------------------------
static ucontext_t outer, inner;
static char stack[65536] __attribute__((aligned(64)));

OWN static void in_context(void)
{
    for (int i = 0; i < 100; i++) {
        twig(i);
        swapcontext(&inner, &outer);
    }
}

OWN static void between(int number)
{
    leaf(number);
    swapcontext(&outer, &inner);
}

static void contexts(void)
{
    getcontext(&inner);
    inner.uc_stack.ss_sp = stack;
    inner.uc_stack.ss_size = sizeof stack;
    inner.uc_link = &outer;
    makecontext(&inner, in_context, 0);
    for (int i = 0; i < 100; i++) {
        between(i);
    }
}

// The handler's stack lies above the thread's.
OWN static void *take_signals(void *above)
{
    const stack_t other = {.ss_sp = above, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    for (int i = 0; i < 1000; i++) {
        twig(i);
        raise(SIGUSR1);
    }
    return NULL;
}

static void signals_on_their_own_stack(void)
{
    char above[sizeof stack];
    const struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_ONSTACK};
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&thread, NULL, take_signals, above) != 0 ||
        pthread_join(thread, NULL) != 0) {
        exit(3);
    }
}

static void is_killed(void)
{
    plain();
    raise(SIGKILL);
}

// Counts in a file of its folder how many calls have returned.
static void counts_for_ever(void)
{
    const int fd = open("returned", O_RDWR | O_CREAT, 0600);
    volatile uint64_t *returned = MAP_FAILED;
    if (fd < 0 || ftruncate(fd, 4096) != 0 ||
        (returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        exit(3);
    }
    for (int i = 0;; i++) {
        leaf(i);
        ++*returned;
    }
}

OWN static void early(void)
{
    sum++;
}

OWN static void late(void)
{
    sum++;
}

__attribute__((constructor)) static void before_main(void)
{
    early();
}

__attribute__((destructor)) static void after_exit(void)
{
    late();
}

HIDDEN int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"plain", plain},
                 {"recursion", recursion},
                 {"too deep", too_deep},
                 {"jumps", jumps},
                 {"jumps into itself", jumps_into_itself},
                 {"errno", keeps_errno},
                 {"threads", threads},
                 {"forks", forks},
                 {"signals", signals},
                 {"contexts", contexts},
                 {"signals on their own stack", signals_on_their_own_stack},
                 {"counts for ever", counts_for_ever},
                 {"is killed", is_killed}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (count == 2 && strcmp(parts[i].name, arguments[1]) == 0) {
            parts[i].run();
        }
    }
    for (int i = 2; i < count; i++) {
        plugin(arguments[i]);
    }
    return 0;
}
