# SPDX-License-Identifier: Apache-2.0
"""Names: what completion shows, and what who asks for a part of MXNet that is not there is told."""
import importlib
import re
import sys
import warnings

import pytest

import mxnet as mx
from mxnet import _absent
from python_program import SOURCE, run_python

ABSENT = [(module, name) for module, names in _absent.NAMES.items() for name in names.split()]
MODULES = sorted(name for name in sys.modules if name.split(".")[0] == "mxnet" and "._" not in name)


@pytest.mark.parametrize("module,name", ABSENT)
def test_what_is_listed_as_absent_is_absent_and_told(module, name):
    place = importlib.import_module(module)
    assert not hasattr(place, name) and name not in dir(place)
    with pytest.raises(mx.MXNetError, match=rf"^mx\..*{name} is not there yet; \w"):
        getattr(place, name)


@pytest.mark.parametrize("line,told", [
    ("from mxnet.image import ImageIter", "mx.image is not there yet; gluon.data.vision.transforms has"),
    ("import mxnet.recordio", "mx.recordio is not there yet"),
    ("import mxnet.recordio as module", "mx.recordio is not there yet"),
    ("from mxnet import img", "mx.img is not there yet; gluon.data.vision.transforms has"),
    ("from mxnet import nd, amp", "mx.amp is not there yet"),
    ("from mxnet.gluon.model_zoo import vision", "mx.gluon.model_zoo is not there yet"),
    ("import mxnet.gluon.model_zoo.vision", "mx.gluon.model_zoo is not there yet"),
    ("from mxnet.optimizer import SGD, AdamW", "mx.optimizer.AdamW is not there yet; mx.optimizer has: Adam,"),
    ("from mxnet.gluon.loss import KLDivLoss", "mx.gluon.loss.KLDivLoss is not there yet; mx.gluon.loss has: "),
    ("from mxnet.gluon.utils import download", "mx.gluon.utils.download is not there yet; put the files"),
    ("from mxnet.gluon.data.vision.transforms import Resize", "transforms.Resize is not there yet"),
    ("from mxnet.io import ImageRecordIter", "ImageRecordIter is not there yet; gluon.data.DataLoader takes"),
    ("from mxnet.io import LibSVMIter", "mx.io.LibSVMIter is not there yet; mx.io has: CSVIter, DataBatch"),
    ("from mxnet.test_utils import get_mnist", "get_mnist is not there yet; gluon.data.vision.MNIST")])
def test_every_form_of_import_is_told(line, told):
    with pytest.raises(ImportError) as raised:
        exec(line)
    assert told in str(raised.value)


@pytest.mark.parametrize("line,kind,told", [
    ("import mxnet.nosuch", ModuleNotFoundError, "No module named 'mxnet.nosuch'"),
    ("from mxnet import nosuch", ImportError, "cannot import name 'nosuch'"),
    ("mx.nosuch", AttributeError, "module 'mxnet' has no attribute 'nosuch'"),
    ("mx.nd.Convolutoin", AttributeError, "did you mean 'Convolution'?"),
    ("mx.np.meen", AttributeError, "did you mean 'mean'?"),
    ("mx.np.fft", AttributeError, r"NumPy's own takes x.asnumpy\(\)"),
    ("import nosuch", ModuleNotFoundError, "No module named 'nosuch'")])
def test_names_that_mxnet_does_not_have_are_pythons_errors(line, kind, told):
    with pytest.raises(kind, match=told):
        exec(line)


def test_the_page_lists_what_is_absent():
    page = (SOURCE / "docs/migration.md").read_text(encoding="utf-8")
    section = page[page.index("## Not there yet"):page.index("## New")]
    told = dict(re.findall(r"^\| `(mx[\w.]*)` \| (.*) \|$", section, re.MULTILINE))
    assert {module: sorted(re.findall(r"`(\w+)`", names)) for module, names in told.items()} == {
        module.replace("mxnet", "mx"): sorted(names.split()) for module, names in _absent.NAMES.items()}


@pytest.mark.parametrize("module", MODULES)
def test_completion_shows_what_is_offered(module):
    """Nothing that the module only imports, nothing private, and all of it is there."""
    place = importlib.import_module(module)
    listed = dir(place)
    assert listed == sorted(set(listed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [name for name in listed if name.startswith("_") or not hasattr(place, name)] == []
    unwanted = {"Any", "Optional", "List", "ctypes", "onp", "lazy", "refusing", "invoke", "check_call", "sys",
                "annotations", "TRIPLES", "host_function"}
    assert not unwanted & set(listed) or module == "mxnet.base"
    known = getattr(place, "__all__", ())
    assert set(known) <= set(listed)


def test_completion_shows_numpys_functions():
    assert {"median", "heaviside", "linalg", "random", "array", "mean", "float32", "pi", "add"} <= set(dir(mx.np))
    assert {"norm", "svd", "inv", "solve"} <= set(dir(mx.np.linalg))
    assert {"uniform", "gamma"} <= set(dir(mx.np.random))
    assert {"save", "load", "Convolution", "array", "random", "NDArray"} <= set(dir(mx.nd))
    assert {"Context", "cpu", "nd", "np", "npx", "gluon", "metric", "init", "sym", "waitall"} <= set(dir(mx))
    assert "device" in dir(mx) and "cpu" in dir(mx.device)


def test_listing_names_warns_of_nothing(tmp_path):
    done = run_python("import mxnet as mx; [dir(m) for m in (mx, mx.np, mx.nd, mx.np.linalg)]", tmp_path,
                      PYTHONWARNINGS="error")
    assert (done.code, done.err) == (0, "")
