// SPDX-License-Identifier: Apache-2.0
// See path_rows.h.
#include "profiler/analysis/path/path_rows.h"

#include "base/alloc.h"
#include "base/fail.h"

typedef struct row_place {
    uint64_t key;  // a hash of the row's key
    uint64_t first;  // row, plus 1
} row_place;

struct mxp_path_row_link {
    uint32_t next_same;  // the next row with the same hash, plus 1
    size_t cell;  // place of its last one
};

static const char memory_for[] = "the rows of the critical path";

static uint64_t hash_of(const mxp_path_row *row)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = ((uint64_t)row->name << 32 | row->scope) * odd;
    hash = (hash ^ hash >> 29 ^ (uint64_t)row->kind << 8 ^ row->phase) * odd;
    hash ^= hash >> 32;
    return hash == 0 ? 1 : hash;
}

static bool is_same(const mxp_path_row *a, const mxp_path_row *b)
{
    return a->kind == b->kind && a->name == b->name && a->scope == b->scope && a->phase == b->phase;
}

static mxp_path_row key_of(const mxp_graph *graph, const mxp_path_piece *piece)
{
    mxp_path_row key = {.kind = piece->kind, .name = piece->name};
    if (piece->op != MXP__NO_OP) {
        const mxp_graph_op *op = &graph->ops[piece->op];
        key.name = op->name;
        key.scope = op->scope;
        key.phase = op->flags & MXP_OP_PHASE_MASK;
    }
    return key;
}

static int append_row(mxp_path_rows *rows, const mxp_path_row *key, row_place *place)
{
    if (mxp__grow(&rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows) != MXP_OK ||
        mxp__grow(&rows->links, &rows->link_capacity, rows->count + 1, sizeof *rows->links) !=
            MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    rows->rows[rows->count] = *key;
    rows->links[rows->count] =
        (struct mxp_path_row_link){.next_same = (uint32_t)place->first, .cell = SIZE_MAX};
    place->first = ++rows->count;
    return MXP_OK;
}

static int find_row(mxp_path_rows *rows, const mxp_path_row *key, uint32_t *found)
{
    if (rows->places.entry_bytes == 0) {
        rows->places.entry_bytes = sizeof(row_place);
    }
    row_place *place = mxp__id_map_add(&rows->places, hash_of(key));
    if (place == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (uint64_t at = place->first; at != 0; at = rows->links[at - 1].next_same) {
        if (is_same(&rows->rows[at - 1], key)) {
            *found = (uint32_t)at - 1;
            return MXP_OK;
        }
    }
    *found = (uint32_t)rows->count;
    return append_row(rows, key, place);
}

// The cell of the row in the step at hand is its last one, if it has one.
static int add_cell(mxp_path_rows *rows, uint32_t row, size_t step, int64_t ns)
{
    size_t *cell = &rows->links[row].cell;
    if (*cell != SIZE_MAX && *cell >= rows->step_cells) {
        rows->cells[*cell].ns += ns;
        return MXP_OK;
    }
    if (mxp__grow(&rows->cells, &rows->cell_capacity, rows->cell_count + 1, sizeof *rows->cells) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    *cell = rows->cell_count;
    rows->cells[rows->cell_count++] = (mxp_path_cell){.row = row, .step = (uint32_t)step, .ns = ns};
    rows->rows[row].steps++;
    return MXP_OK;
}

static int add_piece(mxp_path_rows *rows, const mxp_graph *graph, size_t step,
                     const mxp_path_piece *piece)
{
    const mxp_path_row key = key_of(graph, piece);
    const int64_t ns = piece->to_ns - piece->from_ns;
    uint32_t row = 0;
    int error = find_row(rows, &key, &row);
    if (error == MXP_OK) {
        error = add_cell(rows, row, step, ns);
    }
    if (error == MXP_OK) {
        rows->rows[row].total_ns += (uint64_t)ns;
        rows->rows[row].pieces++;
        rows->total_ns += (uint64_t)ns;
    }
    return error;
}

int mxp__path_rows_add(mxp_path_rows *rows, const mxp_graph *graph, size_t step,
                       const mxp_path *path)
{
    int error = MXP_OK;
    rows->step_cells = rows->cell_count;
    for (size_t i = 0; error == MXP_OK && i < path->count; i++) {
        error = add_piece(rows, graph, step, &path->pieces[i]);
    }
    rows->steps++;
    rows->contradictions += path->contradictions;
    return error;
}

void mxp__path_rows_fini(mxp_path_rows *rows)
{
    mxp__free(rows->rows, rows->capacity * sizeof *rows->rows);
    mxp__free(rows->links, rows->link_capacity * sizeof *rows->links);
    mxp__free(rows->cells, rows->cell_capacity * sizeof *rows->cells);
    mxp__id_map_fini(&rows->places);
    *rows = (mxp_path_rows){0};
}

static int add_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                    const mxp_path *path)
{
    (void)steps;
    return mxp__path_rows_add(context, graph, step, path);
}

int mxp__path_rows_of_steps(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                            uint64_t limit_bytes, mxp_path_rows *rows)
{
    return mxp__path_steps(process, steps, chosen, limit_bytes, add_step, rows);
}
