// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/python/python_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

mxp_python_api mxp__python;

static bool find(void *slot, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(slot, &found, sizeof found);
    return found != NULL;
}

bool mxp__python_find(void)
{
    mxp_python_api *python = &mxp__python;
    const struct {
        void *slot;
        const char *name;
    } needed[] = {
        {&python->version, "Py_GetVersion"},
        {&python->add_audit_hook, "PySys_AddAuditHook"},
        {&python->is_initialized, "Py_IsInitialized"},
        {&python->dict_new, "PyDict_New"},
        {&python->dict_set, "PyDict_SetItemString"},
        {&python->builtins, "PyEval_GetBuiltins"},
        {&python->compile, "Py_CompileString"},
        {&python->eval, "PyEval_EvalCode"},
        {&python->retain, "Py_IncRef"},
        {&python->release, "Py_DecRef"},
        {&python->clear_error, "PyErr_Clear"},
        {&python->attribute, "PyObject_GetAttrString"},
        {&python->text, "PyUnicode_AsUTF8AndSize"},
        {&python->number, "PyLong_AsLong"},
        {&python->method_new, "PyCFunction_NewEx"},
        {&python->set_profile, "PyEval_SetProfile"},
        {&python->none, "_Py_NoneStruct"},
        {&python->c_function_type, "PyCFunction_Type"},
        {&python->descriptor_type, "PyMethodDescr_Type"},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!find(needed[i].slot, needed[i].name)) {
            return false;
        }
    }
    find(&python->code_of, "PyFrame_GetCode");
    find(&python->c_method_type, "PyCMethod_Type");
    const char *version = python->version();
    python->minor = strncmp(version, "3.", 2) == 0 ? atoi(version + 2) : 0;
    return python->minor >= 8;
}
