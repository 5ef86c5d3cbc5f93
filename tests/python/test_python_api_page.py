# SPDX-License-Identifier: Apache-2.0
"""docs/python-api.md names what there is."""
import re

import mxnet as mx
from python_program import SOURCE

PAGE = (SOURCE / "docs/python-api.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(?:[\w.]*\.)?(\w+)(?:\([^`]*\))?`", PAGE))


def classes_and_functions(module):
    return {name for name, value in vars(module).items()
            if getattr(value, "__module__", "").startswith("mxnet") and not name.startswith("_")
            and getattr(value, "__module__", "") == module.__name__}


def test_every_public_name_is_on_the_page():
    gluon = mx.gluon
    public = set(gluon.nn.__all__) | set(gluon.__all__) | set(gluon.data.__all__)
    public |= set(gluon.data.vision.__all__) | classes_and_functions(gluon.data.vision.transforms)
    for module in (gluon.loss, gluon.metric, gluon.utils, mx.lr_scheduler, mx.init):
        public |= classes_and_functions(module)
    bases_and_helpers = {"EvalMetric", "Initializer", "LRScheduler", "Sampler", "fill", "loss", "metric",
                         "nn", "utils", "data", "vision"}
    assert sorted(public - NAMED - bases_and_helpers) == []
    assert len(public) > 90


def test_every_example_is_on_the_page():
    found = {path.name for path in (SOURCE / "examples/python").glob("*.py")}
    assert found == set(re.findall(r"^\| `(\w+\.py)`", PAGE, re.MULTILINE))
