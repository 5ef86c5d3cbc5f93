// SPDX-License-Identifier: Apache-2.0
// What is said across the workers of a job: one sentence on who is waited for, and three tables.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "explain_ranks.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { KEYS_SHOWN = 5, RANKS_SHOWN = 16 };

static double step_share(const mxp_explain_ranks *ranks, double ns)
{
    return ranks->found.step_ns > 0 ? ns / ranks->found.step_ns : 0;
}

// "Worker 2 (n7)": names are "worker 2 (n7)".
static void put_name(const char *name, mxp_strbuf *out)
{
    const char first = name[0] >= 'a' && name[0] <= 'z' ? (char)(name[0] - 32) : name[0];
    mxp__strbuf_putc(out, first);
    mxp__strbuf_puts(out, name + (name[0] != '\0'));
}

static void put_whole_percent(double share, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%.0f %%", share * 100);
}

// ---- the verdict -------------------------------------------------------------------------------
// What its own critical paths tell. False: nothing.
static bool put_longer(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    if (ranks->longer[0] == '\0' || ranks->longer_ns < ranks->found.cost_ns / 2) {
        return false;
    }
    // "Its net/conv1 takes", "Its input, Loader, takes", "The program between its spans takes"
    const bool is_program = strncmp(ranks->longer, "the ", strlen("the ")) == 0;
    mxp__strbuf_puts(out, is_program ? "T" : ranks->is_input ? "Its input, " : "Its ");
    mxp__put_label(screen, ranks->longer + is_program, strlen(ranks->longer + is_program), out);
    mxp__strbuf_puts(out, ranks->is_input ? ", takes " : " takes ");
    mxp__put_duration(screen, ranks->longer_ns, out);
    mxp__strbuf_puts(out, " a step longer than the others'.\n");
    return true;
}

static void put_why(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    if (found->kind == MXP__STRAGGLER_LATE_START) {
        mxp__strbuf_puts(out,
                         "Its steps begin late: after its last exchange the step before goes on ");
        mxp__put_duration(screen, found->late_start_ns, out);
        mxp__strbuf_puts(out, "\nlonger than the others'.\n");
    }
    const bool is_delayed = found->run_delay_ns >= found->cost_ns / 2;
    if (is_delayed) {
        mxp__strbuf_puts(out, "Its threads wait ");
        mxp__put_duration(screen, found->run_delay_ns, out);
        mxp__strbuf_puts(out, " a step longer for a core than the others'.\n");
    }
    if (!put_longer(ranks, screen, out) && !is_delayed) {
        mxp__strbuf_puts(out, "Nothing in its own steps takes as much longer than in the others'");
        mxp__strbuf_puts(out, isnan(found->run_delay_ns) ? ";\nhow long threads waited for a core "
                                                           "is not recorded.\n"
                                                         : ".\n");
    }
}

// "Worker 2 (n7) was last in 97 % of 400 steps.", or of all workers of its host.
static void put_who(const mxp_explain_ranks *ranks, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    if (found->is_whole_host) {
        mxp__strbuf_printf(out, "All workers of %s come late; one of them", ranks->host);
    } else {
        put_name(ranks->names[found->named], out);
    }
    mxp__strbuf_puts(out, " was last in ");
    put_whole_percent((double)found->last_steps / (double)found->steps, out);
    mxp__strbuf_printf(out, " of %zu steps.\n", found->steps);
}

static void put_named(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    put_who(ranks, out);
    mxp__strbuf_puts(out, "The others waited ");
    mxp__put_duration(screen, found->cost_ns, out);
    mxp__strbuf_puts(out, " of a ");
    mxp__put_duration(screen, found->step_ns, out);
    mxp__strbuf_printf(out, " step for %s (", found->is_whole_host ? "them" : "it");
    put_whole_percent(step_share(ranks, found->cost_ns), out);
    mxp__strbuf_puts(out, ").\n");
    if (found->is_whole_host) {
        put_name(ranks->names[found->named], out);
        mxp__strbuf_puts(out, " costs most.\n");
    }
    put_why(ranks, screen, out);
    mxp__strbuf_puts(out, found->is_whole_host ? "Equal to the slowest of the other hosts: "
                                               : "Equal to the second slowest: ");
    mxp__put_duration(screen, found->step_ns - found->gain_ns, out);
    mxp__strbuf_puts(out, " a step (");
    mxp__put_duration(screen, found->step_ns - found->gain_high_ns, out);
    mxp__strbuf_puts(out, " to ");
    mxp__put_duration(screen, found->step_ns - found->gain_low_ns, out);
    mxp__strbuf_puts(out, ").\n");
}

static void put_nobody(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    mxp__strbuf_puts(out, "No worker keeps the others waiting more than chance does.\n");
    if (found->costliest != MXP__STRAGGLERS_NONE) {
        const mxp_rank_row *row = &found->rows[found->costliest];
        put_name(ranks->names[found->costliest], out);
        mxp__strbuf_printf(out, " was last in %zu of %zu steps (of equals one is in up to %zu), ",
                           row->last_steps, found->steps, found->chance_most);
        mxp__strbuf_puts(out, "cost ");
        mxp__put_duration(screen, found->cost_ns, out);
        mxp__strbuf_puts(out, ".\n");
    }
    mxp__strbuf_puts(out, "Their spread explains ");
    mxp__put_duration(screen, found->noise_ns, out);
    mxp__strbuf_puts(out, " a step.\n");
}

// ---- tables ------------------------------------------------------------------------------------
static void put_ranks(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"worker", MXP_COLUMN_NAME, 0},   {"step", MXP_COLUMN_RIGHT, 0},
        {"own", MXP_COLUMN_RIGHT, 0},     {"blocked", MXP_COLUMN_RIGHT, 1},
        {"waited", MXP_COLUMN_RIGHT, 0},  {"caused", MXP_COLUMN_RIGHT, 0},
        {"last in", MXP_COLUMN_RIGHT, 0}, {"bytes", MXP_COLUMN_RIGHT, 2}};
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ranks->found.workers && i < RANKS_SHOWN; i++) {
        const mxp_rank_row *row = &ranks->found.rows[i];
        const double times[] = {row->step_ns, row->own_ns, row->blocked_ns, row->waited_ns,
                                row->caused_ns};
        mxp__put_label(screen, ranks->names[i], strlen(ranks->names[i]), mxp__text_cell(&table));
        for (size_t j = 0; j < sizeof times / sizeof times[0]; j++) {
            mxp__put_duration(screen, times[j], mxp__text_cell(&table));
        }
        mxp__strbuf_printf(mxp__text_cell(&table), "%zu", row->last_steps);
        mxp__put_bytes((double)row->bytes, mxp__text_cell(&table));
        mxp__text_row(&table, (int)i == ranks->found.named ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    if (ranks->found.workers > RANKS_SHOWN) {
        mxp__strbuf_printf(out, "%zu more workers: --json\n", ranks->found.workers - RANKS_SHOWN);
    }
}

static void put_owners(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"owner", MXP_COLUMN_NAME, 0},
                                              {"rounds", MXP_COLUMN_RIGHT, 0},
                                              {"waited for workers", MXP_COLUMN_RIGHT, 0},
                                              {"adding and answering", MXP_COLUMN_RIGHT, 0}};
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ranks->owner_count && i < RANKS_SHOWN; i++) {
        const mxp_rank_owner *owner = &ranks->owners[i];
        mxp__put_label(screen, owner->name, strlen(owner->name), mxp__text_cell(&table));
        mxp__put_grouped(owner->rounds, mxp__text_cell(&table));
        mxp__put_duration(screen, owner->spread_ns / (double)owner->rounds, mxp__text_cell(&table));
        mxp__put_duration(screen, owner->busy_ns / (double)owner->rounds, mxp__text_cell(&table));
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static void put_keys(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"key", MXP_COLUMN_NAME, 0},
                                              {"waited each time", MXP_COLUMN_RIGHT, 0},
                                              {"times", MXP_COLUMN_RIGHT, 0},
                                              {"bytes", MXP_COLUMN_RIGHT, 0}};
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ranks->key_count && i < KEYS_SHOWN; i++) {
        const mxp_rank_key *key = &ranks->keys[i];
        mxp__put_label(screen, key->name, strlen(key->name), mxp__text_cell(&table));
        mxp__put_duration(screen, key->waits > 0 ? key->waited_ns / (double)key->waits : 0,
                          mxp__text_cell(&table));
        mxp__put_grouped(key->waits, mxp__text_cell(&table));
        mxp__put_bytes((double)key->bytes, mxp__text_cell(&table));
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    if (ranks->key_count > KEYS_SHOWN) {
        mxp__strbuf_printf(out, "%zu more keys: --json\n", ranks->key_count - KEYS_SHOWN);
    }
}

// The owner that has most to do, if that is clearly more than the mean.
static double owner_imbalance(const mxp_explain_ranks *ranks)
{
    double sum = 0;
    for (size_t i = 0; i < ranks->owner_count; i++) {
        sum += ranks->owners[i].busy_ns;
    }
    return sum > 0 ? ranks->owners[0].busy_ns * (double)ranks->owner_count / sum : 0;
}

static bool is_owner_bound(const mxp_explain_ranks *ranks)
{
    double busy_ns = 0, spread_ns = 0;
    for (size_t i = 0; i < ranks->owner_count; i++) {
        busy_ns += ranks->owners[i].busy_ns;
        spread_ns += ranks->owners[i].spread_ns;
    }
    return busy_ns > spread_ns;
}

void mxp__explain_ranks_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out)
{
    if (ranks->found.named != MXP__STRAGGLERS_NONE) {
        put_named(ranks, screen, out);
    } else {
        put_nobody(ranks, screen, out);
    }
    mxp__strbuf_putc(out, '\n');
    put_ranks(ranks, screen, out);
    if (ranks->owner_count > 0) {
        mxp__strbuf_putc(out, '\n');
        put_owners(ranks, screen, out);
        if (is_owner_bound(ranks)) {
            mxp__strbuf_puts(out, "Rounds wait longer for their owners than for workers.\n");
        }
        if (ranks->owner_count > 1 && owner_imbalance(ranks) > 1.5) {
            mxp__strbuf_printf(out, "%s has %.1f times the mean of the owners to do.\n",
                               ranks->owners[0].name, owner_imbalance(ranks));
        }
    }
    if (ranks->key_count > 0) {
        mxp__strbuf_putc(out, '\n');
        put_keys(ranks, screen, out);
    }
    mxp__strbuf_putc(out, '\n');
}

// ---- for programs ------------------------------------------------------------------------------
static void put_rows_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    mxp__json_array(json, "workers");
    for (size_t i = 0; i < ranks->found.workers; i++) {
        const mxp_rank_row *row = &ranks->found.rows[i];
        mxp__json_row(json, NULL);
        mxp__json_text(json, "worker", ranks->names[i]);
        mxp__json_u64(json, "rank", row->rank);
        mxp__json_number(json, "step_ns", row->step_ns);
        mxp__json_number(json, "own_ns", row->own_ns);
        mxp__json_number(json, "blocked_ns", row->blocked_ns);
        mxp__json_number(json, "waited_ns", row->waited_ns);
        mxp__json_number(json, "caused_ns", row->caused_ns);
        mxp__json_u64(json, "last_steps", row->last_steps);
        mxp__json_u64(json, "bytes", row->bytes);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static void put_owners_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    mxp__json_array(json, "owners");
    for (size_t i = 0; i < ranks->owner_count; i++) {
        const mxp_rank_owner *owner = &ranks->owners[i];
        mxp__json_row(json, NULL);
        mxp__json_text(json, "owner", owner->name);
        mxp__json_u64(json, "rounds", owner->rounds);
        mxp__json_number(json, "spread_ns", owner->spread_ns);
        mxp__json_number(json, "busy_ns", owner->busy_ns);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__json_array(json, "keys");
    for (size_t i = 0; i < ranks->key_count; i++) {
        const mxp_rank_key *key = &ranks->keys[i];
        mxp__json_row(json, NULL);
        mxp__json_text(json, "key", key->name);
        mxp__json_number(json, "waited_ns", key->waited_ns);
        mxp__json_u64(json, "waits", key->waits);
        mxp__json_u64(json, "bytes", key->bytes);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static void put_known(mxp_json *json, const char *key, double ns)
{
    if (isnan(ns)) {
        mxp__json_null(json, key);
    } else {
        mxp__json_number(json, key, ns);
    }
}

static void put_kind_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    static const char *const kinds[] = {
        [MXP__STRAGGLER_UNEXPLAINED] = "unexplained", [MXP__STRAGGLER_NOISE] = "noise",
        [MXP__STRAGGLER_COMPUTE] = "compute",         [MXP__STRAGGLER_INPUT] = "input",
        [MXP__STRAGGLER_LATE_START] = "late start",   [MXP__STRAGGLER_HOST] = "host"};
    mxp__json_text(json, "kind", kinds[ranks->found.kind]);
    mxp__json_bool(json, "is_whole_host", ranks->found.is_whole_host);
    put_known(json, "late_start_ns", ranks->found.late_start_ns);
    put_known(json, "run_delay_ns", ranks->found.run_delay_ns);
}

void mxp__explain_ranks_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    const mxp_stragglers *found = &ranks->found;
    const bool is_named = found->named != MXP__STRAGGLERS_NONE;
    mxp__json_object(json, "between_ranks");
    mxp__json_u64(json, "steps", found->steps);
    mxp__json_number(json, "step_ns", found->step_ns);
    if (is_named) {
        mxp__json_u64(json, "straggler", found->rows[found->named].rank);
        mxp__json_text(json, "host", ranks->host);
        mxp__json_text(json, "longer", ranks->longer);
        mxp__json_number(json, "longer_ns", ranks->longer_ns);
    } else {
        mxp__json_null(json, "straggler");
    }
    put_kind_json(ranks, json);
    mxp__json_number(json, "cost_ns", found->cost_ns);
    mxp__json_number(json, "gain_ns", found->gain_ns);
    mxp__json_number(json, "gain_low_ns", found->gain_low_ns);
    mxp__json_number(json, "gain_high_ns", found->gain_high_ns);
    mxp__json_u64(json, "chance_most_steps", found->chance_most);
    mxp__json_number(json, "compute_imbalance", found->imbalance);
    mxp__json_number(json, "noise_ns", found->noise_ns);
    if (ranks->owner_count > 0) {
        mxp__json_number(json, "owner_imbalance", owner_imbalance(ranks));
        mxp__json_bool(json, "owner_bound", is_owner_bound(ranks));
    }
    put_rows_json(ranks, json);
    put_owners_json(ranks, json);
    mxp__json_end(json);
}
