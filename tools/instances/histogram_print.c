// SPDX-License-Identifier: Apache-2.0
// report --histogram GLOB: the durations of names as rows that are equally wide on a logarithmic
// scale, with percentiles where they lie, and whether there is more than one hill.
#include <inttypes.h>
#include <math.h>
#include <mxprof/error.h>

#include "base/fail.h"
#include "instances/instance_tables.h"
#include "text/figure.h"
#include "text/text_table.h"

enum { ROWS_MOST = 24, HILLS_MOST = 6 };

typedef struct histogram {
    mxp_instance_table *table;
    const mxp_selected *selected;
    mxp_durations durations;
    double from, ratio;  // row i: from * ratio^i up to the next one
    uint64_t rows[ROWS_MOST];
    size_t row_count;
} histogram;

static int begin(void *context, mxp_source *process, const mxp_selected *selected)
{
    histogram *self = context;
    (void)process;
    self->selected = selected;
    return MXP_OK;
}

static int visit(void *context, const mxp_instance *instance)
{
    histogram *self = context;
    return mxp__selected_takes(self->selected, instance)
               ? mxp__durations_add(&self->durations, mxp__instance_ns(instance))
               : MXP_OK;
}

// ---- rows --------------------------------------------------------------------------------------
// Durations of 0 count as 1 ns, which has a logarithm.
static double positive(int64_t ns)
{
    return ns > 0 ? (double)ns : 1;
}

// The narrowest rows of the square roots of 2, or powers of 2, of which ROWS_MOST suffice.
static void choose_rows(histogram *self)
{
    double least = positive(mxp__durations_percentile(&self->durations, 0));
    double most = positive(mxp__durations_percentile(&self->durations, 100));
    double width = 0.25;  // as an exponent of 2
    while (floor(log2(most) / width) - floor(log2(least) / width) >= ROWS_MOST) {
        width *= 2;
    }
    self->ratio = exp2(width);
    self->from = exp2(floor(log2(least) / width) * width);
    self->row_count = (size_t)(floor(log2(most) / width) - floor(log2(least) / width)) + 1;
}

static size_t row_of(const histogram *self, double ns)
{
    double row = floor(log(ns / self->from) / log(self->ratio) + 1e-9);
    return row < 0 ? 0 : row >= (double)self->row_count ? self->row_count - 1 : (size_t)row;
}

static void fill_rows(histogram *self)
{
    const mxp_durations *durations = &self->durations;
    if (mxp__durations_are_exact(durations)) {
        for (size_t i = 0; i < durations->count; i++) {
            self->rows[row_of(self, positive(durations->all[i]))]++;
        }
        return;
    }
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        double middle = (double)mxp__histogram_lower(i) * 1.09;  // of a bucket that is 19 % wide
        self->rows[row_of(self, middle > 1 ? middle : 1)] += durations->histogram->bucket[i];
    }
}

// ---- hills -------------------------------------------------------------------------------------
typedef struct hills {
    uint64_t counts[HILLS_MOST];
    size_t count;
} hills;

// A hill ends in the lowest row before rows that rise to five times as much, if it fell to a fifth
// of its top before. A hill of fewer than five durations is none.
static hills find_hills(const histogram *self)
{
    enum { FACTOR = 5, LEAST = 5 };
    hills found = {.count = 0};
    uint64_t top = 0, low = 0, count = 0, since_low = 0;
    for (size_t i = 0; i <= self->row_count; i++) {
        uint64_t row = i < self->row_count ? self->rows[i] : 0;
        bool rises = i < self->row_count && low * FACTOR < top && row >= (low + 1) * FACTOR;
        if (rises || i == self->row_count) {
            uint64_t ended = rises ? count - since_low : count;
            if (ended >= LEAST && found.count < HILLS_MOST) {
                found.counts[found.count++] = ended;
            }
            count = rises ? since_low : 0;
            top = low = since_low = 0;
        }
        count += row;
        since_low += row;
        if (row >= top) {
            top = low = row;
            since_low = 0;
        } else if (row <= low) {
            low = row;
            since_low = 0;
        }
    }
    return found;
}

static void put_hills(const histogram *self, mxp_strbuf *out)
{
    static const char *const numbers[HILLS_MOST + 1] = {"no",   "one",  "two", "three",
                                                        "four", "five", "six"};
    hills found = find_hills(self);
    if (found.count < 2) {
        return;
    }
    mxp__strbuf_printf(out, "\n%s hills:", numbers[found.count]);
    for (size_t i = 0; i < found.count; i++) {
        mxp__strbuf_printf(out, "%s %.2g %%", i > 0 ? "," : "",
                           100.0 * (double)found.counts[i] / (double)self->durations.total);
    }
    mxp__strbuf_puts(out, "; a percentile between them is no typical value\n");
}

// ---- printing ----------------------------------------------------------------------------------
static void put_percentiles(const histogram *self, size_t row, mxp_strbuf *out)
{
    const mxp_instance_wish *wish = self->table->wish;
    size_t begin_length = out->length;
    for (size_t i = 0; i < wish->percentiles.count; i++) {
        double percent = wish->percentiles.percents[i];
        int64_t ns = mxp__durations_percentile(&self->durations, percent);
        if (row_of(self, positive(ns)) == row) {
            mxp__strbuf_printf(out, "%sp%.6g %s", out->length > begin_length ? "  " : "", percent,
                               mxp__durations_are_exact(&self->durations) ? "" : "~");
            mxp__put_duration(&wish->screen, (double)ns, out);
        }
    }
}

static size_t empty_rows(const histogram *self, size_t from)
{
    size_t count = 0;
    while (from + count < self->row_count && self->rows[from + count] == 0) {
        count++;
    }
    return count;
}

static void put_text(const histogram *self)
{
    static const mxp_text_column columns[] = {{"from", MXP_COLUMN_RIGHT, 0},
                                              {"spans", MXP_COLUMN_RIGHT, 0},
                                              {"", MXP_COLUMN_BAR, 1},
                                              {"", MXP_COLUMN_LEFT, 0}};
    enum { BAR_COLUMNS = 24, EMPTY_SHOWN = 3 };
    mxp_screen screen = self->table->wish->screen;
    if (screen.bar_columns > 0 && screen.bar_columns < BAR_COLUMNS &&
        screen.columns >= MXP_SCREEN_COLUMNS) {
        screen.bar_columns = BAR_COLUMNS;
    }
    uint64_t most = 0;
    mxp_text_table text;
    for (size_t i = 0; i < self->row_count; i++) {
        most = self->rows[i] > most ? self->rows[i] : most;
    }
    mxp__text_table_init(&text, &screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < self->row_count; i++) {
        size_t empty = empty_rows(self, i);
        if (empty >= EMPTY_SHOWN) {
            mxp__strbuf_puts(mxp__text_cell(&text), "...");
            mxp__strbuf_puts(mxp__text_cell(&text), "0");
            mxp__text_row(&text, MXP_LOOK_FAINT);
            i += empty - 1;
            continue;
        }
        mxp__put_duration(&screen, self->from * pow(self->ratio, (double)i), mxp__text_cell(&text));
        mxp__put_grouped(self->rows[i], mxp__text_cell(&text));
        mxp__text_bar(&text, (double)self->rows[i] / (double)most);
        put_percentiles(self, i, mxp__text_cell(&text));
        mxp__text_row(&text, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&text, self->table->out);
    mxp__text_table_fini(&text);
    put_hills(self, self->table->out);
}

static void put_json(const histogram *self)
{
    mxp_json json = {.out = self->table->out};
    hills found = find_hills(self);
    mxp__json_object(&json, NULL);
    mxp__json_text(&json, "names", self->table->wish->histogram);
    mxp__json_u64(&json, "spans", self->durations.total);
    mxp__durations_json(&json, &self->durations, &self->table->wish->percentiles);
    mxp__json_array(&json, "rows");
    for (size_t i = 0; i < self->row_count; i++) {
        mxp__json_row(&json, NULL);
        mxp__json_number(&json, "from_ns", self->from * pow(self->ratio, (double)i));
        mxp__json_u64(&json, "spans", self->rows[i]);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
    mxp__json_list(&json, "hills");
    for (size_t i = 0; i < found.count; i++) {
        mxp__json_u64(&json, NULL, found.counts[i]);
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
}

int mxp__put_histogram(mxp_instance_table *table)
{
    histogram self = {.table = table};
    const mxp_table_reader reader = {.begin = begin, .visit = visit, .context = &self};
    int code = mxp__table_read(table, &reader);
    if (code < 0 && self.durations.total == 0) {
        fprintf(stderr, "mxprof %s: nothing fits '%s' that lasts\n", table->command->name,
                table->wish->histogram);
        code = MXP_EXIT_UNKNOWN;
    }
    if (code < 0) {
        mxp__durations_sort(&self.durations);
        choose_rows(&self);
        fill_rows(&self);
        (table->wish->json ? put_json : put_text)(&self);
    }
    mxp__durations_fini(&self.durations);
    return code;
}
