# SPDX-License-Identifier: Apache-2.0
"""One training iteration of LeNet on MNIST under the profiler, after one that pays for what only a
first one has to do. Then the table on the console, and the trace.

Writes profile_output.json. It runs with the arrays of NumPy's interface (`mx.npx.set_np()`) as well.
"""
import mxnet as mx
from mxnet import autograd, gluon, profiler
from mxnet.gluon.data.vision import transforms

profiler.set_config(profile_all=True,
                    aggregate_stats=True,
                    continuous_dump=True,
                    filename='profile_output.json')

net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(channels=20, kernel_size=5, activation='relu'))
net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
net.add(gluon.nn.Conv2D(channels=50, kernel_size=5, activation='relu'))
net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
net.add(gluon.nn.Flatten())
net.add(gluon.nn.Dense(512, activation="relu"))
net.add(gluon.nn.Dense(10))

dataset = gluon.data.vision.MNIST(train=True)
dataset = dataset.transform_first(transforms.ToTensor())
dataloader = gluon.data.DataLoader(dataset, batch_size=64, shuffle=True)

# Use GPU if available
if mx.device.num_gpus():
    device = mx.gpu()
else:
    device = mx.cpu()

net.initialize(mx.init.Xavier(), device=device)
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
softmax_cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()


def run_training_iteration(data, label):
    data = data.to_device(device)
    label = label.to_device(device)
    with autograd.record():
        output = net(data)
        loss = softmax_cross_entropy(output, label)
    loss.backward()
    trainer.step(data.shape[0])


# Run the first iteration without profiling
itr = iter(dataloader)
run_training_iteration(*next(itr))

data, label = next(itr)
profiler.set_state('run')
run_training_iteration(*next(itr))
mx.npx.waitall()
profiler.set_state('stop')
profiler.dump()

# View in console: nothing is recorded between these two, so the file stays as it is
profiler.set_state('run')
profiler.set_state('stop')
print(profiler.dumps())

# View in browser
profiler.dump(finished=False)
