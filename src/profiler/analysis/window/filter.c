// SPDX-License-Identifier: Apache-2.0
// See filter.h. Globs are tried once for each name, not for each record.
#include "profiler/analysis/window/filter.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static const char memory_for[] = "the filter";

// ---- candidates --------------------------------------------------------------------------------
typedef struct candidates {
    const mxp_source *source;
    mxp_scope_tree tree;
    uint32_t *node_of;
} candidates;

static int candidates_init(candidates *all, const mxp_source *source)
{
    *all = (candidates){.source = source};
    return mxp__scope_tree_add(&all->tree, source, &all->node_of);
}

static void candidates_fini(candidates *all)
{
    mxp__free(all->node_of, all->source->name_count * sizeof *all->node_of);
    mxp__scope_tree_fini(&all->tree);
}

static size_t count_of(const candidates *all, mxp_filter_kind kind)
{
    return kind == MXP_FILTER_THREAD ? all->source->thread_count : all->source->name_count;
}

void mxp__thread_label(const mxp_source *process, uint32_t thread, mxp_strbuf *out)
{
    const uint32_t name = thread < process->thread_count ? process->threads[thread].name : 0;
    const mxp_name_view view = process->name(process, name);
    if (name == 0 || view.length == 0) {
        mxp__strbuf_printf(out, "thread %" PRIu32, thread);
    } else {
        mxp__strbuf_append(out, view.text, view.length);
    }
}

static bool has_records(uint8_t style)
{
    return style == MXP_STYLE_SPAN || style == MXP_STYLE_ASYNC || style == MXP_STYLE_ADDRESS;
}

// The text of a candidate into `out`, emptied before; false: there is none of this id.
static bool text_of(const candidates *all, mxp_filter_kind kind, uint32_t id, mxp_strbuf *out)
{
    const mxp_name_view view = all->source->name(all->source, id);
    size_t length;
    mxp__strbuf_clear(out);
    switch (kind) {
    case MXP_FILTER_NAME:
        mxp__strbuf_append(out, view.text, view.length);
        return has_records(view.style);
    case MXP_FILTER_SCOPE: {
        const char *path = mxp__scope_tree_path(&all->tree, all->node_of[id], &length);
        mxp__strbuf_append(out, path, length);
        return view.style == MXP_STYLE_SCOPE;
    }
    default:
        mxp__thread_label(all->source, id, out);
        return true;
    }
}

// ---- the filter --------------------------------------------------------------------------------
// A scope is chosen by its path or one around it: cut at each place where one of these ends.
static bool matches_scope(const char *glob, mxp_strbuf *path)
{
    for (size_t end = path->length; end > 0; end--) {
        if (end == path->length || path->data[end] == ':' || path->data[end] == '/') {
            const char kept = path->data[end];
            path->data[end] = '\0';
            const bool matched = fnmatch(glob, path->data, 0) == 0;
            path->data[end] = kept;
            if (matched) {
                return true;
            }
        }
    }
    return false;
}

static bool matches(const char *glob, mxp_filter_kind kind, uint32_t id, mxp_strbuf *text)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, id);
    return kind == MXP_FILTER_SCOPE ? matches_scope(glob, text)
                                    : fnmatch(glob, mxp__strbuf_text(text), 0) == 0 ||
                                          (kind == MXP_FILTER_THREAD && strcmp(glob, number) == 0);
}

static int choose(const candidates *all, mxp_filter_kind kind, const mxp_filter_wish *wish,
                  mxp_filter *filter)
{
    const size_t count = count_of(all, kind);
    size_t found = 0;
    filter->sizes[kind] = count + 1;  // never null, for null is all
    filter->chosen[kind] = mxp__alloc((count + 1) * sizeof *filter->chosen[kind]);
    if (filter->chosen[kind] == NULL) {
        return mxp__fail_memory(memory_for);
    }
    mxp_strbuf text = {0};
    for (uint32_t id = 0; id < count; id++) {
        const bool there_is = text_of(all, kind, id, &text);
        for (size_t i = 0; there_is && i < wish->counts[kind]; i++) {
            filter->chosen[kind][id] |= matches(wish->globs[kind][i], kind, id, &text);
        }
        found += filter->chosen[kind][id];
    }
    if (found == 0 && filter->empty_kind == MXP_FILTER_KINDS) {
        filter->empty_kind = kind;
        filter->empty_glob = wish->globs[kind][0];
    }
    const bool failed = text.failed;
    mxp__strbuf_fini(&text);
    return failed ? mxp__fail_memory(memory_for) : MXP_OK;
}

int mxp__filter_make(const mxp_source *process, const mxp_filter_wish *wish, mxp_filter *filter)
{
    candidates all;
    *filter = (mxp_filter){.phases = wish->phases, .empty_kind = MXP_FILTER_KINDS};
    int error = candidates_init(&all, process);
    for (int kind = 0; kind < MXP_FILTER_KINDS && error == MXP_OK; kind++) {
        if (wish->counts[kind] > 0) {
            error = choose(&all, (mxp_filter_kind)kind, wish, filter);
        }
    }
    candidates_fini(&all);
    if (error != MXP_OK) {
        mxp__filter_fini(filter);
    }
    return error;
}

void mxp__filter_fini(mxp_filter *filter)
{
    for (int kind = 0; kind < MXP_FILTER_KINDS; kind++) {
        mxp__free(filter->chosen[kind], filter->sizes[kind] * sizeof *filter->chosen[kind]);
    }
    *filter = (mxp_filter){0};
}

// ---- the nearest -------------------------------------------------------------------------------
typedef struct nearest {
    size_t distance;
    char *text;
} nearest;

// How unlike two texts are, 0 to 1000: by the pairs of neighbouring letters that both have, which
// needs no equal lengths: "conv" is near to "Convolution".
static size_t unlikeness(const char *a, const char *b)
{
    const size_t a_length = strlen(a), b_length = strlen(b);
    const size_t pairs = (a_length > 1 ? a_length - 1 : 1) + (b_length > 1 ? b_length - 1 : 1);
    unsigned char seen[256] = {0};
    size_t common = 0;
    for (size_t i = 0; i + 1 < a_length; i++) {
        const unsigned char place = (unsigned char)((a[i] | 32) * 31 + (a[i + 1] | 32));
        seen[place] += seen[place] < 255;
    }
    for (size_t i = 0; i + 1 < b_length; i++) {
        const unsigned char place = (unsigned char)((b[i] | 32) * 31 + (b[i + 1] | 32));
        common += seen[place] > 0;
        seen[place] -= seen[place] > 0;
    }
    return 1000 - 2000 * common / pairs;
}

static int insert(nearest found[MXP_NEAREST], size_t *count, const char *text, size_t distance)
{
    size_t at = *count;
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(found[i].text, text) == 0) {
            return MXP_OK;
        }
    }
    while (at > 0 && found[at - 1].distance > distance) {
        at--;
    }
    if (at == MXP_NEAREST) {
        return MXP_OK;
    }
    char *copy = mxp__strdup(text);
    if (copy == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (*count == MXP_NEAREST) {
        mxp__strfree(found[--*count].text);
    }
    memmove(found + at + 1, found + at, (*count - at) * sizeof *found);
    found[at] = (nearest){distance, copy};
    (*count)++;
    return MXP_OK;
}

// The glob without what stands for anything.
static void plain_text(const char *glob, char *text, size_t size)
{
    size_t length = 0;
    for (; *glob != '\0' && length + 1 < size; glob++) {
        if (strchr("*?[]\\", *glob) == NULL) {
            text[length++] = *glob;
        }
    }
    text[length] = '\0';
}

int mxp__filter_nearest(const mxp_source *process, mxp_filter_kind kind, const char *glob,
                        mxp_strbuf *out)
{
    nearest found[MXP_NEAREST] = {{0}};
    size_t count = 0;
    char word[128];
    candidates all;
    mxp_strbuf text = {0};
    plain_text(glob, word, sizeof word);
    int error = candidates_init(&all, process);
    for (uint32_t id = 0; error == MXP_OK && id < count_of(&all, kind); id++) {
        if (text_of(&all, kind, id, &text) && text.length > 0) {
            error = insert(found, &count, mxp__strbuf_text(&text),
                           unlikeness(word, mxp__strbuf_text(&text)));
        }
    }
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_printf(out, "%s'%s'", i == 0 ? "" : ", ", found[i].text);
        mxp__strfree(found[i].text);
    }
    mxp__strbuf_fini(&text);
    candidates_fini(&all);
    return error;
}
