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

typedef struct row_key {
    uint64_t names;  // name and scope
    uint64_t kinds;  // kind and phase
} row_key;

static uint64_t hash_of(const row_key *key)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = key->names * odd;
    hash = (hash ^ hash >> 29 ^ key->kinds) * odd;
    hash ^= hash >> 32;
    return hash == 0 ? 1 : hash;
}

static inline row_key packed(uint32_t name, uint32_t scope, uint32_t kind, uint32_t phase)
{
    return (row_key){(uint64_t)name << 32 | scope, (uint64_t)kind << 8 | phase};
}

static bool is_same(const mxp_path_row *row, const row_key *key)
{
    const row_key own = packed(row->name, row->scope, (uint32_t)row->kind, row->phase);
    return own.names == key->names && own.kinds == key->kinds;
}

static inline row_key key_of(const mxp_graph *graph, const mxp_path_piece *piece)
{
    if (piece->op == MXP__NO_OP) {
        return packed(piece->name, 0, piece->kind, 0);
    }
    const mxp_graph_op *op = &graph->ops[piece->op];
    return packed(op->name, op->scope, piece->kind, op->flags & MXP_OP_PHASE_MASK);
}

static int append_row(mxp_path_rows *rows, const row_key *key, row_place *place)
{
    if (mxp__grow(&rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows) != MXP_OK ||
        mxp__grow(&rows->links, &rows->link_capacity, rows->count + 1, sizeof *rows->links) !=
            MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    rows->rows[rows->count] = (mxp_path_row){.kind = (int)(key->kinds >> 8),
                                             .name = (uint32_t)(key->names >> 32),
                                             .scope = (uint32_t)key->names,
                                             .phase = (uint32_t)(key->kinds & 0xff)};
    rows->links[rows->count] =
        (struct mxp_path_row_link){.next_same = (uint32_t)place->first, .cell = SIZE_MAX};
    place->first = ++rows->count;
    return MXP_OK;
}

static int find_row(mxp_path_rows *rows, const row_key *key, uint32_t *found)
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
static int find_cell(mxp_path_rows *rows, uint32_t row, size_t step, size_t *found)
{
    size_t *cell = &rows->links[row].cell;
    if (*cell == SIZE_MAX || *cell < rows->step_cells) {
        const size_t pieces = rows->cell_count - rows->step_cells;
        if (mxp__grow(&rows->cells, &rows->cell_capacity, rows->cell_count + 1,
                      sizeof *rows->cells) != MXP_OK ||
            mxp__grow(&rows->step_pieces, &rows->piece_capacity, pieces + 1,
                      sizeof *rows->step_pieces) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        *cell = rows->cell_count++;
        rows->cells[*cell] = (mxp_path_cell){.row = row, .step = (uint32_t)step};
        rows->step_pieces[pieces] = 0;
        rows->rows[row].steps++;
    }
    *found = *cell;
    return MXP_OK;
}

static int look_up(mxp_path_rows *rows, const row_key *key, size_t step,
                   mxp_path_recent_row *recent)
{
    uint32_t row = 0;
    size_t cell = 0;
    int error = find_row(rows, key, &row);
    if (error == MXP_OK) {
        error = find_cell(rows, row, step, &cell);
    }
    if (error == MXP_OK) {
        *recent = (mxp_path_recent_row){key->names, key->kinds, cell + 1};
    }
    return error;
}

// A step has few rows and many pieces, so it is mostly one of the recent ones.
static inline int add_piece(mxp_path_rows *rows, const mxp_graph *graph, size_t step,
                            const mxp_path_piece *piece)
{
    const row_key key = key_of(graph, piece);
    const uint64_t hash = (key.names ^ key.kinds << 40) * UINT64_C(0x9e3779b97f4a7c15);
    mxp_path_recent_row *recent = &rows->recent[hash >> (64 - MXP__PATH_ROWS_RECENT_BITS)];
    if (recent->cell <= rows->step_cells || recent->names != key.names ||
        recent->kinds != key.kinds) {
        const int error = look_up(rows, &key, step, recent);
        if (error != MXP_OK) {
            return error;
        }
    }
    const size_t cell = recent->cell - 1;
    rows->cells[cell].ns += piece->to_ns - piece->from_ns;
    rows->step_pieces[cell - rows->step_cells]++;
    return MXP_OK;
}

// What the step at hand spent.
static void add_cells(mxp_path_rows *rows)
{
    for (size_t i = rows->step_cells; i < rows->cell_count; i++) {
        const mxp_path_cell *cell = &rows->cells[i];
        rows->rows[cell->row].total_ns += (uint64_t)cell->ns;
        rows->rows[cell->row].pieces += rows->step_pieces[i - rows->step_cells];
        rows->total_ns += (uint64_t)cell->ns;
    }
}

int mxp__path_rows_add(mxp_path_rows *rows, const mxp_graph *graph, size_t step,
                       const mxp_path *path)
{
    int error = MXP_OK;
    rows->step_cells = rows->cell_count;
    for (size_t i = 0; error == MXP_OK && i < path->count; i++) {
        error = add_piece(rows, graph, step, &path->pieces[i]);
    }
    add_cells(rows);
    rows->steps++;
    rows->contradictions += path->contradictions;
    return error;
}

void mxp__path_rows_fini(mxp_path_rows *rows)
{
    mxp__free(rows->rows, rows->capacity * sizeof *rows->rows);
    mxp__free(rows->links, rows->link_capacity * sizeof *rows->links);
    mxp__free(rows->cells, rows->cell_capacity * sizeof *rows->cells);
    mxp__free(rows->step_pieces, rows->piece_capacity * sizeof *rows->step_pieces);
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
