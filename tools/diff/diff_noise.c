// SPDX-License-Identifier: Apache-2.0
// How much runs of one program differ on this machine, and what so many of them would show: for
// the choice of how many runs a test of every change makes.
#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "diff/diff.h"
#include "profiler/analysis/comparison/noise.h"
#include "text/figure.h"
#include "text/json_writer.h"
#include "text/text_table.h"

enum { NOISES_MAX = 3 };

typedef struct noise_row {
    const char *what, *key;
    mxp_noise noise;
} noise_row;

typedef struct noise_rows {
    noise_row rows[NOISES_MAX];
    size_t count;
} noise_rows;

static int add_row(const mxp_side *side, const bool *chosen, bool of_cpu, noise_row row,
                   noise_rows *rows)
{
    int error = mxp__noise_of(side->runs, side->count, chosen, of_cpu, &row.noise);
    if (error == MXP_OK && row.noise.runs > 0) {
        rows->rows[rows->count++] = row;
    }
    return error;
}

// Wall time of all runs, of those that were not disturbed where some were, and CPU time.
static int make_rows(const mxp_diff *diff, noise_rows *rows)
{
    const mxp_side *side = &diff->comparison.sides[MXP__BEFORE];
    int error = add_row(side, NULL, false, (noise_row){.what = "wall time", .key = "wall"}, rows);
    bool *quiet = mxp__alloc(side->count);
    for (size_t i = 0; i < side->count && quiet != NULL; i++) {
        quiet[i] = !side->is_disturbed[i];
    }
    if (error == MXP_OK && quiet == NULL) {
        error = mxp__fail_memory("the noise of runs");
    }
    if (error == MXP_OK && diff->comparison.disturbed > 0) {
        error =
            add_row(side, quiet, false,
                    (noise_row){.what = "wall time, undisturbed", .key = "wall_undisturbed"}, rows);
    }
    if (error == MXP_OK) {
        error = add_row(side, NULL, true, (noise_row){.what = "CPU time", .key = "cpu"}, rows);
    }
    mxp__free(quiet, side->count);
    return error;
}

// ---- text --------------------------------------------------------------------------------------
static void put_share(double share, mxp_strbuf *out)
{
    if (isnan(share)) {
        mxp__strbuf_putc(out, '-');
    } else {
        mxp__strbuf_printf(out, "%.1f %%", 100 * share);
    }
}

static void put_correlation(double value, mxp_strbuf *out)
{
    if (isnan(value)) {
        mxp__strbuf_putc(out, '-');
    } else {
        mxp__strbuf_printf(out, "%.2f", fabs(value) < 0.005 ? 0 : value);
    }
}

static void put_spreads(const mxp_screen *screen, const noise_rows *rows, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"", MXP_COLUMN_LEFT, 0},
        {"runs", MXP_COLUMN_RIGHT, 0},
        {"a step", MXP_COLUMN_RIGHT, 0},
        {"runs' spread", MXP_COLUMN_RIGHT, 0},
        {"steps'", MXP_COLUMN_RIGHT, 0},
        {"lag 1", MXP_COLUMN_RIGHT, 0},
        {"5", MXP_COLUMN_RIGHT, 0},
        {"10", MXP_COLUMN_RIGHT, 0},
        {"neighbours", MXP_COLUMN_RIGHT, 0},
    };
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < rows->count; i++) {
        const mxp_noise *noise = &rows->rows[i].noise;
        mxp__strbuf_puts(mxp__text_cell(&table), rows->rows[i].what);
        mxp__put_count((double)noise->runs, mxp__text_cell(&table));
        mxp__put_duration(screen, noise->mean_ns, mxp__text_cell(&table));
        put_share(noise->between, mxp__text_cell(&table));
        put_share(noise->within, mxp__text_cell(&table));
        for (size_t k = 0; k < MXP__NOISE_LAGS; k++) {
            put_correlation(noise->resemblance[k], mxp__text_cell(&table));
        }
        put_correlation(noise->neighbours, mxp__text_cell(&table));
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static void put_smallest(const mxp_screen *screen, const noise_rows *rows, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"", MXP_COLUMN_LEFT, 0},         {"3 v 3 (no verdict)", MXP_COLUMN_RIGHT, 0},
        {"5 v 5", MXP_COLUMN_RIGHT, 0},   {"10 v 10", MXP_COLUMN_RIGHT, 0},
        {"20 v 20", MXP_COLUMN_RIGHT, 0},
    };
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < rows->count; i++) {
        mxp__strbuf_puts(mxp__text_cell(&table), rows->rows[i].what);
        for (size_t k = 0; k < MXP__NOISE_SIZES; k++) {
            put_share(rows->rows[i].noise.smallest[k], mxp__text_cell(&table));
        }
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static void put_text(const mxp_screen *screen, const mxp_diff *diff, const noise_rows *rows,
                     mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "How runs of one program differ:\n");
    put_spreads(screen, rows, out);
    mxp__strbuf_puts(out, "\nThe smallest change that 4 of 5 comparisons would see:\n");
    put_smallest(screen, rows, out);
    if (!diff->comparison.knows_delay) {
        mxp__strbuf_puts(out,
                         "Run delay is not recorded: runs that the machine disturbed cannot be "
                         "told.\n");
    } else if (diff->comparison.disturbed > 0) {
        mxp__strbuf_printf(out,
                           "%zu of %zu runs were disturbed (run delay above %.0f %% of "
                           "the time).\n",
                           diff->comparison.disturbed, diff->comparison.sides[MXP__BEFORE].count,
                           100 * diff->comparison.delay_bound);
    }
}

// ---- JSON --------------------------------------------------------------------------------------
static void put_json_row(mxp_json *json, const noise_row *row)
{
    static const char *const lag_keys[MXP__NOISE_LAGS] = {"lag_1", "lag_5", "lag_10"};
    static const char *const size_keys[MXP__NOISE_SIZES] = {"3", "5", "10", "20"};
    const mxp_noise *noise = &row->noise;
    mxp__json_object(json, row->key);
    mxp__json_u64(json, "runs", noise->runs);
    mxp__json_i64(json, "mean_ns", llround(noise->mean_ns));
    mxp__json_number(json, "between_runs", noise->between);
    mxp__json_number(json, "within_a_run", noise->within);
    for (size_t k = 0; k < MXP__NOISE_LAGS; k++) {
        mxp__json_number(json, lag_keys[k], noise->resemblance[k]);
    }
    mxp__json_number(json, "neighbouring_runs", noise->neighbours);
    mxp__json_row(json, "smallest_change_seen");
    for (size_t k = 0; k < MXP__NOISE_SIZES; k++) {
        mxp__json_number(json, size_keys[k], noise->smallest[k]);
    }
    mxp__json_end(json);
    mxp__json_end(json);
}

static void put_json(const mxp_diff *diff, const noise_rows *rows, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_object(&json, NULL);
    mxp__json_u64(&json, "runs", diff->comparison.sides[MXP__BEFORE].count);
    mxp__json_u64(&json, "disturbed_runs", diff->comparison.disturbed);
    for (size_t i = 0; i < rows->count; i++) {
        put_json_row(&json, &rows->rows[i]);
    }
    mxp__json_end(&json);
}

int mxp__diff_put_noise(const mxp_screen *screen, const mxp_diff *diff, bool as_json,
                        mxp_strbuf *out)
{
    noise_rows rows = {0};
    int error = make_rows(diff, &rows);
    if (error == MXP_OK && as_json) {
        put_json(diff, &rows, out);
    } else if (error == MXP_OK) {
        put_text(screen, diff, &rows, out);
    }
    return error;
}
