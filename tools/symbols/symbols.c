// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbols.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "profiler/trace/merge.h"
#include "symbols/debug_file.h"
#include "symbols/demangle.h"
#include "symbols/symbol_search.h"

// The names of one module of one process.
typedef struct module_names {
    mxp_symbol_wanted *wanted;
    size_t count, capacity;
} module_names;

// ---- files -------------------------------------------------------------------------------------
// What is wrong with the file at the module's path, or null: it is the one that was recorded. One
// without a build id is believed if it is older than the recording.
static const char *fault_of(const mxp_elf *elf, const mxp_module_entry *module,
                            const mxp_source *source)
{
    const uint32_t kept =
        module->build_id_bytes < MXP_BUILD_ID_BYTES ? module->build_id_bytes : MXP_BUILD_ID_BYTES;
    const mxp_timebase *timebase = source->timebase;
    const int64_t begin_s = timebase->point_count != 0
                                ? (int64_t)(timebase->points[0].realtime_ns / 1000000000u)
                                : INT64_MAX;
    if (elf->id_bytes != module->build_id_bytes || memcmp(elf->id, module->build_id, kept) != 0) {
        return "the file is another one now (its build id differs)";
    }
    return kept == 0 && elf->changed_s > begin_s ? "the file has changed since" : NULL;
}

static bool is_complete(const module_names *names)
{
    size_t i = 0;
    while (i < names->count && names->wanted[i].text != NULL) {
        i++;
    }
    return i == names->count;
}

static int search_debug(const mxp_elf *elf, const char *path, const mxp_module_entry *module,
                        const module_names *names)
{
    mxp_elf debug;
    const bool opened = mxp__debug_open_by_id(module->build_id, module->build_id_bytes, &debug) ||
                        (elf != NULL && mxp__debug_open_by_link(elf, path, &debug));
    int error = MXP_OK;
    if (opened) {
        error = mxp__symbols_search(&debug, ".symtab", names->wanted, names->count);
        mxp__elf_close(&debug);
    }
    return error;
}

// All symbols of the file, else those of its debug file, else those that it exports.
static int search_file(const mxp_source *source, const mxp_module_entry *module,
                       const module_names *names, const char **fault)
{
    const char *path = source->name(source, module->path).text;
    mxp_elf elf;
    const bool opened = mxp__elf_open(&elf, path);
    *fault = opened ? fault_of(&elf, module, source) : "the file cannot be read";
    const bool is_right = opened && *fault == NULL;
    int error =
        is_right ? mxp__symbols_search(&elf, ".symtab", names->wanted, names->count) : MXP_OK;
    if (error == MXP_OK && !is_complete(names)) {
        error = search_debug(is_right ? &elf : NULL, path, module, names);
    }
    if (error == MXP_OK && is_right && !is_complete(names)) {
        error = mxp__symbols_search(&elf, ".dynsym", names->wanted, names->count);
    }
    if (opened) {
        mxp__elf_close(&elf);
    }
    return error;
}

// ---- names of a module -------------------------------------------------------------------------
static int compare(const void *a, const void *b)
{
    const mxp_symbol_wanted *x = a, *y = b;
    if (x->category != y->category) {
        return x->category < y->category ? -1 : 1;
    }
    return (x->address > y->address) - (x->address < y->address);
}

// The digits, or those behind the last "+0x" of a name that was looked for in vain before. False:
// it is no address, and stays as it is.
static bool read_address(const mxp_name_view *name, uint64_t *address)
{
    const char *digits = name->text;
    for (const char *next = digits; (next = strstr(next, "+0x")) != NULL;) {
        next += strlen("+0x");
        digits = next;
    }
    const size_t length = strspn(digits, "0123456789abcdef");
    *address = strtoull(digits, NULL, 16);
    return length != 0 && digits + length == name->text + name->length;
}

// All names by address of a process, those of a module together, by address.
static int gather(const mxp_source *source, module_names *names)
{
    for (uint32_t id = 0; id < source->name_count; id++) {
        const mxp_name_view name = source->name(source, id);
        mxp_symbol_wanted wanted = {.id = id, .category = name.category};
        if (name.style != MXP_STYLE_ADDRESS || !read_address(&name, &wanted.address)) {
            continue;
        }
        if (mxp__grow(&names->wanted, &names->capacity, names->count + 1, sizeof wanted) !=
            MXP_OK) {
            return mxp__fail_memory("the names of functions");
        }
        names->wanted[names->count++] = wanted;
    }
    if (names->count > 1) {
        qsort(names->wanted, names->count, sizeof *names->wanted, compare);
    }
    return MXP_OK;
}

static char *text_of(const mxp_source *source, const mxp_symbol_wanted *found)
{
    if (found->text != NULL) {
        char *demangled = mxp__demangled(found->text);
        return demangled != NULL ? demangled : mxp__strdup(found->text);
    }
    mxp_strbuf text = {0};
    mxp__strbuf_printf(&text, "%s+0x%" PRIx64, source->name(source, found->category).text,
                       found->address);
    char *made = text.failed ? NULL : mxp__strdup(mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return made;
}

static int put_name(mxp_symbols *symbols, mxp_source *source, const mxp_symbol_wanted *found)
{
    char *text = text_of(source, found);
    if (text == NULL || mxp__grow(&symbols->texts, &symbols->capacity, symbols->count + 1,
                                  sizeof *symbols->texts) != MXP_OK) {
        mxp__strfree(text);
        return mxp__fail_memory("the names of functions");
    }
    symbols->texts[symbols->count++] = text;
    const mxp_name_view name = {.text = text,
                                .length = (uint32_t)strlen(text),
                                .category = found->category,
                                .style = found->text != NULL ? MXP_STYLE_SPAN : MXP_STYLE_ADDRESS};
    source->rename(source, found->id, &name);
    *(found->text != NULL ? &symbols->named : &symbols->unnamed) += 1;
    return MXP_OK;
}

static int put_names(mxp_symbols *symbols, mxp_source *source, const module_names *names)
{
    int error = MXP_OK;
    for (size_t i = 0; i < names->count; i++) {
        error = error == MXP_OK ? put_name(symbols, source, &names->wanted[i]) : error;
        mxp__strfree(names->wanted[i].text);
        names->wanted[i].text = NULL;
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
// A recorder tells fewer modules; what a file made by hand has beyond that is not looked at.
enum { MODULES_MOST = 4096 };

static const mxp_module_entry *module_of(const mxp_source *source, uint32_t name)
{
    const size_t count = source->module_count < MODULES_MOST ? source->module_count : MODULES_MOST;
    size_t i = 0;
    while (i < count && source->modules[i].name != name) {
        i++;
    }
    return i < count ? &source->modules[i] : NULL;
}

static int put_module(mxp_symbols *symbols, mxp_source *source, const module_names *names,
                      mxp_symbols_told told, void *context)
{
    const mxp_module_entry *module = module_of(source, names->wanted[0].category);
    const char *fault = NULL;
    int error = module != NULL ? search_file(source, module, names, &fault) : MXP_OK;
    if (error == MXP_OK && fault != NULL && !is_complete(names)) {
        told(context, source->name(source, module->path).text, fault);
    }
    const int put_error = put_names(symbols, source, names);
    return error == MXP_OK ? put_error : error;
}

static int put_process(mxp_symbols *symbols, mxp_source *source, mxp_symbols_told told,
                       void *context)
{
    module_names all = {0};
    int error = gather(source, &all);
    size_t modules = 0;
    for (size_t begin = 0, end; begin < all.count && error == MXP_OK && modules < MODULES_MOST;
         begin = end, modules++) {
        for (end = begin; end < all.count && all.wanted[end].category == all.wanted[begin].category;
             end++) {
        }
        const module_names names = {.wanted = all.wanted + begin, .count = end - begin};
        error = put_module(symbols, source, &names, told, context);
    }
    mxp__free(all.wanted, all.capacity * sizeof *all.wanted);
    return error;
}

int mxp__symbols_put(mxp_symbols *symbols, mxp_source *source, mxp_symbols_told told, void *context)
{
    mxp_source *process;
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && (process = mxp__source_process(source, i)) != NULL; i++) {
        error = process->rename != NULL ? put_process(symbols, process, told, context) : MXP_OK;
    }
    return error;
}

void mxp__symbols_fini(mxp_symbols *symbols)
{
    while (symbols->count > 0) {
        mxp__strfree(symbols->texts[--symbols->count]);
    }
    mxp__free(symbols->texts, symbols->capacity * sizeof *symbols->texts);
    *symbols = (mxp_symbols){0};
}
