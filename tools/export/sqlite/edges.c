// SPDX-License-Identifier: Apache-2.0
// Edges between operators. Two are recorded: what let an operator go, and the bulk it is of. The
// others follow from the variables: who reads a variable had to wait for who wrote it last; who
// writes it, for that one and for all that have read it since. Of two operators that meet at a
// variable the first has ended before the second begins, so the order of ends is the order of
// pushes. The members of a bulk have no tickets of their own: the bulk's variables are theirs.
//
// Memory: what is known of a variable, for at most VARIABLES_MAX of them; then all are forgotten.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "export/sqlite/process.h"

enum { VARIABLES_MAX = 1 << 18, READERS_MAX = 13 };

typedef struct variable_state {
    uint64_t key;  // the variable + 1
    uint32_t writer;  // the last one, 0: unknown
    uint16_t readers, left_out;  // since then
    uint32_t reader[READERS_MAX];
} variable_state;

typedef struct found_edge {
    uint32_t from;
    bool is_data;  // reads what the other wrote
} found_edge;

struct mxp_sqlite_edges {
    mxp_sqlite_process *process;
    mxp_id_map variables;
    found_edge *found;  // of the operator at hand
    size_t count, capacity;
};

static const char memory_for[] = "the edges between operators";

int mxp__sqlite_edges_create(mxp_sqlite_process *process, mxp_sqlite_edges **edges)
{
    *edges = mxp__alloc(sizeof **edges);
    if (*edges == NULL) {
        return mxp__fail_memory(memory_for);
    }
    (*edges)->process = process;
    (*edges)->variables.entry_bytes = sizeof(variable_state);
    return MXP_OK;
}

void mxp__sqlite_edges_destroy(mxp_sqlite_edges *edges)
{
    if (edges != NULL) {
        mxp__id_map_fini(&edges->variables);
        mxp__free(edges->found, edges->capacity * sizeof *edges->found);
        mxp__free(edges, sizeof *edges);
    }
}

static int write_edge(mxp_sqlite_edges *edges, uint32_t from, uint32_t to, const char *kind)
{
    mxp_rows *rows = mxp__database_rows(edges->process->database, MXP__TABLE_edge);
    mxp__put_operator(edges->process, rows, from);
    mxp__put_operator(edges->process, rows, to);
    mxp__put_string(rows, kind);
    return mxp__row_end(edges->process->database, MXP__TABLE_edge, rows);
}

static int find_edge(mxp_sqlite_edges *edges, uint32_t from, bool is_data)
{
    if (mxp__grow(&edges->found, &edges->capacity, edges->count + 1, sizeof *edges->found) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    edges->found[edges->count++] = (found_edge){from, is_data};
    return MXP_OK;
}

static int compare_edges(const void *a, const void *b)
{
    const found_edge *left = a, *right = b;
    if (left->from != right->from) {
        return left->from < right->from ? -1 : 1;
    }
    return left->is_data - right->is_data;
}

// Each other operator and kind once, however many variables it is for.
static int write_found(mxp_sqlite_edges *edges, uint32_t to)
{
    int error = MXP_OK;
    if (edges->count > 1) {
        qsort(edges->found, edges->count, sizeof *edges->found, compare_edges);
    }
    for (size_t i = 0; i < edges->count && error == MXP_OK; i++) {
        const found_edge *found = &edges->found[i];
        if (i == 0 || compare_edges(found - 1, found) != 0) {
            error = write_edge(edges, found->from, to, found->is_data ? "data" : "order");
        }
    }
    return error;
}

static int meet_writer(mxp_sqlite_edges *edges, variable_state *state, uint32_t id, bool is_data)
{
    bool is_other = state->writer != 0 && state->writer != id;
    return is_other ? find_edge(edges, state->writer, is_data) : MXP_OK;
}

static int read_variable(mxp_sqlite_edges *edges, variable_state *state, uint32_t id)
{
    if (state->readers < READERS_MAX) {
        state->reader[state->readers++] = id;
    } else {
        memmove(state->reader, state->reader + 1, (READERS_MAX - 1) * sizeof state->reader[0]);
        state->reader[READERS_MAX - 1] = id;
        state->left_out += state->left_out < UINT16_MAX;
    }
    return meet_writer(edges, state, id, true);
}

static int write_variable(mxp_sqlite_edges *edges, variable_state *state, uint32_t id)
{
    int error = meet_writer(edges, state, id, false);
    for (uint32_t i = 0; i < state->readers && error == MXP_OK; i++) {
        error = state->reader[i] != id ? find_edge(edges, state->reader[i], false) : MXP_OK;
    }
    edges->process->edges_left_out += state->left_out;
    state->writer = id;
    state->readers = state->left_out = 0;
    return error;
}

static int meet_variable(mxp_sqlite_edges *edges, uint32_t variable, uint32_t id)
{
    if (edges->variables.count >= VARIABLES_MAX) {
        edges->process->edges_left_out += edges->variables.count;
        mxp__id_map_clear(&edges->variables);
    }
    uint64_t key = (uint64_t)(variable & ~MXP_VARIABLE_WRITTEN) + 1;
    variable_state *state = mxp__id_map_add(&edges->variables, key);
    if (state == NULL) {
        return mxp__fail_memory(memory_for);
    }
    return (variable & MXP_VARIABLE_WRITTEN) != 0 ? write_variable(edges, state, id)
                                                  : read_variable(edges, state, id);
}

static int write_recorded(mxp_sqlite_edges *edges, const mxp_operator_view *op)
{
    int error = MXP_OK;
    if (op->released_by != 0) {
        error = write_edge(edges, op->released_by, op->id, "released");
    }
    return op->bulk_parent != 0 && error == MXP_OK
               ? write_edge(edges, op->bulk_parent, op->id, "bulk")
               : error;
}

int mxp__sqlite_edges_add(mxp_sqlite_edges *edges, const mxp_event *event)
{
    mxp_operator_view op;
    mxp__event_operator(event, &op);
    int error = write_recorded(edges, &op);
    uint32_t count = op.bulk_parent == 0 ? op.variable_count : 0;
    edges->count = 0;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = meet_variable(edges, mxp__event_variable(event, i), op.id);
    }
    return error == MXP_OK ? write_found(edges, op.id) : error;
}
