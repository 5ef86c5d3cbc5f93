// SPDX-License-Identifier: Apache-2.0
// See kinds.h.
#include "page/kinds.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"

typedef struct known_kind {
    uint64_t key;
    uint32_t kind;
} known_kind;

static const char memory_for[] = "the kinds of the page's spans";

static int fail_memory(void)
{
    return mxp__fail_memory(memory_for);
}

static void forget_process(mxp_page_kinds *kinds)
{
    if (kinds->process != NULL) {
        const size_t names = kinds->process->name_count;
        mxp__free(kinds->plain, names * sizeof *kinds->plain);
        mxp__free(kinds->node_of, names * sizeof *kinds->node_of);
        kinds->plain = kinds->node_of = NULL;
        kinds->process = NULL;
    }
}

int mxp__page_kinds_next(mxp_page_kinds *kinds, const mxp_source *process)
{
    forget_process(kinds);
    kinds->process = process;
    kinds->plain = mxp__alloc(process->name_count * sizeof *kinds->plain);
    kinds->known.entry_bytes = sizeof(known_kind);
    kinds->near.entry_bytes = sizeof(known_kind);
    mxp__id_map_clear(&kinds->near);
    return kinds->plain == NULL && process->name_count > 0
               ? fail_memory()
               : mxp__scope_tree_add(&kinds->scopes, process, &kinds->node_of);
}

// ---- texts -------------------------------------------------------------------------------------
static int number_of(mxp_page_kinds *kinds, const char *text, size_t length, uint32_t *number)
{
    if (length > MXP_PAGE_NAME_MAX) {
        length = MXP_PAGE_NAME_MAX;
        kinds->cut_names++;
    }
    return mxp__texts_number(&kinds->texts, text, length, number);
}

static int take_texts(mxp_page_kinds *kinds, uint32_t name, uint32_t scope, mxp_page_kind *kind)
{
    const mxp_source *process = kinds->process;
    const mxp_name_view of = process->name(process, name);
    const mxp_name_view category = process->name(process, of.category);
    const uint32_t node = scope < process->name_count ? kinds->node_of[scope] : 0;
    size_t length;
    const char *path = mxp__scope_tree_path(&kinds->scopes, node, &length);
    int error = number_of(kinds, of.text, of.length, &kind->name);
    if (error == MXP_OK) {
        error = number_of(kinds, category.text, category.length, &kind->category);
    }
    return error == MXP_OK ? number_of(kinds, path, length, &kind->scope) : error;
}

// ---- kinds -------------------------------------------------------------------------------------
// Texts have fewer than 2^20 numbers for what has at most 65,536 kinds.
static uint64_t key_of(const mxp_page_kind *kind)
{
    return ((uint64_t)kind->name << 40 ^ (uint64_t)kind->category << 20 ^ kind->scope) * 64 +
           kind->phase * 8u + kind->form + 1u;
}

static bool same(const mxp_page_kind *a, const mxp_page_kind *b)
{
    return a->name == b->name && a->category == b->category && a->scope == b->scope &&
           a->phase == b->phase && a->form == b->form;
}

static int add_kind(mxp_page_kinds *kinds, mxp_page_kind *wanted, uint32_t *number)
{
    if (mxp__grow(&kinds->all, &kinds->capacity, kinds->count + 1, sizeof *kinds->all) != MXP_OK) {
        return fail_memory();
    }
    wanted->least_ns = UINT64_MAX;
    kinds->all[kinds->count] = *wanted;
    *number = (uint32_t)kinds->count++;
    return MXP_OK;
}

static int others(mxp_page_kinds *kinds, uint32_t *number)
{
    static const char name[] = "other names";
    mxp_page_kind kind = {0};
    *number = MXP_PAGE_KINDS_MAX;
    if (kinds->count > MXP_PAGE_KINDS_MAX) {
        return MXP_OK;
    }
    int error = mxp__texts_number(&kinds->texts, name, sizeof name - 1, &kind.name);
    error = error == MXP_OK ? mxp__texts_number(&kinds->texts, "", 0, &kind.category) : error;
    kind.scope = kind.category;
    return error == MXP_OK ? add_kind(kinds, &kind, number) : error;
}

static int find_kind(mxp_page_kinds *kinds, mxp_page_kind *wanted, uint32_t *number)
{
    uint64_t key = key_of(wanted);
    for (;; key += UINT64_C(0x9e3779b97f4a7c15)) {
        known_kind *known = mxp__id_map_find(&kinds->known, key);
        if (known != NULL && same(&kinds->all[known->kind], wanted)) {
            *number = known->kind;
            return MXP_OK;
        }
        if (known == NULL && kinds->count >= MXP_PAGE_KINDS_MAX) {
            return others(kinds, number);
        }
        if (known == NULL) {
            const int error = add_kind(kinds, wanted, number);
            known = error == MXP_OK ? mxp__id_map_add(&kinds->known, key) : NULL;
            if (known == NULL) {
                return error == MXP_OK ? fail_memory() : error;
            }
            known->kind = *number;
            return MXP_OK;
        }
    }
}

static int make_kind(mxp_page_kinds *kinds, uint32_t name, uint32_t scope, uint8_t phase,
                     mxp_page_form form, uint32_t *number)
{
    mxp_page_kind kind = {.phase = phase, .form = (uint8_t)form};
    const int error = take_texts(kinds, name, scope, &kind);
    return error == MXP_OK ? find_kind(kinds, &kind, number) : error;
}

int mxp__page_kind_of(mxp_page_kinds *kinds, uint32_t name, uint32_t scope, uint8_t phase,
                      mxp_page_form form, uint32_t *number)
{
    const bool is_plain = scope == 0 && phase == 0 && name < kinds->process->name_count &&
                          (form == MXP_FORM_SPAN || form == MXP_FORM_ASYNC);
    if (is_plain) {
        if (kinds->plain[name] == 0) {
            const int error = make_kind(kinds, name, 0, 0, form, number);
            kinds->plain[name] = error == MXP_OK ? *number + 1 : 0;
            return error;
        }
        *number = kinds->plain[name] - 1;
        return MXP_OK;
    }
    // Ids below 2^28: a trace with more names does not fit into its table.
    const uint64_t key = ((uint64_t)(name & 0xfffffff) << 28 | (scope & 0xfffffff)) * 64 +
                         (uint64_t)phase * 8 + (uint64_t)form + 1;
    known_kind *known = mxp__id_map_find(&kinds->near, key);
    if (known == NULL) {
        const int error = make_kind(kinds, name, scope, phase, form, number);
        known = error == MXP_OK ? mxp__id_map_add(&kinds->near, key) : NULL;
        if (known == NULL) {
            return error == MXP_OK ? fail_memory() : error;
        }
        known->kind = *number;
    }
    *number = known->kind;
    return MXP_OK;
}

int mxp__page_kind_count(mxp_page_kinds *kinds, uint32_t number, uint64_t duration_ns)
{
    mxp_page_kind *kind = &kinds->all[number];
    kind->count++;
    mxp__sum_add(&kind->total_ns, duration_ns);
    kind->least_ns = duration_ns < kind->least_ns ? duration_ns : kind->least_ns;
    return mxp__samples_add(&kind->durations, duration_ns);
}

void mxp__page_kinds_fini(mxp_page_kinds *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        mxp__samples_fini(&kinds->all[i].durations);
    }
    forget_process(kinds);
    mxp__scope_tree_fini(&kinds->scopes);
    mxp__free(kinds->all, kinds->capacity * sizeof *kinds->all);
    mxp__texts_fini(&kinds->texts);
    mxp__id_map_fini(&kinds->known);
    mxp__id_map_fini(&kinds->near);
    *kinds = (mxp_page_kinds){0};
}
