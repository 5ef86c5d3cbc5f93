// SPDX-License-Identifier: Apache-2.0
// The program waits for results in a call, and would get further if it did not. What it does with
// the results is not known, so what is gained without the wait is an upper bound.
#include "profiler/analysis/causes/remedies.h"

enum { CALLS_MAX = 4 };  // by the time that was waited in them

typedef struct wait_call {
    uint32_t name;  // of the call; of a wait in none its own
    uint64_t count, total_ns, steps;
    size_t last_step;  // index, plus 1
} wait_call;

static bool is_for_results(const mxp_graph_wait *wait)
{
    return (wait->flags & MXP_WAIT_BLOCKED) != 0 && (wait->flags & MXP_WAIT_IN_CUSTOM) == 0 &&
           (wait->what == MXP_WAIT_WRITTEN || wait->what == MXP_WAIT_UNUSED ||
            wait->what == MXP_WAIT_ALL);
}

// The call in which it waited: the innermost span of the program around it.
static uint32_t call_of(const mxp_graph *graph, uint32_t thread, const mxp_graph_wait *wait)
{
    const mxp_graph_host *host = mxp__graph_host_at(graph, thread, wait->begin_ns);
    return host != NULL && host->name != 0 ? host->name : wait->name;
}

static void count_wait(const mxp_facts *facts, const mxp_graph *graph, const mxp_graph_wait *wait,
                       wait_call *calls, size_t *count)
{
    const uint32_t name = call_of(graph, facts->steps->thread, wait);
    size_t at = 0;
    while (at < *count && calls[at].name != name) {
        at++;
    }
    if (at == CALLS_MAX) {
        return;
    }
    if (at == *count) {
        calls[(*count)++] = (wait_call){.name = name};
    }
    const size_t step = mxp__facts_index_at(facts, wait->begin_ns) + 1;
    calls[at].count++;
    calls[at].total_ns += (uint64_t)(wait->end_ns - wait->begin_ns);
    calls[at].steps += step <= facts->count && step != calls[at].last_step;
    calls[at].last_step = step;
}

static int add_call(const mxp_facts *facts, const wait_call *call, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_WAIT, MXP_GAIN_REPLAY);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->is_upper_bound = true;
    cause->places[0] = (mxp_cause_place){.name = call->name};
    cause->place_count = 1;
    cause->count = (double)call->count / (double)facts->count;
    cause->each_ns = (double)call->total_ns / (double)call->count;
    cause->steps = call->steps;
    return MXP_OK;
}

int mxp__find_waits(const mxp_remedies *remedies, mxp_causes *causes)
{
    const mxp_facts *facts = remedies->facts;
    const mxp_graph *graph = &remedies->graph;
    wait_call calls[CALLS_MAX];
    size_t count = 0;
    if (remedies->state != MXP_REMEDIES_EXACT || facts->steps->thread >= graph->thread_count) {
        return MXP_OK;
    }
    const mxp_graph_thread *thread = &graph->threads[facts->steps->thread];
    for (size_t i = 0; i < thread->wait_count; i++) {
        const mxp_graph_wait *wait = &thread->waits[i];
        if (is_for_results(wait) && wait->name < facts->process->name_count) {
            count_wait(facts, graph, wait, calls, &count);
        }
    }
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        // Some last wait there must be; one that comes once in all steps is taken for it.
        if (calls[i].count > 1) {
            error = add_call(facts, &calls[i], causes);
        }
    }
    return error;
}
