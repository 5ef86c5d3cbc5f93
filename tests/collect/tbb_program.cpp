// SPDX-License-Identifier: Apache-2.0
// A program on oneTBB: loops, a graph whose nodes have names if it was compiled to tell them, and a
// mutex. On one thread, so that two runs have the same tasks.
#include <cstdio>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/profiling.h>
#include <tbb/spin_mutex.h>

#ifdef WITH_MORE
extern "C" void run_more();
#endif

int main()
{
    tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    long sum = 0;
    tbb::spin_mutex mutex;
    for (int i = 0; i < 20; i++) {
        tbb::parallel_for(0, 100, [&](int n) {
            tbb::spin_mutex::scoped_lock held(mutex);
            sum += n;
        });
    }
    tbb::flow::graph graph;
    tbb::flow::function_node<int, int> twice(graph, 1, [](int n) { return 2 * n; });
    tbb::flow::function_node<int, int> add(graph, 1, [&](int n) { return sum += n, n; });
    tbb::flow::make_edge(twice, add);
    tbb::profiling::set_name(graph, "the graph");
    tbb::profiling::set_name(twice, "twice");
    tbb::profiling::set_name(add, "add");
    for (int i = 0; i < 10; i++) {
        twice.try_put(i);
    }
    graph.wait_for_all();
#ifdef WITH_MORE
    run_more();
#endif
    std::printf("%ld\n", sum);
    return 0;
}
