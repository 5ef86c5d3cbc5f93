// SPDX-License-Identifier: Apache-2.0
// The program of function_claims.py, compiled with -finstrument-functions: functions_loop NUMBER
// calls fib(NUMBER) three times and prints its calls and the least CPU time of one, as JSON. What
// is preloaded takes the hooks; without, they are libc's empty ones. It links nothing of ours.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))

static uint64_t calls;

static unsigned fib(unsigned number)
{
    calls++;
    return number < 2 ? number : fib(number - 1) + fib(number - 2);
}

PLAIN static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

PLAIN int main(int argc, char **argv)
{
    uint64_t least = UINT64_MAX;
    unsigned result = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s NUMBER\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < 3; i++) {
        const uint64_t begin = cpu_ns();
        result += fib((unsigned)atoi(argv[1]));
        const uint64_t took = cpu_ns() - begin;
        least = took < least ? took : least;
    }
    printf("{\"calls\": %llu, \"cpu_ns\": %llu, \"result\": %u}\n", (unsigned long long)calls / 3,
           (unsigned long long)least, result);
    return 0;
}
