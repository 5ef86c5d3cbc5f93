// SPDX-License-Identifier: Apache-2.0
// The two readings that facts.c puts together.
#ifndef MXP_CAUSES_FACTS_PARTS_H
#define MXP_CAUSES_FACTS_PARTS_H

#include "base/id_map.h"
#include "profiler/analysis/causes/facts.h"

// Index of the chosen step in which a moment of the steps' thread lies, by the marks; UINT32_MAX:
// in none. `near`: the step that was found before, 0 at first; moments mostly come one after the
// other.
uint32_t mxp__facts_index_of_mark(const mxp_facts *facts, int64_t ns, size_t *near);

// Records of the chosen steps are counted, spans of category `memory` and first executions noted.
int mxp__facts_read(mxp_facts *facts);

// What the operators of a graph tell of the steps they were pushed in. Called once for each graph.
int mxp__facts_take_graph(mxp_facts *facts, const mxp_graph *graph);

// The longest chain of one step's operators, which are places in the graph in the order of their
// ids. Adds it to facts->chains and sets dependent_ns. `variables`: memory that is used again for
// the next step, all zeros at first; the caller ends it by mxp__id_map_fini.
int mxp__facts_take_chain(mxp_facts *facts, const mxp_graph *graph, size_t index,
                          const uint32_t *ops, size_t count, mxp_id_map *variables);

#endif
