// SPDX-License-Identifier: Apache-2.0
// The JSON of symbols: any bytes. What is refused must say why; what is accepted is asked for
// everything, copied, inferred, and written text is read as the same symbol.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void ask(const mxn_symbol *symbol)
{
    uint32_t count;
    mxp_strbuf texts = {0};
    for (int kind = 0; kind < MXN_LIST_KINDS; kind++) {
        require(mxn_symbol_list(symbol, kind, &texts, &count) == 0);
    }
    require(mxn_symbol_attributes(symbol, true, &texts, &count) == 0);
    require(mxn_symbol_describe(symbol, &texts) == 0);
    mxp__strbuf_fini(&texts);
    mxn_inferred inferred;
    if (mxn_symbol_infer(symbol, &(mxn_known){0}, &inferred) != 0) {
        require(mxp_last_error()[0] != '\0');
    }
    mxn_inferred_fini(&inferred);
}

static void write_and_read(const mxn_symbol *symbol)
{
    mxn_symbol *copy, *again;
    mxp_strbuf json = {0}, second = {0};
    require(mxn_symbol_copy(symbol, &copy) == 0);
    require(mxn_symbol_json(copy, &json) == 0);
    require(mxn_symbol_from_json(json.data, json.length, &again) == 0);
    require(mxn_symbol_json(again, &second) == 0);
    require(json.length == second.length && memcmp(json.data, second.data, json.length) == 0);
    mxp__strbuf_fini(&json);
    mxp__strbuf_fini(&second);
    mxn_symbol_free(again);
    mxn_symbol_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mxn_symbol *symbol;
    if (mxn_symbol_from_json((const char *)data, size, &symbol) != 0) {
        require(symbol == NULL && mxp_last_error()[0] != '\0');
        return 0;
    }
    ask(symbol);
    write_and_read(symbol);
    mxn_symbol_free(symbol);
    return 0;
}
