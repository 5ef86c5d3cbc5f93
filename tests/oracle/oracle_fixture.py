# SPDX-License-Identifier: Apache-2.0
"""fixture/FAMILY.jsonl: what the original computed, a line of JSON a case. An array is [type,
shape, values...]; numbers have as many digits as their type needs."""
import json
import pathlib

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent / "fixture"


def _number(value):
    if value.dtype.kind != "f":
        return int(value)
    return float(value) if value.dtype == "float64" else float(str(value))


def _pack(array):
    return [str(array.dtype), list(array.shape)] + [_number(value) for value in array.reshape(-1)]


def _unpack(packed):
    with numpy.errstate(over="ignore"):
        return numpy.array(packed[2:], packed[0]).reshape(packed[1])


def _convert(answer, one):
    return {key: value if isinstance(value, str) else
            [one(array) for array in value] if isinstance(value, list) else
            {int(index): one(array) for index, array in value.items()}
            for key, value in answer.items()}


def save(family, answers):
    """answers: {case id: {"by": who, "inputs", "outputs", ...}}, written in this order."""
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / f"{family}.jsonl", "w", encoding="utf-8") as file:
        for name, answer in answers.items():
            line = {"id": name, **_convert(answer, _pack)}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def load():
    answers = {}
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            answer = json.loads(line)
            answers[answer.pop("id")] = _convert(answer, _unpack)
    return answers
