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

static int find_in_all(mxp_path_rows *rows, const row_key *key, uint32_t *found)
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

// A path has few rows and many pieces, so it is mostly one of the recent ones.
static inline int find_row(mxp_path_rows *rows, const row_key *key, uint32_t *found)
{
    const uint64_t mixed = key->names ^ key->names >> 29 ^ key->kinds << 3 ^ key->kinds >> 5;
    mxp_path_row_place *recent = &rows->recent[mixed % MXP__PATH_ROWS_RECENT];
    int error = MXP_OK;
    if (recent->row == 0 || recent->names != key->names || recent->kinds != key->kinds) {
        error = find_in_all(rows, key, found);
        *recent = (mxp_path_row_place){key->names, key->kinds, error == MXP_OK ? *found + 1 : 0};
    }
    *found = recent->row - 1;
    return error;
}

// The cell of the row in the step at hand is its last one, if it has one.
static inline int add_cell(mxp_path_rows *rows, uint32_t row, size_t step, int64_t ns)
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

static inline int add_piece(mxp_path_rows *rows, const mxp_graph *graph, size_t step,
                            const mxp_path_piece *piece)
{
    const row_key key = key_of(graph, piece);
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
