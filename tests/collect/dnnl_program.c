// SPDX-License-Identifier: Apache-2.0
// A known number of oneDNN's primitives between lines of its own, inside of spans of its own.
#include <dnnl.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <unistd.h>

enum { SIDE = 64, TIMES = 10 };

static float left[SIDE * SIDE], right[SIDE * SIDE], product[SIDE * SIDE];

static dnnl_memory_t memory_of(dnnl_engine_t engine, const dnnl_memory_desc_t *what, float *data)
{
    dnnl_memory_t memory;
    dnnl_memory_create(&memory, what, engine, data);
    return memory;
}

int main(void)
{
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_dims_t dims = {SIDE, SIDE};
    dnnl_memory_desc_t what;
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    printf("begins, %s\n", isatty(1) ? "terminal" : "no terminal");
    dnnl_engine_create(&engine, dnnl_cpu, 0);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    dnnl_memory_desc_init_by_tag(&what, 2, dims, dnnl_f32, dnnl_ab);
    dnnl_matmul_desc_init(&matmul, &what, &what, NULL, &what);
    dnnl_primitive_desc_create(&description, &matmul, NULL, engine, NULL);
    dnnl_primitive_create(&primitive, description);
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, memory_of(engine, &what, left)},
                                   {DNNL_ARG_WEIGHTS, memory_of(engine, &what, right)},
                                   {DNNL_ARG_DST, memory_of(engine, &what, product)}};
    const mxp_name name = mxp_span_name("operator", "product");
    for (int i = 0; i < TIMES; i++) {
        const uint64_t token = mxp_span_begin(name);
        dnnl_primitive_execute(primitive, stream, 3, arguments);
        dnnl_stream_wait(stream);
        mxp_span_end(name, token);
        printf("half a line %d", i);
        printf("%s", ", and the other\n");
    }
    printf("onednn_verbose is a word of this program's too, and %c is a %s\n", '%', "sign");
    return 0;
}
