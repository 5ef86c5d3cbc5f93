// SPDX-License-Identifier: Apache-2.0
// Which functions are at given addresses, by a table of symbols.
#ifndef MXP_TOOLS_SYMBOL_SEARCH_H
#define MXP_TOOLS_SYMBOL_SEARCH_H

#include "symbols/elf_file.h"

typedef struct mxp_symbol_wanted {
    uint64_t address;
    uint32_t id, category;  // the caller's
    uint32_t rank;  // of what was found; 0: nothing yet
    char *text;  // its name as it stands in the file (mxp__strfree); null: nothing yet
} mxp_symbol_wanted;

// Looks through the symbols of section `table` (".symtab", ".dynsym") for the functions that
// addresses lie in. `wanted` is sorted by address. What was found before stays. One pass, in memory
// that does not grow with the table. MXP_ENOMEM; a file without the section, or a damaged one,
// finds nothing.
int mxp__symbols_search(const mxp_elf *elf, const char *table, mxp_symbol_wanted *wanted,
                        size_t count);

#endif
