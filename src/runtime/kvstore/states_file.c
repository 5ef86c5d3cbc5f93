// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/states_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/saved_states.h"

enum { NAME_BYTES = 64, KIND_BEHIND_COPY = 3 };
static const char counts_name[] = "update_counts", key_name[] = "key ";

// ---- arrays of a file --------------------------------------------------------------------------
typedef struct file {
    uint64_t count, capacity;
    mxn_array **arrays;
    char **names;
} file;

static void fini(file *f)
{
    for (uint64_t i = 0; i < f->count; i++) {
        mxn_array_release(f->arrays[i]);
        mxp__strfree(f->names[i]);
    }
    mxp__free(f->arrays, f->capacity * sizeof *f->arrays);
    mxp__free(f->names, f->capacity * sizeof *f->names);
}

// Takes the array over, also if it fails; null stands for one that could not be made.
static int put(file *f, const char *name, mxn_array *array)
{
    char *copy = mxp__strdup(name);
    if (array == NULL || copy == NULL || f->count == f->capacity) {
        mxn_array_release(array);
        mxp__strfree(copy);
        return mxp__fail_memory("a file of states");
    }
    f->arrays[f->count] = array;
    f->names[f->count++] = copy;
    return MXP_OK;
}

static int put_numbers(file *f, const char *name, const int64_t *numbers, int64_t count)
{
    const mxn_shape shape = {.ndim = 1, .dims = {count}};
    mxn_array *array = NULL;
    int error = mxn_array_new(&shape, MXN_INT64, (mxn_context){MXN_CPU, 0}, NULL, false, &array);
    error = error == MXP_OK ? mxn_array_copy_in(array, numbers, (uint64_t)count) : error;
    if (error != MXP_OK) {
        mxn_array_release(array);
        return error;
    }
    return put(f, name, array);
}

// ---- whole keys --------------------------------------------------------------------------------
static const char *text_of(const mxn_kv_entry *entry, char number[16])
{
    snprintf(number, 16, "%d", entry->number);
    return entry->text != NULL ? entry->text : number;
}

// Values of a key that are put together.
typedef struct joint {
    const char *key;
    uint64_t elements, there;  // how many there are to be, and are
    int dtype;
    char *values;  // null: none yet
} joint;

static uint64_t joint_bytes(const joint *of)
{
    return of->values == NULL ? 0 : of->elements * mxn_dtype_size(of->dtype) + 1;
}

static int add_part(joint *to, const mxn_kv_saved *part, uint32_t place)
{
    mxn_array *array = place < part->count ? part->arrays[place] : NULL;
    const uint64_t size = array == NULL ? 0 : mxn_array_size(array);
    if (array == NULL || (to->values != NULL && to->dtype != array->dtype) ||
        part->first > to->elements || size > to->elements - part->first) {
        return mxp__fail(MXP_EFORMAT, "key %s: its owners have other kinds of states", to->key);
    }
    if (to->values == NULL) {
        to->dtype = array->dtype;
        to->values = mxp__alloc(to->elements * mxn_dtype_size(to->dtype) + 1);
    }
    if (to->values == NULL) {
        return mxp__fail_memory("the states of a key");
    }
    to->there = part->is_unused ? to->elements : to->there + size;
    return mxn_array_copy_out(array, to->values + part->first * mxn_dtype_size(to->dtype), size);
}

// What nobody has updated first; what was updated since goes over it.
static int add_parts(joint *to, const mxn_kv_saved_list *parts, uint32_t place, bool are_unused)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < parts->count; i++) {
        const mxn_kv_saved *part = &parts->items[i];
        if (part->is_unused == are_unused && strcmp(part->key, to->key) == 0) {
            error = add_part(to, part, place);
        }
    }
    return error;
}

// Copies the parts' values into one array of the key's shape. MXP_EFORMAT: not all are there.
static int join(const mxn_kv_saved_list *parts, const char *key, uint32_t place,
                const mxn_shape *shape, mxn_array **whole)
{
    joint to = {.key = key, .elements = mxn_shape_size(shape)};
    int error = add_parts(&to, parts, place, true);
    error = error == MXP_OK ? add_parts(&to, parts, place, false) : error;
    if (error == MXP_OK && to.there < to.elements) {
        error = mxp__fail(MXP_EFORMAT, "key %s: states of %llu of %llu elements", key,
                          (unsigned long long)to.there, (unsigned long long)to.elements);
    }
    if (error == MXP_OK) {
        error = mxn_array_new(shape, to.dtype, (mxn_context){MXN_CPU, 0}, NULL, false, whole);
        error = error == MXP_OK ? mxn_array_copy_in(*whole, to.values, to.elements) : error;
    }
    mxp__free(to.values, joint_bytes(&to));
    return error;
}

// One that was updated, if there is one. Null: none of this key.
static const mxn_kv_saved *first_part(const mxn_kv_saved_list *parts, const char *key)
{
    const mxn_kv_saved *found = NULL;
    for (uint32_t i = 0; i < parts->count && (found == NULL || found->is_unused); i++) {
        found = strcmp(parts->items[i].key, key) == 0 ? &parts->items[i] : found;
    }
    return found;
}

static void array_name(char *name, uint32_t place, uint32_t array, bool behind_copy)
{
    if (behind_copy && array > 0) {
        snprintf(name, NAME_BYTES, "%u.1.%u", place, array - 1);
    } else {
        snprintf(name, NAME_BYTES, "%u.%u", place, array);
    }
}

static int put_key(file *f, const mxn_kv_saved_list *parts, const mxn_kv_entry *entry,
                   uint32_t *place)
{
    char number[16], name[NAME_BYTES];
    const char *key = text_of(entry, number);
    const mxn_kv_saved *part = first_part(parts, key);
    int error = MXP_OK;
    if (part == NULL) {
        return MXP_OK;  // never updated
    }
    for (uint32_t i = 0; error == MXP_OK && i < part->count; i++) {
        mxn_array *whole = NULL;
        error = join(parts, key, i, &entry->stored->shape, &whole);
        array_name(name, *place, i, part->copy_first);
        if (error == MXP_OK) {
            error = put(f, name, whole);
        } else {
            mxn_array_release(whole);
        }
    }
    if (error == MXP_OK) {
        mxp_strbuf title = {0};
        const int64_t numbers[] = {part->updates, part->copy_first ? KIND_BEHIND_COPY : 0};
        mxp__strbuf_printf(&title, "%s%u %s %s", key_name, *place,
                           entry->text != NULL ? "str" : "int", key);
        error = put_numbers(f, mxp__strbuf_text(&title), numbers, 2);
        mxp__strbuf_fini(&title);
        (*place)++;
    }
    return error;
}

static int put_all(file *f, const mxn_kv_saved_list *parts, const mxn_kv_entries *entries)
{
    uint32_t place = 0;
    int error = MXP_OK;
    for (const mxn_kv_entry *at = entries->newest; error == MXP_OK && at != NULL; at = at->next) {
        error = put_key(f, parts, at, &place);
    }
    const int64_t keys = place;
    return error == MXP_OK ? put_numbers(f, counts_name, &keys, 1) : error;
}

static int read_answers(const char *answers, size_t length, mxn_kv_saved_list *parts)
{
    int error = MXP_OK;
    while (error == MXP_OK && length > 0) {
        uint64_t bytes;
        if (length < sizeof bytes) {
            return mxp__fail(MXP_EFORMAT, "an answer of an owner is damaged");
        }
        memcpy(&bytes, answers, sizeof bytes);
        if (bytes > length - sizeof bytes) {
            return mxp__fail(MXP_EFORMAT, "an answer of an owner is damaged");
        }
        error = mxn__kv_saved_read(answers + sizeof bytes, bytes, parts);
        answers += sizeof bytes + bytes;
        length -= sizeof bytes + bytes;
    }
    return error;
}

int mxn__states_file_save(const char *path, const char *answers, size_t length,
                          const mxn_kv_entries *entries)
{
    mxn_kv_saved_list parts = {0};
    int error = read_answers(answers, length, &parts);
    file f = {.capacity = (uint64_t)entries->count * (MXN_KV_SAVED_ARRAYS + 1) + 1};
    f.arrays = mxp__alloc(f.capacity * sizeof *f.arrays);
    f.names = mxp__alloc(f.capacity * sizeof *f.names);
    if (error == MXP_OK && (f.arrays == NULL || f.names == NULL)) {
        error = mxp__fail_memory("a file of states");
    }
    error = error == MXP_OK ? put_all(&f, &parts, entries) : error;
    if (error == MXP_OK) {
        error = mxn_arrays_save(path, f.count, f.arrays, (const char *const *)f.names, true);
    }
    fini(&f);
    mxn__kv_saved_fini(&parts);
    return error;
}

// ---- back --------------------------------------------------------------------------------------
static mxn_array *find(const mxn_array_list *list, const char *name)
{
    for (uint64_t i = 0; list->names != NULL && i < list->count; i++) {
        if (list->names[i] != NULL && strcmp(list->names[i], name) == 0) {
            return list->arrays[i];
        }
    }
    return NULL;
}

static int no_states(const char *path)
{
    return mxp__fail(MXP_EFORMAT, "%s: holds no states of a key-value store's optimizer", path);
}

// "key 0 str weight" and its two numbers.
static int read_key(const char *path, const mxn_array_list *list, uint64_t at, mxp_strbuf *states)
{
    char *rest = NULL, *key = NULL;
    const char *name = list->names[at];
    mxn_array *numbers = list->arrays[at];
    int64_t of[2];
    const unsigned long place = strtoul(name + sizeof key_name - 1, &rest, 10);
    const bool is_known = strncmp(rest, " int ", 5) == 0 || strncmp(rest, " str ", 5) == 0;
    if (!is_known || numbers == NULL || numbers->dtype != MXN_INT64 ||
        mxn_array_copy_out(numbers, of, 2) != MXP_OK || of[0] < 0 || of[0] > UINT32_MAX) {
        return no_states(path);
    }
    key = mxp__strdup(rest + 5);
    if (key == NULL) {
        return mxp__fail_memory("a key");
    }
    mxn_kv_saved saved = {
        .key = key, .updates = (uint32_t)of[0], .copy_first = of[1] >= KIND_BEHIND_COPY};
    for (bool more = true; more && saved.count < MXN_KV_SAVED_ARRAYS;) {
        char array[NAME_BYTES];
        array_name(array, (uint32_t)place, saved.count, saved.copy_first);
        mxn_array *found = find(list, array);
        more = found != NULL;
        if (more) {
            saved.arrays[saved.count++] = found;
        }
    }
    int error = mxn__kv_saved_write(&saved, states);
    mxp__strfree(key);
    return error;
}

int mxn__states_file_load(const char *path, mxp_strbuf *states)
{
    mxn_array_list list = {0};
    int error = mxn_arrays_load(path, &list);
    if (error != MXP_OK) {
        return error;
    }
    error = find(&list, counts_name) == NULL ? no_states(path) : MXP_OK;
    for (uint64_t i = 0; error == MXP_OK && i < list.count; i++) {
        if (list.names[i] != NULL && strncmp(list.names[i], key_name, sizeof key_name - 1) == 0) {
            error = read_key(path, &list, i, states);
        }
    }
    mxn_array_list_fini(&list);
    return error;
}
