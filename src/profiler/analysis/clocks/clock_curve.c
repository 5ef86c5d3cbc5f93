// SPDX-License-Identifier: Apache-2.0
// See clock_curve.h. Exchanges come in bursts. A part takes in one whole burst after the other,
// because a single loose exchange from behind a jump may fit, and would then bend the lines before
// it.
#include "profiler/analysis/clocks/clock_curve.h"

#include <assert.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

enum {
    BURST_APART_NS = 5000000,  // exchanges that lie further apart are of two bursts
    NODES_MAX = 512
};

static const char memory_for[] = "how clocks lie to one another";

// ---- parts -------------------------------------------------------------------------------------
static bool fits_at(const mxp_cut *cuts, size_t count, const mxp_cut_model *model, int64_t when_ns)
{
    mxp_bounds bounds;
    return mxp__cuts_bounds(cuts, count, model, when_ns, &bounds);
}

static bool fits(const mxp_cut *cuts, size_t count, const mxp_cut_model *model)
{
    return fits_at(cuts, count, model, cuts[count - 1].at_ns) &&
           fits_at(cuts, count, model, cuts[0].at_ns);
}

static size_t burst_end(const mxp_cut *cuts, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && cuts[end].at_ns - cuts[end - 1].at_ns <= BURST_APART_NS) {
        end++;
    }
    return end;
}

// Where the part that begins with exchange `first` ends. A burst in whose middle the clock jumped
// is taken exchange by exchange.
static size_t part_end(const mxp_cut *cuts, size_t count, size_t first, const mxp_cut_model *model)
{
    size_t end = first;
    while (end < count) {
        size_t next = burst_end(cuts, count, end);
        if (!fits(cuts + end, next - end, model)) {
            next = end + 1;
        }
        if (end > first && !fits(cuts + first, next - first, model)) {
            break;
        }
        end = next;
    }
    return end;
}

static int add_cut(mxp_clock_curve *curve, const mxp_cut *cut)
{
    if (mxp__grow(&curve->cuts, &curve->cut_capacity, curve->cut_count + 1, sizeof *cut) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    curve->cuts[curve->cut_count++] = *cut;
    return MXP_OK;
}

// The part's exchanges and what messages lie between them; before the first part and behind the
// last one too.
static int add_part(mxp_clock_curve *curve, const mxp_cut *exchanges, size_t count,
                    const mxp_cut *messages, size_t message_count, bool is_last)
{
    mxp_curve_part part = {.first = curve->cut_count,
                           .from_ns = exchanges[0].at_ns,
                           .until_ns = exchanges[count - 1].at_ns};
    const bool is_first = curve->part_count == 0;
    if (mxp__grow(&curve->parts, &curve->part_capacity, curve->part_count + 1, sizeof part) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        error = add_cut(curve, &exchanges[i]);
    }
    part.messages_from = curve->cut_count;
    for (size_t i = 0; error == MXP_OK && i < message_count; i++) {
        const int64_t at_ns = messages[i].at_ns;
        if ((is_first || at_ns >= part.from_ns) && (is_last || at_ns <= part.until_ns)) {
            error = add_cut(curve, &messages[i]);
        }
    }
    part.end = curve->cut_count;
    curve->parts[curve->part_count++] = part;
    return error;
}

static int find_parts(mxp_clock_curve *curve, const mxp_cut *exchanges, size_t count,
                      const mxp_cut *messages, size_t message_count)
{
    int error = MXP_OK;
    for (size_t first = 0, end; error == MXP_OK && first < count; first = end) {
        end = part_end(exchanges, count, first, curve->model);
        error =
            add_part(curve, exchanges + first, end - first, messages, message_count, end == count);
    }
    return error;
}

// ---- bounds ------------------------------------------------------------------------------------
// What the nearest exchange alone allows: for parts of which some cut was wrong after all.
static mxp_bounds nearest_bounds(const mxp_clock_curve *curve, const mxp_curve_part *part,
                                 int64_t when_ns)
{
    const mxp_cut *nearest = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = part->first; i < part->end; i++) {
        const mxp_cut *cut = &curve->cuts[i];
        const uint64_t apart = cut->at_ns > when_ns ? (uint64_t)cut->at_ns - (uint64_t)when_ns
                                                    : (uint64_t)when_ns - (uint64_t)cut->at_ns;
        if (apart < least && cut->low_ns != MXP__CUT_NO_LOW && cut->high_ns != MXP__CUT_NO_HIGH) {
            least = apart;
            nearest = cut;
        }
    }
    mxp_bounds bounds = {-MXP__CUT_FAR_NS, MXP__CUT_FAR_NS};
    if (nearest != NULL) {
        (void)mxp__cuts_bounds(nearest, 1, curve->model, when_ns, &bounds);
    }
    return bounds;
}

static mxp_bounds part_bounds(const mxp_clock_curve *curve, size_t i, int64_t when_ns)
{
    const mxp_curve_part *part = &curve->parts[i];
    const mxp_cut *cuts = curve->cuts + part->first;
    const size_t exchanges = part->messages_from - part->first, all = part->end - part->first;
    mxp_bounds bounds;
    // A message that does not fit is wrong, or its clock jumped where no exchange shows it.
    return mxp__cuts_bounds(cuts, all, curve->model, when_ns, &bounds) ||
                   mxp__cuts_bounds(cuts, exchanges, curve->model, when_ns, &bounds)
               ? bounds
               : nearest_bounds(curve, part, when_ns);
}

mxp_bounds mxp__clock_curve_bounds(const mxp_clock_curve *curve, int64_t when_ns)
{
    size_t i = 0;
    while (i + 1 < curve->part_count && when_ns >= curve->parts[i + 1].from_ns) {
        i++;
    }
    mxp_bounds bounds = part_bounds(curve, i, when_ns);
    if (i + 1 < curve->part_count && when_ns > curve->parts[i].until_ns) {
        const mxp_bounds later = part_bounds(curve, i + 1, when_ns);
        bounds.low_ns = later.low_ns < bounds.low_ns ? later.low_ns : bounds.low_ns;
        bounds.high_ns = later.high_ns > bounds.high_ns ? later.high_ns : bounds.high_ns;
    }
    return bounds;
}

// ---- nodes -------------------------------------------------------------------------------------
static int add_node(mxp_clock_curve *curve, size_t part, int64_t at_ns)
{
    if (curve->node_count > 0 && at_ns <= curve->nodes[curve->node_count - 1].at_ns) {
        return MXP_OK;
    }
    if (mxp__grow(&curve->nodes, &curve->node_capacity, curve->node_count + 1,
                  sizeof *curve->nodes) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const mxp_bounds bounds = part_bounds(curve, part, at_ns);
    mxp_curve_node node = {at_ns, bounds.low_ns + (bounds.high_ns - bounds.low_ns) / 2};
    if (curve->node_count > 0) {
        const mxp_curve_node *before = &curve->nodes[curve->node_count - 1];
        const int64_t least = before->at_ns + before->ahead_ns - at_ns;  // time does not go back
        node.ahead_ns = node.ahead_ns < least ? least : node.ahead_ns;
    }
    curve->nodes[curve->node_count++] = node;
    return MXP_OK;
}

// One for each burst, as far as there is room, and one for each message: between nodes the curve is
// a line, which may pass a message's bound that the middle of the bounds keeps to.
static size_t find_times(const mxp_clock_curve *curve, size_t index, size_t each, int64_t *times)
{
    const mxp_curve_part *part = &curve->parts[index];
    size_t bursts = 0, count = 0;
    for (size_t first = part->first, end; first < part->messages_from; first = end) {
        end = burst_end(curve->cuts, part->messages_from, first);
        if (bursts++ % each == 0) {
            times[count++] = curve->cuts[first + (end - first) / 2].at_ns;
        }
    }
    for (size_t i = part->messages_from; i < part->end; i += each) {
        times[count++] = curve->cuts[i].at_ns;
    }
    return count;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Those between from_ns and until_ns, ascending.
static int add_nodes(mxp_clock_curve *curve, size_t index, size_t each, int64_t from_ns,
                     int64_t until_ns)
{
    const size_t most = curve->parts[index].end - curve->parts[index].first;
    int64_t *times = mxp__alloc(most * sizeof *times);
    if (times == NULL) {
        return mxp__fail_memory(memory_for);
    }
    const size_t count = find_times(curve, index, each, times);
    qsort(times, count, sizeof *times, compare_times);
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        error =
            times[i] > from_ns && times[i] < until_ns ? add_node(curve, index, times[i]) : MXP_OK;
    }
    mxp__free(times, most * sizeof *times);
    return error;
}

static int find_nodes(mxp_clock_curve *curve, int64_t from_ns, int64_t until_ns)
{
    const size_t each = curve->cut_count / NODES_MAX + 1;
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < curve->part_count; i++) {
        const mxp_curve_part *part = &curve->parts[i];
        const int64_t begin_ns = i == 0 && from_ns < part->from_ns ? from_ns : part->from_ns;
        const bool ends_late = i + 1 == curve->part_count && until_ns > part->until_ns;
        const int64_t end_ns = ends_late ? until_ns : part->until_ns;
        error = add_node(curve, i, begin_ns);
        if (error == MXP_OK) {
            error = add_nodes(curve, i, each, begin_ns, end_ns);
        }
        if (error == MXP_OK) {
            error = add_node(curve, i, end_ns);
        }
    }
    return error;
}

int mxp__clock_curve_make(const mxp_cut *exchanges, size_t exchange_count, const mxp_cut *messages,
                          size_t message_count, int64_t from_ns, int64_t until_ns,
                          const mxp_cut_model *model, mxp_clock_curve *curve)
{
    assert(exchange_count > 0 && "without an exchange nothing is known");
    *curve = (mxp_clock_curve){.model = model};
    int error = find_parts(curve, exchanges, exchange_count, messages, message_count);
    return error == MXP_OK ? find_nodes(curve, from_ns, until_ns) : error;
}

void mxp__clock_curve_fini(mxp_clock_curve *curve)
{
    mxp__free(curve->cuts, curve->cut_capacity * sizeof *curve->cuts);
    mxp__free(curve->parts, curve->part_capacity * sizeof *curve->parts);
    mxp__free(curve->nodes, curve->node_capacity * sizeof *curve->nodes);
    *curve = (mxp_clock_curve){0};
}

// ---- the curve ---------------------------------------------------------------------------------
int64_t mxp__clock_curve_ahead(const mxp_clock_curve *curve, int64_t when_ns)
{
    const mxp_curve_node *nodes = curve->nodes;
    size_t i = 0;
    while (i + 2 < curve->node_count && when_ns >= nodes[i + 1].at_ns) {
        i++;
    }
    if (curve->node_count < 2 || when_ns <= nodes[0].at_ns) {
        return nodes[0].ahead_ns;
    }
    if (when_ns >= nodes[curve->node_count - 1].at_ns) {
        return nodes[curve->node_count - 1].ahead_ns;
    }
    const double share =
        (double)(when_ns - nodes[i].at_ns) / (double)(nodes[i + 1].at_ns - nodes[i].at_ns);
    const double rise = (double)nodes[i + 1].ahead_ns - (double)nodes[i].ahead_ns;
    return nodes[i].ahead_ns + (int64_t)(rise * share);
}

int64_t mxp__clock_curve_doubt(const mxp_clock_curve *curve, int64_t when_ns)
{
    const mxp_bounds bounds = mxp__clock_curve_bounds(curve, when_ns);
    const int64_t ahead_ns = mxp__clock_curve_ahead(curve, when_ns);
    const int64_t above = bounds.high_ns - ahead_ns, below = ahead_ns - bounds.low_ns;
    return above > below ? above : below;
}

int64_t mxp__clock_curve_jump(const mxp_clock_curve *curve, size_t i)
{
    assert(i > 0 && i < curve->part_count && "a jump lies between two parts");
    const int64_t when_ns = curve->parts[i].from_ns;
    const mxp_bounds before = part_bounds(curve, i - 1, when_ns);
    const mxp_bounds behind = part_bounds(curve, i, when_ns);
    return behind.low_ns + (behind.high_ns - behind.low_ns) / 2 -
           (before.low_ns + (before.high_ns - before.low_ns) / 2);
}
