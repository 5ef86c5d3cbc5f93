// SPDX-License-Identifier: Apache-2.0
// The program waits for results in a call, and would get further if it did not. What it does with
// the results is not known, so what is gained without the wait is an upper bound.
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/analysis/causes/remedies.h"

enum { CALLS_MAX = 4 };  // by the time that was waited in them

typedef struct wait_call {
    uint64_t key;  // name of the call, plus 1; of a wait in none its own
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

static int count_wait(const mxp_facts *facts, const mxp_graph *graph, const mxp_graph_wait *wait,
                      mxp_id_map *calls)
{
    wait_call *call =
        mxp__id_map_add(calls, (uint64_t)call_of(graph, facts->steps->thread, wait) + 1);
    if (call == NULL) {
        return mxp__fail_memory("the calls that wait");
    }
    const size_t step = mxp__facts_index_at(facts, wait->begin_ns) + 1;
    call->count++;
    call->total_ns += (uint64_t)(wait->end_ns - wait->begin_ns);
    call->steps += step <= facts->count && step != call->last_step;
    call->last_step = step;
    return MXP_OK;
}

static int add_call(const mxp_facts *facts, const wait_call *call, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_WAIT, MXP_GAIN_REPLAY);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->is_upper_bound = true;
    cause->places[0] = (mxp_cause_place){.name = (uint32_t)(call->key - 1)};
    cause->place_count = 1;
    cause->count = (double)call->count / (double)facts->count;
    cause->each_ns = (double)call->total_ns / (double)call->count;
    cause->steps = call->steps;
    return MXP_OK;
}

// Some last wait there must be; what comes once in all steps is taken for it.
static wait_call *longest_call(const mxp_id_map *calls)
{
    wait_call *longest = NULL;
    for (wait_call *call = mxp__id_map_next(calls, NULL); call != NULL;
         call = mxp__id_map_next(calls, call)) {
        const bool is_longer = longest == NULL || call->total_ns > longest->total_ns ||
                               (call->total_ns == longest->total_ns && call->key < longest->key);
        longest = call->count > 1 && is_longer ? call : longest;
    }
    return longest;
}

int mxp__find_waits(const mxp_remedies *remedies, mxp_causes *causes)
{
    const mxp_facts *facts = remedies->facts;
    const mxp_graph *graph = &remedies->graph;
    if (remedies->state != MXP_REMEDIES_EXACT || facts->steps->thread >= graph->thread_count) {
        return MXP_OK;
    }
    const mxp_graph_thread *thread = &graph->threads[facts->steps->thread];
    mxp_id_map calls = {.entry_bytes = sizeof(wait_call)};
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < thread->wait_count; i++) {
        const mxp_graph_wait *wait = &thread->waits[i];
        if (is_for_results(wait) && wait->name < facts->process->name_count) {
            error = count_wait(facts, graph, wait, &calls);
        }
    }
    for (int i = 0; error == MXP_OK && i < CALLS_MAX; i++) {
        wait_call *call = longest_call(&calls);
        if (call == NULL) {
            break;
        }
        error = add_call(facts, call, causes);
        call->count = 0;
    }
    mxp__id_map_fini(&calls);
    return error;
}
