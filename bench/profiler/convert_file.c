// SPDX-License-Identifier: Apache-2.0
// D7, D8: what the command does with a native file of 2 M spans: the bytes a span takes when it is
// compressed, and the rate at which the file becomes Chrome JSON, over that of the dump which D1
// measures. The command runs as a process of its own, its start included.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/recording.h"
#include "support/scratch.h"
#include "support/workload.h"

enum { SPANS = 2000000, PATH_BYTES = 4096 };

// build/release/mxprof, from build/release/bench/convert_file.
static const char *command_path(void)
{
    static char path[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    bench_require(length > 0, "the path of this program");
    path[length] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        bench_require(slash != NULL, path);
        *slash = '\0';
    }
    return strcat(path, "/mxprof");
}

// Runs `mxprof convert FILE -o OUT`; the CPU time it took.
static double convert(const char *file, const char *out)
{
    const char *command = command_path();
    struct rusage usage;
    int status;
    pid_t child = fork();
    bench_require(child >= 0, "fork");
    if (child == 0) {
        execl(command, "mxprof", "convert", file, "-o", out, "--to",
              strcmp(out, "/dev/null") == 0 ? "chrome" : "packed", (char *)NULL);
        _exit(127);
    }
    bench_require(wait4(child, &status, 0, &usage) == child && status == 0, "mxprof convert");
    return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void fill(void)
{
    bench_session_run();
    bench_workload_fill();
    bench_session_stop();
}

// The native file that both claims are about.
static void make_file(void)
{
    bench_unpin();
    bench_session_configure("/dev/null", bench_scratch_path(".mxp"), 0);
    bench_workload_start(SPANS);
    fill();
    bench_session_dump();
}

static void measure_bytes(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    make_file();
    char file[PATH_BYTES];
    strncpy(file, bench_scratch_path(".mxp"), sizeof file - 1);
    file[sizeof file - 1] = '\0';
    convert(file, bench_scratch_path(".mxpz"));
    bench_value(claim, (double)bench_scratch_bytes(".mxpz") / SPANS, "all sections");
    bench_scratch_remove(".mxpz");
    bench_scratch_remove(".mxp");
}

static void run_command(void *context, bench_stretch *stretch)
{
    (void)context;
    bench_start(stretch);
    double cpu_ns = convert(bench_scratch_path(".mxp"), "/dev/null");
    bench_stop(stretch, SPANS);
    stretch->cpu_ns = cpu_ns;
}

static void run_dump(void *context, bench_stretch *stretch)
{
    (void)context;
    fill();
    bench_start(stretch);
    bench_session_dump();
    bench_stop(stretch, SPANS);
}

static void measure_rate(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    make_file();
    bench_session_configure("/dev/null", NULL, 0);
    bench_pin(bench_cpu_count() - 1);
    bench_plan plan = {.subject = run_command, .reference = run_dump, .rounds = 11};
    bench_compare(claim, &plan);
    bench_scratch_remove(".mxp");
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"D7 compressed native file, bytes per span", "B/span", false, 9, 7, measure_bytes},
        {"D8 native file to JSON, over a dump's rate", "M spans/s", true, 0.4, 0.6, measure_rate},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
