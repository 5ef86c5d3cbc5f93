// SPDX-License-Identifier: Apache-2.0
// See replay_host.h.
#include "profiler/analysis/replay/replay_host.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"

static int add_point(mxp_host_map *map, int64_t ns, int64_t new_fine, double factor)
{
    if (mxp__grow(&map->points, &map->capacity, map->count + 1, sizeof *map->points) != MXP_OK) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    map->points[map->count++] =
        (mxp_host_point){.old_ns = ns, .new_fine = new_fine, .factor = factor};
    return MXP_OK;
}

int mxp__host_map_begin(const mxp_graph *graph, const mxp_changes *changes, uint32_t thread,
                        mxp_host_map *map)
{
    *map = (mxp_host_map){.graph = graph,
                          .changes = changes,
                          .thread = &graph->threads[thread],
                          .covered_ns = graph->from_ns,
                          .task_factor = 1,
                          .piece = SIZE_MAX};
    // What a custom operator's function does is the operator's; calls are calls everywhere.
    map->is_scaled = changes->by_call != NULL || changes->prefetch_input ||
                     (changes->host != 1 && map->thread->role == MXP__ROLE_PROGRAM) ||
                     map->thread->role == MXP__ROLE_CUSTOM;
    return add_point(map, graph->from_ns, 0, 1);
}

void mxp__host_map_fini(mxp_host_map *map)
{
    mxp__free(map->points, map->capacity * sizeof *map->points);
}

static int64_t scaled(int64_t ns, double factor)
{
    return factor == 1 ? ns * MXP__FINE : llround((double)ns * MXP__FINE * factor);
}

static int64_t behind(const mxp_host_point *point, int64_t ns)
{
    return point->new_fine + scaled(ns - point->old_ns, point->factor);
}

static int64_t last_at(const mxp_host_map *map, int64_t ns)
{
    return behind(&map->points[map->count - 1], ns);
}

// ---- what the thread was doing -----------------------------------------------------------------
// Whether what a piece of time was spent in makes it longer or shorter.
static bool depends_on_pieces(const mxp_host_map *map)
{
    return map->changes->by_call != NULL || map->changes->prefetch_input;
}

static void seek_piece(mxp_host_map *map)
{
    const mxp_graph_thread *thread = map->thread;
    while (depends_on_pieces(map) && map->piece + 1 < thread->host_count &&
           thread->hosts[map->piece + 1].begin_ns <= map->covered_ns) {
        map->piece++;  // SIZE_MAX + 1 is the first
    }
}

static double factor_of(mxp_host_map *map, const mxp_graph_host *piece)
{
    const mxp_changes *changes = map->changes;
    double factor = map->thread->role == MXP__ROLE_PROGRAM ? changes->host : map->task_factor;
    if (changes->by_call != NULL && piece != NULL && piece->name < map->graph->source->name_count) {
        factor *= changes->by_call[piece->name];
    }
    return factor;
}

// Batches are loaded one after another, and at most two that nobody has taken.
static int leave_input(mxp_host_map *map, double factor)
{
    const int64_t now = last_at(map, map->covered_ns);
    const int64_t free =
        map->loaded_fine > map->taken_fine[0] ? map->loaded_fine : map->taken_fine[0];
    map->loaded_fine = free + scaled(map->covered_ns - map->input_begin_ns, 1);
    const int64_t taken = map->loaded_fine > now ? map->loaded_fine : now;
    map->taken_fine[0] = map->taken_fine[1];
    map->taken_fine[1] = taken;
    map->in_input = false;
    return add_point(map, map->covered_ns, taken, factor);
}

static int take_piece(mxp_host_map *map)
{
    seek_piece(map);
    const mxp_graph_host *piece = map->piece == SIZE_MAX ? NULL : &map->thread->hosts[map->piece];
    const double factor = factor_of(map, piece);
    const bool is_input =
        map->changes->prefetch_input && piece != NULL && piece->kind == MXP__HOST_INPUT;
    if (map->in_input && !is_input) {
        return leave_input(map, factor);
    }
    if (!map->in_input && is_input) {
        map->in_input = true;
        map->input_begin_ns = map->covered_ns;
        map->changed++;
        return add_point(map, map->covered_ns, last_at(map, map->covered_ns), 0);
    }
    if (!is_input && factor != map->points[map->count - 1].factor) {
        map->changed += factor != 1;
        return add_point(map, map->covered_ns, last_at(map, map->covered_ns), factor);
    }
    return MXP_OK;
}

static int cover(mxp_host_map *map, int64_t ns)
{
    int error = MXP_OK;
    while (map->is_scaled && map->covered_ns < ns && error == MXP_OK) {
        error = take_piece(map);
        const size_t next = map->piece + 1;
        const bool is_last = !depends_on_pieces(map) || next >= map->thread->host_count;
        const int64_t end_ns = is_last ? ns : map->thread->hosts[next].begin_ns;
        map->covered_ns = end_ns < ns ? end_ns : ns;
    }
    map->covered_ns = ns > map->covered_ns ? ns : map->covered_ns;
    return error;
}

// ---- asked for ---------------------------------------------------------------------------------
int mxp__host_map_at(mxp_host_map *map, int64_t ns, int64_t *new_fine)
{
    int error = cover(map, ns);
    if (error != MXP_OK) {
        return error;
    }
    if (ns < map->graph->from_ns) {
        const int64_t past_ns = ns - map->graph->from_ns;
        *new_fine = (past_ns < -MXP__REPLAY_NS_MAX ? -MXP__REPLAY_NS_MAX : past_ns) * MXP__FINE;
        return MXP_OK;
    }
    size_t low = 0, high = map->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (map->points[middle].old_ns <= ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *new_fine = behind(&map->points[low], ns);
    return MXP_OK;
}

int mxp__host_map_jump(mxp_host_map *map, int64_t ns, int64_t new_fine)
{
    if (map->in_input || ns < map->points[map->count - 1].old_ns) {
        return MXP_OK;  // the loader waits then, and not the program; or records contradict
    }
    map->covered_ns = ns > map->covered_ns ? ns : map->covered_ns;
    seek_piece(map);
    const mxp_graph_host *piece = map->piece == SIZE_MAX ? NULL : &map->thread->hosts[map->piece];
    const double factor = factor_of(map, piece);
    map->changed += factor != 1;
    return add_point(map, ns, new_fine, factor);
}
