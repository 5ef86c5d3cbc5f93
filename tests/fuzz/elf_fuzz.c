// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reading of ELF files, which may be any file that lies where a recorded program was:
// sections, build id, debug link, symbols.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbols/debug_file.h"
#include "symbols/symbol_search.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void search(const mxp_elf *elf, const char *table)
{
    mxp_symbol_wanted wanted[64];
    enum { COUNT = sizeof wanted / sizeof wanted[0] };
    for (uint32_t i = 0; i < COUNT; i++) {  // the seeds' functions are among these
        wanted[i] = (mxp_symbol_wanted){.address = 0x200 + 4 * (uint64_t)i, .id = i};
    }
    mxp__symbols_search(elf, table, wanted, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (wanted[i].id != i || (wanted[i].rank == 0) != (wanted[i].text == NULL)) {
            abort();
        }
        mxp__strfree(wanted[i].text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("elf", MFD_CLOEXEC);
    mxp_elf elf, debug;
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        close(fd);
        return 0;
    }
    if (mxp__elf_open_fd(&elf, fd)) {
        search(&elf, ".symtab");
        search(&elf, ".dynsym");
        if (mxp__debug_open_by_link(&elf, "/nowhere/program", &debug)) {
            mxp__elf_close(&debug);
        }
        mxp__elf_close(&elf);
    }
    return 0;
}
