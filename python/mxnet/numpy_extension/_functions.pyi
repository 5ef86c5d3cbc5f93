# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told of the functions of mx.npx that are made when the package runs.

Made by scripts/make-stubs: do not edit.
"""
from typing import Any, Literal, Optional, Sequence, Union

from .._array_types import ArrayLike, Shape
from ..numpy.multiarray import ndarray

def activation(
    data: ArrayLike,
    act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"],
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def add_n(*args: Any, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def batch_dot(
    lhs: ArrayLike, rhs: Optional[ArrayLike] = None, transpose_a: bool = False, transpose_b: bool = False,
    forward_stype: Optional[Literal["csr", "default", "row_sparse"]] = None, out: Any = None,
    name: Optional[str] = None,
) -> ndarray: ...
def batch_flatten(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def batch_norm(
    data: ArrayLike, gamma: Optional[ArrayLike] = None, beta: Optional[ArrayLike] = None,
    moving_mean: Optional[ArrayLike] = None, moving_var: Optional[ArrayLike] = None,
    eps: float = 0.0010000000474974513, momentum: float = 0.899999976, fix_gamma: bool = True,
    use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False,
    min_calib_range: Optional[float] = None, max_calib_range: Optional[float] = None, out: Any = None,
    name: Optional[str] = None,
) -> Any: ...
def broadcast_greater(
    lhs: ArrayLike, rhs: Optional[ArrayLike] = None, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def broadcast_like(
    lhs: ArrayLike, rhs: Optional[ArrayLike] = None, lhs_axes: Optional[Shape] = None,
    rhs_axes: Optional[Shape] = None, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def cast(data: ArrayLike, dtype: Any, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def convolution(
    data: ArrayLike, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None,
    kernel: Shape = ..., stride: Shape = (), dilate: Shape = (), pad: Shape = (), num_filter: int = ...,
    num_group: int = 1, workspace: int = 1024, no_bias: bool = False,
    cudnn_tune: Optional[Literal["fastest", "limited_workspace", "off"]] = None, cudnn_off: bool = False,
    layout: Optional[Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"]] = None, out: Any = None,
    name: Optional[str] = None,
) -> ndarray: ...
def ctc_loss(
    data: ArrayLike, label: Optional[ArrayLike] = None, data_lengths: Optional[ArrayLike] = None,
    label_lengths: Optional[ArrayLike] = None, use_data_lengths: bool = False,
    use_label_lengths: bool = False, blank_label: Literal["first", "last"] = "first", out: Any = None,
    name: Optional[str] = None,
) -> ndarray: ...
def deconvolution(
    data: ArrayLike, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None,
    kernel: Shape = ..., stride: Shape = (), dilate: Shape = (), pad: Shape = (), adj: Shape = (),
    target_shape: Shape = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024,
    no_bias: bool = True, cudnn_tune: Optional[Literal["fastest", "limited_workspace", "off"]] = None,
    cudnn_off: bool = False, layout: Optional[Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"]] = None,
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def digamma(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def dropout(
    data: ArrayLike, p: float = 0.5, mode: Literal["always", "training"] = "training", axes: Shape = (),
    cudnn_off: Optional[bool] = False, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def embedding(
    data: ArrayLike, weight: Optional[ArrayLike] = None, input_dim: int = ..., output_dim: int = ...,
    dtype: Any = "float32", sparse_grad: bool = False, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def erf(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def erfinv(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def fully_connected(
    data: ArrayLike, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None,
    num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, out: Any = None,
    name: Optional[str] = None,
) -> ndarray: ...
def gamma(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def gammaln(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def gather_nd(
    data: ArrayLike, indices: Optional[ArrayLike] = None, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def group_norm(
    data: ArrayLike, gamma: Optional[ArrayLike] = None, beta: Optional[ArrayLike] = None,
    num_groups: int = 1, eps: float = 9.99999975e-06, output_mean_var: bool = False, out: Any = None,
    name: Optional[str] = None,
) -> Any: ...
def instance_norm(
    data: ArrayLike, gamma: Optional[ArrayLike] = None, beta: Optional[ArrayLike] = None,
    eps: float = 0.00100000005, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def layer_norm(
    data: ArrayLike, gamma: Optional[ArrayLike] = None, beta: Optional[ArrayLike] = None, axis: int = -1,
    eps: float = 9.99999975e-06, output_mean_var: bool = False, out: Any = None,
    name: Optional[str] = None,
) -> Any: ...
def leaky_relu(
    data: ArrayLike, gamma: Optional[ArrayLike] = None,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = "leaky", slope: float = 0.25,
    lower_bound: float = 0.125, upper_bound: float = 0.333999991, out: Any = None,
    name: Optional[str] = None,
) -> Any: ...
def log_softmax(
    data: ArrayLike, axis: int = -1, temperature: Optional[float] = None, dtype: Any = None,
    use_length: Optional[bool] = False, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def norm(
    data: ArrayLike, ord: int = 2, axis: Optional[Shape] = None, out_dtype: Any = None,
    keepdims: bool = False, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def one_hot(
    indices: ArrayLike, depth: int, on_value: float = 1, off_value: float = 0, dtype: Any = "float32",
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def pad(
    data: ArrayLike, mode: Literal["constant", "edge", "reflect"], pad_width: Shape,
    constant_value: float = 0, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def pick(
    data: ArrayLike, index: Optional[ArrayLike] = None, axis: Optional[int] = -1, keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip", out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def pooling(
    data: ArrayLike, kernel: Shape = (), pool_type: Literal["avg", "lp", "max", "sum"] = "max",
    global_pool: bool = False, cudnn_off: bool = False,
    pooling_convention: Literal["full", "same", "valid"] = "valid", stride: Shape = (), pad: Shape = (),
    p_value: Optional[int] = None, count_include_pad: Optional[bool] = None,
    layout: Optional[Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"]] = None,
    output_size: Optional[Shape] = None, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def relu(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def reshape(
    a: ArrayLike, newshape: Shape, reverse: bool = False, order: str = "C", out: Any = None,
    name: Optional[str] = None,
) -> ndarray: ...
def reshape_like(
    lhs: ArrayLike, rhs: Optional[ArrayLike] = None, lhs_begin: Optional[int] = None,
    lhs_end: Optional[int] = None, rhs_begin: Optional[int] = None, rhs_end: Optional[int] = None,
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def rnn(
    data: ArrayLike, parameters: Optional[ArrayLike] = None, state: Optional[ArrayLike] = None,
    state_cell: Optional[ArrayLike] = None, sequence_length: Optional[ArrayLike] = None,
    state_size: int = ..., num_layers: int = ..., bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] = ..., p: float = 0, state_outputs: bool = False,
    projection_size: Optional[int] = None, lstm_state_clip_min: Optional[float] = None,
    lstm_state_clip_max: Optional[float] = None, lstm_state_clip_nan: bool = False,
    use_sequence_length: bool = False, out: Any = None, name: Optional[str] = None,
) -> Any: ...
def sequence_mask(
    data: ArrayLike, sequence_length: Optional[ArrayLike] = None, use_sequence_length: bool = False,
    value: float = 0, axis: int = 0, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def shape_array(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def sigmoid(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def slice(
    data: ArrayLike, begin: Union[int, Sequence[Optional[int]]], end: Union[int, Sequence[Optional[int]]],
    step: Union[int, Sequence[Optional[int]]] = (), out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def slice_channel(
    data: ArrayLike, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, out: Any = None,
    name: Optional[str] = None,
) -> Any: ...
def slice_like(
    data: ArrayLike, shape_like: Optional[ArrayLike] = None, axes: Shape = (), out: Any = None,
    name: Optional[str] = None,
) -> ndarray: ...
def smooth_l1(data: ArrayLike, scalar: float, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def softmax(
    data: ArrayLike, length: Optional[ArrayLike] = None, axis: int = -1,
    temperature: Optional[float] = None, dtype: Any = None, use_length: Optional[bool] = False,
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def softsign(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def stop_gradient(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
def topk(
    data: ArrayLike, axis: Optional[int] = -1, k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] = "indices", is_ascend: bool = False,
    dtype: Any = "float32", out: Any = None, name: Optional[str] = None,
) -> Any: ...
