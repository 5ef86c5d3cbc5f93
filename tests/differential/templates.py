# SPDX-License-Identifier: Apache-2.0
"""Programs of functions.txt: a template with places that are drawn.

    {f}            the function's name
    {a}            an array; {a:CLASS} of a class of types; {a:CLASS 1-3} of so many dimensions
    {b~a}          an array that is broadcast with a; {b~a:CLASS}
    {b=a}          an array of a's shape; {b=a:CLASS}
    {b!EXPRESSION} an array of the shape that this is; {b!EXPRESSION:CLASS}
    {EXPRESSION}   whatever Python gives, as text; `d` is the Draw, the arrays have their names
    <<...>>        left out every second time
"""
import pathlib
import re

from draw import EDGES

_WORDS = {"axis": "d.axis(a.ndim)", "axes": "d.axes(a.ndim)", "n": "d.whole(-2, 4)", "number": "d.number()",
          "dtype": "d.dtype()", "flag": "d.chance(0.5)", "axis_none": "d.pick((None, d.axis(a.ndim)))"}
_ARRAY = re.compile(r"(?P<name>[a-e])(?P<like>[~=!](?P<shape>.+?))?"
                    r"(:(?P<kinds>\w+)?( ?(?P<least>\d)-(?P<most>\d))?( (?P<plain>plain))?)?")
_SLOT = re.compile(r"\{((?:[^{}]|\{[^{}]*\})+)\}")
_MAYBE = re.compile(r"<<(.*?)>>")


def read(path=pathlib.Path(__file__).with_name("functions.txt")):
    """name -> templates."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, template = line.partition(" | ")
            for name in names.split():
                found.setdefault(name, []).append(template.strip())
    return found


def _array(draw, match):
    name, kinds = match["name"], match["kinds"] or "any"
    if name in draw.inputs:
        return name
    plain = match["plain"] is not None
    if match["like"] is None:
        least, most = int(match["least"] or 0), int(match["most"] or 5)
        return draw.array(name, kinds, least, most, plain=plain)
    scope = {**draw.inputs, "d": draw}
    if match["like"][0] == "~":
        return draw.fitting(name, draw.inputs[match["shape"]].shape, kinds, plain)
    shape = draw.inputs[match["shape"]].shape if match["like"][0] == "=" else eval(match["shape"], scope)
    return draw.array(name, kinds, shape=tuple(shape), plain=plain)


def fill(draw, template, name):
    """The text of a program."""
    def slot(found):
        text = found[1]
        if text == "f":
            return name
        match = _ARRAY.fullmatch(text)
        if match:
            return _array(draw, match)
        return repr(eval(_WORDS.get(text, text), {"EDGES": EDGES, **draw.inputs, "d": draw}))

    template = _MAYBE.sub(lambda found: found[1] if draw.chance(0.5) else "", template)
    return _SLOT.sub(slot, template)
