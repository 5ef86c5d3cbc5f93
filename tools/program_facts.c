// SPDX-License-Identifier: Apache-2.0
// Of an ELF file only its head, its program headers and its dynamic section are read, with every
// place checked: the file may be anything.
#include "program_facts.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"

enum { SEGMENTS_MAX = 64, DYNAMIC_MAX = 512, STRINGS_MAX = 64 << 20, SCRIPTS_MAX = 4 };
enum { LOADER_MAX = 256 };

// ---- the path ----------------------------------------------------------------------------------
static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find_program(const char *program, char *path)
{
    if (strchr(program, '/') != NULL) {
        snprintf(path, PATH_MAX, "%s", program);
        return is_program(path);
    }
    const char *folders = getenv("PATH");
    for (const char *at = folders != NULL ? folders : "/bin:/usr/bin"; at != NULL;) {
        const int length = (int)strcspn(at, ":");
        const int written = snprintf(path, PATH_MAX, "%.*s/%s", length > 0 ? length : 1,
                                     length > 0 ? at : ".", program);
        if (written > 0 && written < PATH_MAX && is_program(path)) {
            return true;
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return false;
}

// ---- ELF ---------------------------------------------------------------------------------------
static bool read_at(int file, void *into, size_t bytes, uint64_t offset)
{
    return offset <= INT64_MAX && pread(file, into, bytes, (off_t)offset) == (ssize_t)bytes;
}

// Where in the file an address of the running program lies; 0: nowhere.
static uint64_t offset_of(const Elf64_Phdr *segments, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz) {
            return segments[i].p_offset + (address - segments[i].p_vaddr);
        }
    }
    return 0;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// A library that does not tell its version (libpython3.so) is one of today.
static void note_python(const char *name, mxp_program_facts *facts)
{
    enum { HOOKS_SINCE = 8 };
    static const char third[] = "libpython3.";
    if (begins_with(name, "libpython2.") || begins_with(name, "libpython3")) {
        const bool tells_minor =
            begins_with(name, third) && isdigit((unsigned char)name[sizeof third - 1]);
        facts->is_python = true;
        facts->has_audit_hooks |= tells_minor ? atoi(name + sizeof third - 1) >= HOOKS_SINCE
                                              : begins_with(name, "libpython3");
    }
}

static void note_library(const char *name, mxp_program_facts *facts)
{
    facts->uses_gcc_openmp |= begins_with(name, "libgomp.");
    facts->uses_llvm_openmp |= begins_with(name, "libomp.") || begins_with(name, "libiomp5.");
    facts->uses_torch |= begins_with(name, "libtorch");
    facts->uses_dnnl |= begins_with(name, "libdnnl.") || begins_with(name, "libmkldnn.");
    facts->uses_tbb |= begins_with(name, "libtbb.");
    note_python(name, facts);
}

static bool has_text(const char *strings, size_t bytes, const char *text)
{
    return memmem(strings, bytes, text, strlen(text) + 1) != NULL;
}

// `strings` are the names of its symbols and libraries; the last byte is zero.
static void note_strings(const Elf64_Dyn *entries, size_t count, const char *strings, size_t bytes,
                         mxp_program_facts *facts)
{
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_NEEDED && entries[i].d_un.d_val < bytes) {
            note_library(strings + entries[i].d_un.d_val, facts);
        }
    }
    facts->calls_hooks |= has_text(strings, bytes, "__cyg_profile_func_enter");
    facts->is_python |=
        has_text(strings, bytes, "Py_BytesMain") || has_text(strings, bytes, "Py_Main");
    facts->has_audit_hooks |= has_text(strings, bytes, "PySys_AddAuditHook");
}

static void read_dynamic(int file, const Elf64_Phdr *segments, size_t count,
                         const Elf64_Phdr *dynamic, mxp_program_facts *facts)
{
    Elf64_Dyn entries[DYNAMIC_MAX] = {{0}};
    size_t entry_count = dynamic->p_filesz / sizeof entries[0];
    entry_count = entry_count < DYNAMIC_MAX ? entry_count : DYNAMIC_MAX;
    if (!read_at(file, entries, entry_count * sizeof entries[0], dynamic->p_offset)) {
        return;
    }
    uint64_t offset = 0, bytes = 0;
    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB) {
            offset = offset_of(segments, count, entries[i].d_un.d_ptr);
        } else if (entries[i].d_tag == DT_STRSZ) {
            bytes = entries[i].d_un.d_val;
        }
    }
    if (offset == 0 || bytes == 0 || bytes > STRINGS_MAX) {
        return;
    }
    char *strings = mxp__alloc(bytes + 1);
    if (strings != NULL && read_at(file, strings, bytes, offset)) {
        note_strings(entries, entry_count, strings, bytes + 1, facts);
    }
    mxp__free(strings, bytes + 1);
}

// The same machine as this command's.
static bool is_of_this_machine(const Elf64_Ehdr *head)
{
    static Elf64_Ehdr own;
    int file = own.e_machine == 0 ? open("/proc/self/exe", O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        if (!read_at(file, &own, sizeof own, 0)) {
            own.e_machine = 0;
        }
        close(file);
    }
    return own.e_machine == 0 ||
           (head->e_ident[EI_CLASS] == own.e_ident[EI_CLASS] &&
            head->e_ident[EI_DATA] == own.e_ident[EI_DATA] && head->e_machine == own.e_machine);
}

// The last part of the loader's path; "": there is none, or it cannot be read.
static void read_loader(int file, const Elf64_Phdr *interpreter, char name[LOADER_MAX])
{
    char path[LOADER_MAX] = "";
    name[0] = '\0';
    if (interpreter->p_filesz < sizeof path &&
        read_at(file, path, interpreter->p_filesz, interpreter->p_offset)) {
        const char *slash = strrchr(path, '/');
        snprintf(name, LOADER_MAX, "%s", slash != NULL ? slash + 1 : path);
    }
}

// This command's own loader, whose C library our libraries are for.
static void read_own_loader(char name[LOADER_MAX])
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    name[0] = '\0';
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const bool opened = file >= 0 && read_at(file, &head, sizeof head, 0);
    for (size_t i = 0; opened && i < head.e_phnum && name[0] == '\0'; i++) {
        if (read_at(file, &segment, sizeof segment, head.e_phoff + i * sizeof segment) &&
            segment.p_type == PT_INTERP) {
            read_loader(file, &segment, name);
        }
    }
    if (file >= 0) {
        close(file);
    }
}

static bool has_other_loader(int file, const Elf64_Phdr *interpreter)
{
    char name[LOADER_MAX], own[LOADER_MAX];
    read_loader(file, interpreter, name);
    read_own_loader(own);
    return name[0] != '\0' && own[0] != '\0' && strcmp(name, own) != 0;
}

static void read_elf(int file, const Elf64_Ehdr *head, mxp_program_facts *facts)
{
    facts->is_elf = true;
    facts->is_foreign = !is_of_this_machine(head);
    Elf64_Phdr segments[SEGMENTS_MAX];
    const size_t count = head->e_phnum < SEGMENTS_MAX ? head->e_phnum : SEGMENTS_MAX;
    if (facts->is_foreign || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_phentsize != sizeof segments[0] ||
        !read_at(file, segments, count * sizeof segments[0], head->e_phoff)) {
        return;
    }
    facts->is_static = true;
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_INTERP) {
            facts->is_static = false;
            facts->has_other_loader = has_other_loader(file, &segments[i]);
        } else if (segments[i].p_type == PT_DYNAMIC) {
            read_dynamic(file, segments, count, &segments[i], facts);
        }
    }
}

// ---- all ---------------------------------------------------------------------------------------
static void read_rights(int file, mxp_program_facts *facts)
{
    struct stat status;
    if (fstat(file, &status) != 0) {
        return;
    }
    facts->has_more_rights =
        ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
        ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
         status.st_gid != getegid()) ||
        (geteuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0);
}

// The word behind "#!" of a script, or behind "/usr/bin/env"; its length 0: there is none.
static const char *interpreter_of(const char *line, size_t *length)
{
    static const char env[] = "/env ";
    const char *at = line + 2 + strspn(line + 2, " \t");
    *length = strcspn(at, " \t\r\n");
    const char *word = *length >= 4 ? strstr(at + *length - 4, env) : NULL;
    if (word == at + *length - 4) {
        at += *length + 1;
        at += strncmp(at, "-S ", 3) == 0 ? 3 : 0;
        *length = strcspn(at, " \t\r\n");
    }
    return at;
}

void mxp__program_facts(const char *program, mxp_program_facts *facts)
{
    char name[PATH_MAX], first[256];
    snprintf(name, sizeof name, "%s", program);
    for (int depth = 0; depth < SCRIPTS_MAX; depth++) {
        *facts = (mxp_program_facts){.is_script = depth > 0};
        int file = find_program(name, facts->path) ? open(facts->path, O_RDONLY | O_CLOEXEC) : -1;
        if (file < 0) {
            return;
        }
        Elf64_Ehdr head;
        const ssize_t got = pread(file, first, sizeof first - 1, 0);
        first[got > 0 ? got : 0] = '\0';
        read_rights(file, facts);
        if (got >= SELFMAG && memcmp(first, ELFMAG, SELFMAG) == 0 &&
            read_at(file, &head, sizeof head, 0)) {
            read_elf(file, &head, facts);
        }
        close(file);
        size_t length = 0;
        const char *next = strncmp(first, "#!", 2) == 0 ? interpreter_of(first, &length) : NULL;
        if (length == 0) {
            return;
        }
        snprintf(name, sizeof name, "%.*s", (int)length, next);
    }
}
