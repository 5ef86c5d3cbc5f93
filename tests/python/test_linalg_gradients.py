# SPDX-License-Identifier: Apache-2.0
"""Gradients of linear algebra against central differences of NumPy's functions."""
import numpy as onp
import pytest

from mxnet import autograd, np

pytestmark = pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")  # NumPy's, of cross
DRAWS = onp.random.RandomState(5)


def draw(*shape):
    return DRAWS.uniform(-1, 1, shape)


def symmetric(*shape):
    a = draw(*shape)
    return a + onp.swapaxes(a, -1, -2)


def positive(*shape):
    a = draw(*shape)
    return a @ onp.swapaxes(a, -1, -2) + 2 * onp.eye(shape[-1])


def flat(value):
    """All results in one vector; signs of vectors do not count, their squares do."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return [part.reshape(-1) for part in parts]


def squares_of_vectors(u, s, vt):
    return u * u, s, vt * vt


# name: (function of a module like NumPy, arguments)
CASES = {
    "inv": (lambda m, a: m.linalg.inv(a), [draw(3, 3)]),
    "inv of several": (lambda m, a: m.linalg.inv(a), [draw(2, 3, 3)]),
    "det": (lambda m, a: m.linalg.det(a), [draw(3, 3)]),
    "det of several": (lambda m, a: m.linalg.det(a), [draw(2, 3, 3)]),
    "det of a singular one": (lambda m, a: m.linalg.det(a), [onp.array([[1., 2.], [2., 4.]])]),
    "slogdet": (lambda m, a: m.linalg.slogdet(a)[1], [draw(2, 3, 3)]),
    "solve": (lambda m, a, b: m.linalg.solve(a, b), [draw(3, 3), draw(3, 2)]),
    "solve a vector": (lambda m, a, b: m.linalg.solve(a, b), [draw(3, 3), draw(3)]),
    "solve several": (lambda m, a, b: m.linalg.solve(a, b), [draw(3, 3), draw(2, 3, 2)]),
    "svd": (lambda m, a: squares_of_vectors(*m.linalg.svd(a)), [draw(3, 3)]),
    "svd of a wide one": (lambda m, a: squares_of_vectors(*m.linalg.svd(a, full_matrices=False)), [draw(2, 4)]),
    "svd of a tall one": (lambda m, a: squares_of_vectors(*m.linalg.svd(a, full_matrices=False)), [draw(2, 4, 2)]),
    "singular values": (lambda m, a: m.linalg.svd(a, compute_uv=False), [draw(3, 4)]),
    "qr": (lambda m, a: tuple(m.linalg.qr(a)), [draw(3, 3)]),
    "qr of a tall one": (lambda m, a: tuple(m.linalg.qr(a)), [draw(2, 4, 3)]),
    "qr of a wide one": (lambda m, a: tuple(m.linalg.qr(a)), [draw(2, 4)]),
    "tensorinv": (lambda m, a: m.linalg.tensorinv(a, 1), [draw(4, 2, 2)]),
    "tensorsolve": (lambda m, a, b: m.linalg.tensorsolve(a, b), [draw(2, 2, 4), draw(2, 2)]),
    "norm of order 3": (lambda m, a: m.linalg.norm(a, 3), [draw(4)]),
    "norm of order 3 along an axis": (lambda m, a: m.linalg.norm(a, 3, 0, True), [draw(3, 2)]),
    "norm 1": (lambda m, a: m.linalg.norm(a, 1), [draw(3, 3)]),
    "norm inf": (lambda m, a: m.linalg.norm(a, onp.inf), [draw(3, 4)]),
    "norm -inf": (lambda m, a: m.linalg.norm(a, -onp.inf), [draw(3, 4)]),
    "norm 2": (lambda m, a: m.linalg.norm(a, 2), [draw(3, 4)]),
    "norm -2": (lambda m, a: m.linalg.norm(a, -2), [draw(3, 4)]),
    "norm nuc": (lambda m, a: m.linalg.norm(a, "nuc", (0, 2), True), [draw(3, 2, 4)]),
    "kron": (lambda m, a, b: m.kron(a, b), [draw(2, 3), draw(3, 2)]),
    "kron of two ranks": (lambda m, a, b: m.kron(a, b), [draw(3), draw(2, 1, 2)]),
    "vdot": (lambda m, a, b: m.vdot(a, b), [draw(2, 3), draw(3, 2)]),
    "cross": (lambda m, a, b: m.cross(a, b), [draw(4, 3), draw(4, 3)]),
    "cross along an axis": (lambda m, a, b: m.cross(a, b, axis=0), [draw(3, 4), draw(3, 4)]),
    "cross of two and three": (lambda m, a, b: m.cross(a, b), [draw(4, 2), draw(3)]),
}
SYMMETRIC = {  # what only sees one triangle is looked at along symmetric changes
    "cholesky": (lambda m, a: m.linalg.cholesky(a), [positive(3, 3)]),
    "cholesky of several": (lambda m, a: m.linalg.cholesky(a), [positive(2, 3, 3)]),
    "eigvalsh": (lambda m, a: m.linalg.eigvalsh(a), [symmetric(2, 3, 3)]),
    "eigh": (lambda m, a: (lambda w, v: (w, v * v))(*m.linalg.eigh(a)), [symmetric(3, 3)]),
}


def gradients(function, values, heads):
    arrays = [np.array(value, dtype="float64") for value in values]
    for item in arrays:
        item.attach_grad()
    with autograd.record():
        loss = sum((part * np.array(head, dtype="float64")).sum()
                   for part, head in zip(flat(function(np, *arrays)), heads))
    loss.backward()
    return loss, [item.grad.asnumpy() for item in arrays]


def slope(function, values, heads, which, step):
    def loss(sign):
        moved = [value + sign * step if i == which else value for i, value in enumerate(values)]
        return sum((part * head).sum() for part, head in zip(flat(function(onp, *moved)), heads))
    return (loss(1) - loss(-1)) / 2


@pytest.mark.parametrize("name", [*CASES, *SYMMETRIC])
def test_gradients_are_those_of_difference_quotients(name):
    function, values = {**CASES, **SYMMETRIC}[name]
    heads = [draw(part.size) for part in flat(function(onp, *values))]
    loss, found = gradients(function, values, heads)
    right = sum((part * head).sum() for part, head in zip(flat(function(onp, *values)), heads))
    onp.testing.assert_allclose(loss.asnumpy(), right, rtol=1e-10)
    h = 1e-6
    for which, value in enumerate(values):
        for place in onp.ndindex(value.shape):
            step = onp.zeros_like(value)
            step[place] = h
            if name in SYMMETRIC:
                step = (step + onp.swapaxes(step, -1, -2)) / 2
            expected = slope(function, values, heads, which, step) / h
            onp.testing.assert_allclose((found[which] * step).sum() / h, expected, rtol=2e-5, atol=1e-7,
                                        err_msg=f"{name}: argument {which}, {place}")


def test_without_recording_they_are_numpy_s():
    a = draw(3, 3)
    ours = np.array(a, dtype="float64")
    for name in ("inv", "det", "qr", "slogdet", "svd", "eigh"):
        got, right = getattr(np.linalg, name)(ours), getattr(onp.linalg, name)(a)
        for part, expected in zip(flat(got), flat(right)):
            onp.testing.assert_allclose(part.asnumpy(), expected)
    q, r = np.linalg.qr(ours)
    assert np.linalg.svd(np.ones((2, 3)))[2].shape == (3, 3)
    assert np.linalg.slogdet(ours)[1].dtype == onp.float64 and q.shape == r.shape


def test_float32_stays_float32():
    a = np.array([[2., 1.], [1., 3.]])
    a.attach_grad()
    with autograd.record():
        y = np.linalg.inv(a)
    y.backward()
    assert y.dtype == a.grad.dtype == onp.float32
    inverse = onp.linalg.inv([[2., 1.], [1., 3.]])
    onp.testing.assert_allclose(a.grad.asnumpy(), -inverse.T @ onp.ones((2, 2)) @ inverse.T, rtol=1e-5)


def test_what_has_no_gradient_says_so():
    a = np.ones((2, 3))
    a.attach_grad()
    with autograd.record(), pytest.raises(NotImplementedError, match="no gradient"):
        np.linalg.svd(a)  # all vectors of a matrix that is not square


@pytest.mark.parametrize("name", ["inv", "det", "cholesky"])
def test_second_gradients_are_refused(name):
    x = np.array([[2., 1], [1, 3]], dtype="float64")
    x.attach_grad()
    with autograd.record():
        g = autograd.grad(getattr(np.linalg, name)(x).sum(), x, create_graph=True, retain_graph=True)[0]
        penalty = (g * g).sum() + (x * x).sum()  # there is a way to x without the first gradient
    with pytest.raises(Exception, match="_backward_CustomFunction is non-differentiable"):
        penalty.backward()
