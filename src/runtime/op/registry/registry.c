// SPDX-License-Identifier: Apache-2.0
// The one list of operators, made from the families' tables at the first question. Afterwards it
// never changes, so readers take no lock.
#include "runtime/op/op.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/name_once.h"
#include "runtime/op/execute/kernel_choice.h"
#include "runtime/op/registry/declare.h"
#include "runtime/op/registry/infer.h"
#include "runtime/op/registry/operator_state.h"

#define FAMILY(name) MXN_FAMILY_DECLARE(name)
#include "runtime/op/registry/families.def"
#undef FAMILY

static const mxn_op_family *const families[] = {
#define FAMILY(name) &mxn__family_##name,
#include "runtime/op/registry/families.def"
#undef FAMILY
};

typedef struct alias {
    const char *name;
    const mxn_op *op;
} alias;

static struct {
    mxp_fork_lock lock;  // a thread that made the list is not in a child, which begins anew
    mxp_atomic_bool ready;  // pairs the release in ensure_ready with the acquire there
    uint32_t count, name_count;
    mxn_op *ops;
    alias *aliases;  // sorted by name
    const char **names;  // the same names, and a null
} registry = {.lock = MXP__FORK_LOCK_INIT(NULL)};

static int compare_defs(const void *a, const void *b)
{
    return strcmp((*(const mxn_op_def *const *)a)->name, (*(const mxn_op_def *const *)b)->name);
}

static int compare_aliases(const void *a, const void *b)
{
    return strcmp(((const alias *)a)->name, ((const alias *)b)->name);
}

// Cuts `text` at its blanks, in place. Gives the number of words; stores them if `words` is there.
static uint32_t split(char *text, char **words)
{
    uint32_t count = 0;
    char *at = text;
    while (at != NULL && *at != '\0') {
        char *blank = strchr(at, ' ');
        if (words != NULL) {
            words[count] = at;
            if (blank != NULL) {
                *blank = '\0';
            }
        }
        count++;
        at = blank == NULL ? NULL : blank + 1;
    }
    return count;
}

// The words of `text` as a list that lives forever, null for none.
static int words_of(const char *text, char ***words, uint32_t *count)
{
    *words = NULL;
    *count = 0;
    if (text == NULL || *text == '\0') {
        return 0;
    }
    char *copy = mxp__strdup(text);
    *count = copy == NULL ? 0 : split(copy, NULL);
    *words = copy == NULL ? NULL : mxp__alloc(*count * sizeof(char *));
    if (*words == NULL) {
        mxp__strfree(copy);
        return mxp__fail_memory("the list of operators");
    }
    split(copy, *words);
    return 0;
}

static int set_up_inputs(mxn_op *op)
{
    char **words;
    int error = words_of(op->def->inputs, &words, &op->named_inputs);
    if (error != 0) {
        return error;
    }
    for (uint32_t i = 0; i < op->named_inputs; i++) {
        op->state->list = op->state->list || strstr(words[i], "[]") != NULL;
        words[i][strcspn(words[i], "[:")] = '\0';
    }
    op->input_names = (const char *const *)words;
    return 0;
}

static void set_up_fields(mxn_op *op)
{
    op->state->context_field = -1;
    const mxn_field *fields = op->def->fields;
    uint32_t count = 0;
    while (fields != NULL && fields[count].name != NULL) {
        if (strcmp(fields[count].name, "ctx") == 0) {
            op->state->context_field = (int32_t)count;
        }
        count++;
    }
    op->state->field_count = count;
}

// Those of a gradient are given.
static void set_up_inference(mxn_op *op)
{
    const mxn_op_def *def = op->def;
    bool given = (def->flags & MXN_OP_BACKWARD) != 0;
    op->state->infer_shapes = def->shapes != NULL ? def->shapes
                              : given             ? mxn__shapes_given
                                                  : mxn__shapes_alike;
    op->state->infer_types = def->types != NULL ? def->types
                             : given            ? mxn__types_given
                                                : mxn__types_alike;
    op->state->takes = def->takes;
}

static int set_up_op(mxn_op *op, const mxn_op_def *def, uint32_t index)
{
    op->name = def->name;
    op->index = index;
    op->flags = def->flags;
    op->def = def;
    op->params_bytes = def->params_bytes;
    op->state = mxp__alloc(sizeof(mxn_op_state));
    if (op->state == NULL) {
        return mxp__fail_memory("the list of operators");
    }
    for (int kind = 0; kind < MXN_KERNEL_KINDS; kind++) {
        op->state->kernels[kind] = mxn__kernel_find(kind, op->name);
    }
    set_up_fields(op);
    set_up_inference(op);
    return set_up_inputs(op);
}

static const mxn_op *find_made(const char *name)
{
    const alias key = {name, NULL};
    const alias *found =
        bsearch(&key, registry.aliases, registry.name_count, sizeof(alias), compare_aliases);
    return found == NULL ? NULL : found->op;
}

#ifndef NDEBUG
void mxn__registry_check_kernels(int kind, const mxn_kernel_table *table)
{
    for (uint32_t i = 0; table != NULL && i < table->count; i++) {
        const mxn_op *op = find_made(table->entries[i].op);
        assert(op != NULL && strcmp(op->name, table->entries[i].op) == 0 &&
               "the row of a kernel names no operator");
        assert(op->state->kernels[kind] == &table->entries[i] &&
               "two rows of a backend are one operator's");
    }
}

static void check_gradient(const mxn_op_def *def)
{
    for (const mxn_gradient_step *step = def->gradient; step != NULL && step->op != NULL; step++) {
        assert(find_made(step->op) != NULL && "a step of a gradient names no operator");
    }
}

// What only a programmer can do wrong, and what would show late or never.
static void check_registry(uint32_t op_count)
{
    for (uint32_t i = 1; i < registry.name_count; i++) {
        assert(strcmp(registry.names[i - 1], registry.names[i]) < 0 &&
               "two operators have one name");
    }
    for (int kind = 0; kind < MXN_KERNEL_KINDS; kind++) {
        mxn__registry_check_kernels(kind, mxn__kernel_table(kind));
    }
    for (uint32_t i = 0; i < op_count; i++) {
        check_gradient(registry.ops[i].def);
    }
}
#endif

static int add_names(const mxn_op *op, size_t *capacity)
{
    char **words;
    uint32_t count;
    int error = words_of(op->def->aliases, &words, &count);
    if (error == 0) {
        error =
            mxp__grow(&registry.aliases, capacity, registry.name_count + count + 1, sizeof(alias));
        if (error != 0) {
            mxp__fail_memory("the list of operators");
        }
    }
    if (error != 0) {
        return error;
    }
    registry.aliases[registry.name_count++] = (alias){op->name, op};
    for (uint32_t i = 0; i < count; i++) {
        registry.aliases[registry.name_count++] = (alias){words[i], op};
    }
    mxp__free(words, count * sizeof(char *));
    return 0;
}

static int list_names(void)
{
    qsort(registry.aliases, registry.name_count, sizeof(alias), compare_aliases);
    registry.names = mxp__alloc((registry.name_count + 1u) * sizeof(char *));
    if (registry.names == NULL) {
        return mxp__fail_memory("the list of operators");
    }
    for (uint32_t i = 0; i < registry.name_count; i++) {
        registry.names[i] = registry.aliases[i].name;
    }
    return 0;
}

static int make_ops(const mxn_op_def **defs, uint32_t count)
{
    uint32_t at = 0;
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        for (uint32_t i = 0; i < families[f]->count; i++) {
            defs[at++] = &families[f]->defs[i];
        }
    }
    qsort(defs, count, sizeof defs[0], compare_defs);
    size_t capacity = 0;
    for (uint32_t i = 0; i < count; i++) {
        int error = set_up_op(&registry.ops[i], defs[i], i);
        if (error != 0) {
            return error;
        }
        error = add_names(&registry.ops[i], &capacity);
        if (error != 0) {
            return error;
        }
    }
    int error = list_names();
#ifndef NDEBUG
    if (error == 0) {
        check_registry(count);
    }
#endif
    return error;
}

static int make_registry(void)
{
    uint32_t count = 0;
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        count += families[f]->count;
    }
    const mxn_op_def **defs = mxp__alloc(count * sizeof(mxn_op_def *));
    registry.ops = mxp__alloc(count * sizeof(mxn_op));
    registry.name_count = 0;
    int error = defs == NULL || registry.ops == NULL ? mxp__fail_memory("the list of operators")
                                                     : make_ops(defs, count);
    registry.count = error == 0 ? count : 0;
    mxp__free(defs, count * sizeof(mxn_op_def *));
    return error;
}

// What a failed attempt has taken is not given back: it is little, and the next attempt needs it
// again.
static int ensure_ready(void)
{
    if (mxp_atomic_load_acquire(&registry.ready)) {
        return 0;
    }
    mxp__fork_lock(&registry.lock);
    int error = 0;
    if (!mxp_atomic_own(&registry.ready)) {
        registry.aliases = NULL;
        error = make_registry();
        mxp_atomic_store_release(&registry.ready, error == 0);
    }
    mxp__fork_unlock(&registry.lock);
    return error;
}

const mxn_op *mxn_op_find(const char *name)
{
    return name != NULL && ensure_ready() == 0 ? find_made(name) : NULL;
}

int mxn_op_require(const char *name, const mxn_op **op)
{
    *op = NULL;
    int error = ensure_ready();
    if (error != 0) {
        return error;
    }
    if (name == NULL) {
        return mxp__fail(MXP_EINVAL, "the name of an operator is null");
    }
    *op = mxn_op_find(name);
    if (*op != NULL) {
        return 0;
    }
    const char *closest = mxp__closest(name, registry.names);
    if (closest != NULL) {
        return mxp__fail(MXP_EINVAL, "Cannot find operator '%s'; did you mean '%s'?", name,
                         closest);
    }
    return mxp__fail(MXP_EINVAL, "Cannot find operator '%s'; MXListAllOpNames lists all %u", name,
                     registry.name_count);
}

int mxn_op_check(const void *handle)
{
    int error = ensure_ready();
    if (error != 0) {
        return error;
    }
    const char *at = handle, *first = (const char *)registry.ops;
    if (at >= first && at < first + registry.count * sizeof(mxn_op) &&
        (size_t)(at - first) % sizeof(mxn_op) == 0) {
        return 0;
    }
    return mxp__fail(MXP_EHANDLE, "%p is not an operator; get one with NNGetOpHandle", handle);
}

uint32_t mxn_op_list(const mxn_op **ops)
{
    *ops = ensure_ready() == 0 ? registry.ops : NULL;
    return *ops == NULL ? 0 : registry.count;
}

uint32_t mxn_op_names(const char *const **names)
{
    *names = ensure_ready() == 0 ? registry.names : NULL;
    return *names == NULL ? 0 : registry.name_count;
}

mxp_name mxn_op_record_name(const mxn_op *op)
{
    return mxp__span_name_once(&op->state->record_name, "operator", op->name);
}
