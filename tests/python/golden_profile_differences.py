# SPDX-License-Identifier: Apache-2.0
"""How profiles of whole programs differ from what the original's two lines recorded: for each line and program, what
is more or less here, under the words of docs/migration.md that tell the reason."""
from typing import NamedTuple


class Difference(NamedTuple):
    """`words` stand in docs/migration.md; counts, and bytes of all that is allocated, are here minus the original."""

    words: str
    operators: dict = {}
    calls: dict = {}
    bytes: int = 0


# Chance (when memory goes and what a wait finds), and calls of a list in docs/migration.md, section Profiles.
NOT_COUNTED = {"DeleteVariable", "WaitForVar"}
CALLS_NOT_COUNTED = {
    "MXNDArrayGetShape", "MXNDArrayGetDType", "MXNDArrayGetContext", "MXNDArrayGetStorageType", "MXNDArrayGetGrad",
    "MXNDArrayReshape", "MXNDArrayFree", "MXAPIGetFunctionRegInfo", "MXSymbolSetAttr", "MXIsNumpyShape", "MXSetIsNumpyShape",
    "MXIsNumpyDefaultDtype", "MXSetIsNumpyDefaultDtype", "MXNetFuncCall", "MXNetFuncGetGlobal", "MXNetFuncListGlobalNames",
    "MXNetObjectFree", "MXNetObjectGetTypeIndex", "MXNetObjectTypeKey2Index", "MXSymbolCompose", "MXSymbolCreateVariable",
    "MXSymbolFree", "MXSymbolListArguments", "MXSymbolListAuxiliaryStates",
}

SEED = Difference("arithmetic with a number asks for none", {"MyAddOne::ResourceParallelRandomSetSeed": -1})
OUTPUTS = Difference("asks for an executor's outputs when it is bound, too", calls={"MXExecutorOutputs": -1})
SEGMENT = "in an `ImperativeBulk` and not in the executor's segment"
ALWAYS = Difference("segments are recorded whatever classes are asked for", {"[_plus_scalar,sqrt]": -1})
CLASS_OF_SEGMENTS = {"_plus_scalar": 1, "[_plus_scalar{name=_plusscalar0}]": 1}
CLASS_OF_OUTPUTS = {"sqrt": 1, "ImperativeBulk": 1}
TWO_PARTS = Difference(SEGMENT, {"[_plus_scalar,sqrt]": -1, **CLASS_OF_SEGMENTS, **CLASS_OF_OUTPUTS})
BETWEEN = Difference("what is between its operators has memory of its own, in blocks of 64 bytes", bytes=64)
CACHED = "a bound symbol of 2.0 is a cached operator"
NO_SYMBOLIC = Difference("cached operators are of class imperative in 2.0", CLASS_OF_SEGMENTS)
MEMBERS_OF_2 = Difference("operators joined to a bulk appear as one", {"sqrt": 1})
ALL_CLASSES = Difference("defaults to 15", {"diag": 1, "sum": 1, "_ones": 1, "ResourceParallelRandomSetSeed": 1})
BOTH_KINDS = "both work: `nd.Custom(np_array)`"
FLUSH = Difference("`MXSetFlushDenorms`", {"SetFlushDenorms": -1})
PACKED = "NumPy's functions of 2.0 are packed functions"
FAILED = {"MXNotifyShutdown": -1, "MXNDArrayWaitAll": 1}


def set_up(count, deleted=0):
    operators = {"SetupExec": -count, **({"DeleteOperator": -deleted} if deleted else {})}
    return Difference("belong to the original's executors", operators)


def parts(names):
    """The name of a segment of these nodes."""
    return "[" + ",".join(f"{operator}{{name={node}}}" for operator, node in names) + "]"


def custom(*backward):
    """In 2.0 a custom operator works on NumPy's arrays."""
    reshaped = {"MyAddOne::_npx_reshape": -1, **{name: -1 for name in backward}}
    return Difference("a custom operator of 2.0 works on NumPy's arrays",
                      {"MyAddOne::_npi_add_scalar": -1, "MyAddOne::_plus_scalar": 1, **reshaped},
                      bytes=-1000000 if not backward else -24)


def cached_op(bytes_, operators=None):
    return Difference(CACHED, {"CopyCPU2CPU": -1} if operators is None else operators, {
        "MXInvokeCachedOp": -1, "MXNDArrayCreate": -1, "MXAutogradSetIsRecording": -2, "MXAutogradSetIsTraining": -1,
        "MXExecutorBind": 1, "MXExecutorForward": 1, "MXExecutorOutputs": 1}, bytes_)


NODES = [("FullyConnected", "fullyconnected0"), ("Activation", "activation0"), ("FullyConnected", "fullyconnected1"),
         ("Activation", "activation1"), ("FullyConnected", "fullyconnected2")]
TRAINED, BATCHES = 6, 8
PERCEPTRON = [
    Difference("no `ImperativeBulk` while the table is kept", {
        "ImperativeBulk": TRAINED + BATCHES, parts(NODES): BATCHES,
        parts([("_backward_" + operator, node) for operator, node in NODES[::-1]]): TRAINED}),
    Difference("work of iterators leaves no record", {"MNISTIter": 20}),
]
ONE, TWO = "1.9.1", "2.0.0b1"
PACKED_CALL = Difference(PACKED, calls={"MXImperativeInvoke": 1})
IMPORTED_ONE = Difference("at its import", calls={"MXCustomOpRegister": -5, "MXListFunctions": -1, "MXFuncDescribe": -4,
                                                 "MXLibInfoFeatures": -1})
IMPORTED_TWO = Difference("at its import", calls={"MXCustomOpRegister": -5, "MXListDatasets": -1,
                                                 "MXListBatchifyFunctions": -1, "MXLibInfoFeatures": -1,
                                                 "MXSetFlushDenorms": -1})
NUMPY_CUSTOM = Difference("`npx.custom` is not there", {
    "_npi_zeros": 1, "MyAddOne::_npi_add_scalar": 1, "MyAddOne::CopyCPU2CPU": 1}, {**FAILED, "MXImperativeInvoke": 4})
OF_NUMPY = Difference(BOTH_KINDS, {"MyAddOne::_plus_scalar": 1, "MyAddOne::CopyCPU2CPU": 1},
                      {**FAILED, "MXImperativeInvoke": 3})
HYBRID = [
    Difference("its operators are pushed one by one at that call", {
        "ImperativeBulk": -1, "FullyConnected": 3, "Activation": 3, "Dropout": 1}, {
        "MXCreateCachedOp": 1, "MXNDArraySetDeferredComputeVariable": -12, "MXNDArrayIsDeferredCompute": -16,
        "MXNDArraySetIsDeferredCompute": -4, "MXNDArrayDetach": -1, "MXShallowCopySymbol": -7, "MXCheckDynamicShapeOp": -1,
        "MXAutogradIsTraining": 1, "MXAutogradIsRecording": 1, "MXAutogradSetIsRecording": 4, "MXAutogradSetIsTraining": 4}),
    Difference("operators joined to a bulk appear as one", {
        "_backward_FullyConnected": 3, "_backward_Activation": 3, "_backward_Dropout": 1}),
    Difference("one more `MXNDArrayCreate` a gradient", calls={"MXNDArrayCreate": 6}),
    Difference("trace also has their `MXSetProfilerScope` calls", calls={"MXSetProfilerScope": 40}),
    Difference(PACKED, calls={"MXImperativeInvoke": 26}),
]

TABLE_KEPT = Difference("no `ImperativeBulk` while the table is kept", {"ImperativeBulk": 1})
POOLING = Difference("pooling has a second output", {"_zeros_without_dtype": -2})
AS_A_GRAPH = [
    Difference("its operators are pushed one by one at that call", {
        "ImperativeBulk": -1, "FullyConnected": 3, "Activation": 3, "Dropout": 1}, {
        "MXInvokeCachedOp": -2, "MXSymbolInferShape": -1, "MXSymbolCreateAtomicSymbol": -7, "MXNDArrayClearDeferredCompute": 1,
        "MXNDArrayGetDeferredComputeSymbol": 1, "MXNDArraySetDeferredComputeVariable": 7, "MXNDArraySetIsDeferredCompute": 10,
        "MXAutogradIsTraining": 1, "MXAutogradIsRecording": 1, "MXAutogradSetIsRecording": 4, "MXAutogradSetIsTraining": 4,
        "MXImperativeInvoke": 7}),
    *HYBRID[1:4]]
# Of the names of 1.9.1, which are an error in 2.0.
WITH_PREFIX = Difference(BOTH_KINDS, {
    "FullyConnected": 3, "Activation": 3, "Dropout": 1, "_backward_FullyConnected": 3, "_backward_Activation": 3,
    "_backward_Dropout": 1, "_npi_full": 3, "_npi_uniform": 3, "_npi_zeros": 12, "_zeros": 1, "CopyCPU2CPU": 6,
    "SetValueOp": 1, "ImperativeBulk": 1, "ResourceParallelRandomSetSeed": 1}, {
    **FAILED, "MXImperativeInvoke": 32, "MXNDArrayCreate": 12, "MXCreateCachedOp": 1, "MXSetProfilerScope": 40,
    "MXAutogradBackward": 1, "MXAutogradMarkVariables": 6, "MXAutogradIsTraining": 1, "MXAutogradIsRecording": 1,
    "MXAutogradSetIsRecording": 14, "MXAutogradSetIsTraining": 14, "MXNDArrayClearDeferredCompute": 1,
    "MXNDArrayGetDeferredComputeSymbol": 1, "MXNDArraySetDeferredComputeVariable": 7, "MXNDArraySetIsDeferredCompute": 10})


def scopes(count):
    return Difference("trace also has their `MXSetProfilerScope` calls", calls={"MXSetProfilerScope": count})


DIFFERENCES = {
    (ONE, "seed000_hybrid"): AS_A_GRAPH,
    (ONE, "seed000_trace"): [],
    (ONE, "seed000_trace_twice"): [],
    (ONE, "seed000_trace_np"): [Difference("`_np_sum`", {"_np_diag": -1, "_np_sum": -1, "_npi_diag": 1, "_npi_sum": 1})],
    (ONE, "seed002_lenet"): [TABLE_KEPT, POOLING, scopes(156)],
    (TWO, "seed000_hybrid"): [WITH_PREFIX],
    (TWO, "seed000_trace"): [],
    (TWO, "seed000_trace_twice"): [],
    (TWO, "seed000_trace_np"): [Difference(PACKED, calls={"MXImperativeInvoke": 2})],
    (TWO, "seed002_lenet"): [TABLE_KEPT, POOLING, scopes(168), Difference(PACKED, calls={"MXImperativeInvoke": 15}), Difference(
        "hands parameters on by `MXShallowCopyNDArray`",
        calls={"MXShallowCopyNDArray": -16, "MXNDArraySetDeferredComputeVariable": -8})],
    (ONE, "seed001_capi"): [*PERCEPTRON, set_up(12), OUTPUTS],
    (ONE, "seed002_custom_nd"): [SEED],
    (ONE, "seed002_custom_grad"): [SEED],
    (ONE, "seed002_custom_sym"): [SEED, OUTPUTS, set_up(1)],
    (ONE, "seed002_custom_sym_noimp"): [OUTPUTS],
    (ONE, "seed002_custom_np"): [OF_NUMPY],
    (ONE, "seed002_custom_npx"): [NUMPY_CUSTOM],
    (ONE, "seed002_custom_nd_naive"): [SEED],
    (ONE, "seed002_custom_sym_naive"): [SEED, OUTPUTS, set_up(1)],
    (ONE, "autostart_1"): [TWO_PARTS, ALL_CLASSES, IMPORTED_ONE, OUTPUTS, BETWEEN],
    (ONE, "autostart_1_mode0"): [ALWAYS],
    (ONE, "autostart_1_mode1"): [Difference(SEGMENT, {"[_plus_scalar,sqrt]": -1, **CLASS_OF_SEGMENTS})],
    (ONE, "autostart_1_mode2"): [ALWAYS, Difference(SEGMENT, CLASS_OF_OUTPUTS), set_up(2, 3)],
    (ONE, "autostart_1_mode4"): [ALWAYS],
    (ONE, "autostart_1_mode8"): [ALWAYS, BETWEEN],
    (ONE, "autostart_1_mode15"): [TWO_PARTS, set_up(2, 3), BETWEEN],
    (ONE, "autostart_1_naive"): [Difference("NaiveEngine records a segment twice", {
        "[_plus_scalar,sqrt]": -2, "_plus_scalar": 1, "sqrt": 1}), set_up(2), BETWEEN],
    (TWO, "seed000_hybrid_v2"): HYBRID,
    (TWO, "seed001_capi"): [*PERCEPTRON, Difference(CACHED, {"CopyCPU2CPU": -50, "_zeros": -6, "SetValueOp": -6}, {
        "MXAutogradMarkVariables": -6, "MXAutogradBackward": -6, "MXAutogradSetIsRecording": -16,
        "MXAutogradSetIsTraining": -14, "MXInvokeCachedOp": -8, "MXNDArrayCreate": -8, "MXImperativeInvoke": -56,
        "MXExecutorBind": 1, "MXExecutorForward": 8, "MXExecutorBackward": 6, "MXExecutorOutputs": 8})],
    (TWO, "seed002_custom_nd"): [SEED, custom(), PACKED_CALL],
    (TWO, "seed002_custom_grad"): [SEED, custom("_backward_MyAddOne::_npx_reshape"), PACKED_CALL],
    (TWO, "seed002_custom_sym"): [SEED, custom(), cached_op(-1000000)],
    (TWO, "seed002_custom_sym_noimp"): [cached_op(-1000000, {}), Difference(
        "a custom operator of 2.0 works on NumPy's arrays", bytes=-1000000)],
    (TWO, "seed002_custom_np"): [OF_NUMPY],
    (TWO, "seed002_custom_npx"): [NUMPY_CUSTOM],
    (TWO, "seed002_custom_nd_naive"): [SEED, custom(), PACKED_CALL],
    (TWO, "seed002_custom_sym_naive"): [SEED, custom(), cached_op(-1000000)],
    (TWO, "autostart_1"): [NO_SYMBOLIC, Difference(SEGMENT, CLASS_OF_OUTPUTS), ALL_CLASSES, IMPORTED_TWO, cached_op(-16, {}),
                           BETWEEN, Difference(PACKED, calls={"MXImperativeInvoke": -1}),
                           Difference(CACHED, calls={"MXExecutorFree": 1})],
    (TWO, "autostart_1_mode0"): [],
    (TWO, "autostart_1_mode1"): [NO_SYMBOLIC],
    (TWO, "autostart_1_mode2"): [Difference(CACHED, {"CopyCPU2CPU": -1}), FLUSH, MEMBERS_OF_2],
    (TWO, "autostart_1_mode4"): [],
    (TWO, "autostart_1_mode8"): [cached_op(-16, {}), BETWEEN],
    (TWO, "autostart_1_mode15"): [Difference(CACHED, {"CopyCPU2CPU": -1}, bytes=-16), FLUSH, NO_SYMBOLIC, MEMBERS_OF_2,
                                  BETWEEN],
    (TWO, "autostart_1_naive"): [Difference(CACHED, {"CopyCPU2CPU": -1}, bytes=-16), FLUSH, BETWEEN],
}
