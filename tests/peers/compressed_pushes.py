# SPDX-License-Identifier: Apache-2.0
"""What processes of a store with 2-bit compression pull, on MXNet's published package or on the one of this tree. A
worker writes pulledRANK.npz; servers and the scheduler stay inside the import."""
import numpy
import mxnet as mx

THRESHOLD, ROUNDS = 0.3, 12
# No whole word, several of them, and longer than MXNET_KVSTORE_BIGARRAY_BOUND, in parts of no whole word.
SHAPES = {"a": (3, 4), "b": (1001,), "c": (16, 16), "d": (70, 1001)}


def main():
    store = mx.kv.create("dist_sync")
    store.set_gradient_compression({"type": "2bit", "threshold": THRESHOLD})
    for key, shape in SHAPES.items():
        store.init(key, mx.nd.zeros(shape))
    draw, pulled = numpy.random.RandomState(store.rank), {}
    for step in range(ROUNDS):
        for key, shape in SHAPES.items():
            store.push(key, mx.nd.array(draw.normal(0, THRESHOLD, shape).astype("float32")))
            out = mx.nd.zeros(shape)
            store.pull(key, out=out)
            pulled[f"{key}{step}"] = out.asnumpy()
    numpy.savez(f"pulled{store.rank}.npz", **pulled)


main()
