# SPDX-License-Identifier: Apache-2.0
"""LeNet in NumPy, float64: forward, backward and descent with momentum, to compare with."""
import numpy as np


def _windows(x, size):
    """(N, H', W', C * size * size) of (N, C, H, W)."""
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(len(x), view.shape[2], view.shape[3], -1)


class _Conv:
    def __init__(self, key):
        self.key = key

    def forward(self, x, p):
        self.x, self.rows = x, _windows(x, 5)
        weight = p[self.key + ".weight"]
        y = self.rows @ weight.reshape(len(weight), -1).T + p[self.key + ".bias"]
        return y.transpose(0, 3, 1, 2)

    def backward(self, g, p, out):
        weight, g = p[self.key + ".weight"], g.transpose(0, 2, 3, 1)
        flat = g.reshape(-1, g.shape[3])
        out[self.key + ".weight"] = (flat.T @ self.rows.reshape(len(flat), -1)).reshape(weight.shape)
        out[self.key + ".bias"] = flat.sum(0)
        rows = (g @ weight.reshape(len(weight), -1)).reshape(g.shape[:3] + weight.shape[1:])
        x = np.zeros_like(self.x)
        for i in range(5):
            for j in range(5):
                x[:, :, i:i + g.shape[1], j:j + g.shape[2]] += rows[..., i, j].transpose(0, 3, 1, 2)
        return x


class _Pool:
    def forward(self, x, p):
        n, c, h, w = x.shape
        parts = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
        self.parts = parts.reshape(n, c, h // 2, w // 2, 4)
        return self.parts.max(-1)

    def backward(self, g, p, out):
        """To the first of equal values, as a loop that keeps what is larger finds it."""
        spread = np.zeros_like(self.parts)
        np.put_along_axis(spread, self.parts.argmax(-1)[..., None], g[..., None], -1)
        n, c, h, w, _ = spread.shape
        return spread.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)


class _Relu:
    def forward(self, x, p):
        self.open = x > 0
        return x * self.open

    def backward(self, g, p, out):
        return g * self.open


class _Dense:
    def __init__(self, key):
        self.key = key

    def forward(self, x, p):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        return self.x @ p[self.key + ".weight"].T + p[self.key + ".bias"]

    def backward(self, g, p, out):
        out[self.key + ".weight"], out[self.key + ".bias"] = g.T @ self.x, g.sum(0)
        return (g @ p[self.key + ".weight"]).reshape(self.shape)


class NumpyLeNet:
    """`parameters`: arrays by place, 0.weight to 6.bias."""

    def __init__(self, parameters):
        self.parameters = {key: value.astype("float64") for key, value in parameters.items()}
        self.momenta = {key: np.zeros_like(value) for key, value in self.parameters.items()}
        self.layers = [_Conv("0"), _Relu(), _Pool(), _Conv("2"), _Relu(), _Pool(), _Dense("5"), _Relu(),
                       _Dense("6")]

    def step(self, images, labels, rate, momentum):
        """One update; the mean loss before it."""
        x = images.astype("float64")
        for layer in self.layers:
            x = layer.forward(x, self.parameters)
        logs = x - x.max(1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(1, keepdims=True))
        g, gradients = np.exp(logs), {}
        g[np.arange(len(labels)), labels] -= 1
        g /= len(labels)
        for layer in reversed(self.layers):
            g = layer.backward(g, self.parameters, gradients)
        for key, gradient in gradients.items():
            self.momenta[key] = momentum * self.momenta[key] - rate * gradient
            self.parameters[key] += self.momenta[key]
        return -logs[np.arange(len(labels)), labels].mean()
