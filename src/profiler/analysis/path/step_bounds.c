// SPDX-License-Identifier: Apache-2.0
// See step_bounds.h.
#include "profiler/analysis/path/step_bounds.h"

#include <math.h>

#include "base/alloc.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t mxp__step_program_ns(const mxp_graph *graph, const mxp_steps *steps, size_t step)
{
    const int64_t from_ns = steps->all[step].mark_ns, to_ns = steps->all[step].next_ns;
    const mxp_graph_thread *thread = &graph->threads[steps->thread];
    int64_t own_ns = to_ns - from_ns, counted_ns = to_ns;
    size_t i = mxp__graph_wait_before(graph, steps->thread, to_ns);
    for (; i != SIZE_MAX && thread->waits[i].end_ns > from_ns; i = i == 0 ? SIZE_MAX : i - 1) {
        const mxp_graph_wait *wait = &thread->waits[i];
        if ((wait->flags & MXP_WAIT_BLOCKED) != 0) {  // waits may be inside of others
            const int64_t begin_ns = larger(wait->begin_ns, from_ns);
            own_ns -= larger(smaller(wait->end_ns, counted_ns) - begin_ns, 0);
            counted_ns = smaller(counted_ns, begin_ns);
        }
    }
    return larger(own_ns, 0);
}

// Sums for the correlation of one row; a step in which it has no time counts as 0.
typedef struct row_sums {
    double x, xx, xy;
} row_sums;

static double length_of(const mxp_steps *steps, size_t step)
{
    return (double)(steps->all[step].end_ns - steps->all[step].begin_ns);
}

static double correlation(const row_sums *row, double n, double y, double yy)
{
    const double of_x = n * row->xx - row->x * row->x, of_y = n * yy - y * y;
    return of_x <= 0 || of_y <= 0 ? 0 : (n * row->xy - row->x * y) / sqrt(of_x * of_y);
}

mxp_path_varying mxp__path_rows_varying(const mxp_path_rows *rows, const mxp_steps *steps,
                                        const bool *chosen)
{
    enum { FEWEST = 8 };
    mxp_path_varying best = {.row = SIZE_MAX};
    row_sums *sums = mxp__alloc(rows->count * sizeof *sums);
    if (sums == NULL || rows->steps < FEWEST) {
        mxp__free(sums, rows->count * sizeof *sums);
        return best;
    }
    double y = 0, yy = 0;
    for (size_t i = 0; i < steps->count; i++) {
        if (chosen == NULL || chosen[i]) {
            y += length_of(steps, i);
            yy += length_of(steps, i) * length_of(steps, i);
        }
    }
    for (size_t i = 0; i < rows->cell_count; i++) {
        const mxp_path_cell *cell = &rows->cells[i];
        const double ns = (double)cell->ns;
        sums[cell->row].x += ns;
        sums[cell->row].xx += ns * ns;
        sums[cell->row].xy += ns * length_of(steps, cell->step);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const double found = correlation(&sums[i], (double)rows->steps, y, yy);
        if (found > best.correlation) {
            best = (mxp_path_varying){.row = i, .correlation = found};
        }
    }
    mxp__free(sums, rows->count * sizeof *sums);
    return best;
}
