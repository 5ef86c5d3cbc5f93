// SPDX-License-Identifier: Apache-2.0
// Creators by name, and the property each call of `Custom` has made for its parameters: it answers
// at once what does not depend on shapes, so that nothing of it is asked twice.
#include "runtime/op/custom/custom_property.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"
#include "base/strbuf.h"

// ---- tables of callbacks ----------------------------------------------------------------------
typedef int (*delete_function)(void *state);
typedef int (*list_function)(char ***names, void *state);
typedef int (*needs_function)(const int *out_grad, const int *in_data, const int *out_data,
                              int *count, int **needs, void *state);

enum { CALLBACKS_MAX = 64 };

static size_t list_bytes(const mxn_callback_list *list)
{
    return (size_t)list->count * (sizeof *list->functions + sizeof *list->contexts);
}

static int copy_callbacks(mxn_callback_list *to, const mxn_callback_list *from)
{
    *to = (mxn_callback_list){.count = from->count};
    if (from->count <= 0 || from->count > CALLBACKS_MAX || from->functions == NULL) {
        to->count = 0;
        return mxp__fail(MXP_EINVAL, "a table of %d callbacks: it needs 1 to %d of them",
                         from->count, CALLBACKS_MAX);
    }
    char *memory = mxp__alloc(list_bytes(to));
    if (memory == NULL) {
        to->count = 0;
        return mxp__fail_memory("a custom operator");
    }
    to->functions = (void *)memory;
    to->contexts = (void *)(memory + (size_t)to->count * sizeof *to->functions);
    for (int i = 0; i < to->count; i++) {
        to->functions[i] = from->functions[i];
        to->contexts[i] = from->contexts == NULL ? NULL : from->contexts[i];
    }
    return 0;
}

static void free_callbacks(mxn_callback_list *list)
{
    mxp__free(list->functions, list_bytes(list));
}

mxn_any_function mxn__callback_at(const mxn_callback_list *list, int index, void **context)
{
    *context = NULL;
    if (index >= list->count || list->functions == NULL || list->functions[index] == NULL) {
        return NULL;
    }
    *context = list->contexts[index];
    return (mxn_any_function)list->functions[index];
}

static void call_delete(const mxn_callback_list *list, int index)
{
    void *context;
    delete_function function = (delete_function)mxn__callback_at(list, index, &context);
    if (function != NULL) {
        function(context);
    }
}

int mxn__custom_failed(const mxn_custom *custom, const char *callback)
{
    return mxp__fail(MXP_ESTATE, "Custom operator %s: its %s has failed", custom->name, callback);
}

// ---- creators ---------------------------------------------------------------------------------
typedef struct registered {
    struct registered *next;
    char *name;
    mxn_custom_creator creator;
} registered;

static mxp_lock creators_lock = MXP__LOCK_INIT;
static registered *creators;  // under the lock; entries stay

static registered *find_locked(const char *name)
{
    assert(mxp__lock_is_held(&creators_lock));
    registered *at = creators;
    while (at != NULL && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    return at;
}

int mxn_custom_register(const char *name, mxn_custom_creator creator)
{
    registered *made = mxp__alloc(sizeof *made);
    char *copy = mxp__strdup(name);
    bool kept = false;
    mxp__lock(&creators_lock);
    registered *known = find_locked(name);
    if (known != NULL) {
        known->creator = creator;
    } else if (made != NULL && copy != NULL) {
        *made = (registered){creators, copy, creator};
        creators = made;
        kept = true;
    }
    mxp__unlock(&creators_lock);
    if (!kept) {
        mxp__strfree(copy);
        mxp__free(made, sizeof *made);
    }
    return kept || known != NULL ? 0 : mxp__fail_memory("the list of custom operators");
}

static int fail_unknown(const char *name)
{
    enum { WORDS_MAX = 256 };
    const char *words[WORDS_MAX + 1] = {NULL};
    mxp_strbuf list = {0};
    mxp__lock(&creators_lock);
    int count = 0;
    for (const registered *at = creators; at != NULL && count < WORDS_MAX; at = at->next) {
        words[count++] = at->name;
        mxp__strbuf_printf(&list, "%s%s", count == 1 ? "" : ", ", at->name);
    }
    mxp__unlock(&creators_lock);
    const char *closest = mxp__closest(name, words);
    int error =
        mxp__fail(MXP_EINVAL,
                  "Cannot find custom operator %s%s%s%s: registered are [%s], in operator "
                  "Custom",
                  name, closest == NULL ? "" : ", did you mean '", closest == NULL ? "" : closest,
                  closest == NULL ? "" : "'?", count == 0 ? "" : mxp__strbuf_text(&list));
    mxp__strbuf_fini(&list);
    return error;
}

static int find_creator(const char *name, mxn_custom_creator *creator)
{
    mxp__lock(&creators_lock);
    const registered *known = find_locked(name);
    *creator = known == NULL ? NULL : known->creator;
    mxp__unlock(&creators_lock);
    return *creator == NULL ? fail_unknown(name) : 0;
}

// ---- properties -------------------------------------------------------------------------------
static int count_names(const mxn_custom *custom, int index, const char *what, uint32_t *count)
{
    void *context;
    list_function function = (list_function)mxn__callback_at(&custom->callbacks, index, &context);
    char **names = NULL;
    if (function == NULL || function(&names, context) == 0 || names == NULL) {
        return mxn__custom_failed(custom, what);
    }
    *count = 0;
    while (names[*count] != NULL && *count <= MXN_OPERANDS_MAX) {
        ++*count;
    }
    // The program counts all of them when it is asked what backward needs.
    return *count <= MXN_OPERANDS_MAX
               ? 0
               : mxp__fail(MXP_EINVAL, "Custom operator %s: its %s has more than %d names",
                           custom->name, what, MXN_OPERANDS_MAX);
}

static int count_lists(mxn_custom *custom)
{
    int error =
        count_names(custom, MXN__PROPERTY_ARGUMENTS, "list of arguments", &custom->arguments);
    if (error == 0) {
        error = count_names(custom, MXN__PROPERTY_OUTPUTS, "list of outputs", &custom->outputs);
    }
    if (error == 0) {
        error =
            count_names(custom, MXN__PROPERTY_STATES, "list of auxiliary states", &custom->states);
    }
    if (error == 0 && custom->outputs == 0) {
        error = mxp__fail(MXP_EINVAL, "Custom operator %s has no outputs", custom->name);
    }
    return error;
}

// Asks which of the positions backward needs; `positions` has space for all of them.
static int ask_needs(const mxn_custom *custom, int *positions, int **needs, int *count)
{
    void *context;
    needs_function function =
        (needs_function)mxn__callback_at(&custom->callbacks, MXN__PROPERTY_NEEDS, &context);
    uint32_t total = 2 * custom->outputs + custom->arguments;
    for (uint32_t i = 0; i < total; i++) {
        positions[i] = (int)i;
    }
    const int *gradients = positions, *data = positions + custom->outputs;
    if (function == NULL ||
        function(gradients, data, data + custom->arguments, count, needs, context) == 0) {
        return mxn__custom_failed(custom, "declaration of what backward needs");
    }
    for (int i = 0; i < *count; i++) {
        if ((*needs)[i] < 0 || (uint32_t)(*needs)[i] >= total) {
            return mxp__fail(MXP_EINVAL,
                             "Custom operator %s: backward needs array %d, there are 0 to %u",
                             custom->name, (*needs)[i], total - 1);
        }
    }
    return 0;
}

// The needs and the states as in MXN_GRADIENT: "g0 i0 o0".
static int describe_needs(mxn_custom *custom)
{
    mxp_strbuf text = {0};
    for (uint32_t i = 0; i < custom->need_count; i++) {
        uint32_t at = (uint32_t)custom->needs[i], outputs = custom->outputs;
        char kind = at < outputs ? 'g' : at < outputs + custom->arguments ? 'i' : 'o';
        uint32_t first = kind == 'g' ? 0 : kind == 'i' ? outputs : outputs + custom->arguments;
        mxp__strbuf_printf(&text, "%s%c%u", i == 0 ? "" : " ", kind, at - first);
    }
    for (uint32_t i = 0; i < custom->states; i++) {
        mxp__strbuf_printf(&text, "%si%u", custom->need_count + i == 0 ? "" : " ",
                           custom->arguments + i);
    }
    bool empty = custom->need_count + custom->states == 0;
    custom->takes = text.failed ? NULL : mxp__strdup(empty ? "" : mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    custom->steps[0] = (mxn_gradient_step){.op = "_backward_Custom", .takes = custom->takes};
    return custom->takes == NULL ? mxp__fail_memory("a custom operator") : 0;
}

static int find_needs(mxn_custom *custom)
{
    size_t bytes = (2 * (size_t)custom->outputs + custom->arguments) * sizeof(int);
    int *positions = mxp__alloc(bytes), *needs = NULL, count = 0;
    if (positions == NULL) {
        return mxp__fail_memory("a custom operator");
    }
    int error = ask_needs(custom, positions, &needs, &count);
    if (error == 0 && count > 0) {
        custom->needs = mxp__alloc((size_t)count * sizeof(int));
        error = custom->needs == NULL ? mxp__fail_memory("a custom operator") : 0;
    }
    if (error == 0 && count > 0) {
        memcpy(custom->needs, needs, (size_t)count * sizeof(int));
        custom->need_count = (uint32_t)count;
    }
    mxp__free(positions, bytes);
    return error != 0 ? error : describe_needs(custom);
}

static char *joined(const char *first, const char *second)
{
    size_t bytes = strlen(first) + strlen(second) + 1;
    char *text = mxp__alloc(bytes);
    if (text != NULL) {
        snprintf(text, bytes, "%s%s", first, second);
    }
    return text;
}

static int custom_new(const char *name, const mxn_callback_list *callbacks, int delete_index,
                      mxn_custom **made)
{
    mxn_custom *custom = mxp__alloc(sizeof *custom);
    mxn_callback_list copy = {0};
    int error = copy_callbacks(&copy, callbacks);
    if (custom == NULL || error != 0) {
        free_callbacks(&copy);
        mxp__free(custom, sizeof *custom);
        call_delete(callbacks, delete_index);
        return error != 0 ? error : mxp__fail_memory("a custom operator");
    }
    *custom = (mxn_custom){.delete_index = delete_index,
                           .callbacks = copy,
                           .name = mxp__strdup(name),
                           .backward_prefix = joined("_backward_", name)};
    mxp__refs_init(&custom->refs);
    *made = custom;
    return custom->name == NULL || custom->backward_prefix == NULL
               ? mxp__fail_memory("a custom operator")
               : 0;
}

static void custom_drop(mxn_custom *custom)
{
    if (custom == NULL || !mxp__refs_drop(&custom->refs)) {
        return;
    }
    call_delete(&custom->callbacks, custom->delete_index);
    free_callbacks(&custom->callbacks);
    mxp__free(custom->needs, custom->need_count * sizeof(int));
    mxp__strfree(custom->takes);
    mxp__strfree(custom->backward_prefix);
    mxp__strfree(custom->name);
    mxp__free(custom, sizeof *custom);
}

static int create(const char *name, mxn_custom_creator creator, uint32_t count,
                  const char *const *keys, const char *const *values, mxn_callback_list *property)
{
    const char **lists = mxp__alloc((2 * (size_t)count + 1) * sizeof(char *));
    if (lists == NULL) {
        return mxp__fail_memory("a custom operator");
    }
    int given = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(keys[i], "op_type") != 0) {
            lists[given] = keys[i];
            lists[count + (uint32_t)given++] = values[i];
        }
    }
    int done = creator(name, given, lists, lists + count, property);
    mxp__free(lists, (2 * (size_t)count + 1) * sizeof(char *));
    return done != 0 ? 0
                     : mxp__fail(MXP_ESTATE, "Custom operator %s: its creator has failed", name);
}

int mxn__custom_make(mxn_params *params, uint32_t count, const char *const *keys,
                     const char *const *values)
{
    mxn_custom_params *own = (void *)params->values;
    mxn_custom_creator creator = NULL;
    mxn_callback_list property = {0};
    if (own->op_type[0] == '\0') {
        return mxp__fail(MXP_EINVAL, "Required argument `op_type` is missing, in operator %s",
                         params->op->name);
    }
    int error = find_creator(own->op_type, &creator);
    if (error == 0) {
        error = create(own->op_type, creator, count, keys, values, &property);
    }
    if (error == 0) {
        error = custom_new(own->op_type, &property, MXN__PROPERTY_DELETE, &own->custom);
    }
    if (error == 0) {
        error = count_lists(own->custom);
    }
    return error != 0 ? error : find_needs(own->custom);
}

int mxn__custom_of_function(uint32_t inputs, uint32_t outputs, const mxn_callback_list *callbacks,
                            mxn_custom **custom)
{
    int error = custom_new("Function", callbacks, MXN__FUNCTION_DELETE, custom);
    if (error == 0) {
        (*custom)->arguments = inputs;
        (*custom)->outputs = outputs;
        void *unused;
        (*custom)->depends = mxn__callback_at(callbacks, MXN__FUNCTION_DEPENDS, &unused) != NULL;
        (*custom)->steps[0] = (mxn_gradient_step){.op = "_backward_CustomFunction",
                                                  .takes = (*custom)->depends ? "g* i*" : "g*"};
    }
    return error;
}

void mxn__custom_share(void *values)
{
    mxn_custom_params *own = values;
    mxp__refs_take(&own->custom->refs);
}

void mxn__custom_release(void *values)
{
    mxn_custom_params *own = values;
    custom_drop(own->custom);
    own->custom = NULL;
}

// ---- operators --------------------------------------------------------------------------------
static void operator_destroy(mxn_call_state *state)
{
    mxn_custom_operator *op = (mxn_custom_operator *)state;
    call_delete(&op->callbacks, MXN__OPERATOR_DELETE);
    free_callbacks(&op->callbacks);
    mxp__free(op, sizeof *op);
}

int mxn__custom_operator_new(const mxn_callback_list *callbacks, mxn_call_state **state)
{
    mxn_custom_operator *made = mxp__alloc(sizeof *made);
    int error = made == NULL ? mxp__fail_memory("a custom operator")
                             : copy_callbacks(&made->callbacks, callbacks);
    if (error != 0) {
        mxp__free(made, sizeof *made);
        call_delete(callbacks, MXN__OPERATOR_DELETE);
        return error;
    }
    mxp__refs_init(&made->state.refs);
    made->state.destroy = operator_destroy;
    *state = &made->state;
    return 0;
}
