# SPDX-License-Identifier: Apache-2.0
"""An operator written in Python, and what the profiler says of it: MyAddOne::pure_python is the
function itself, MyAddOne::... what it calls."""
import mxnet as mx
from mxnet import nd, profiler  # the guide's text leaves nd out


class MyAddOne(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register('MyAddOne')
class CustomAddOneProp(mx.operator.CustomOpProp):
    def __init__(self):
        super(CustomAddOneProp, self).__init__(need_top_grad=True)

    def list_arguments(self):
        return ['data']

    def list_outputs(self):
        return ['output']

    def infer_shape(self, in_shape):
        return [in_shape[0]], [in_shape[0]], []

    def create_operator(self, device, shapes, dtypes):
        return MyAddOne()


inp = mx.np.zeros(shape=(500, 500))

profiler.set_config(profile_all=True, continuous_dump=True, aggregate_stats=True)
profiler.set_state('run')
w = nd.Custom(inp, op_type="MyAddOne")
mx.npx.waitall()
profiler.set_state('stop')
print(profiler.dumps())
profiler.dump(finished=False)
