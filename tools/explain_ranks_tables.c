// SPDX-License-Identifier: Apache-2.0
// The tables of a job's workers, owners and keys: those of `report DIR`, and below the verdict of
// `explain DIR`.
#include <string.h>

#include "explain_bound.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { KEYS_SHOWN = 5, RANKS_SHOWN = 16 };

// ---- tables ------------------------------------------------------------------------------------
// Of many workers those that the others waited for longest, of equals the first ones.
static size_t choose_ranks(const mxp_stragglers *found, size_t *places)
{
    size_t count = 0;
    for (size_t i = 0; i < found->workers; i++) {
        size_t at = count < RANKS_SHOWN ? count : RANKS_SHOWN;
        while (found->workers > RANKS_SHOWN && at > 0 &&
               found->rows[places[at - 1]].caused_ns < found->rows[i].caused_ns) {
            at--;
        }
        if (at < RANKS_SHOWN) {
            count = count < RANKS_SHOWN ? count + 1 : RANKS_SHOWN;
            memmove(places + at + 1, places + at, (count - at - 1) * sizeof *places);
            places[at] = i;
        }
    }
    return count;
}

static void put_rank(const mxp_explain_ranks *ranks, size_t place, const mxp_screen *screen,
                     mxp_text_table *table)
{
    const mxp_rank_row *row = &ranks->found.rows[place];
    const double times[] = {row->step_ns, row->own_ns, row->blocked_ns, row->waited_ns,
                            row->caused_ns};
    const char *name = ranks->names[place];
    mxp__put_label(screen, name, strlen(name), mxp__text_cell(table));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        mxp__put_duration(screen, times[i], mxp__text_cell(table));
    }
    mxp__strbuf_printf(mxp__text_cell(table), "%zu", row->last_steps);
    mxp__put_bytes((double)row->bytes_out, mxp__text_cell(table));
    mxp__put_bytes((double)row->bytes_in, mxp__text_cell(table));
    mxp_strbuf *rate = mxp__text_cell(table);
    mxp__put_bytes(row->bytes_per_s, rate);
    mxp__strbuf_puts(rate, "/s");
    mxp__text_row(table, (int)place == ranks->found.named ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
}

static void put_ranks(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"worker", MXP_COLUMN_NAME, 0},   {"step", MXP_COLUMN_RIGHT, 0},
        {"own", MXP_COLUMN_RIGHT, 0},     {"blocked", MXP_COLUMN_RIGHT, 1},
        {"waited", MXP_COLUMN_RIGHT, 0},  {"caused", MXP_COLUMN_RIGHT, 0},
        {"last in", MXP_COLUMN_RIGHT, 0}, {"out", MXP_COLUMN_RIGHT, 2},
        {"in", MXP_COLUMN_RIGHT, 2},      {"rate", MXP_COLUMN_RIGHT, 3}};
    size_t places[RANKS_SHOWN];
    const size_t shown = choose_ranks(&ranks->found, places);
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < shown; i++) {
        put_rank(ranks, places[i], screen, &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    if (ranks->found.workers > shown) {
        mxp__strbuf_printf(out, "%zu more workers, for which the others waited less: --json\n",
                           ranks->found.workers - shown);
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

void mxp__ranks_tables_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                           mxp_strbuf *out)
{
    put_ranks(ranks, screen, out);
    if (ranks->owner_count > 0) {
        mxp__strbuf_putc(out, '\n');
        put_owners(ranks, screen, out);
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
        mxp__json_u64(json, "bytes_out", row->bytes_out);
        mxp__json_u64(json, "bytes_in", row->bytes_in);
        mxp__json_number(json, "bytes_per_s", row->bytes_per_s);
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

void mxp__ranks_tables_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    if (ranks->owner_count > 0) {
        mxp__json_number(json, "owner_imbalance", owner_imbalance(ranks));
    }
    mxp__explain_bound_json(ranks, json);
    put_rows_json(ranks, json);
    put_owners_json(ranks, json);
}
