# SPDX-License-Identifier: Apache-2.0
"""What MXNet's two Python packages call of the library is there and takes what they give, and of what the two
libraries export nothing is absent without a word.

`expected/graphs_c_calls.tsv`: line, which program, function, calls, of the first call the arguments as ctypes has them
(`&T` is a pointer to T, `T[2]` an array, `int` a number of Python). `expected/graphs_c_exported.tsv`: function, line.
`expected/graphs_cpp_calls.tsv`: line, program of the C++ package, function, calls."""
import re

from test_signatures import EXPECTED, absent, declared, expected

ROWS = [row.split("\t") for row in (EXPECTED.parent / "graphs_c_calls.tsv").read_text(encoding="utf-8").splitlines()]
CPP_ROWS = [row.split("\t") for row in (EXPECTED.parent / "graphs_cpp_calls.tsv").read_text().splitlines()]
EXPORTED = dict(row.split("\t") for row in (EXPECTED.parent / "graphs_c_exported.tsv").read_text().splitlines())
SIZES = {"c_bool": 1, "c_int": 4, "c_uint": 4, "c_long": 8, "c_ulong": 8, "c_char": 0,
         "bool": 1, "int": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "size_t": 8, "char": 0}
PACKED = {"MXNetFuncCall", "MXNetObjectFree", "MXNetObjectGetTypeIndex", "MXNetObjectTypeKey2Index"}
VALUES = {"int", "bool", "NoneType"}  # of Python: passed as a number, or as null
# The packages themselves do not give what the headers ask for. ctypes keeps such a value
# in 16 bytes, and passes numbers in whole registers: nothing is lost.
NOT_AS_DECLARED = {("MXIsNumpyShape", "&c_bool"), ("MXNDArrayIsDeferredCompute", "&c_bool"),
                   ("MXSymbolInferShape64", "&c_uint"), ("MXSymbolInferShapePartial64", "&c_uint"),
                   ("MXExecutorSetMonitorCallbackEX", "c_int")}


def given(text):
    """The size of what an argument points to, or None where ctypes does not know, and how many pointers lead there."""
    base = re.sub(r"\[\d+\]|&|LP_|_[pP](?=\[|$)", "", text)
    itself = bool(re.search(r"_p(\[|$)", text)) or text == "function"
    return SIZES.get(base), text.count("&") + text.count("LP_") + text.count("[") + itself


def taken(text):
    """The same of a parameter. A handle is a pointer to what the caller does not know."""
    base = re.sub(r"const|[* ]", "", text)
    handle = base not in SIZES and base not in {"void", "LibFeature", "MXCallbackList"}
    return SIZES.get(base), text.count("*") + handle


def fits(argument, parameter):
    (size, depth), (wanted, levels) = given(argument), taken(parameter)
    if argument in VALUES:
        return (levels > 0) == (argument == "NoneType")
    if size is None:  # a pointer to anything may lead further
        return levels >= depth
    return depth == levels and wanted in (size, None)


def parts(text):
    return text.split(", ") if text else []


def not_taken(line):
    """The functions of our headers that do not take what a line's package gives, and what that is."""
    ours, wrong = declared(), set()
    for of, _, name, _, arguments, *_ in ROWS:
        if of != line or name not in ours:
            continue
        first, second = parts(arguments), parts(ours[name][1])
        if len(first) != len(second):
            wrong.add((name, f"{len(first)} arguments"))
        wrong.update((name, argument) for argument, parameter in zip(first, second) if not fits(argument, parameter))
    return wrong - NOT_AS_DECLARED


def called(line):
    return {row[2] for row in ROWS if row[0] == line}


def test_every_list_is_there():
    programs = {(row[0], row[1]) for row in ROWS}
    assert len(programs) == 27 and len(ROWS) == 707


def test_all_that_the_first_line_calls_is_there():
    assert len(called("1.9.1")) == 105
    assert called("1.9.1") <= set(declared())


def test_all_that_the_cpp_packages_call_is_there():
    assert len(CPP_ROWS) == 150 and len({(row[0], row[1]) for row in CPP_ROWS}) == 4
    assert {row[2] for row in CPP_ROWS} <= set(declared())


def test_what_the_second_line_calls_and_is_not_there_is_told():
    missing = called("2.0.0b1") - set(declared())
    assert missing == {"MXCheckDynamicShapeOp", "MXSetFlushDenorms", "MXSymbolGetInputs"} | PACKED
    assert missing <= absent()


def test_what_is_called_is_taken():
    assert not not_taken("1.9.1")
    assert not not_taken("2.0.0b1")


def test_a_wrong_call_is_seen():
    assert given("&LP_c_int") == (4, 2) == taken("const int**") and given("c_char_p[3]") == (0, 2)
    assert not fits("&c_bool", "int*") and not fits("c_int", "int*") and not fits("c_uint[2]", "const int64_t*")
    assert fits("c_void_p[4]", "NDArrayHandle*") and not fits("c_void_p[4]", "NDArrayHandle")
    assert fits("NoneType", "NDArrayHandle*") and fits("function", "CustomOpPropCreator")
    assert not fits("int", "const char*")


def test_what_is_declared_or_exported_is_there_or_in_the_table():
    assert len(EXPORTED) == 339
    assert absent() == (set(EXPORTED) | set(expected())) - set(declared())
