# SPDX-License-Identifier: Apache-2.0
"""What MXNet's Python front end asks the C ABI for, call by call, so that a program without it can
make the same calls. expected/names_*.jsonl tell which C functions each call goes through and in
which order; CALLS adds what they do not tell.

A step is "new N" (a vector of N indices, made by the next MXNDArrayCreate*) or an operator under
the name that the front end uses, its inputs, its parameters and, behind ->, the array it writes:
    sgd_mom_update w a #0 lr=0.1 -> w
#i is the i-th array of the call, whoever made it. A list of two lists of steps has those of the
1.x line first and those of the 2.0 line second."""

LINES = ("1.9.1", "2.0.0b1")

# The C ABI of this library has no such functions, or not yet.
NOT_IN_C = {
    "mx.sym.var('x')": "symbols",
    "kv_init()": "kvstore",
    "kv_push_pull()": "kvstore",
    "kv_push_two()": "kvstore",
}
FUNCTIONS_NOT_IN_C = {
    "MXNDArrayLegacySave": "MXNDArraySave",  # 2.0.0b1's name for saving files without numpy's zip
}
# The 2.0 line's interface from Python to numpy's functions, which is not of the C ABI: one
# MXImperativeInvoke stands for each function.
PACKED_FUNCTIONS = "MXNet"

# One name is one operator, that of the 2.0 line.
OTHERWISE = {
    ("1.9.1", "np.concatenate([p, q])"): ["Concat"],
    ("1.9.1", "np.stack([p, q])"): ["stack"],
}
# Engine operations of the original that answer to nothing here: arrays have one layout.
NOT_HERE = {"Reorder"}
# How many there are depends on when threads meet.
UNCOUNTED = {"DeleteVariable", "WaitForVar"}


def _zeros(shape="(2,2)", dtype="float32"):
    return f"_zeros shape={shape} dtype={dtype}"


def _ones(shape):
    return f"_ones shape={shape} dtype=float32"


_CONVOLUTION = "kernel=(3,3) num_filter=4"
_POOLING = "kernel=(2,2) pool_type=max stride=(2,2)"
_THREE = "double_value=3 int_value=3 uint_value=3 value_type=1"

CALLS = {
    "nd.zeros((2, 2))": [_zeros()],
    "nd.ones((2, 2))": [_ones("(2,2)")],
    "nd.full((2, 2), 3)": ["new 2", "_full shape=(2,) value=3 -> #0"],
    "nd.empty((2, 2))": ["new 4"],
    "nd.array([1, 2])": ["new 2"],
    "nd.arange(3)": ["_arange start=0 stop=3 step=1 repeat=1"],
    "nd.eye(3)": ["_eye N=3"],
    "a.copy()": ["new 2 2", "_copyto a -> #0"],
    "a.copyto(b)": ["_copyto a -> b"],
    "a.astype('float64')": [["new64 2 2", "_copyto a -> #0"], ["cast a dtype=float64"]],
    "a[onp.array([0, 1])]": ["new 2", "broadcast_to #0 shape=(2,)", "broadcast_to #2 shape=(2,)",
                             "new 2", "stack #1 #3 num_args=2", "gather_nd a #5"],
    "w.__setitem__(slice(None), 3)": ["_full shape=(2,2) value=3 -> w"],
    "w.__setitem__(slice(None), b)": ["_copyto b -> w"],
    "w.__setitem__(0, 3)": ["_slice_assign_scalar w begin=(0,) end=(1,) scalar=3 -> w"],
    "w.__setitem__((0, 1), 5)": ["_slice_assign_scalar w begin=(0,1) end=(1,2) scalar=5 -> w"],
    "a + 1": ["_plus_scalar a scalar=1"],
    "1 - a": ["_rminus_scalar a scalar=1"],
    "a - 1": ["_minus_scalar a scalar=1"],
    "a * 2": ["_mul_scalar a scalar=2"],
    "2 / a": ["_rdiv_scalar a scalar=2"],
    "a / 2": ["_div_scalar a scalar=2"],
    "a ** 2": ["_power_scalar a scalar=2"],
    "-a": ["_mul_scalar a scalar=-1"],
    "a + b": ["broadcast_add a b"],
    "a - b": ["broadcast_sub a b"],
    "a * b": ["broadcast_mul a b"],
    "a / b": ["broadcast_div a b"],
    "nd.elemwise_add(a, b)": ["elemwise_add a b"],
    "nd.add_n(a, b, a)": ["add_n a b a num_args=3"],
    "w.__iadd__(1)": ["_plus_scalar w scalar=1 -> w"],
    "w.__iadd__(b)": ["broadcast_add w b -> w"],
    "a > b": ["broadcast_greater a b"],
    "a > 1": ["_greater_scalar a scalar=1"],
    "a == b": ["broadcast_equal a b"],
    "nd.dot(a, b)": ["dot a b"],
    "a.T": ["transpose a"],
    "nd.transpose(a)": ["transpose a"],
    "nd.reshape(a, shape=(4,))": ["reshape a shape=(4,)"],
    "a.expand_dims(0)": ["expand_dims a axis=0"],
    "nd.concat(a, b, dim=0)": ["concat a b num_args=2 dim=0"],
    "nd.stack(a, b)": ["stack a b num_args=2"],
    "nd.split(a, 2)": ["split a num_outputs=2"],
    "nd.sum(a)": ["sum a"],
    "nd.sum(a, axis=-1)": ["sum a axis=-1"],
    "nd.mean(a)": ["mean a"],
    "nd.max(a)": ["max a"],
    "nd.argmax(a, axis=1)": ["argmax a axis=1"],
    "nd.argmax_channel(a)": ["argmax_channel a"],
    "nd.diag(a)": ["diag a"],
    "nd.sqrt(a)": ["sqrt a"],
    "nd.exp(a)": ["exp a"],
    "nd.log(a)": ["log a"],
    "nd.abs(a)": ["abs a"],
    "nd.square(a)": ["square a"],
    "nd.clip(a, 0, 1)": ["clip a a_min=0 a_max=1"],
    "nd.relu(a)": ["relu a"],
    "nd.sigmoid(a)": ["sigmoid a"],
    "nd.tanh(a)": ["tanh a"],
    "nd.Activation(a, act_type='relu')": ["Activation a act_type=relu"],
    "nd.LeakyReLU(a)": ["LeakyReLU a"],
    "nd.softmax(a)": ["softmax a"],
    "nd.log_softmax(a)": ["log_softmax a"],
    "nd.SoftmaxOutput(a, nd.array([0, 1]))": ["new 2", "SoftmaxOutput a #0"],
    "nd.pick(a, nd.array([0, 1]))": ["new 2", "pick a #0"],
    "nd.one_hot(nd.array([0, 1]), 3)": ["new 2", "one_hot #0 depth=3"],
    "nd.take(a, nd.array([0, 1]))": ["new 2", "take a #0"],
    "nd.Embedding(nd.array([0, 1]), a, input_dim=2, output_dim=2)":
        ["new 2", "Embedding #0 a input_dim=2 output_dim=2"],
    "nd.where(a, a, b)": ["where a a b"],
    "nd.slice_axis(a, axis=0, begin=0, end=1)": ["slice_axis a axis=0 begin=0 end=1"],
    "nd.broadcast_to(nd.ones((1, 2)), shape=(2, 2))":
        [_ones("(1,2)"), "broadcast_to #0 shape=(2,2)"],
    "nd.FullyConnected(a, b, nd.ones((2,)), num_hidden=2)":
        [_ones("(2,)"), "FullyConnected a b #0 num_hidden=2"],
    "nd.Flatten(img)": ["Flatten img"],
    "nd.Convolution(img, ker, nd.ones((4,)), kernel=(3, 3), num_filter=4)":
        [_ones("(4,)"), f"Convolution img ker #0 {_CONVOLUTION}"],
    "nd.Pooling(img, kernel=(2, 2), pool_type='max', stride=(2, 2))": [f"Pooling img {_POOLING}"],
    "nd.BatchNorm(img, nd.ones((3,)), nd.ones((3,)), nd.ones((3,)), nd.ones((3,)))":
        [_ones("(3,)")] * 4 + ["BatchNorm img #0 #1 #2 #3"],
    "nd.LayerNorm(a, nd.ones((2,)), nd.ones((2,)))": [_ones("(2,)")] * 2 + ["LayerNorm a #0 #1"],
    "nd.Dropout(a, mode='always')": ["Dropout a mode=always"],
    "nd.BlockGrad(a)": ["BlockGrad a"],
    "nd.identity(a)": ["identity a"],
    "nd.zeros_like(a)": ["zeros_like a"],
    "nd.ones_like(a)": ["ones_like a"],
    "nd.random.uniform(shape=(2, 2))": ["_random_uniform low=0 high=1 shape=(2,2)"],
    "nd.random.normal(shape=(2, 2))": ["_random_normal loc=0 scale=1 shape=(2,2)"],
    "nd.random.randint(0, 5, shape=(2,))": ["_random_randint low=0 high=5 shape=(2,)"],
    "nd.random.shuffle(a)": ["_shuffle a"],
    "nd.sgd_update(w, a, lr=.1)": ["sgd_update w a lr=0.1"],
    "nd.sgd_mom_update(w, a, nd.zeros((2, 2)), lr=.1)": [_zeros(), "sgd_mom_update w a #0 lr=0.1"],
    "nd.adam_update(w, a, nd.zeros((2, 2)), nd.zeros((2, 2)), lr=.1)":
        [_zeros()] * 2 + ["adam_update w a #0 #1 lr=0.1"],
    "nd.image.to_tensor(nd.zeros((4, 4, 3), dtype='uint8'))":
        [_zeros("(4,4,3)", "uint8"), "_image_to_tensor #0"],
    "grad(lambda x: x + 1)": ["_plus_scalar x scalar=1"],
    "grad(lambda x: x * x)": ["broadcast_mul x x"],
    "grad(lambda x: nd.sum(x))": ["sum x"],
    "grad(lambda x: nd.mean(x))": ["mean x"],
    "grad(lambda x: nd.dot(x, b))": ["dot x b"],
    "grad(lambda x: nd.relu(x))": ["relu x"],
    "grad(lambda x: nd.softmax(x))": ["softmax x"],
    "grad(lambda x: nd.log_softmax(x))": ["log_softmax x"],
    "grad(lambda x: nd.FullyConnected(x, b, no_bias=True, num_hidden=2))":
        ["FullyConnected x b no_bias=True num_hidden=2"],
    "grad(lambda x: x.reshape((4,)))": ["view x"],
    "grad(lambda x: nd.Flatten(x))": ["Flatten x"],
    "grad(lambda x: x * 2)": ["_mul_scalar x scalar=2"],
    "grad(lambda x: nd.pick(x, nd.array([0, 1])))": ["new 2", "pick x #0"],
    "grad(lambda x: nd.sqrt(x))": ["sqrt x"],
    "grad(lambda x: nd.exp(x) + nd.exp(x))": ["exp x", "exp x", "broadcast_add #0 #1"],
    "with_bulk(4)": ["_plus_scalar a scalar=1"] + [f"_plus_scalar #{i} scalar=1" for i in range(6)],
    "np.zeros((2, 2))": ["_npi_zeros shape=(2,2)"],
    "np.ones((2, 2))": ["_npi_ones shape=(2,2)"],
    "np.full((2, 2), 3)": [["_full shape=(2,2) value=3"], [f"_npi_full shape=(2,2) {_THREE}"]],
    "np.array([1, 2])": ["new 2"],
    "np.arange(3)": ["_npi_arange start=0 stop=3 step=1"],
    "np.eye(3)": ["_npi_eye N=3"],
    "np.copy(p)": [["_np_copy p"], ["_npi_copy p"]],
    "p.copy()": ["new 2 2", "_copyto p -> #0"],
    "p.copyto(q)": ["_copyto p -> q"],
    "p.astype('float64')": [["new64 2 2", "_copyto p -> #0"], ["_npi_cast p dtype=float64"]],
    "p.__setitem__(slice(None), 3)":
        [["_full shape=(2,2) value=3 -> p"], [f"_npi_full shape=(2,2) {_THREE} -> p"]],
    "p.__setitem__(0, 3)": ["_slice_assign_scalar p begin=(0,) end=(1,) scalar=3 -> p"],
    "p + 1": ["_npi_add_scalar p scalar=1"],
    "1 - p": ["_npi_rsubtract_scalar p scalar=1"],
    "p * 2": ["_npi_multiply_scalar p scalar=2"],
    "p / 2": ["_npi_true_divide_scalar p scalar=2"],
    "p ** 2": ["_npi_power_scalar p scalar=2"],
    "-p": [["_npi_multiply_scalar p scalar=-1"], ["_npi_negative p"]],
    "p + q": ["_npi_add p q"],
    "p * q": ["_npi_multiply p q"],
    "p / q": ["_npi_true_divide p q"],
    "p > q": ["_npi_greater p q"],
    "np.dot(p, q)": [["_np_dot p q"], ["_npi_dot p q"]],
    "np.matmul(p, q)": ["_npi_matmul p q"],
    "p.T": [["_np_transpose p"], ["_npi_transpose p"]],
    "p.reshape(4)": [["_np_reshape p newshape=4"], ["_npx_reshape p newshape=4"]],
    "np.expand_dims(p, 0)": ["expand_dims p axis=0"],
    "np.concatenate([p, q])": ["_npi_concatenate p q num_args=2 dim=0"],
    "np.stack([p, q])": ["_npi_stack p q num_args=2 axis=0"],
    "np.sum(p)": [["_np_sum p"], ["_npi_sum p"]],
    "np.sum(p, -1)": [["_np_sum p axis=-1"], ["_npi_sum p axis=-1"]],
    "np.mean(p)": ["_npi_mean p"],
    "np.max(p)": [["_np_max p"], ["_npi_max p"]],
    "np.argmax(p, axis=1)": ["_npi_argmax p axis=1"],
    "np.diag(p)": [["_np_diag p"], ["_npi_diag p"]],
    "np.sqrt(p)": ["_npi_sqrt p"],
    "np.exp(p)": ["_npi_exp p"],
    "np.abs(p)": ["_npi_absolute p"],
    "np.clip(p, 0, 1)": ["_npi_clip p a_min=0 a_max=1"],
    "np.where(p > 1, p, q)": ["_npi_greater_scalar p scalar=1", "_npi_where #0 p q"],
    "np.random.uniform(size=(2, 2))": ["_npi_uniform low=0 high=1 size=(2,2)"],
    "np.random.normal(size=(2, 2))": ["_npi_normal loc=0 scale=1 size=(2,2)"],
    "npx.relu(p)": ["_npx_relu p"],
    "npx.sigmoid(p)": ["_npx_sigmoid p"],
    "npx.softmax(p)": ["_npx_softmax p"],
    "npx.log_softmax(p)": ["_npx_log_softmax p"],
    "npx.activation(p, act_type='relu')": ["_npx_activation p act_type=relu"],
    "npx.pick(p, np.array([0, 1]))": ["new 2", "_npx_pick p #0"],
    "npx.one_hot(np.array([0, 1]), 3)": ["new 2", "_npx_one_hot #0 depth=3"],
    "npx.fully_connected(p, q, np.ones((2,)), num_hidden=2)":
        ["_npi_ones shape=(2,)", "_npx_fully_connected p q #0 num_hidden=2"],
    "npx.convolution(pimg, pker, np.ones((4,)), kernel=(3, 3), num_filter=4)":
        ["_npi_ones shape=(4,)", f"_npx_convolution img ker #0 {_CONVOLUTION}"],
    "npx.pooling(pimg, kernel=(2, 2), pool_type='max', stride=(2, 2))":
        [f"_npx_pooling img {_POOLING}"],
    "npx.batch_flatten(pimg)": ["_npx_batch_flatten img"],
    "npx.dropout(p, mode='always')": ["_npx_dropout p mode=always"],
    "npx.layer_norm(p, np.ones((2,)), np.ones((2,)))":
        ["_npi_ones shape=(2,)"] * 2 + ["_npx_layer_norm p #0 #1"],
    "npgrad(lambda x: x + 1)": ["_npi_add_scalar x scalar=1"],
    "npgrad(lambda x: x * x)": ["_npi_multiply x x"],
    "npgrad(lambda x: np.sum(x))": [["_np_sum x"], ["_npi_sum x"]],
    "npgrad(lambda x: np.mean(x))": ["_npi_mean x"],
    "npgrad(lambda x: np.dot(x, q))": [["_np_dot x q"], ["_npi_dot x q"]],
    "npgrad(lambda x: npx.relu(x))": ["_npx_relu x"],
    "npgrad(lambda x: -x)": [["_npi_multiply_scalar x scalar=-1"], ["_npi_negative x"]],
}


def steps_of(call, line):
    """The steps of a call in one of LINES; none for calls that ask questions only."""
    steps = CALLS.get(call, [])
    return steps[LINES.index(line)] if steps and isinstance(steps[0], list) else steps
