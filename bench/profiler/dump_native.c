// SPDX-License-Identifier: Apache-2.0
// D6: the native file: bytes a span takes in it, and the rate at which a dump writes it over
// writing 16 bytes a span, which is what is in memory, in plain pieces of 1 MiB. Both to a new file
// on tmpfs.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/recording.h"
#include "support/scratch.h"
#include "support/workload.h"

enum { SPANS = 4000000, PIECE_BYTES = 1 << 20, RAW_BYTES_PER_SPAN = 16 };

static char *raw;  // as many bytes as all spans take, touched

// The trace always has a Chrome file too; it goes nowhere.
static void prepare(const char *native_filename)
{
    bench_session_configure("/dev/null", native_filename, 0);
    bench_workload_start(SPANS);
}

static void fill(void)
{
    bench_session_run();
    bench_workload_fill();
    bench_session_stop();
}

static bench_stretch time_dump(const char *native_filename)
{
    bench_stretch stretch = {0};
    prepare(native_filename);
    fill();
    bench_scratch_remove(".mxp");
    bench_start(&stretch);
    bench_session_dump();
    bench_stop(&stretch, SPANS);
    return stretch;
}

// What a dump takes longer with the native file than without.
static void run_dump(void *context, bench_stretch *stretch)
{
    (void)context;
    bench_stretch both = time_dump(bench_scratch_path(".mxp"));
    bench_stretch one = time_dump(NULL);
    double on_cpu = (both.cpu_ns + one.cpu_ns) / (both.wall_ns + one.wall_ns);
    stretch->wall_ns = both.wall_ns - one.wall_ns;
    stretch->cpu_ns = stretch->wall_ns * on_cpu;  // a round is as valid as its two dumps
    stretch->operations = SPANS;
}

static void run_raw(void *context, bench_stretch *stretch)
{
    (void)context;
    const char *path = bench_scratch_path(".raw");
    size_t size_bytes = (size_t)SPANS * RAW_BYTES_PER_SPAN;
    bench_start(stretch);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bench_require(file >= 0, path);
    for (size_t at = 0; at < size_bytes; at += PIECE_BYTES) {
        size_t piece = size_bytes - at < PIECE_BYTES ? size_bytes - at : PIECE_BYTES;
        bench_require(write(file, raw + at, piece) == (ssize_t)piece, "write");
    }
    bench_require(close(file) == 0, "close");
    bench_stop(stretch, SPANS);
    unlink(path);
}

static void measure_rate(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    size_t size_bytes = (size_t)SPANS * RAW_BYTES_PER_SPAN;
    raw = malloc(size_bytes);
    bench_require(raw != NULL, "malloc");
    bench_touch(raw, size_bytes);
    bench_unpin();
    prepare(NULL);
    bench_pin(bench_cpu_count() - 1);
    bench_plan plan = {.subject = run_dump, .reference = run_raw, .rounds = 11};
    bench_compare(claim, &plan);
    bench_scratch_remove(".mxp");
    free(raw);
}

static void measure_bytes(const bench_claim *claim)
{
    if (!bench_scratch_exists()) {
        bench_void(claim, "no tmpfs to write to");
        return;
    }
    bench_unpin();
    prepare(bench_scratch_path(".mxp"));
    fill();
    bench_session_dump();
    bench_value(claim, (double)bench_scratch_bytes(".mxp") / SPANS, "names and all other sections");
    bench_scratch_remove(".mxp");
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"D6 native file, bytes per span", "B/span", false, 17, 8, measure_bytes},
        {"D6 native file, over a raw write", "M spans/s", true, 0.25, 0.5, measure_rate},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
