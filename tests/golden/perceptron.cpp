// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron written with the names of MXNet's C++ package, profiled. Usage: perceptron FOLDER [EPOCHS]; prints the
// table, writes profile_output.json.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
#include "mxnet-cpp/MxNetCpp.h"
using namespace mxnet::cpp;

static Symbol mlp(const std::vector<int> &layers) {
  auto x = Symbol::Variable("X");
  auto label = Symbol::Variable("label");
  std::vector<Symbol> outputs(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    auto w = Symbol::Variable("w" + std::to_string(i));
    auto b = Symbol::Variable("b" + std::to_string(i));
    Symbol fc = FullyConnected(i == 0 ? x : outputs[i - 1], w, b, layers[i]);
    outputs[i] = i == layers.size() - 1 ? fc : Activation(fc, ActivationActType::kRelu);
  }
  return SoftmaxOutput(outputs.back(), label);
}

static MXDataIter iter(const std::string &folder, const std::string &stem, int batch) {
  auto it = MXDataIter("MNISTIter");
  it.SetParam("batch_size", batch);
  it.SetParam("shuffle", 1);
  it.SetParam("flat", 1);
  it.SetParam("image", folder + "/" + stem + "-images-idx3-ubyte");
  it.SetParam("label", folder + "/" + stem + "-labels-idx1-ubyte");
  return it.CreateDataIter();
}

int main(int argc, char **argv) {
  const std::string folder = argc > 1 ? argv[1] : "data/mnist_data";
  const int epochs = argc > 2 ? atoi(argv[2]) : 1;
  const int batch = 100;
  const char *keys[4] = {"profile_all", "aggregate_stats", "continuous_dump", "filename"};
  const char *vals[4] = {"True", "True", "True", "profile_output.json"};
  int on = 1;
  printf("MXSetProfilerConfig %d\n", MXSetProfilerConfig(4, keys, vals));
  printf("MXSetProfilerState %d\n", MXSetProfilerState(on));
  auto train = iter(folder, "train", batch);
  auto val = iter(folder, "t10k", batch);
  auto net = mlp({128, 64, 10});
  Context ctx = Context::cpu();
  std::map<std::string, NDArray> args;
  args["X"] = NDArray(Shape(batch, 784), ctx);
  args["label"] = NDArray(Shape(batch), ctx);
  net.InferArgsMap(ctx, &args, args);
  auto initializer = Uniform(0.01);
  for (auto &arg : args) initializer(arg.first, &arg.second);
  Optimizer *opt = OptimizerRegistry::Find("sgd");
  opt->SetParam("lr", 0.1)->SetParam("wd", 0.01)->SetParam("rescale_grad", 1.0 / batch);
  auto *exec = net.SimpleBind(ctx, args);
  auto names = net.ListArguments();
  for (int e = 0; e < epochs; ++e) {
    int n = 0;
    train.Reset();
    while (train.Next()) {
      n += 1;
      auto b = train.GetDataBatch();
      b.data.CopyTo(&args["X"]);
      b.label.CopyTo(&args["label"]);
      exec->Forward(true);
      exec->Backward();
      for (size_t i = 0; i < names.size(); ++i)
        if (names[i] != "X" && names[i] != "label") opt->Update(i, exec->arg_arrays[i], exec->grad_arrays[i]);
    }
    Accuracy acc;
    val.Reset();
    while (val.Next()) {
      auto b = val.GetDataBatch();
      b.data.CopyTo(&args["X"]);
      b.label.CopyTo(&args["label"]);
      exec->Forward(false);
      acc.Update(b.label, exec->outputs[0]);
    }
    printf("epoch %d batches %d accuracy measured %d\n", e, n, acc.Get() >= 0);
  }
  NDArray::WaitAll();
  printf("MXSetProfilerState %d\n", MXSetProfilerState(!on));
  const char *text = nullptr;
#ifdef V1
  printf("MXAggregateProfileStatsPrint %d\n", MXAggregateProfileStatsPrint(&text, 0));
#else
  printf("MXAggregateProfileStatsPrint %d\n", MXAggregateProfileStatsPrint(&text, 0, 0, 0, 0));
#endif
  printf("%s\n", text);
  printf("MXDumpProfile %d\n", MXDumpProfile(on));
  delete exec;
  delete opt;
  printf("MXNotifyShutdown %d\n", MXNotifyShutdown());
  return 0;
}
