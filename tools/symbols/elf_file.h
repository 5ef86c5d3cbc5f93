// SPDX-License-Identifier: Apache-2.0
// Folder tools/symbols: names of functions that are recorded by their addresses.
//
// The sections of an ELF file of 64 bits in this machine's byte order. Nothing in the file is
// trusted: each offset and size is compared with the file's own before anything is read, and what
// is read is bounded. Files are read and not mapped, so that one that shrinks meanwhile is an
// error.
#ifndef MXP_TOOLS_ELF_FILE_H
#define MXP_TOOLS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXP__ELF_ID_BYTES = 32 };  // of a build id; what is longer is cut

typedef struct mxp_elf {
    int fd;
    uint64_t size_bytes;
    Elf64_Shdr *sections;
    uint32_t section_count;
    uint32_t names;  // the section with the sections' names
    uint32_t id_bytes;  // of its build id, 0: it has none
    uint8_t id[MXP__ELF_ID_BYTES];
    int64_t changed_s;  // when its content was changed last
} mxp_elf;

// False: it cannot be opened, or is no such file. The second takes the descriptor over.
bool mxp__elf_open(mxp_elf *elf, const char *path);
bool mxp__elf_open_fd(mxp_elf *elf, int fd);
void mxp__elf_close(mxp_elf *elf);

// The section of this name; null: there is none.
const Elf64_Shdr *mxp__elf_section(const mxp_elf *elf, const char *name);
// Reads up to `size` bytes from `offset` of a section on. How many there were.
size_t mxp__elf_read(const mxp_elf *elf, const Elf64_Shdr *section, uint64_t offset, void *to,
                     size_t size);
// Reads a text, cut where it does not fit, and terminates it. False: there is none.
bool mxp__elf_text(const mxp_elf *elf, const Elf64_Shdr *section, uint64_t offset, char *text,
                   size_t size);

#endif
