// SPDX-License-Identifier: Apache-2.0
// Open addressing, at most half full. Beyond the cap a name is made at each call, because holding
// every code object that a program makes would hold its memory.
#include "profiler/collect/python/function_names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { NAMES_FIRST = 1024, NAMES_MAX = 65536, TEXT_MAX = 512 };

typedef struct named {
    const void *key;
    mxp_name name;
} named;

static named *table;
static size_t capacity, count;

// ---- the table ---------------------------------------------------------------------------------
static named *place_of(named *places, size_t places_count, const void *key)
{
    size_t at = (size_t)(((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    while (places[at & (places_count - 1)].key != NULL &&
           places[at & (places_count - 1)].key != key) {
        at++;
    }
    return &places[at & (places_count - 1)];
}

static bool make_room(void)
{
    if (count >= NAMES_MAX) {
        return false;
    }
    if (2 * (count + 1) <= capacity) {
        return true;
    }
    const size_t grown = capacity == 0 ? NAMES_FIRST : 2 * capacity;
    named *places = mxp__alloc(grown * sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (size_t i = 0; i < capacity; i++) {
        if (table[i].key != NULL) {
            *place_of(places, grown, table[i].key) = table[i];
        }
    }
    mxp__free(table, capacity * sizeof *table);
    table = places;
    capacity = grown;
    return true;
}

// False: it is not kept.
static bool keep(const void *key, mxp_name name)
{
    if (!make_room()) {
        return false;
    }
    *place_of(table, capacity, key) = (named){.key = key, .name = name};
    count++;
    return true;
}

static const named *find(const void *key)
{
    const named *place = capacity > 0 ? place_of(table, capacity, key) : NULL;
    return place != NULL && place->key != NULL ? place : NULL;
}

// ---- texts -------------------------------------------------------------------------------------
// Copies what a string attribute says; "" if there is none.
static void read_text(python_object *object, const char *attribute, char *text)
{
    python_object *value = mxp__python.attribute(object, attribute);
    ptrdiff_t length;
    const char *found = value != NULL ? mxp__python.text(value, &length) : NULL;
    snprintf(text, TEXT_MAX, "%s", found != NULL ? found : "");
    if (found == NULL) {
        mxp__python.clear_error();
    }
    if (value != NULL) {
        mxp__python.release(value);
    }
}

static long read_number(python_object *object, const char *attribute)
{
    python_object *value = mxp__python.attribute(object, attribute);
    const long number = value != NULL ? mxp__python.number(value) : 0;
    if (value != NULL) {
        mxp__python.release(value);
    } else {
        mxp__python.clear_error();
    }
    return number;
}

// The last part of a path; that of a package with its folder's name, because all are __init__.py.
static const char *short_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return path;
    }
    if (strcmp(slash, "/__init__.py") != 0) {
        return slash + 1;
    }
    while (slash > path && slash[-1] != '/') {
        slash--;
    }
    return slash;
}

static mxp_name __attribute__((noinline)) name_code(python_object *code)
{
    char file[TEXT_MAX], function[TEXT_MAX], text[2 * TEXT_MAX + 32];
    read_text(code, "co_filename", file);
    read_text(code, mxp__python.minor >= 11 ? "co_qualname" : "co_name", function);
    mxp_name name = 0;
    if (strcmp(file, "mxprof") != 0) {
        snprintf(text, sizeof text, "%s (%s:%ld)", function, short_file(file),
                 read_number(code, "co_firstlineno"));
        name = mxp_span_name("Python", text);
    }
    if (keep(code, name)) {
        mxp__python.retain(code);
    }
    return name;
}

mxp_name mxp__python_function_name(python_object *code)
{
    const named *known = find(code);
    return known != NULL ? known->name : name_code(code);
}

static mxp_name __attribute__((noinline)) name_c_function(const void *key, python_object *function)
{
    char module[TEXT_MAX], name[TEXT_MAX], text[2 * TEXT_MAX + 2];
    read_text(function, "__module__", module);
    read_text(function, "__qualname__", name);
    const bool is_plain = module[0] == '\0' || strcmp(module, "builtins") == 0;
    snprintf(text, sizeof text, "%s%s%s", is_plain ? "" : module, is_plain ? "" : ".", name);
    const mxp_name made = mxp_span_name("Python C", text);
    keep(key, made);
    return made;
}

mxp_name mxp__c_function_name(const void *key, python_object *function)
{
    const named *known = find(key);
    return known != NULL ? known->name : name_c_function(key, function);
}
