// SPDX-License-Identifier: Apache-2.0
// See modules.h. The table of modules only grows; one that is gone keeps its place, marked.
#include "profiler/collect/functions/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <mxprof/format.h>
#include <mxprof/module.h>
#include <mxprof/record.h>
#include <string.h>
#include <unistd.h>

#include "profiler/collect/functions/functions.h"
#include "profiler/spin.h"

int dlclose(void *handle);

enum { MODULES = 1024, PATH_BYTES = 4096 };

typedef struct module {
    uintptr_t begin, end;
    mxp_module_entry entry;
    mxp_atomic_bool gone;
} module;

static module modules[MODULES];
static mxp_atomic_u32 count;  // release, pairs with find
static mxp_spin adding;

// ---- what the loader tells ---------------------------------------------------------------------
typedef struct search {
    uintptr_t address;
    mxp_module_entry entry;
    char path[PATH_BYTES];
} search;

static void take_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * header,
                          mxp_module_entry *entry)
{
    const uintptr_t begin = info->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
    for (uintptr_t at = begin; at + sizeof(ElfW(Nhdr)) <= end;) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        const uintptr_t name = at + sizeof *note;
        const uintptr_t content = name + ((note->n_namesz + 3u) & ~3u);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof "GNU" &&
            memcmp((const void *)name, "GNU", sizeof "GNU") == 0 &&
            content + note->n_descsz <= end) {
            entry->build_id_bytes = note->n_descsz;
            memcpy(entry->build_id, (const void *)content,
                   note->n_descsz < MXP_BUILD_ID_BYTES ? note->n_descsz : MXP_BUILD_ID_BYTES);
            return;
        }
        at = content + ((note->n_descsz + 3u) & ~3u);
    }
}

// The path from the root: the program's own folder may be another one when the file is read.
static void take_path(const char *path, char *to)
{
    size_t length = 0;
    if (path[0] == '\0') {
        const ssize_t read = readlink("/proc/self/exe", to, PATH_BYTES - 1);
        to[read > 0 ? read : 0] = '\0';
        return;
    }
    if (path[0] != '/' && getcwd(to, PATH_BYTES) != NULL) {
        length = strlen(to);
        to[length++] = '/';
        path += path[0] == '.' && path[1] == '/' ? 2 : 0;
    }
    strncpy(to + length, path, PATH_BYTES - length - 1);
    to[PATH_BYTES - 1] = '\0';
}

static bool take_extent(const struct dl_phdr_info *info, mxp_module_entry *entry)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            begin = from < begin ? from : begin;
            end = from + header->p_memsz > end ? from + header->p_memsz : end;
        }
    }
    *entry = (mxp_module_entry){
        .bias = info->dlpi_addr, .begin = begin, .size_bytes = end > begin ? end - begin : 0};
    return end > begin;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    search *look = context;
    (void)size;
    if (!take_extent(info, &look->entry) || look->address < look->entry.begin ||
        look->address - look->entry.begin >= look->entry.size_bytes) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE && look->entry.build_id_bytes == 0) {
            take_build_id(info, &info->dlpi_phdr[i], &look->entry);
        }
    }
    take_path(info->dlpi_name, look->path);
    return 1;
}

// ---- the table ---------------------------------------------------------------------------------
static const module *find(uintptr_t address)
{
    const uint32_t known = mxp_atomic_load_acquire(&count);
    for (uint32_t i = known; i-- > 0;) {
        const module *one = &modules[i];
        if (address >= one->begin && address < one->end && !mxp_atomic_load(&one->gone)) {
            return one;
        }
    }
    return NULL;
}

static bool is_same_file(const mxp_module_entry *a, const mxp_module_entry *b)
{
    return a->path == b->path && a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, sizeof a->build_id) == 0;
}

// The file's name without its folder. Addresses are of one file: another one of that name, or that
// has come to its path, gets a number.
static mxp_name category_of(const mxp_module_entry *entry, search *look)
{
    const uint32_t known = mxp_atomic_own(&count);
    const char *slash = strrchr(look->path, '/');
    char *text = slash != NULL ? look->path + (slash + 1 - look->path) : look->path;
    size_t length = strlen(text);
    mxp_name name = mxp_intern_in(MXP_NAME_NONE, text, length, MXP_STYLE_NONE, MXP_UNIT_NONE);
    bool is_taken = false;
    for (uint32_t i = 0; i < known; i++) {
        const mxp_module_entry *other = &modules[i].entry;
        if (is_same_file(other, entry)) {
            return other->name;
        }
        is_taken = is_taken || other->name == name;
    }
    if (is_taken) {
        length = length < PATH_BYTES - 8 ? length : PATH_BYTES - 8;
        memmove(look->path, text, length);
        look->path[length++] = '#';
        for (uint32_t rest = known; rest != 0; rest /= 10) {
            look->path[length++] = (char)('0' + rest % 10);
        }
        name = mxp_intern_in(MXP_NAME_NONE, look->path, length, MXP_STYLE_NONE, MXP_UNIT_NONE);
    }
    return name;
}

// Null: the table is full.
static const mxp_module_entry *add(search *look)
{
    const uint32_t i = mxp_atomic_own(&count);
    if (i == MODULES) {
        return NULL;
    }
    mxp_module_entry *entry = &look->entry;
    entry->path = mxp_string(look->path);
    entry->name = category_of(entry, look);
    modules[i].begin = entry->begin;
    modules[i].end = entry->begin + entry->size_bytes;
    modules[i].entry = *entry;
    mxp_module(entry);
    mxp_atomic_store_release(&count, i + 1);
    return &modules[i].entry;
}

static const mxp_module_entry *module_of(uintptr_t address)
{
    static search look;  // under the lock: too large for a stack
    const module *found = find(address);
    if (found != NULL || !mxp__spin_lock(&adding)) {
        return found != NULL ? &found->entry : NULL;
    }
    found = find(address);
    const mxp_module_entry *entry = found != NULL ? &found->entry : NULL;
    if (entry == NULL) {
        look.address = address;
        entry = dl_iterate_phdr(look_at, &look) != 0 ? add(&look) : NULL;
    }
    mxp__spin_unlock(&adding);
    return entry;
}

mxp_name mxp__address_name(const void *function)
{
    static const char digits[] = "0123456789abcdef";
    const int saved = errno;
    const mxp_module_entry *of = module_of((uintptr_t)function);
    uint64_t offset = (uintptr_t)function - (of != NULL ? of->bias : 0);
    char text[2 * sizeof offset];
    char *at = text + sizeof text;
    do {
        *--at = digits[offset % 16];
        offset /= 16;
    } while (offset != 0);
    const mxp_name category = of != NULL ? of->name : mxp_string("?");
    const mxp_name name = mxp_intern_in(category, at, (size_t)(text + sizeof text - at),
                                        MXP_STYLE_ADDRESS, MXP_UNIT_NONE);
    errno = saved;
    return name;
}

// ---- modules that go ---------------------------------------------------------------------------
static int is_there(struct dl_phdr_info *info, size_t size, void *context)
{
    const module *wanted = context;
    mxp_module_entry now;
    (void)size;
    return take_extent(info, &now) && now.begin == wanted->begin &&
           now.begin + now.size_bytes == wanted->end;
}

static void mark_gone(void)
{
    bool any = false;
    for (uint32_t i = 0; i < mxp_atomic_own(&count); i++) {
        module *one = &modules[i];
        if (!mxp_atomic_load(&one->gone) && dl_iterate_phdr(is_there, one) == 0) {
            mxp_atomic_store(&one->gone, true);
            one->entry.to_ticks = mxp_ticks();
            mxp_module(&one->entry);
            any = true;
        }
    }
    if (any) {
        mxp_atomic_add(&mxp__functions_generation, 1);
    }
}

void mxp__modules_fork_child(void)
{
    mxp_atomic_set(&adding.owner, 0);
}

// In place of the C library's, to learn that a module is gone: its addresses may soon be another's.
int dlclose(void *handle)
{
    int (*close)(void *) = NULL;
    void *next = dlsym(RTLD_NEXT, "dlclose");
    memcpy(&close, &next, sizeof close);
    const int result = close != NULL ? close(handle) : -1;
    const int saved = errno;
    if (mxp_atomic_load_acquire(&count) != 0 && mxp__spin_lock(&adding)) {
        mark_gone();
        mxp__spin_unlock(&adding);
    }
    errno = saved;
    return result;
}
