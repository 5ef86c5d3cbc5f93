// SPDX-License-Identifier: Apache-2.0
// What front ends are told about an operator, made once from its declaration and the tables of
// words. The texts of types are an interface: programs generate code from them.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/strbuf.h"
#include "runtime/op/registry/operator_state.h"
#include "runtime/op/registry/parameter_text.h"
#include "runtime/op/registry/texts.h"

// Everything of one operator in one piece of memory: the lists, then the texts.
typedef struct draft {
    mxp_strbuf text;  // name, type, description, each with its terminator; last the operator's
    uint32_t count;
    bool failed;
} draft;

static void put(draft *to, const char *text)
{
    mxp__strbuf_append(&to->text, text, strlen(text) + 1);
}

static void put_words(draft *to, const char *op, const char *argument)
{
    const char *words = mxn__op_text(op, argument);
    put(to, words == NULL ? "" : words);
}

// What a field means, and its limits unless nobody meets the upper one.
static void put_meaning(draft *to, const mxn_op *op, const mxn_field *field)
{
    const char *words = mxn__op_text(op->name, field->name);
    mxp__strbuf_printf(&to->text, "%s", words == NULL ? "" : words);
    if (field->min != field->max && field->max < 1e9) {
        mxp__strbuf_printf(&to->text, " From %.9g to %.9g.", field->min, field->max);
    } else if (field->min != field->max) {
        mxp__strbuf_printf(&to->text, " At least %.9g.", field->min);
    }
    mxp__strbuf_putc(&to->text, '\0');
}

static void put_input(draft *to, const mxn_op *op, const char *word, size_t length)
{
    char name[64];
    size_t end = strcspn(word, "[: ");
    snprintf(name, sizeof name, "%.*s", (int)end, word);
    put(to, name);
    if (end < length && word[end] == ':') {
        mxp__strbuf_append(&to->text, word + end + 1, length - end - 1);
        mxp__strbuf_putc(&to->text, '\0');
    } else {
        put(to, end < length ? "NDArray-or-Symbol[]" : "NDArray-or-Symbol");
    }
    put_words(to, op->name, name);
    to->count++;
}

static bool is_field(const mxn_op *op, const char *word, size_t length)
{
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        const char *name = op->def->fields[i].name;
        if (strlen(name) == length && memcmp(name, word, length) == 0) {
            return true;
        }
    }
    return false;
}

static void put_all(draft *to, const mxn_op *op)
{
    const char *at = op->def->inputs;
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, " ");
        if (!is_field(op, at, length)) {
            put_input(to, op, at, length);
        }
        at += length + (at[length] == ' ');
    }
    bool silent = (op->flags & MXN_OP_SILENT) != 0;
    for (uint32_t i = 0; !silent && i < op->state->field_count; i++) {
        put(to, op->def->fields[i].name);
        mxn__field_type(&op->def->fields[i], &to->text);
        mxp__strbuf_putc(&to->text, '\0');
        put_meaning(to, op, &op->def->fields[i]);
        to->count++;
    }
}

// What the operator computes, and in a paragraph of its own what it gives.
static void put_description(draft *to, const mxn_op *op)
{
    const char *words = op->def->description;
    words = words != NULL ? words : mxn__op_text(op->name, "");
    const char *returns = words == NULL ? NULL : mxn__op_text(op->name, "return");
    mxp__strbuf_printf(&to->text, "%s%s%s", words == NULL ? "" : words,
                       returns == NULL ? "" : "\n\nReturns: ", returns == NULL ? "" : returns);
    mxp__strbuf_putc(&to->text, '\0');
}

static mxn_op_doc *finish(const mxn_op *op, const draft *from)
{
    size_t lists = 3u * from->count * sizeof(char *);
    char *memory = mxp__alloc(sizeof(mxn_op_doc) + lists + from->text.length + 1);
    if (memory == NULL) {
        return NULL;
    }
    mxn_op_doc *doc = (mxn_op_doc *)(void *)memory;
    const char **names = (const char **)(void *)(memory + sizeof *doc);
    char *text = memory + sizeof *doc + lists;
    if (from->text.length > 0) {
        memcpy(text, from->text.data, from->text.length);
    }
    for (uint32_t i = 0; i < from->count; i++) {
        for (uint32_t list = 0; list < 3; list++) {
            names[list * from->count + i] = text;
            text += strlen(text) + 1;
        }
    }
    *doc = (mxn_op_doc){
        .description = text,
        .count = from->count,
        .names = names,
        .types = names + from->count,
        .descriptions = names + 2 * (size_t)from->count,
        .key_var_num_args = op->def->key == NULL ? "" : op->def->key,
        .return_type = "",
    };
    return doc;
}

const mxn_op_doc *mxn_op_document(const mxn_op *op)
{
    mxn_op_doc *doc = mxp_atomic_load_acquire(&op->state->doc);
    if (doc != NULL) {
        return doc;
    }
    draft from = {0};
    put_all(&from, op);
    put_description(&from, op);
    doc = from.text.failed ? NULL : finish(op, &from);
    size_t bytes = sizeof *doc + 3u * from.count * sizeof(char *) + from.text.length + 1;
    mxp__strbuf_fini(&from.text);
    if (doc == NULL) {
        return NULL;
    }
    mxn_op_doc *stored = mxn__publish(&op->state->doc, doc);
    if (stored != doc) {
        mxp__free(doc, bytes);
    }
    return stored;
}
