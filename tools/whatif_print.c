// SPDX-License-Identifier: Apache-2.0
// The command `whatif` for people and programs: a row a prediction, and how far to trust it.
#include <inttypes.h>

#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"
#include "whatif_view.h"

// ---- what is changed ---------------------------------------------------------------------------
static void put_factor(const mxp_change *change, mxp_strbuf *out)
{
    if (change->factor == 0) {
        mxp__strbuf_puts(out, " takes no time");
    } else if (change->factor == 0.5) {
        mxp__strbuf_puts(out, " twice as fast");
    } else {
        mxp__strbuf_printf(out, " x %g", change->factor);
    }
}

static void put_change(const mxp_change *change, mxp_strbuf *out)
{
    switch (change->kind) {
    case MXP_CHANGE_NAME:
        mxp__strbuf_puts(out, change->glob);
        put_factor(change, out);
        break;
    case MXP_CHANGE_SCOPE:
        mxp__strbuf_printf(out, "layer %s", change->glob);
        put_factor(change, out);
        break;
    case MXP_CHANGE_CALL:
        mxp__strbuf_printf(out, "call %s", change->glob);
        put_factor(change, out);
        break;
    case MXP_CHANGE_HOST:
        mxp__strbuf_puts(out, "the program itself");
        put_factor(change, out);
        break;
    case MXP_CHANGE_PREFETCH:
        mxp__strbuf_puts(out, "input loaded beside computing");
        break;
    case MXP_CHANGE_NO_WAIT:
        mxp__strbuf_printf(out, "no wait in %s", change->glob);
        if (change->count > 0) {
            mxp__strbuf_printf(out, ", number %" PRIu32 " of each step", change->count);
        }
        break;
    case MXP_CHANGE_ROOF:
        mxp__strbuf_printf(out, "%s at the roof", change->glob);
        break;
    case MXP_CHANGE_WORKERS:
        mxp__strbuf_printf(out, "%" PRIu32 " compute workers", change->count);
        break;
    default:
        mxp__strbuf_printf(out, "%" PRIu32 " operators a call", change->count);
        break;
    }
}

static void put_changes(const mxp_change_set *set, mxp_strbuf *out)
{
    for (size_t i = 0; i < set->count; i++) {
        mxp__strbuf_puts(out, i == 0 ? "" : ", ");
        put_change(&set->changes[i], out);
    }
}

// ---- for people --------------------------------------------------------------------------------
static void put_row(const mxp_what_if *result, const mxp_change_set *set, const mxp_screen *screen,
                    mxp_text_table *table)
{
    mxp_strbuf label = {0};
    put_changes(set, &label);
    mxp__put_label(screen, mxp__strbuf_text(&label), label.length, mxp__text_cell(table));
    mxp__strbuf_fini(&label);
    mxp__put_duration(screen, result->mean_ns - set->gain_ns, mxp__text_cell(table));
    mxp__put_duration(screen, set->gain_ns, mxp__text_cell(table));
    mxp__put_percent(result->mean_ns > 0 ? set->gain_ns / result->mean_ns : 0,
                     mxp__text_cell(table));
    mxp_strbuf *interval = mxp__text_cell(table);
    mxp__put_duration(screen, set->low_ns, interval);
    mxp__strbuf_puts(interval, " to ");
    mxp__put_duration(screen, set->high_ns, interval);
    mxp_strbuf *notes = mxp__text_cell(table);
    mxp__strbuf_puts(notes, set->is_upper_bound ? "<" : "");
    mxp__strbuf_puts(notes, set->is_model ? "m" : "");
    mxp__strbuf_puts(notes, set->changes_overlap ? "c" : "");
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

static void put_notes(const mxp_what_if *result, const mxp_change_set *const *order, size_t count,
                      mxp_strbuf *out)
{
    bool bound = false, model = false, cores = false, nothing = false;
    uint64_t roofless = 0;
    for (size_t i = 0; i < count; i++) {
        bound |= order[i]->is_upper_bound;
        model |= order[i]->is_model;
        cores |= order[i]->changes_overlap;
        nothing |= order[i]->changed == 0;
        roofless += order[i]->roofless;
    }
    if (result->count > 1) {
        mxp__strbuf_puts(out, "The interval is of the mean gain, 95 %.\n");
    } else {
        mxp__strbuf_printf(out, "The interval is of what is guessed: one %s has no spread.\n",
                           result->is_window ? "window" : "step");
    }
    if (bound) {
        mxp__strbuf_puts(out, "< at most: what the program does with what it waits for is not "
                              "known.\n");
    }
    if (model) {
        mxp__strbuf_puts(out, "m a model: the order of operators is another one than recorded.\n");
    }
    if (cores) {
        mxp__strbuf_puts(out, "c other operators run beside one another than recorded; what they "
                              "take from\n  each other (cores, caches) is guessed as 5 % of the "
                              "gain.\n");
    }
    if (roofless > 0) {
        mxp__strbuf_printf(out,
                           "%" PRIu64 " of the operators have no roof, for what they compute or "
                           "move is not known: as recorded.\n",
                           roofless);
    }
    if (nothing) {
        mxp__strbuf_puts(out, "Nothing in these steps is concerned by it.\n");
    }
    if (result->cut_ops > 0) {
        mxp__strbuf_printf(out,
                           "%" PRIu64 " operators have more variables than a record holds; what "
                           "they wait for is not all known.\n",
                           result->cut_ops);
    }
    if (result->has_exchanges) {
        mxp__strbuf_puts(out,
                         "Exchanges with other workers take as long as they took, whoever came "
                         "last: all workers\nchange alike. 'mxprof explain DIRECTORY' tells "
                         "whom they wait for.\n");
    }
}

void mxp__whatif_print(const mxp_what_if *result, const mxp_change_set *const *order, size_t count,
                       const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_text_column columns[] = {
        {"what if", MXP_COLUMN_NAME, 0},
        {result->is_window ? "takes" : "a step", MXP_COLUMN_RIGHT, 0},
        {"gain", MXP_COLUMN_RIGHT, 0},
        {"share", MXP_COLUMN_RIGHT, 2},
        {"interval", MXP_COLUMN_RIGHT, 1},
        {"", MXP_COLUMN_LEFT, 3}};
    if (result->is_window) {
        mxp__strbuf_puts(out, "window of ");
    } else {
        mxp__strbuf_printf(out, "%zu step%s", result->count,
                           result->count == 1 ? " of " : "s, mean ");
    }
    mxp__put_duration(screen, result->mean_ns, out);
    mxp__strbuf_printf(out, "; replayed unchanged %s out to the nanosecond\n",
                       result->count == 1 ? "it comes" : "they come");
    if (result->left_out > 0) {
        mxp__strbuf_printf(out, "%zu left out: records or the end are missing\n", result->left_out);
    }
    if (count == 0) {
        mxp__strbuf_puts(out, "Nothing on the path could be made faster.\n");
        return;
    }
    mxp_text_table table;
    mxp__strbuf_putc(out, '\n');
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        put_row(result, order[i], screen, &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    mxp__strbuf_putc(out, '\n');
    put_notes(result, order, count, out);
}

// ---- for programs ------------------------------------------------------------------------------
static void change_json(const mxp_change *change, mxp_json *json)
{
    static const char *const kinds[MXP_CHANGE_KINDS] = {
        "name", "scope", "host", "call", "prefetch", "no-wait", "workers", "bulk", "roof"};
    mxp__json_row(json, NULL);
    mxp__json_text(json, "change", kinds[change->kind]);
    if (change->glob != NULL) {
        mxp__json_text(json, "of", change->glob);
    }
    if (change->kind <= MXP_CHANGE_CALL) {
        mxp__json_number(json, "factor", change->factor);
    }
    if (change->count > 0) {
        mxp__json_u64(json, "count", change->count);
    }
    mxp__json_end(json);
}

static void set_json(const mxp_what_if *result, const mxp_change_set *set, bool has_steps,
                     const mxp_steps *steps, mxp_json *json)
{
    mxp__json_object(json, NULL);
    mxp__json_array(json, "changes");
    for (size_t i = 0; i < set->count; i++) {
        change_json(&set->changes[i], json);
    }
    mxp__json_end(json);
    mxp__json_number(json, "mean_ns", result->mean_ns - set->gain_ns);
    mxp__json_number(json, "median_ns", set->p50_ns);
    mxp__json_number(json, "gain_ns", set->gain_ns);
    mxp__json_number(json, "gain_low_ns", set->low_ns);
    mxp__json_number(json, "gain_high_ns", set->high_ns);
    mxp__json_u64(json, "changed", set->changed);
    mxp__json_u64(json, "situations_changed", set->switched);
    mxp__json_u64(json, "without_roof", set->roofless);
    mxp__json_bool(json, "upper_bound", set->is_upper_bound);
    mxp__json_bool(json, "model", set->is_model);
    mxp__json_bool(json, "other_operators_share_cores", set->changes_overlap);
    if (has_steps) {
        mxp__json_array(json, "steps");
        for (size_t i = 0; i < result->count; i++) {
            mxp__json_row(json, NULL);
            if (result->places[i] < steps->count) {
                const mxp_step_window *step = &steps->all[result->places[i]];
                mxp__json_u64(json, "step", step->number);
                if (step->run_delay_ns != MXP__NOT_RECORDED) {
                    mxp__json_u64(json, "run_delay_ns", step->run_delay_ns);
                }
            }
            mxp__json_number(json, "recorded_ns", result->lengths_ns[i]);
            mxp__json_number(json, "predicted_ns", result->lengths_ns[i] - set->gains_ns[i]);
            mxp__json_end(json);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

void mxp__whatif_json(const mxp_what_if *result, const mxp_steps *steps,
                      const mxp_change_set *const *order, size_t count, mxp_json *json)
{
    mxp__json_object(json, NULL);
    mxp__json_u64(json, "steps", result->count);
    mxp__json_number(json, "recorded_mean_ns", result->mean_ns);
    mxp__json_u64(json, "left_out", result->left_out);
    mxp__json_number(json, "unknown", result->unknown);
    mxp__json_array(json, "predictions");
    for (size_t i = 0; i < count; i++) {
        set_json(result, order[i], count == 1, steps, json);
    }
    mxp__json_end(json);
    mxp__whatif_slack_json(result, json);
    mxp__json_end(json);
}
