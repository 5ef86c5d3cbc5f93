# SPDX-License-Identifier: Apache-2.0
"""Symbols, case by case against what 1.9.1 did. A table holds the cases in which the original is wrong, or whose
difference docs/migration.md tells, with what is right instead."""
import copy
import re

from golden_cases import count, differences, golden, same
from python_program import SOURCE


def error(pattern, kind="MXNetError"):
    return kind, pattern


def golden_but(line, case, *changes):
    """The value of the case with other parts: pairs of a path and what stands there."""
    wanted = copy.deepcopy(golden("symbols", line)[case]["value"])
    for path, value in changes:
        part = wanted
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
    return lambda seen: same(wanted, seen)


# ---- the module --------------------------------------------------------------------------------
def parameters(signature):
    """Names of a signature's text, in order; of *args and **kwargs the stars."""
    found, depth, part = [], 0, ""
    for letter in signature.partition(") ->")[0].strip("()") + ",":
        depth += letter in "([{<"
        depth -= letter in ")]}>"
        if letter == "," and depth == 0:
            name = re.match(r"\s*(\*\*?|\w+)", part)
            found += [name.group(1)] if name else []
            part = ""
        else:
            part += letter
    return found


# What follows from other libraries and from the class of NumPy's symbols.
NO_METHODS = {"optimize_for", "get_backend_symbol", "as_np_ndarray", "as_nd_ndarray", "get_inputs",
              "has_dynamic_shape_op", "split_v2"}


# Of both lines those of 1.9.1, which has more of them.
OF_1X = {"Symbol._bind": {"ctx", "args", "args_grad", "grad_req", "aux_states", "shared_exec"},
         "Symbol._simple_bind": {"ctx", "grad_req", "type_dict", "stype_dict", "shared_exec"},
         "var": {"name", "attr", "shape", "lr_mult", "wd_mult", "dtype", "init", "stype"}}


def same_parameters(line):
    wanted = golden("symbols", line)["signatures"]["value"]

    def check(seen):
        for name, signature in wanted.items():
            if seen[name] is None:
                if signature is not None and name.removeprefix("Symbol.") not in NO_METHODS:
                    return False
            elif signature is not None:
                ours, theirs = parameters(seen[name]), parameters(signature)
                lists = theirs[:1] == ["*"]  # their parameters are named in ours
                if line == "2" and name in OF_1X:
                    ours, theirs = OF_1X[name] & set(ours), OF_1X[name]
                if not (set(theirs) <= set(ours) if lists else ours == theirs):
                    return False
        return seen.keys() == wanted.keys()
    return check


def lacks(line, case, is_absent):
    """All names of the original, except those that are absent."""
    wanted = set(golden("symbols", line)[case]["value"])
    return lambda seen: all(map(is_absent, wanted - set(seen)))


# The modules of which MXNet's is made; _internal is there, and not offered.
PARTS = {"_internal", "gen__internal", "gen_contrib", "gen_image", "gen_linalg", "gen_op", "gen_sparse", "numpy",
         "numpy_extension", "op", "register", "symbol"}
# Operators that are not there.
ABSENT = set("""
BatchNorm_v1 BilinearSampler Convolution_v1 Correlation Crop GridGenerator GroupNorm
IdentityAttachKLSparseReg InstanceNorm L2Normalization LRN Pooling_v1 ROIPooling SVMOutput SequenceLast
SequenceReverse SoftmaxActivation SpatialTransformer UpSampling all_finite amp_cast amp_multicast batch_take
cast_storage col2im depth_to_space fill_element_0index ftml_update ftrl_update hard_sigmoid histogram
im2col khatri_rao lamb_update_phase1 lamb_update_phase2 linalg_det linalg_extractdiag linalg_extracttrian
linalg_gelqf linalg_gemm linalg_gemm2 linalg_inverse linalg_makediag linalg_maketrian linalg_potrf linalg_potri
linalg_slogdet linalg_sumlogdiag linalg_syrk linalg_trmm linalg_trsm masked_log_softmax masked_softmax moments
mp_lamb_update_phase1 mp_lamb_update_phase2 multi_all_finite nanprod quantized_reshape quantized_transpose
random_binomial random_exponential random_gamma random_generalized_negative_binomial random_negative_binomial
random_pdf_dirichlet random_pdf_exponential random_pdf_gamma random_pdf_generalized_negative_binomial
random_pdf_negative_binomial random_pdf_normal random_pdf_poisson random_pdf_uniform random_poisson
ravel_multi_index reset_arrays sample_binomial sample_categorical sample_exponential sample_gamma
sample_generalized_negative_binomial sample_multinomial sample_negative_binomial sample_normal sample_poisson
sample_uniform signum_update softmin space_to_depth split_v2 unravel_index
""".split())


def is_no_name(name):
    return name in PARTS or name in ABSENT - operators()


def is_no_method(name):
    return name.startswith("_") or name in NO_METHODS or name in ABSENT - operators()


def operators():
    """Names of those that there are, by all their names."""
    rows = (SOURCE / "tests/unit/runtime/op/operators.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {name for row in rows for column in row.split("\t")[:2] for name in re.findall(r"\w+", column)}


def is_documented(lines):
    return {"Parameters", "num_hidden : int, required", "no_bias : boolean, optional, default=0", "Returns", "Symbol",
            "name : str, optional"} <= set(lines)


# ---- the cases ---------------------------------------------------------------------------------
REFUSED = {
    # By 1.9.1 too, in other words: without its sources, and what is written over two lines of them.
    "compose by call with position": error("General composition only support kwargs for now: 2 inputs"),
    "compose too many positions": error("General composition only support kwargs for now: 2 inputs"),
    "compose mixes positions and keywords": error(
        "compose only accept input Symbols either as positional or keyword arguments, not both", "TypeError"),
    "variadic operator without inputs": error(
        "value 0 for Parameter num_args should be greater equal to 1, in operator Concat"),
    "in-place arithmetic": error(
        r'Function __iadd__ \(namely operator "\+="\) is not implemented for Symbol', "NotImplementedForSymbol"),
    "missing required parameter": error("Required parameter num_hidden of int is not presented, in operator Fully"),
    "unknown parameter": error(
        "Cannot find argument 'nobody', Possible Arguments:\n-+\nnum_hidden : int, required\n"
        "no_bias : boolean, optional, default=0\nflatten : boolean, optional, default=1\n, in operator FullyConnected"),
    "ill-typed parameter": error("Invalid Parameter format for num_hidden expect int but value='many', in operator Full"),
    "parameter out of range": error(
        "value 0 for Parameter num_hidden should be greater equal to 1, in operator FullyConnected"),
    "enumeration unknown": error("Invalid Input: 'wave', valid values are: {.*'relu', 'sigmoid', 'softrelu', "
                                 "'softsign', 'tanh'}, for act_type in operator Activation"),
    "symbol given to an array function": error("FullyConnected: item 0 must be an array, not Symbol", "TypeError"),
    "too many inputs": error("exp takes 1 arguments, but 2 are given", "TypeError"),
    "group as an input": error("Keyword Argument data is a tuple, single value is required: it has 2 outputs"),
    "variadic with a symbol of several outputs": error(
        "Argument 0 is a tuple, single value is required: it has 3 outputs"),
    "hidden outputs as an input": error("Keyword Argument data is a tuple, single value is required: it has 3 outputs"),
    "_set_attr on a custom operator": error("Error in operator double: Custom operator graph_double: its creator"),
    "AttrScope with such an attribute": error(
        "Cannot find argument 'mood', Possible Arguments:\n-+\nnum_hidden : int, required(.|\n)*in operator Fully"),
    "shape with a fraction": error("a size of argument x is no whole number: 1.5", "TypeError"),
    "shape positions and keywords": error(
        "Can only specify known argument shapes either by positional or kwargs way.", "ValueError"),
    "type unknown name": error("arrays of float31 are not supported; the types are: float32, float64", "TypeError"),
    "two variables of one name: bind": error("args: two variables are called 'x'"),
    "load of a missing file": error('^Open "nobody.json": No such file or directory'),
    "save into a missing folder": error('^Open "nobody/mlp.json": No such file or directory'),
    # Free attributes are for names with underscores, of all operators.
    "_set_attr": error("Error in operator e: Cannot find argument 'mood'"),
    "an attribute that is no parameter, on an operator": error("Cannot find argument 'mood'.*\n-+\n, in operator exp"),
    "json of a name with special characters": error("Cannot find argument 'k'"),
    # A variable has no inputs; an operator is never its own.
    "compose a variable": error("General composition only support kwargs for now: 1 inputs"),
    "cycle by composing a symbol with itself": error("'e' would be an input of itself"),
    "cycle by composing with what depends on it": error("'e' would be an input of itself"),
}
INPUT = "Error in operator {}: Operator {}: input {} "
SHAPES = {
    # Which of its inputs an operator refuses, with what it has and what it must have.
    "shape conflict elementwise": (INPUT.format("add", "elemwise_add", 1), r"'rhs' has shape \(3,2\), it must be \(2,3\)"),
    "shape conflict rank": (INPUT.format("add", "elemwise_add", 1), r"'rhs' has shape \(2,3,1\), it must be \(2,3\)"),
    "shape conflict broadcast": (INPUT.format("add", "broadcast_add", 1),
                                 r"'rhs' of shape \(4,3\): cannot be broadcast with shape \(2,3\)"),
    "shape conflict weight": (INPUT.format("f", "FullyConnected", 1),
                              r"'weight' has shape \(3,4\), it must be \(3,5\)"),
    "shape conflict deep in a net": (INPUT.format("fc2", "FullyConnected", 1),
                                     r"'weight' has shape \(6,9\), it must be \(6,8\)"),
    "shape conflict convolution rank": (INPUT.format("c", "Convolution", 0),
                                        r"'data' of shape \(2,5\): must have 4 dimensions"),
    "shape convolution kernel larger than input": (
        INPUT.format("c", "Convolution", 0), r"'data' of shape \(1,1,3,3\): the kernel exceeds its size 3 with pad 0"),
    "shape concat conflict": (INPUT.format("cat", "Concat", 1),
                              r"'data1' of shape \(2,4\): cannot be joined along axis 0 with shape \(2,3\)"),
    "shape slice channel not divisible": (INPUT.format("cut", "SliceChannel", 0),
                                          r"'data' of shape \(2,7\): axis 1 cannot be split into 3 equal parts"),
    "shape dot conflict": (INPUT.format("d", "dot", 0),
                           r"'lhs' of shape \(2,3\): dimension 1 does not match dimension 0 of \(4,5\)"),
    "shape reshape conflict": (INPUT.format("r", "Reshape", 0),
                               r"'data' of shape \(2,3\): cannot become shape \(5,5\)"),
    "type conflict": (INPUT.format("add", "elemwise_add", 1), "'rhs' has type float64, it must be float32"),
}
JSON = {
    "unknown operator": "^Failed loading Op e of type nobody: Operator nobody is not registered",
    "no nodes": 'Missing field "nodes" in the symbol', "no heads": 'Missing field "heads" in the symbol',
    "no arg_nodes": 'Missing field "arg_nodes" in the symbol',
    "empty nodes": "it has no heads, and needs at least one", "heads empty": "it has no heads, and needs at least one",
    "head output too large": "heads: output 5 of 'e' is asked for, there are 1",
    "head of one number": r"heads: an output is written as \[node, output\] or \[node, output, version\]",
    "input of itself (cycle)": "e: node 1 comes after it: an input comes before its user",
    "input of a later node (cycle)": "a: node 2 comes after it: an input comes before its user",
    "input of a later node": "e: node 0 comes after it: an input comes before its user",
    "input output too large": "e: output 3 of 'x' is asked for, there are 1",
    "no inputs for exp": "e: operator exp takes 1 inputs, 0 are given",
    "two inputs for exp": "e: operator exp takes 1 inputs, 2 are given",
    "node without op": 'Missing field "op" in node 1', "node without name": 'Missing field "name" in node 1',
    "node without inputs": 'Missing field "inputs" in node 1',
    "attrs not strings": "e: attribute a is no string",
    "attrs unknown parameter": "^Error in operator e: Cannot find argument 'nobody'",
    "bad parameter": "^Error in operator e: Invalid Input: 'wave', valid values are: {.*'relu'",
    "missing parameter": "^Error in operator e: Required parameter act_type of .* is not presented",
    "version as a string": "mxnet_version is not a number",
    "a variable with inputs": "x: a variable has no inputs",
    "control_deps too large": "e: control_deps has 9, which is no node before it",
}
TEXTS = {  # the byte, and what is wrong there
    "empty text": r"0: '\[' or '{' expected", "blank": r"2: '\[' or '{' expected", "a number": r"1: '\[' or '{' expected",
    "null": r"4: '\[' or '{' expected", "cut in the middle": "60: unexpected token near end",
    "cut at the end": "215: '}' expected near end", "text after the end": "219: end of file expected near 'xyz'",
    "deep nesting of lists": "2049: maximum parsing depth", "deep nesting in a node": "2058: maximum parsing depth",
    "binary": r"1: '\[' or '{' expected near '\x01'", "wrong quote": "2: string or '}' expected near '''",
    "number too large": "113: too big integer near '99999999999999999999'", "nan": "143: invalid token near 'NaN'",
    "tab in a name": "36: control character 0x9", "member twice": "224: duplicate object key near '\"heads\"'",
}
NETS = ("mlp", "lenet_bn", "control", "slices", "shared", "rnn", "reshape_chain", "custom")
NOT_OF_WHOLE = "Error in operator {}: Operator {} does not take type int32"


def inferred(line):
    """Shapes and types: more is known of them than in the original."""
    known = {name: golden("symbols", line)[f"net {name}: shapes"]["value"]["full"] for name in NETS}
    table = {f"net {name}: shapes by position": lambda value, wanted=wanted: value == wanted
             for name, wanted in known.items()}
    biases = {"mlp": {2: [8], 4: [6], 6: [3]}, "lenet_bn": {2: [4], 6: [6], 10: [10]}, "shared": {2: [4]}}
    for name, found in biases.items():
        case = f"net {name}: shapes"
        table[case] = golden_but(line, case, *[(("partial_unknown", 0, at), shape) for at, shape in found.items()])
    for name, operator in (("mlp", "relu1"), ("control", "act")):
        case = f"net {name}: types"
        table[case] = golden_but(line, case, (("int32",), ["MXNetError", NOT_OF_WHOLE.format(operator, "Activation")]))
    table["shape partial from known weight"] = golden_but(line, "shape partial from known weight", ((0, 2), [3]))
    table["shape too many positions"] = error("2 shapes are given, but there are 1 arguments", "ValueError")
    table["two variables of one name: lists"] = lambda value: value == [
        ["x", "x"], [[[2, 3], [2, 3]], [[2, 3]], []]]
    return {**table, "net lenet_bn: types": half_batch_norm(line), "net rnn: types": recurrent_types}


def half_batch_norm(line):
    """Scales and moving states of a half network are halves too."""
    halves = [["float16"] * 12, ["float16"], ["float16"] * 4]
    return golden_but(line, "net lenet_bn: types", (("float16",), halves),
                      (("int32",), ["MXNetError", NOT_OF_WHOLE.format("conv1", "Convolution")]))


def recurrent_types(value):
    """They follow from the data's, and are unknown without."""
    return all(value[name] == [[name] * 4, [name] * 3, []] for name in ("float32", "float64", "float16")) and (
        value["int32"] == ["MXNetError", NOT_OF_WHOLE.format("lstm", "RNN")]) and [
        value["unknown"], value["partial_unknown"]] == [[None] * 3, [[None] * 4, [None] * 3, []]]


def functions(line):
    """linspace is NumPy's operator; a symbol has T."""
    ends = {"dtype": "float32", "endpoint": "True", "num": "5", "value_type": "2", "start_double": "0",
            "stop_double": "1", "start_int": "0", "stop_int": "0", "start_uint": "0", "stop_uint": "0"}
    return golden_but(line, "functions of the module",
                      (("sym.linspace(0, 1, 5)",), ["_npi_linspace", "_npi_linspace0", [], ends]),
                      (('sym.var("x").T if hasattr(sym.Symbol, "T") else None',), ["transpose", "transpose0", ["x"], {}]))


def mended(line):
    read = [{"symbol": "<Symbol e>", "name": "e", "arguments": ["x"], "outputs": ["e_output"], "auxiliary_states": []},
            [{"op": "null", "name": "x", "inputs": []}, {"op": "exp", "name": "e", "inputs": [[0, 0, 0]]}]]
    return {
        **REFUSED, **inferred(line),
        **{case: error(where + what) for case, (where, what) in SHAPES.items()},
        **{f"json: {case}": error(text if text[0] == "^" else "^JSON of a symbol: " + text)
           for case, text in JSON.items()},
        **{f"json text: {case}": error("^JSON of a symbol, byte " + text) for case, text in TEXTS.items()},
        "json text: a list": error("^JSON of a symbol: it is no object"),
        "json text: empty object": error('Missing field "nodes" in the symbol'),
        "json text: escaped unicode name": lambda value: value[0]["arguments"] == ["\u00e4"]
        and '"name": "\u00e4"' in value[1],
        # Dropped: order follows from the inputs, and no operator that is there has subgraphs.
        "json: control_deps": lambda value: value == read,
        "json: subgraphs on an operator without": lambda value: value == read,
        "output index negative": lambda value: value == {**value, "name": "cut", "outputs": ["cut_output2"]},
        "functions of the module": functions(line),
        "remove_amp_cast": lambda texts: [parameters(text) for text in texts] == [
            ["self", "fname", "remove_amp_cast"], ["self", "remove_amp_cast"]],
        "signatures": same_parameters(line),
        "names of the module": lacks(line, "names of the module", is_no_name),
        "members of a symbol": lacks(line, "members of a symbol", is_no_method),
        "docstring of a generated function": is_documented,
    }


def mended_2():
    """What is other than in 2.0 alone, where the same is not wrong in 1.9.1."""
    first = golden("symbols", "2")["save and load"]["value"][:2]
    return {
        # 2.0 fails over its own list of names, and over an array that is not there.
        "compose unknown keyword": error("ComposeKeyword argument name nobody not found"),
        "eval with an argument missing": error("key `b` is missing in `args`", "ValueError"),
        "json text: escaped unicode name": lambda value: value[0]["arguments"] == ["\u00e4"],
        # Without a scope nothing says so: the lists of such nodes are empty, and files shorter.
        **{f"net {name}: lists": golden_but("2", f"net {name}: lists", (("list_attr",), {}))
           for name in ("mlp", "lenet_bn", "shared")},
        "save and load": lambda value: value[:2] == first,
        "numpy symbol": error("has no attribute 'as_np_ndarray'", "AttributeError"),
    }


def test_symbols(tmp_path):
    assert count("symbols", "1") == 243
    assert not differences("symbols", "1", mended("1"), tmp_path)


def test_symbols_of_2x(tmp_path):
    wanted = golden("symbols", "2")
    assert len(wanted) == 244
    both = {case: right for case, right in mended("2").items() if case in wanted}
    assert not differences("symbols", "2", {**both, **mended_2()}, tmp_path)
