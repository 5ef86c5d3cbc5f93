# SPDX-License-Identifier: Apache-2.0
"""What type checkers must take without a word: it is checked, not run."""
from typing import Any, Dict

import mxnet as mx
from mxnet import autograd, gluon, nd, np, npx, profiler
from mxnet.gluon import nn

a = nd.ones((2, 3))
b = np.zeros((2, 3))
c: nd.NDArray = nd.array([1, 2])
total: float = float((a + 1).sum().asscalar())
net = nn.HybridSequential()
net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
net.initialize(mx.init.Xavier(), ctx=mx.cpu())
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
data = gluon.data.DataLoader(gluon.data.ArrayDataset([1, 2, 3]), batch_size=2, num_workers=0)
with profiler.profile("x.json", skip=1, active=2) as p:
    for batch in data:
        with autograd.record():
            loss = net(a).sum()
        loss.backward()
        trainer.step(2)
        p.step()
table: str = p.table()
rows: Dict[str, Any] = p.table("dict")
text: str = profiler.dumps(reset=True)
members: Dict[str, Any] = profiler.dumps(format="dict")
device: mx.Context = a.ctx
profiler.set_config(filename="a.json", aggregate_stats=True)
nd.Convolution(a, kernel=(3, 3), num_filter=2)
np.median(b)
features: nd.NDArray = nd.Convolution(a, kernel=3, stride=(1, 1), num_filter=2, layout="NCHW")
mean: np.ndarray = np.mean(np.exp(b), axis=(0, 1), keepdims=True)
mean = npx.softmax(mean, axis=-1)
mean = np.add(mean, 1)
nd.concat(a, a, dim=1).asnumpy()
np.linalg.pinv(b)
np.random.gamma(2.0, size=(3,))
best: Any = nd.topk(a, k=2, ret_typ="both")

# And what they must find.
number: int = p.table()  # type: ignore[assignment]
other: str = profiler.dumps(format="dict")  # type: ignore[assignment]
nd.array([1], nothing=3)  # type: ignore[call-arg]
nd.Convolution(a, kernel=(3, 3), num_filters=2)  # type: ignore[call-arg]
nd.Convolution(a, kernel="3", num_filter=2)  # type: ignore[arg-type]
nd.Activation(a, act_type="rellu")  # type: ignore[arg-type]
nd.Convoluton(a)  # type: ignore[attr-defined]
np.maen(b)  # type: ignore[attr-defined]
np.sum(b, axes=0)  # type: ignore[call-arg]
npx.sofmax(b)  # type: ignore[attr-defined]
np.linalg.pinvs(b)  # type: ignore[attr-defined]
