# SPDX-License-Identifier: Apache-2.0
"""MXNet's Python interface on libmxnet: arrays, operators, gradients, and the profiler."""
from . import _threads, base, context, device, libinfo, runtime, util
from . import _names
from ._absent import refusing
from .base import MXNetError
from .attribute import AttrScope
from .context import (Context, Device, cpu, cpu_pinned, current_context, current_device, gpu,
                      gpu_memory_info, num_gpus)
from . import ndarray
from . import ndarray as nd
from . import numpy
from . import numpy as np
from . import numpy_extension
from . import numpy_extension as npx
from . import attribute, autograd, cuda, engine, executor, name, operator, profiler, random, symbol, test_utils
from . import symbol as sym
from . import initializer, lr_scheduler, optimizer
from . import initializer as init
from . import kvstore
from . import kvstore as kv
from . import kvstore_server
from . import io
from . import gluon
from . import rnn
from . import callback, metric, model, module, monitor, visualization
from . import visualization as viz
from . import module as mod
from . import monitor as mon
from .monitor import Monitor
from .ndarray import waitall
from .util import (is_np_array, is_np_shape, np_array, np_shape, set_np_shape, use_np, use_np_array,
                   use_np_shape)

__version__ = libinfo.__version__

__all__ = [
    "AttrScope", "Context", "Device", "MXNetError", "Monitor", "attribute", "autograd", "base", "callback", "context", "cpu", "cpu_pinned", "cuda",
    "current_context", "current_device", "device", "engine", "executor", "gluon", "gpu", "gpu_memory_info",
    "init", "initializer", "io", "is_np_array", "is_np_shape", "kv", "kvstore", "kvstore_server", "libinfo", "lr_scheduler", "metric", "mod", "model", "module", "mon", "monitor",
    "name", "nd", "ndarray", "np", "np_array", "np_shape", "npx", "num_gpus", "numpy", "numpy_extension",
    "operator", "optimizer", "profiler", "random", "rnn", "runtime", "set_np_shape", "sym", "symbol",
    "test_utils", "use_np", "use_np_array", "use_np_shape", "util", "visualization", "viz", "waitall"]

__getattr__ = refusing(__name__)
_names.tidy(__name__)

kvstore_server.run_role()
