# SPDX-License-Identifier: Apache-2.0
"""Names that MXNet has and this package does not. Whoever writes one is told so, and what there is instead:
`mx.image.ImageIter`, `from mxnet.image import ImageIter`, `import mxnet.image`, `from mxnet import image`."""
import dis
import importlib.abc
import sys
from types import FrameType
from typing import Any, Callable, Dict, List, Optional

from .base import MXNetError

_IMPORT_FROM = dis.opmap["IMPORT_FROM"]

# Of each module. docs/migration.md lists the same.
NAMES: Dict[str, str] = {
    "mxnet": """
        amp contrib dlpack image img library log
        onnx recordio rtc serde th tvmop""",
    "mxnet.gluon": "contrib model_zoo probability",
    "mxnet.gluon.nn": """
        BatchNormReLU Concatenate Conv1DTranspose Conv2DTranspose Conv3DTranspose DeformableConvolution
        HybridConcatenate ModulatedDeformableConvolution PixelShuffle1D
        PixelShuffle2D PixelShuffle3D ReflectionPad2D SyncBatchNorm""",
    "mxnet.gluon.loss": """
        CosineEmbeddingLoss HingeLoss KLDivLoss LogisticLoss PoissonNLLLoss SDMLLoss
        SquaredHingeLoss TripletLoss""",
    "mxnet.gluon.metric": """
        BinaryAccuracy Caffe F1 Fbeta MCC MeanCosineSimilarity MeanPairwiseDistance
        NegativeLogLikelihood PCC PearsonCorrelation Torch""",
    "mxnet.gluon.data": "IntervalSampler RecordFileDataset",
    "mxnet.gluon.data.vision": """
        CIFAR10 CIFAR100 FashionMNIST ImageFolderDataset ImageListDataset ImageRecordDataset""",
    "mxnet.gluon.data.vision.transforms": """
        CenterCrop CropResize RandomApply RandomBrightness RandomColorJitter RandomContrast RandomCrop
        RandomFlipLeftRight RandomFlipTopBottom RandomGray RandomHue RandomLighting RandomResizedCrop
        RandomSaturation Resize Rotate""",
    "mxnet.gluon.utils": "check_sha1 download replace_file shape_is_known",
    "mxnet.optimizer": """
        AdaBelief AdaDelta AdaGrad AdamW Adamax DCASGD GroupAdaGrad LANS LBSGD Nadam
        SGLD""",
    "mxnet.io": """
        ImageDetRecordIter ImageRecordInt8Iter ImageRecordIter ImageRecordIter_v1 ImageRecordUInt8Iter
        ImageRecordUInt8Iter_v1 LibSVMIter""",
    "mxnet.initializer": "Bilinear Load",
    "mxnet.model": "FeedForward",
    "mxnet.module": "PythonLossModule PythonModule SequentialModule",
    "mxnet.test_utils": """
        assert_exception check_consistency check_numeric_gradient check_symbolic_backward
        check_symbolic_forward download environment get_mnist get_mnist_iterator numeric_grad
        rand_shape_2d rand_shape_3d random_arrays same_array set_default_context
        set_default_device use_np""",
}

# What one writes meanwhile, where that is not just another name of the same module.
_INSTEAD = {
    "mxnet.amp": "net.cast('float16') computes in half precision",
    "mxnet.dlpack": "from_dlpack and to_dlpack_for_read are functions of mx.nd and mx.npx",
    "mxnet.image": "gluon.data.vision.transforms has ToTensor, Normalize and Cast",
    "mxnet.model.FeedForward": "mx.mod.Module has fit, score, predict and save_checkpoint",
    "mxnet.log": "Python's logging does the same",
    "mxnet.io.ImageRecordIter": "gluon.data.DataLoader takes any data set with __getitem__ and __len__",
    "mxnet.recordio": "a data set is any object with __getitem__ and __len__",
    "mxnet.gluon.model_zoo": "gluon.nn has the layers of ResNet, VGG and AlexNet",
    "mxnet.gluon.utils.download": "put the files in place by hand; urllib.request.urlretrieve downloads",
    "mxnet.test_utils.get_mnist": "gluon.data.vision.MNIST reads local files",
}
_INSTEAD["mxnet.img"] = _INSTEAD["mxnet.image"]


class AbsentError(MXNetError, AttributeError):
    """A part of MXNet that is not there. `hasattr` is False for it."""


def _known(module: str, name: str) -> bool:
    return name in NAMES.get(module, "").split()


def _sentence(module: str, name: str) -> str:
    full = f"{module}.{name}"
    instead = _INSTEAD.get(full)
    if instead is None:
        there = [item for item in dir(sys.modules[module]) if not item.startswith("_")]
        instead = f"{module.replace('mxnet', 'mx')} has: {', '.join(there)}"
    return f"{full.replace('mxnet', 'mx')} is not there yet; {instead}"


def _is_import(frame: Optional[FrameType]) -> bool:
    """Whether the frame is at `from module import name`: what is raised must be an ImportError then, of
    another it makes a text of its own."""
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM


def refusing(module: str) -> Callable[[str], Any]:
    """`__getattr__` of a module that lacks names."""
    def get_attribute(name: str) -> Any:
        if _known(module, name):
            kind = ImportError if _is_import(sys._getframe(1)) else AbsentError
            raise kind(_sentence(module, name))
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return get_attribute


class _Finder(importlib.abc.MetaPathFinder):
    """Asked for a module that nobody else has found."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """None, or ModuleNotFoundError with the sentence if a part of the name is one of MXNet's. It
        has no `name`: `from mxnet import io` would drop one that has."""
        parts: List[str] = fullname.split(".")
        if parts[0] == "mxnet":
            for i in range(1, len(parts)):
                if _known(".".join(parts[:i]), parts[i]):
                    raise ModuleNotFoundError(_sentence(".".join(parts[:i]), parts[i]))


sys.meta_path.append(_Finder())
