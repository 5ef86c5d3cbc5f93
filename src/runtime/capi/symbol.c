// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that make symbols: checks, and what a program gets.
#include <mxnet/c_api_symbol.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/symbol_handle.h"

int mxn__symbol_hand_out(int error, mxn_symbol *symbol, SymbolHandle *out)
{
    if (error == MXP_OK) {
        error = mxn__object_new(MXN_OBJECT_SYMBOL, symbol, out);
    }
    if (error != MXP_OK) {
        mxn_symbol_free(symbol);
    }
    return error;
}

// The symbols of a list, in memory of the caller's that holds as many.
static int get_all(mx_uint count, SymbolHandle *handles, mxn_symbol **symbols)
{
    int error = count > 0 ? mxn__check_given(handles, "the list of symbols") : MXP_OK;
    for (mx_uint i = 0; i < count && error == MXP_OK; i++) {
        error = mxn__symbol_get(handles[i], &symbols[i]);
    }
    return error;
}

// ---- making -----------------------------------------------------------------------------------
int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, mx_uint num_param, const char **keys,
                               const char **vals, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *symbol = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn_op_check(creator);
    }
    if (error == MXP_OK) {
        error = mxn__check_texts(num_param, keys, "keys");
    }
    if (error == MXP_OK) {
        error = mxn__check_texts(num_param, vals, "vals");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_operator(creator, num_param, keys, vals, &symbol);
        error = mxn__symbol_hand_out(error, symbol, out);
    }
    return mxn__api_end(&call, error);
}

int MXSymbolCreateVariable(const char *name, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *symbol = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn__check_given(name, "name");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_variable(name, &symbol);
        error = mxn__symbol_hand_out(error, symbol, out);
    }
    return mxn__api_end(&call, error);
}

static int make_group(mx_uint count, SymbolHandle *handles, SymbolHandle *out)
{
    mxn_symbol **symbols = mxp__alloc(count * sizeof(mxn_symbol *) + 1), *group = NULL;
    int error =
        symbols != NULL ? get_all(count, handles, symbols) : mxp__fail_memory("a group of symbols");
    if (error == MXP_OK) {
        error = mxn_symbol_group(count, symbols, &group);
        error = mxn__symbol_hand_out(error, group, out);
    }
    mxp__free(symbols, count * sizeof(mxn_symbol *) + 1);
    return error;
}

int MXSymbolCreateGroup(mx_uint num_symbols, SymbolHandle *symbols, SymbolHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    return mxn__api_end(&call, error == MXP_OK ? make_group(num_symbols, symbols, out) : error);
}

static int compose(mxn_symbol *symbol, const char *name, mx_uint count, const char **keys,
                   SymbolHandle *args)
{
    mxn_symbol **symbols = mxp__alloc(count * sizeof(mxn_symbol *) + 1);
    int error = symbols != NULL ? get_all(count, args, symbols)
                                : mxp__fail_memory("the inputs of a symbol");
    if (error == MXP_OK && keys != NULL) {
        error = mxn__check_texts(count, keys, "keys");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_compose(symbol, name, &(mxn_inputs){count, keys, symbols});
    }
    mxp__free(symbols, count * sizeof(mxn_symbol *) + 1);
    return error;
}

int MXSymbolCompose(SymbolHandle sym, const char *name, mx_uint num_args, const char **keys,
                    SymbolHandle *args)
{
    MXN_API_CALL();
    mxn_symbol *symbol;
    int error = mxn__symbol_get(sym, &symbol);
    return mxn__api_end(&call,
                        error == MXP_OK ? compose(symbol, name, num_args, keys, args) : error);
}

int MXSymbolCopy(SymbolHandle symbol, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *from, *copy = NULL;
    int error = mxn__symbol_get_for(symbol, out, &from);
    if (error == MXP_OK) {
        error = mxn_symbol_copy(from, &copy);
        error = mxn__symbol_hand_out(error, copy, out);
    }
    return mxn__api_end(&call, error);
}

int MXShallowCopySymbol(SymbolHandle src, SymbolHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    return mxn__api_end(&call, error == MXP_OK ? make_group(1, &src, out) : error);
}

static int free_symbol(SymbolHandle handle)
{
    void *symbol;
    int error = mxn__object_take(MXN_OBJECT_SYMBOL, handle, "symbol", &symbol);
    if (error == MXP_OK) {
        mxn_symbol_free(symbol);
    }
    return error;
}

int MXSymbolFree(SymbolHandle symbol)
{
    MXN_API_CALL();
    return mxn__api_end(&call, free_symbol(symbol));
}

int NNSymbolFree(SymbolHandle symbol)
{
    return free_symbol(symbol) == MXP_OK ? 0 : -1;
}

// ---- files ------------------------------------------------------------------------------------
int MXSymbolCreateFromFile(const char *fname, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *symbol = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn__check_given(fname, "fname");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_load(fname, &symbol);
        error = mxn__symbol_hand_out(error, symbol, out);
    }
    return mxn__api_end(&call, error);
}

int MXSymbolCreateFromJSON(const char *json, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *symbol = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn__check_given(json, "json");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_from_json(json, strlen(json), &symbol);
        error = mxn__symbol_hand_out(error, symbol, out);
    }
    return mxn__api_end(&call, error);
}

int MXSymbolSaveToFile(SymbolHandle symbol, const char *fname)
{
    MXN_API_CALL();
    mxn_symbol *from;
    int error = mxn__symbol_get(symbol, &from);
    if (error == MXP_OK) {
        error = mxn__check_given(fname, "fname");
    }
    return mxn__api_end(&call, error == MXP_OK ? mxn_symbol_save(from, fname) : error);
}

// ---- parts ------------------------------------------------------------------------------------
int MXSymbolGetNumOutputs(SymbolHandle symbol, mx_uint *output_count)
{
    MXN_API_CALL();
    mxn_symbol *from;
    int error = mxn__symbol_get_for(symbol, output_count, &from);
    if (error == MXP_OK) {
        *output_count = from->count;
    }
    return mxn__api_end(&call, error);
}

int MXSymbolGetOutput(SymbolHandle symbol, mx_uint index, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *from, *part = NULL;
    int error = mxn__symbol_get_for(symbol, out, &from);
    if (error == MXP_OK) {
        error = mxn_symbol_output(from, index, &part);
        error = mxn__symbol_hand_out(error, part, out);
    }
    return mxn__api_end(&call, error);
}

int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *from, *part = NULL;
    int error = mxn__symbol_get_for(symbol, out, &from);
    if (error == MXP_OK) {
        error = mxn_symbol_internals(from, &part);
        error = mxn__symbol_hand_out(error, part, out);
    }
    return mxn__api_end(&call, error);
}

int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out)
{
    MXN_API_CALL();
    mxn_symbol *from, *part = NULL;
    int error = mxn__symbol_get_for(symbol, out, &from);
    if (error == MXP_OK) {
        *out = NULL;
        error = mxn_symbol_children(from, &part);
        error = part != NULL ? mxn__symbol_hand_out(error, part, out) : error;
    }
    return mxn__api_end(&call, error);
}
