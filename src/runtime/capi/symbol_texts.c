// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that say in words what a symbol is. What they give out lives in buffers of the
// calling thread.
#include <mxnet/c_api_symbol.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "runtime/capi/symbol_handle.h"
#include "runtime/capi/thread_buffer.h"

// ---- giving out -------------------------------------------------------------------------------
// Texts that end with a zero byte each, as a list of them: pointers first, then the texts.
static int give_list(const mxp_strbuf *texts, size_t count, const char ***out)
{
    const size_t pointers = count * sizeof(char *);
    char *memory = mxn__thread_buffer(MXN_BUFFER_TEXTS, pointers + texts->length);
    if (memory == NULL) {
        return MXP_ENOMEM;
    }
    const char **list = (const char **)(void *)memory;
    char *text = memory + pointers;
    if (texts->length > 0) {
        memcpy(text, texts->data, texts->length);
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = text;
        text += strlen(text) + 1;
    }
    *out = list;
    return MXP_OK;
}

static int give_text(const char *text, const char **out)
{
    const size_t bytes = strlen(text) + 1;
    char *memory = mxn__thread_buffer(MXN_BUFFER_TEXT, bytes);
    if (memory == NULL) {
        return MXP_ENOMEM;
    }
    memcpy(memory, text, bytes);
    *out = memory;
    return MXP_OK;
}

// ---- lists ------------------------------------------------------------------------------------
static int list_names(SymbolHandle handle, int kind, mx_uint *out_size, const char ***out)
{
    mxn_symbol *symbol;
    mxp_strbuf names = {0};
    uint32_t count = 0;
    int error = mxn__symbol_get_for(handle, out, &symbol);
    if (error == MXP_OK) {
        error = mxn__check_given(out_size, "out_size");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_list(symbol, kind, &names, &count);
    }
    if (error == MXP_OK) {
        error = give_list(&names, count, out);
    }
    if (error == MXP_OK) {
        *out_size = count;
    }
    mxp__strbuf_fini(&names);
    return error;
}

int MXSymbolListArguments(SymbolHandle symbol, mx_uint *out_size, const char ***out_str_array)
{
    MXN_API_CALL();
    return mxn__api_end(&call, list_names(symbol, MXN_LIST_ARGUMENTS, out_size, out_str_array));
}

int MXSymbolListOutputs(SymbolHandle symbol, mx_uint *out_size, const char ***out_str_array)
{
    MXN_API_CALL();
    return mxn__api_end(&call, list_names(symbol, MXN_LIST_OUTPUTS, out_size, out_str_array));
}

int MXSymbolListAuxiliaryStates(SymbolHandle symbol, mx_uint *out_size, const char ***out_str_array)
{
    MXN_API_CALL();
    return mxn__api_end(&call, list_names(symbol, MXN_LIST_AUXILIARY, out_size, out_str_array));
}

int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint *out_size,
                           const char ***out_str_array)
{
    static const int kinds[] = {MXN_LIST_INPUTS, MXN_LIST_ARGUMENTS, MXN_LIST_AUXILIARY};
    int error = option >= 0 && option < 3 ? MXP_OK
                                          : mxp__fail(MXP_EINVAL,
                                                      "option is %d: 0 lists all inputs, 1 "
                                                      "arguments, 2 auxiliary states",
                                                      option);
    if (error == MXP_OK) {
        error = list_names(symbol, kinds[option], out_size, out_str_array);
    }
    return error == MXP_OK ? 0 : -1;
}

// ---- attributes -------------------------------------------------------------------------------
static int list_attributes(SymbolHandle handle, bool deep, mx_uint *out_size, const char ***out)
{
    mxn_symbol *symbol;
    mxp_strbuf pairs = {0};
    uint32_t count = 0;
    int error = mxn__symbol_get_for(handle, out, &symbol);
    if (error == MXP_OK) {
        error = mxn__check_given(out_size, "out_size");
    }
    if (error == MXP_OK) {
        error = mxn_symbol_attributes(symbol, deep, &pairs, &count);
    }
    if (error == MXP_OK) {
        error = give_list(&pairs, (size_t)2 * count, out);
    }
    if (error == MXP_OK) {
        *out_size = count;
    }
    mxp__strbuf_fini(&pairs);
    return error;
}

int MXSymbolListAttr(SymbolHandle symbol, mx_uint *out_size, const char ***out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, list_attributes(symbol, true, out_size, out));
}

int MXSymbolListAttrShallow(SymbolHandle symbol, mx_uint *out_size, const char ***out)
{
    MXN_API_CALL();
    return mxn__api_end(&call, list_attributes(symbol, false, out_size, out));
}

// A text, or none.
static int give_found(const char *text, const char **out, int *success)
{
    *success = text != NULL;
    *out = NULL;
    return text != NULL ? give_text(text, out) : MXP_OK;
}

int MXSymbolGetName(SymbolHandle symbol, const char **out, int *success)
{
    MXN_API_CALL();
    mxn_symbol *from;
    int error = mxn__symbol_get_for(symbol, out, &from);
    if (error == MXP_OK) {
        error = mxn__check_given(success, "success");
    }
    return mxn__api_end(&call,
                        error == MXP_OK ? give_found(mxn_symbol_name(from), out, success) : error);
}

int MXSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success)
{
    MXN_API_CALL();
    mxn_symbol *from;
    int error = mxn__symbol_get_for(symbol, out, &from);
    if (error == MXP_OK) {
        error = mxn__check_given(key, "key");
    }
    if (error == MXP_OK) {
        error = mxn__check_given(success, "success");
    }
    if (error == MXP_OK) {
        error = give_found(mxn_symbol_attribute(from, key), out, success);
    }
    return mxn__api_end(&call, error);
}

int MXSymbolSetAttr(SymbolHandle symbol, const char *key, const char *value)
{
    MXN_API_CALL();
    mxn_symbol *of;
    int error = mxn__symbol_get(symbol, &of);
    if (error == MXP_OK) {
        error = mxn__check_given(key, "key");
    }
    if (error == MXP_OK) {
        error = mxn__check_given(value, "value");
    }
    return mxn__api_end(&call, error == MXP_OK ? mxn_symbol_set_attribute(of, key, value) : error);
}

// ---- texts ------------------------------------------------------------------------------------
static int give_made(SymbolHandle handle, int (*make)(const mxn_symbol *symbol, mxp_strbuf *text),
                     const char **out)
{
    mxn_symbol *symbol;
    mxp_strbuf text = {0};
    int error = mxn__symbol_get_for(handle, out, &symbol);
    if (error == MXP_OK) {
        error = make(symbol, &text);
    }
    if (error == MXP_OK) {
        error = give_text(mxp__strbuf_text(&text), out);
    }
    mxp__strbuf_fini(&text);
    return error;
}

int MXSymbolSaveToJSON(SymbolHandle symbol, const char **out_json)
{
    MXN_API_CALL();
    return mxn__api_end(&call, give_made(symbol, mxn_symbol_json, out_json));
}

int MXSymbolPrint(SymbolHandle symbol, const char **out_str)
{
    MXN_API_CALL();
    return mxn__api_end(&call, give_made(symbol, mxn_symbol_describe, out_str));
}
