// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that list operators and document them. MXNet records only the one of a name:
// the others go to its graph library, which knows no profiler.
#include <mxnet/c_api.h>
#include <nnvm/c_api.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "runtime/capi/api_call.h"
#include "runtime/op/op.h"

static int answer(int error)
{
    return error == MXP_OK ? 0 : -1;
}

// ---- lists ------------------------------------------------------------------------------------
static MXP_ATOMIC(AtomicSymbolCreator *) creators;  // null: not made yet

// Null without memory. Whoever is first publishes his.
static AtomicSymbolCreator *creators_of(const mxn_op *ops, uint32_t count)
{
    AtomicSymbolCreator *list = mxp_atomic_load_acquire(&creators);
    AtomicSymbolCreator *made = list != NULL ? NULL : mxp__alloc(count * sizeof *made);
    if (made == NULL) {
        return list;
    }
    for (uint32_t i = 0; i < count; i++) {
        made[i] = (AtomicSymbolCreator)&ops[i];
    }
    if (mxp_atomic_cas_acq_rel(&creators, &list, made)) {
        return made;
    }
    mxp__free(made, count * sizeof *made);
    return list;
}

static int list_names(uint32_t *out_size, const char ***out_array)
{
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = mxn__check_given(out_array, "out_array");
    }
    if (error == MXP_OK) {
        const char *const *names = NULL;
        *out_size = mxn_op_names(&names);
        *out_array = (const char **)names;
        error = names != NULL ? MXP_OK : MXP_ENOMEM;
    }
    return error;
}

int MXListAllOpNames(mx_uint *out_size, const char ***out_array)
{
    return answer(list_names(out_size, out_array));
}

int NNListAllOpNames(nn_uint *out_size, const char ***out_array)
{
    return answer(list_names(out_size, out_array));
}

int MXSymbolListAtomicSymbolCreators(mx_uint *out_size, AtomicSymbolCreator **out_array)
{
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = mxn__check_given(out_array, "out_array");
    }
    if (error == MXP_OK) {
        const mxn_op *ops = NULL;
        *out_size = mxn_op_list(&ops);
        *out_array = ops != NULL ? creators_of(ops, *out_size) : NULL;
        error = ops == NULL          ? MXP_ENOMEM
                : *out_array == NULL ? mxp__fail_memory("the list of operators")
                                     : MXP_OK;
    }
    return answer(error);
}

int NNGetOpHandle(const char *op_name, OpHandle *op_out)
{
    const mxn_op *op = NULL;
    int error = mxn__check_given(op_name, "op_name");
    if (error == MXP_OK) {
        error = mxn__check_given(op_out, "op_out");
    }
    if (error == MXP_OK) {
        error = mxn_op_require(op_name, &op);
    }
    if (error == MXP_OK) {
        *op_out = (OpHandle)op;
    }
    return answer(error);
}

// ---- one operator -----------------------------------------------------------------------------
int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name)
{
    MXN_API_CALL();
    int error = mxn__check_given(name, "name");
    if (error == MXP_OK) {
        error = mxn_op_check(creator);
    }
    if (error == MXP_OK) {
        *name = ((const mxn_op *)creator)->name;
    }
    return mxn__api_end(&call, error);
}

static int check_info(AtomicSymbolCreator creator, const void *const *outs, int count)
{
    int error = mxn_op_check(creator);
    for (int i = 0; error == MXP_OK && i < count; i++) {
        error = mxn__check_given(outs[i], "an output parameter of MXSymbolGetAtomicSymbolInfo");
    }
    return error;
}

int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char **name,
                                const char **description, mx_uint *num_args,
                                const char ***arg_names, const char ***arg_type_infos,
                                const char ***arg_descriptions, const char **key_var_num_args,
                                const char **return_type)
{
    const void *const outs[] = {name,           description,      num_args,        arg_names,
                                arg_type_infos, arg_descriptions, key_var_num_args};
    int error = check_info(creator, outs, sizeof(outs) / sizeof(outs[0]));
    const mxn_op_doc *doc = NULL;
    if (error == MXP_OK) {
        doc = mxn_op_document(creator);
        error = doc == NULL ? mxp__fail_memory("an operator's documentation") : MXP_OK;
    }
    if (error != MXP_OK) {
        return answer(error);
    }
    *name = ((const mxn_op *)creator)->name;
    *description = doc->description;
    *num_args = doc->count;
    *arg_names = (const char **)doc->names;
    *arg_type_infos = (const char **)doc->types;
    *arg_descriptions = (const char **)doc->descriptions;
    *key_var_num_args = doc->key_var_num_args;
    if (return_type != NULL) {
        *return_type = doc->return_type;
    }
    return answer(MXP_OK);
}

int NNGetOpInfo(OpHandle op, const char **real_name, const char **description,
                nn_uint *num_doc_args, const char ***arg_names, const char ***arg_type_infos,
                const char ***arg_descriptions, const char **return_type)
{
    const char *key = NULL;
    return MXSymbolGetAtomicSymbolInfo(op, real_name, description, num_doc_args, arg_names,
                                       arg_type_infos, arg_descriptions, &key, return_type);
}
