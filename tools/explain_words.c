// SPDX-License-Identifier: Apache-2.0
// The causes that `explain` tells, in words.
#include <inttypes.h>

#include "command.h"
#include "explain_view.h"
#include "text/figure.h"
#include "text/label.h"

void mxp__explain_place(const mxp_explained *of, const mxp_cause_place *place, mxp_strbuf *out)
{
    const mxp_source *process = of->process;
    size_t length = 0;
    if (place->scope != 0 && place->scope < process->name_count) {
        const char *path =
            mxp__scope_tree_path(&of->facts.scopes, of->facts.node_of[place->scope], &length);
        mxp__strbuf_append(out, path, length);
    }
    if (place->name != 0 && place->name < process->name_count) {
        const mxp_name_view name = process->name(process, place->name);
        mxp__strbuf_puts(out, length > 0 ? "/" : "");
        mxp__strbuf_append(out, name.text, name.length);
    }
}

static void put_place(const mxp_explained *of, const mxp_cause_place *place,
                      const mxp_screen *screen, const char *otherwise, mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    mxp__explain_place(of, place, &text);
    if (text.length == 0) {
        mxp__strbuf_puts(out, otherwise);
    } else {
        enum { COLUMNS = 44 };
        mxp_strbuf label = {0};
        mxp__put_label(screen, mxp__strbuf_text(&text), text.length, &label);
        mxp__put_shortened(screen, mxp__strbuf_text(&label), label.length, COLUMNS, out);
        mxp__strbuf_fini(&label);
    }
    mxp__strbuf_fini(&text);
}

// ---- title -------------------------------------------------------------------------------------
static void put_layer(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                      mxp_strbuf *out)
{
    size_t length;
    if (cause->layer == 0) {
        put_place(of, &cause->places[0], screen, "?", out);
        return;
    }
    const char *path = mxp__scope_tree_path(&of->facts.scopes, cause->layer, &length);
    mxp_strbuf label = {0};
    mxp__put_label(screen, path, length, &label);
    mxp__put_shortened(screen, mxp__strbuf_text(&label), label.length, 24, out);
    mxp__strbuf_fini(&label);
}

void mxp__cause_title(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                      mxp_strbuf *out)
{
    static const char *const titles[MXP_CAUSE_COUNT] = {
        [MXP_CAUSE_INPUT] = "The program waits for input",
        [MXP_CAUSE_WAIT] = "The program waits where it need not",
        [MXP_CAUSE_TINY] = "Many tiny operators",
        [MXP_CAUSE_ALLOCATION] = "Memory comes from the system in every step",
        [MXP_CAUSE_RECORDING] = "Recording is too fine",
        [MXP_CAUSE_GROWTH] = "Memory grows",
        [MXP_CAUSE_CHAIN] = "One operator waits for the other",
        [MXP_CAUSE_PROGRAM] = "The workers wait for the program itself",
    };
    static const char *const customs[] = {
        [MXP_CUSTOM_UNKNOWN] = "The function of a custom operator",
        [MXP_CUSTOM_COMPUTED] = "The function of a custom operator",
        [MXP_CUSTOM_WAITED] = "A custom operator waits, as for a lock"};
    switch (cause->id) {
    case MXP_CAUSE_LAYER:
        mxp__strbuf_puts(out, cause->layer != 0         ? "One slow layer, "
                              : of->facts.operators > 0 ? "One slow operator, "
                                                        : "One slow span, ");
        put_layer(of, cause, screen, out);
        break;
    case MXP_CAUSE_FIRST_RUN:
        mxp__strbuf_puts(out, cause->first_steps > 0 ? "The first steps are slow"
                                                     : "First runs of operators are slow");
        break;
    case MXP_CAUSE_IMBALANCE:
        mxp__strbuf_printf(out, "Process %" PRIu32 " has more to do", cause->pid);
        break;
    case MXP_CAUSE_CUSTOM:
        mxp__strbuf_puts(out, customs[cause->custom]);
        break;
    default:
        mxp__strbuf_puts(out, titles[cause->id]);
    }
}

// ---- evidence ----------------------------------------------------------------------------------
static void put_steps(const mxp_explained *of, const mxp_cause *cause, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%zu of %zu steps", cause->steps, of->facts.count);
}

static void put_at_best(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                        const char *with, mxp_strbuf *out)
{
    (void)of;
    mxp__strbuf_printf(out, "%s: at best ", with);
    mxp__put_duration(screen, cause->left_ns > 0 ? cause->left_ns : 0, out);
    mxp__strbuf_puts(out, " a step\n");
}

static void say_input(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                      mxp_strbuf *out)
{
    mxp__strbuf_putc(out, '`');
    put_place(of, &cause->places[0], screen, "input", out);
    mxp__strbuf_puts(out, "` is on the path of ");
    put_steps(of, cause, out);
    mxp__strbuf_puts(out, cause->waits_for_workers ? ";\nthe loader's workers are too slow\n"
                                                   : ";\nthe program loads it itself\n");
    put_at_best(of, cause, screen,
                cause->waits_for_workers ? "with workers that keep up"
                                         : "with input beside computing",
                out);
}

static void say_wait(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                     mxp_strbuf *out)
{
    put_place(of, &cause->places[0], screen, "a wait", out);
    mxp__strbuf_puts(out, ": ");
    mxp__put_count(cause->count, out);
    mxp__strbuf_puts(out, " a step, ");
    mxp__put_duration(screen, cause->each_ns, out);
    mxp__strbuf_puts(out, " each, in ");
    put_steps(of, cause, out);
    mxp__strbuf_puts(out, "\n");
    put_at_best(of, cause, screen, "if the program went on without it", out);
}

static void say_tiny(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                     mxp_strbuf *out)
{
    (void)of;
    mxp__put_count(cause->count, out);
    mxp__strbuf_puts(out, " operators a step are shorter than their push: a push takes ");
    mxp__put_duration(screen, cause->each_ns, out);
    mxp__strbuf_puts(out, ",\nhalf of them run ");
    mxp__put_duration(screen, cause->run_ns, out);
    mxp__strbuf_puts(out, " or less; gain: of bulks of 8, or hybridize the block\n");
}

static void say_layer(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                      mxp_strbuf *out)
{
    mxp__put_percent(cause->share, out);
    mxp__strbuf_puts(out,
                     cause->is_most ? " of the path, more than all else together" : " of the path");
    if (cause->roof > 0) {
        mxp__strbuf_puts(out, ", at ");
        mxp__put_percent(cause->roof, out);
        mxp__strbuf_puts(out, " of its roof");
    }
    if (cause->forward_ns + cause->backward_ns + cause->update_ns > 0) {
        mxp__strbuf_puts(out, "\nforward ");
        mxp__put_duration(screen, cause->forward_ns, out);
        mxp__strbuf_puts(out, ", backward ");
        mxp__put_duration(screen, cause->backward_ns, out);
        mxp__strbuf_puts(out, ", update ");
        mxp__put_duration(screen, cause->update_ns, out);
    }
    mxp__strbuf_puts(out, "\n");
    put_at_best(of, cause, screen, cause->roof > 0 ? "at its roof" : "if it were twice as fast",
                out);
}

static void say_allocation(const mxp_explained *of, const mxp_cause *cause,
                           const mxp_screen *screen, mxp_strbuf *out)
{
    mxp__put_count(cause->count, out);
    mxp__strbuf_puts(out, " calls of the system a step, in ");
    put_steps(of, cause, out);
    mxp__strbuf_puts(out, "; ");
    mxp__put_count(cause->blocks, out);
    mxp__strbuf_puts(out, " new blocks, ");
    mxp__put_bytes(cause->bytes, out);
    if (cause->place_count > 0) {
        mxp__strbuf_puts(out, ",\nmost of them of ");
        put_place(of, &cause->places[0], screen, "no scope", out);
    }
    mxp__strbuf_puts(out, "\n");
}

static void say_first_run(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                          mxp_strbuf *out)
{
    if (cause->first_steps > 0) {
        mxp__strbuf_printf(out, "the first %zu steps took ", cause->first_steps);
    } else {
        mxp__strbuf_puts(out, "they took ");
    }
    mxp__put_duration(screen, cause->count, out);
    mxp__strbuf_puts(out, " more than later ones, once");
    if (cause->place_count > 0) {
        mxp__strbuf_puts(out, ";\n");
        mxp__put_duration(screen, cause->place_ns[0], out);
        mxp__strbuf_puts(out, " of it ");
        put_place(of, &cause->places[0], screen, "?", out);
    }
    mxp__strbuf_puts(out, "\nwarm up before you measure; it is little of a long run\n");
}

static void say_recording(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                          mxp_strbuf *out)
{
    static const char *const kinds[MXP_KIND_END] = {[MXP_KIND_SPAN] = "spans",
                                                    [MXP_KIND_SPAN_LONG] = "spans with arguments",
                                                    [MXP_KIND_OPERATOR] = "operators",
                                                    [MXP_KIND_COUNTER] = "counter samples",
                                                    [MXP_KIND_MEMORY] = "memory blocks",
                                                    [MXP_KIND_INSTANT] = "instants",
                                                    [MXP_KIND_FLOW] = "flow points",
                                                    [MXP_KIND_META] = "marks of scopes",
                                                    [MXP_KIND_WAIT] = "waits"};
    const char *most = kinds[cause->most_records_kind];
    (void)of;
    mxp__put_count(cause->count, out);
    mxp__strbuf_puts(out, " records a step, at ");
    mxp__put_duration(screen, cause->each_ns, out);
    mxp__strbuf_printf(out, " each; most are %s\n", most == NULL ? "of other kinds" : most);
    mxp__strbuf_puts(out, "record fewer classes, or statistics_only\n");
}

static void say_growth(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                       mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "the least of each of %zu steps rises, to ", cause->steps);
    mxp__put_bytes(cause->count, out);
    if (cause->place_count > 0) {
        mxp__strbuf_puts(out, ";\n");
        mxp__put_percent(cause->share > 1 ? 1 : cause->share, out);
        mxp__strbuf_puts(out, " of it ");
        put_place(of, &cause->places[0], screen, "is in no scope and has no name", out);
    }
    mxp__strbuf_puts(out, "\n");
}

static void say_custom(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                       mxp_strbuf *out)
{
    put_place(of, &cause->places[0], screen, "a custom operator", out);
    mxp__strbuf_puts(out, ": its function is on the path of ");
    put_steps(of, cause, out);
    mxp__strbuf_puts(out, "\n");
    if (cause->custom == MXP_CUSTOM_UNKNOWN) {
        mxp__strbuf_puts(out, "whether it computes or waits is not recorded (step_cpu)\n");
        return;
    }
    mxp__strbuf_puts(out, "it had a core for ");
    mxp__put_duration(screen, cause->run_ns, out);
    mxp__strbuf_puts(out, " a step at most");
    if (cause->custom == MXP_CUSTOM_WAITED) {
        mxp__strbuf_puts(out, ", and did not wait for one");
    } else if (cause->run_ns < cause->gain_ns / 2) {
        mxp__strbuf_puts(out, "; threads waited ");
        mxp__put_duration(screen, cause->delay_ns, out);
        mxp__strbuf_puts(out, " for one");
    }
    mxp__strbuf_puts(out, "\n");
}

static void say_chain(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                      mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%" PRIu64 " workers, %.2f operators at a time; longest links:",
                       cause->workers, cause->width);
    for (size_t i = 0; i < cause->place_count && i < 2; i++) {
        mxp__strbuf_puts(out, "\n");
        put_place(of, &cause->places[i], screen, "?", out);
        mxp__strbuf_putc(out, ' ');
        mxp__put_duration(screen, cause->place_ns[i], out);
    }
    mxp__strbuf_puts(out, "\n");
}

static void say_program(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                        mxp_strbuf *out)
{
    mxp__put_percent(cause->share, out);
    mxp__strbuf_puts(out, " of the path");
    for (size_t i = 0; i < cause->place_count && i < 2; i++) {
        mxp__strbuf_puts(out, i == 0 ? ": " : ", ");
        put_place(of, &cause->places[i], screen, "between calls", out);
        mxp__strbuf_putc(out, ' ');
        mxp__put_duration(screen, cause->place_ns[i], out);
    }
    mxp__strbuf_puts(out, "\n");
    put_at_best(of, cause, screen, "if it were twice as fast", out);
}

static void say_imbalance(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                          mxp_strbuf *out)
{
    (void)of;
    mxp__strbuf_printf(out, "the slowest in %zu of %.0f steps: ", cause->steps, cause->count);
    mxp__put_duration(screen, cause->each_ns, out);
    mxp__strbuf_puts(out, " of its own a step, the others ");
    mxp__put_duration(screen, cause->run_ns, out);
    mxp__strbuf_puts(out, "\n");
}

void mxp__cause_evidence(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                         mxp_strbuf *out)
{
    static void (*const says[MXP_CAUSE_COUNT])(const mxp_explained *, const mxp_cause *,
                                               const mxp_screen *, mxp_strbuf *) = {
        [MXP_CAUSE_INPUT] = say_input,
        [MXP_CAUSE_WAIT] = say_wait,
        [MXP_CAUSE_TINY] = say_tiny,
        [MXP_CAUSE_LAYER] = say_layer,
        [MXP_CAUSE_ALLOCATION] = say_allocation,
        [MXP_CAUSE_FIRST_RUN] = say_first_run,
        [MXP_CAUSE_IMBALANCE] = say_imbalance,
        [MXP_CAUSE_RECORDING] = say_recording,
        [MXP_CAUSE_GROWTH] = say_growth,
        [MXP_CAUSE_CUSTOM] = say_custom,
        [MXP_CAUSE_CHAIN] = say_chain,
        [MXP_CAUSE_PROGRAM] = say_program,
    };
    says[cause->id](of, cause, screen, out);
}
