// SPDX-License-Identifier: Apache-2.0
// What the program's threads did: spans by the spans around them, on their threads. Spans that may
// overlap (tasks, frames, those of lanes) are in no such tree.
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "profiler/analysis/time/nesting.h"
#include "profiler/analysis/time/time_tree.h"

enum { DEPTH_MAX = 128, NODES_MAX = 1 << 18 };

typedef struct known_child {
    uint64_t key;
    uint32_t node;
} known_child;

typedef struct builder {
    mxp_time_tree *tree;
    mxp_source *source;
    const mxp_choice *choice;
    const mxp_filter *filter;
    const char *label;
} builder;

static const char memory_for[] = "the tree of calls";

static int add_node(mxp_time_tree *tree, mxp_tree_node node, uint32_t *number)
{
    if (mxp__grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    *number = (uint32_t)tree->count;
    tree->nodes[tree->count++] = node;
    return MXP_OK;
}

static int own_durations(mxp_time_tree *tree, uint32_t node)
{
    mxp_samples *samples = mxp__alloc(sizeof *samples);
    if (samples == NULL || mxp__grow(&tree->owned, &tree->owned_capacity, tree->owned_count + 1,
                                     sizeof *tree->owned) != MXP_OK) {
        mxp__free(samples, sizeof *samples);
        return mxp__fail_memory(memory_for);
    }
    tree->owned[tree->owned_count++] = samples;
    tree->nodes[node].durations = samples;
    return MXP_OK;
}

// The child of `parent` with this text. Where there is no room, `parent` itself.
static int child_of(mxp_time_tree *tree, uint32_t parent, const char *text, size_t length,
                    uint8_t kind, uint32_t *child)
{
    mxp_tree_node node = {.parent = parent, .depth = tree->nodes[parent].depth + 1, .kind = kind};
    int error = mxp__texts_number(&tree->own_texts, text, length, &node.text);
    const uint64_t key = ((uint64_t)parent << 32 | node.text) + 1;
    const known_child *known = error == MXP_OK ? mxp__id_map_find(&tree->children, key) : NULL;
    if (error != MXP_OK || known != NULL) {
        *child = known != NULL ? known->node : 0;
        return error;
    }
    if (node.depth > DEPTH_MAX || tree->count >= NODES_MAX) {
        *child = parent;
        return MXP_OK;
    }
    error = add_node(tree, node, child);
    if (error == MXP_OK && kind != MXP_TREE_THREAD) {
        error = own_durations(tree, *child);
    }
    known_child *added = error == MXP_OK ? mxp__id_map_add(&tree->children, key) : NULL;
    if (added == NULL) {
        return error != MXP_OK ? error : mxp__fail_memory(memory_for);
    }
    added->node = *child;
    return MXP_OK;
}

static int thread_of(builder *self, uint32_t thread, uint32_t *node)
{
    mxp_strbuf text = {0};
    mxp__strbuf_puts(&text, self->label);
    mxp__thread_label(self->source, thread, &text);
    int error = text.failed ? mxp__fail_memory(memory_for)
                            : child_of(self->tree, 0, mxp__strbuf_text(&text), text.length,
                                       MXP_TREE_THREAD, node);
    mxp__strbuf_fini(&text);
    return error;
}

// Operators outside of all spans are the workers', and in the tree of scopes.
static bool belongs(const mxp_nested_span *span, const mxp_nested_span *around)
{
    return !span->is_alone &&
           (span->event.kind == MXP_KIND_SPAN || (around != NULL && around->tag != 0));
}

static int enter(void *context, mxp_nested_span *span, const mxp_nested_span *around)
{
    builder *self = context;
    if (!belongs(span, around)) {
        return MXP_OK;
    }
    uint32_t parent = around == NULL ? 0 : around->tag;
    const mxp_name_view view = self->source->name(self->source, span->event.name);
    int error = parent != 0 ? MXP_OK : thread_of(self, span->event.thread, &parent);
    if (error == MXP_OK) {
        error = child_of(self->tree, parent, view.text, view.length, MXP_TREE_SPAN, &span->tag);
        self->tree->folded += error == MXP_OK && span->tag == parent;
    }
    return error;
}

static int leave(void *context, const mxp_nested_span *span)
{
    builder *self = context;
    const mxp_event *event = &span->event;
    if (span->tag == 0 || !mxp__choice_takes(self->choice, event->begin_ticks, event->begin_ns) ||
        (self->filter != NULL && !mxp__filter_takes(self->filter, event->name, span->scope,
                                                    event->thread, MXP_PHASE_NONE))) {
        return MXP_OK;
    }
    mxp_tree_node *node = &self->tree->nodes[span->tag];
    node->count++;
    mxp__sum_add(&node->self_ns, span->own_ns);
    return node->durations == NULL
               ? MXP_OK
               : mxp__samples_add(node->durations, (uint64_t)(event->end_ns - event->begin_ns));
}

int mxp__call_tree_add(mxp_time_tree *tree, mxp_source *process, const mxp_choice *choice,
                       const mxp_filter *filter, const char *label)
{
    builder self = {
        .tree = tree, .source = process, .choice = choice, .filter = filter, .label = label};
    const mxp_nesting_visitor visitor = {enter, leave, &self};
    tree->children.entry_bytes = sizeof(known_child);
    tree->texts = &tree->own_texts;
    uint32_t root;
    int error = MXP_OK;
    if (tree->count == 0) {
        error = mxp__texts_number(&tree->own_texts, "", 0, &root);
        error =
            error == MXP_OK ? add_node(tree, (mxp_tree_node){.kind = MXP_TREE_ROOT}, &root) : error;
    }
    if (error == MXP_OK) {
        error = mxp__nesting_walk(process, &visitor);
    }
    return error == MXP_EFORMAT ? MXP_OK : error;  // the rest has been added
}
