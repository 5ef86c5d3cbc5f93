// SPDX-License-Identifier: Apache-2.0
// Ten executions of a primitive of oneDNN's; with WITH_MORE a part of another program, which then
// has a region of OpenMP's and ranges of NVTX, too.
#ifdef WITH_MORE
#include "nvtx_static.h"
#endif
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

static void check(dnnl_status_t status, int line)
{
    if (status != dnnl_success) {
        fprintf(stderr, "line %d: %d\n", line, status);
        exit(2);
    }
}
#define CHECK(call) check(call, __LINE__)

static void run_primitive(void)
{
    enum { ROWS = 64, COLUMNS = 4096 };
    static float data[ROWS * COLUMNS];
    const dnnl_dims_t dims = {ROWS, COLUMNS};
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_desc_t layout;
    dnnl_memory_t memory;
    dnnl_eltwise_desc_t wanted;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t relu;
    CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
    CHECK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    CHECK(dnnl_memory_desc_init_by_tag(&layout, 2, dims, dnnl_f32, dnnl_ab));
    CHECK(dnnl_memory_create(&memory, &layout, engine, data));
    CHECK(dnnl_eltwise_forward_desc_init(&wanted, dnnl_forward_inference, dnnl_eltwise_relu,
                                         &layout, 0, 0));
    CHECK(dnnl_primitive_desc_create(&description, &wanted, NULL, engine, NULL));
    CHECK(dnnl_primitive_create(&relu, description));
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, memory}, {DNNL_ARG_DST, memory}};
    for (int i = 0; i < 10; i++) {
        CHECK(dnnl_primitive_execute(relu, stream, 2, args));
    }
    CHECK(dnnl_stream_wait(stream));
    dnnl_primitive_destroy(relu);
    dnnl_primitive_desc_destroy(description);
    dnnl_memory_destroy(memory);
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
}

#ifdef WITH_MORE
void run_more(void);
void run_more(void)
{
    run_primitive();
    init_times(1);
    for (int i = 0; i < 30; i++) {
        push_a("range");
        pop();
    }
}
#else
int main(void)
{
    run_primitive();
    return 0;
}
#endif
