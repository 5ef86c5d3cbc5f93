// SPDX-License-Identifier: Apache-2.0
// `mxprof roof` for people: the ceilings in a line or a table, and the operators beside them.
#include <inttypes.h>

#include "profiler/export/scope_path.h"
#include "roof_shown.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

// ---- lines -------------------------------------------------------------------------------------
// Appends a piece to a line of pieces with commas between, and begins another line where it would
// be too long.
static void put_piece(const mxp_strbuf *piece, size_t *line_begin, bool is_first, mxp_strbuf *out)
{
    enum { LINE_COLUMNS = MXP_SCREEN_COLUMNS - 2 };
    mxp__strbuf_puts(out, is_first ? "" : ",");
    if (out->length - *line_begin + 1 + piece->length > LINE_COLUMNS) {
        mxp__strbuf_putc(out, '\n');
        *line_begin = out->length;
        mxp__strbuf_putc(out, ' ');
    }
    mxp__strbuf_putc(out, ' ');
    mxp__strbuf_append(out, mxp__strbuf_text(piece), piece->length);
    out->failed = out->failed || piece->failed;
}

// ---- ceilings ----------------------------------------------------------------------------------
static void put_rate(mxp_ceiling ceiling, double rate, mxp_strbuf *out)
{
    if (ceiling < MXP__CEILING_L1) {
        bool is_tera = rate >= 999.5e9;
        mxp__strbuf_printf(out, "%.3g %sFLOP/s", rate / (is_tera ? 1e12 : 1e9),
                           is_tera ? "T" : "G");
    } else {
        mxp__put_bytes(rate, out);
        mxp__strbuf_puts(out, "/s");
    }
}

void mxp__ceilings_text(const mxp_ceilings *ceilings, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"ceiling", MXP_COLUMN_LEFT, 0},
                                              {"1 thread", MXP_COLUMN_RIGHT, 0},
                                              {"all threads", MXP_COLUMN_RIGHT, 0},
                                              {"median to best", MXP_COLUMN_RIGHT, 1}};
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    mxp__strbuf_printf(out, "%s, %" PRIu32 " cores, vectors of %" PRIu32 " bytes\n",
                       ceilings->machine.cpu, ceilings->machine.cores, ceilings->vector_bytes);
    for (int i = 0; i < MXP__CEILINGS; i++) {
        const mxp_ceiling_rate *one = &ceilings->one[i], *all = &ceilings->all[i];
        if (all->rate > 0) {
            mxp__strbuf_puts(mxp__text_cell(&table), mxp__ceiling_name((mxp_ceiling)i));
            put_rate((mxp_ceiling)i, one->rate, mxp__text_cell(&table));
            put_rate((mxp_ceiling)i, all->rate, mxp__text_cell(&table));
            mxp__put_percent(all->best > 0 ? 1 - all->median / all->best : 0,
                             mxp__text_cell(&table));
            mxp__text_row(&table, MXP_LOOK_PLAIN);
        }
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    const mxp_ceiling_rate *shared = &ceilings->all[MXP__CEILING_MEMORY];
    if (shared->median < 0.6 * shared->best) {
        mxp__strbuf_puts(out, "the machine was busy: measure again when nothing else runs\n");
    }
}

static void put_ceilings_line(const mxp_ceilings *ceilings, mxp_strbuf *out)
{
    static const char *const words[MXP__CEILINGS] = {"", "f64 ", "L1 ", "L2 ", "L3 ", "memory "};
    size_t line_begin = out->length;
    mxp__strbuf_printf(out, "ceilings of %s, %" PRIu32 " cores:", ceilings->machine.cpu,
                       ceilings->machine.cores);
    bool is_first = true;
    for (int i = 0; i < MXP__CEILINGS; i++) {
        if (ceilings->all[i].rate > 0 && i != MXP__CEILING_F64) {
            mxp_strbuf piece = {0};
            mxp__strbuf_puts(&piece, words[i]);
            put_rate((mxp_ceiling)i, ceilings->all[i].rate, &piece);
            put_piece(&piece, &line_begin, is_first, out);
            mxp__strbuf_fini(&piece);
            is_first = false;
        }
    }
    mxp__strbuf_putc(out, '\n');
}

// ---- rows --------------------------------------------------------------------------------------
static void put_operator(const mxp_roof_shown *shown, uint32_t scope, uint32_t name,
                         mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    mxp__scope_path(shown->source, scope, &text);
    if (text.length > 0 && text.data[text.length - 1] == ':') {  // as MXNet's layers end
        text.length--;
    }
    mxp__strbuf_puts(&text, text.length > 0 ? "/" : "");
    mxp_name_view view = shown->source->name(shown->source, name);
    mxp__strbuf_append(&text, view.text, view.length);
    mxp__put_label(&shown->screen, mxp__strbuf_text(&text), text.length, out);
    out->failed = out->failed || text.failed;
    mxp__strbuf_fini(&text);
}

static const mxp_text_column columns_all[] = {
    {"operator", MXP_COLUMN_NAME, 0}, {"above", MXP_COLUMN_RIGHT, 0},
    {"path", MXP_COLUMN_RIGHT, 0},    {"run", MXP_COLUMN_RIGHT, 0},
    {"calls", MXP_COLUMN_RIGHT, 3},   {"mean", MXP_COLUMN_RIGHT, 2},
    {"flop/s", MXP_COLUMN_RIGHT, 1},  {"flop/B", MXP_COLUMN_RIGHT, 2},
    {"of its", MXP_COLUMN_RIGHT, 0},  {"ceiling", MXP_COLUMN_LEFT, 0}};
enum { COLUMNS = sizeof columns_all / sizeof columns_all[0] };

static double steps_of(const mxp_roof_shown *shown)
{
    return shown->choice.steps != NULL && shown->choice.step_count > 0
               ? (double)shown->choice.step_count
               : 1;
}

static void put_time(const mxp_roof_shown *shown, double ns, mxp_text_table *table)
{
    mxp__put_duration(&shown->screen, ns / steps_of(shown), mxp__text_cell(table));
}

static void put_share(const mxp_roof_shown *shown, bool is_known, double share,
                      const mxp_roof_row *row, mxp_text_table *table)
{
    static const char *const words[MXP__CEILINGS] = {"f32", "f64", "L1", "L2", "L3", "memory"};
    mxp_strbuf *cell = mxp__text_cell(table);
    if (!is_known) {
        mxp__strbuf_puts(cell, "unknown");
    } else if (shown->roof.is_void) {
        mxp__strbuf_puts(cell, "void");
    } else if (share < 0.0005) {
        mxp__strbuf_puts(cell, "<0.1%");  // as 0.0% it would look like one that is not known
    } else {
        mxp__put_percent(share, cell);
    }
    cell = mxp__text_cell(table);
    if (is_known && row != NULL) {
        mxp__strbuf_puts(cell, words[row->bound]);
    }
}

// What several rows have together has no rate of its own.
static void put_rates(const mxp_roof_row *row, double mean_ns, mxp_text_table *table)
{
    mxp_strbuf *rate = mxp__text_cell(table);
    if (row != NULL && row->flops > 0 && mean_ns > 0) {
        mxp__put_count((double)row->flops / mean_ns * 1e9, rate);
    }
    mxp_strbuf *intensity = mxp__text_cell(table);
    if (row != NULL && row->flops > 0 && row->bytes > 0) {
        mxp__put_count((double)row->flops / (double)row->bytes, intensity);
    }
}

static void put_shape(const mxp_roof_shown *shown, const mxp_roof_row *row, mxp_strbuf *out)
{
    mxp_name_view shape = shown->source->name(shown->source, row->shape);
    mxp__strbuf_puts(out, "  ");
    if (row->shape == 0 || shape.length == 0) {
        mxp__put_bytes((double)row->bytes, out);
    } else {
        enum { SHAPE_COLUMNS = 48 };
        mxp_strbuf text = {0};
        mxp__put_label(&shown->screen, shape.text, shape.length, &text);
        mxp__put_shortened(&shown->screen, mxp__strbuf_text(&text), text.length, SHAPE_COLUMNS,
                           out);
        out->failed = out->failed || text.failed;
        mxp__strbuf_fini(&text);
    }
}

static void put_row(const mxp_roof_shown *shown, const mxp_roof_row *row, mxp_text_table *table)
{
    double mean_ns = (double)row->run_ns / (double)row->calls;
    put_shape(shown, row, mxp__text_cell(table));
    if (row->is_known && !shown->roof.is_void) {
        put_time(shown, row->above_ns, table);
    } else {
        mxp__text_cell(table);
    }
    mxp__text_cell(table);
    put_time(shown, (double)row->run_ns, table);
    mxp__put_count((double)row->calls / steps_of(shown), mxp__text_cell(table));
    mxp__put_duration(&shown->screen, mean_ns, mxp__text_cell(table));
    put_rates(row, mean_ns, table);
    put_share(shown, row->is_known, row->share, row, table);
    mxp__text_row(table, MXP_LOOK_FAINT);
}

static void put_group(const mxp_roof_shown *shown, const mxp_roof_group *group, mxp_look look,
                      mxp_text_table *table)
{
    enum { SHAPES = 4 };
    const mxp_roof_row *only = group->count == 1 ? &shown->roof.rows[group->first] : NULL;
    bool is_known = group->known_run_ns > 0;
    double mean_ns = (double)group->run_ns / (double)group->calls;
    put_operator(shown, group->scope, group->name, mxp__text_cell(table));
    if (is_known && !shown->roof.is_void) {
        put_time(shown, group->above_ns, table);
    } else {
        mxp__text_cell(table);
    }
    if (group->has_path) {
        put_time(shown, (double)group->path_ns, table);
    } else {
        mxp__text_cell(table);
    }
    put_time(shown, (double)group->run_ns, table);
    mxp__put_count((double)group->calls / steps_of(shown), mxp__text_cell(table));
    mxp__put_duration(&shown->screen, mean_ns, mxp__text_cell(table));
    put_rates(only, mean_ns, table);
    put_share(shown, is_known, is_known ? group->least_ns / (double)group->known_run_ns : 0, only,
              table);
    mxp__text_row(table, look);
    for (size_t i = 0; only == NULL && i < group->count && i < SHAPES; i++) {
        put_row(shown, &shown->roof.rows[group->first + i], table);
    }
    if (group->count > SHAPES) {
        mxp__strbuf_printf(mxp__text_cell(table), "  %zu other shapes", group->count - SHAPES);
        mxp__text_row(table, MXP_LOOK_FAINT);
    }
}

static void put_table(const mxp_roof_shown *shown, mxp_strbuf *out)
{
    mxp_text_table table;
    mxp__text_table_init(&table, &shown->screen, columns_all, COLUMNS);
    size_t put = 0, left = 0;
    for (size_t i = 0; i < shown->roof.group_count; i++) {
        const mxp_roof_group *group = &shown->roof.groups[i];
        if (!mxp__roof_takes(shown, group)) {
            continue;
        }
        if (put == shown->top) {
            left++;
            continue;
        }
        put_group(shown, group, put == 0 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN, &table);
        put++;
    }
    if (left > 0) {
        mxp__strbuf_printf(mxp__text_cell(&table), "%zu others", left);
        mxp__text_row(&table, MXP_LOOK_FAINT);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

// ---- sums --------------------------------------------------------------------------------------
static void put_sums(const mxp_roof_shown *shown, mxp_strbuf *out)
{
    double above_ns = 0;
    for (size_t i = 0; i < shown->roof.group_count; i++) {
        above_ns += shown->roof.groups[i].above_ns;
    }
    const char *each = shown->choice.steps != NULL ? " a step" : "";
    if (shown->choice.steps != NULL) {
        mxp__strbuf_printf(out, "%zu step%s; ", shown->choice.step_count,
                           shown->choice.step_count == 1 ? "" : "s");
    }
    mxp__strbuf_puts(out, "operators run ");
    mxp__put_duration(&shown->screen, (double)shown->roof.run_ns / steps_of(shown), out);
    mxp__strbuf_puts(out, each);
    if (!shown->roof.is_void) {
        mxp__strbuf_puts(out, ", ");
        mxp__put_duration(&shown->screen, above_ns / steps_of(shown), out);
        mxp__strbuf_puts(out, " of it above the roof");
    }
    uint64_t unknown_ns = shown->roof.run_ns - shown->roof.known_run_ns;
    if (unknown_ns > 0) {
        mxp__strbuf_puts(out, ", ");
        mxp__put_duration(&shown->screen, (double)unknown_ns / steps_of(shown), out);
        mxp__strbuf_puts(out, " of unknown cost");
    }
    mxp__strbuf_putc(out, '\n');
}

static void put_families(const mxp_roof_shown *shown, mxp_strbuf *out)
{
    double run_ns[MXP__FAMILIES] = {0}, least_ns[MXP__FAMILIES] = {0};
    for (size_t i = 0; i < shown->roof.row_count; i++) {
        const mxp_roof_row *row = &shown->roof.rows[i];
        if (row->is_known) {
            run_ns[row->family] += (double)row->run_ns;
            least_ns[row->family] += row->least_ns * (double)row->calls;
        }
    }
    size_t line_begin = out->length;
    bool is_first = true;
    mxp__strbuf_puts(out, "by family:");
    for (int i = 0; i < MXP__FAMILIES; i++) {
        if (run_ns[i] > 0) {
            mxp_strbuf piece = {0};
            mxp__strbuf_printf(&piece, "%s ", mxp__family_name((mxp_family)i));
            mxp__put_duration(&shown->screen, run_ns[i] / steps_of(shown), &piece);
            mxp__strbuf_puts(&piece, " at ");
            mxp__put_percent(least_ns[i] / run_ns[i], &piece);
            put_piece(&piece, &line_begin, is_first, out);
            mxp__strbuf_fini(&piece);
            is_first = false;
        }
    }
    mxp__strbuf_putc(out, '\n');
}

static void put_void(const mxp_roof_shown *shown, mxp_strbuf *out)
{
    const mxp_roof_row *worst = &shown->roof.rows[shown->roof.worst];
    mxp__strbuf_puts(out, "the ceilings are void: ");
    put_operator(shown, worst->scope, worst->name, out);
    mxp__strbuf_puts(out, " would be at ");
    mxp__put_percent(worst->share, out);
    mxp__strbuf_puts(out,
                     " of its own.\n  They were measured on a busier machine, or the cost that "
                     "it tells is wrong\n");
}

void mxp__roof_text(const mxp_roof_shown *shown, mxp_strbuf *out)
{
    put_ceilings_line(&shown->ceilings, out);
    put_sums(shown, out);
    if (shown->roof.is_void) {
        put_void(shown, out);
    }
    put_table(shown, out);
    if (shown->roof.left_out_calls > 0) {
        mxp__strbuf_printf(out, "%" PRIu64 " calls of other shapes were not looked at\n",
                           shown->roof.left_out_calls);
    }
    if (!shown->roof.is_void) {
        put_families(shown, out);
    }
}
