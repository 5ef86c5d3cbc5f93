// SPDX-License-Identifier: Apache-2.0
// What differs besides times: it is told first, because it explains most differences of times.
#include <string.h>

#include "diff/diff.h"
#include "text/label.h"

enum { DIFFERENCES_SHOWN = 5, SHAPES_SHOWN = 3 };

static void put_calls(const mxp_screen *screen, const mxp_row_keys *keys,
                      const mxp_call_difference *rows, size_t count, mxp_strbuf *out)
{
    for (size_t i = 0; i < count && i < DIFFERENCES_SHOWN; i++) {
        const mxp_row_key *key = &keys->all[rows[i].row];
        mxp_strbuf name = {0};
        mxp__put_row_name(key, &name);
        mxp__strbuf_puts(out, "    ");
        mxp__put_label(screen, mxp__strbuf_text(&name), name.length, out);
        if (key->shape[0] != '\0') {
            mxp__strbuf_putc(out, ' ');
            mxp__put_label(screen, key->shape, strlen(key->shape), out);
        }
        mxp__strbuf_printf(out, ": %.3g -> %.3g calls a step\n", rows[i].calls[MXP__BEFORE],
                           rows[i].calls[MXP__AFTER]);
        mxp__strbuf_fini(&name);
    }
    if (count > DIFFERENCES_SHOWN) {
        mxp__strbuf_printf(out, "    and %zu more\n", count - DIFFERENCES_SHOWN);
    }
}

// The shapes of one operator, where it has one before and another after.
static bool put_shape_change(const mxp_screen *screen, const mxp_diff *diff, size_t place,
                             mxp_strbuf *out)
{
    const mxp_differences *differences = &diff->differences;
    const mxp_row_key *keys = diff->comparison.rows.shapes.all;
    const mxp_call_difference *gone = &differences->shapes[place];
    const mxp_row_key *key = &keys[gone->row];
    for (size_t i = 0; i < differences->shape_count && gone->calls[MXP__AFTER] == 0; i++) {
        const mxp_call_difference *came = &differences->shapes[i];
        const mxp_row_key *other = &keys[came->row];
        if (came->calls[MXP__BEFORE] > 0 || strcmp(key->name, other->name) != 0 ||
            strcmp(key->scope, other->scope) != 0) {
            continue;
        }
        mxp_strbuf name = {0};
        mxp__put_row_name(key, &name);
        mxp__strbuf_puts(out, "    ");
        mxp__put_label(screen, mxp__strbuf_text(&name), name.length, out);
        mxp__strbuf_fini(&name);
        mxp__strbuf_puts(out, "\n        ");
        mxp__put_label(screen, key->shape, strlen(key->shape), out);
        mxp__strbuf_puts(out, "\n     -> ");
        mxp__put_label(screen, other->shape, strlen(other->shape), out);
        mxp__strbuf_putc(out, '\n');
        return true;
    }
    return false;
}

static void put_shapes(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    size_t shown = 0, changed = 0;
    mxp_strbuf rest = {0};
    for (size_t i = 0; i < diff->differences.shape_count; i++) {
        mxp__strbuf_clear(&rest);
        if (put_shape_change(screen, diff, i, shown < SHAPES_SHOWN ? out : &rest)) {
            shown += shown < SHAPES_SHOWN;
            changed++;
        }
    }
    mxp__strbuf_fini(&rest);
    if (changed > shown) {
        mxp__strbuf_printf(out, "    and %zu more operators with other shapes\n", changed - shown);
    } else if (changed == 0) {
        put_calls(screen, &diff->comparison.rows.shapes, diff->differences.shapes,
                  diff->differences.shape_count, out);
    }
}

static void put_settings(const mxp_screen *screen, const mxp_differences *differences,
                         mxp_strbuf *out)
{
    for (size_t i = 0; i < differences->setting_count; i++) {
        const mxp_setting_difference *setting = &differences->settings[i];
        mxp__strbuf_puts(out, "    ");
        mxp__put_label(screen, setting->key, strlen(setting->key), out);
        for (int side = 0; side < MXP__SIDES; side++) {
            const char *value = setting->values[side];
            mxp__strbuf_puts(out, side == MXP__BEFORE ? ": " : " -> ");
            mxp__put_label(screen, value != NULL ? value : "not set",
                           strlen(value != NULL ? value : "not set"), out);
        }
        mxp__strbuf_putc(out, '\n');
    }
}

void mxp__diff_put_differences(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_differences *differences = &diff->differences;
    const mxp_compared_rows *rows = &diff->comparison.rows;
    const bool has_operators = diff->comparison.sides[MXP__BEFORE].runs[0].has_operators;
    if (differences->call_count + differences->shape_count + differences->setting_count == 0) {
        mxp__strbuf_printf(out, "The same %s, %.4g a step%s.\n",
                           has_operators ? "operators" : "spans",
                           differences->operators[MXP__BEFORE],
                           has_operators ? ", with the same shapes, run the same way" : "");
        return;
    }
    mxp__strbuf_puts(out, "What differs besides times:\n");
    if (differences->call_count > 0) {
        mxp__strbuf_printf(out, "    %s a step: %.4g -> %.4g\n",
                           has_operators ? "operators" : "spans",
                           differences->operators[MXP__BEFORE], differences->operators[MXP__AFTER]);
    }
    put_calls(screen, &rows->operators, differences->calls, differences->call_count, out);
    if (differences->call_count == 0) {
        put_shapes(screen, diff, out);
    }
    put_settings(screen, differences, out);
}
