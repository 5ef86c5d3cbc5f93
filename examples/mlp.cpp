// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron with MXNet's C++ names, and a profile of its training.
//
//     mlp_cpp [FOLDER [EPOCHS]]
//
// FOLDER has MNIST's files (train-images-idx3-ubyte ...); without one, digits are drawn. Prints
// samples a second and the accuracy on held-out digits after each epoch, then the table, and leaves
// profile_output.json in the working folder.
#include <mxnet-cpp/MxNetCpp.h>

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "digits.h"

using namespace mxnet::cpp;

namespace {

constexpr int kBatch = 100, kInputs = DIGIT_PIXELS;

Symbol Network(const std::vector<int> &layers)
{
    Symbol out = Symbol::Variable("X");
    for (size_t i = 0; i < layers.size(); i++) {
        const std::string number = std::to_string(i);
        Symbol weight = Symbol::Variable("w" + number), bias = Symbol::Variable("b" + number);
        out = FullyConnected("fc" + number, out, weight, bias, layers[i]);
        if (i + 1 < layers.size()) {
            out = Activation("relu" + number, out, ActivationActType::kRelu);
        }
    }
    return SoftmaxOutput("softmax", out, Symbol::Variable("label"));
}

MXDataIter Digits(const std::string &folder, const std::string &set)
{
    return MXDataIter("MNISTIter")
        .SetParam("image", folder + "/" + set + "-images-idx3-ubyte")
        .SetParam("label", folder + "/" + set + "-labels-idx1-ubyte")
        .SetParam("batch_size", kBatch)
        .SetParam("shuffle", set == "train")
        .SetParam("flat", true)
        .SetParam("silent", true)
        .CreateDataIter();
}

// A folder of drawn ones, which goes at the end.
class DrawnDigits
{
  public:
    DrawnDigits()
    {
        if (mkdtemp(folder_) == nullptr || Write("train", 6000, 1) != 0 || Write("t10k", 1000, 2) != 0) {
            throw Error(std::string("digits cannot be drawn into ") + folder_);
        }
    }
    DrawnDigits(const DrawnDigits &) = delete;
    DrawnDigits &operator=(const DrawnDigits &) = delete;
    ~DrawnDigits()
    {
        for (const char *set : {"train", "t10k"}) {
            unlink(Path(set, "-images-idx3-ubyte").c_str());
            unlink(Path(set, "-labels-idx1-ubyte").c_str());
        }
        rmdir(folder_);
    }
    const char *Folder() const { return folder_; }

  private:
    std::string Path(const std::string &set, const char *end) const
    {
        return std::string(folder_) + "/" + set + end;
    }
    int Write(const char *set, uint32_t count, uint32_t seed) const
    {
        return digits_write(Path(set, "-images-idx3-ubyte").c_str(),
                            Path(set, "-labels-idx1-ubyte").c_str(), count, seed);
    }
    char folder_[32] = "/tmp/mlp_digits_XXXXXX";
};

void CopyInto(const DataBatch &batch, std::map<std::string, NDArray> *args)
{
    batch.data.CopyTo(&(*args)["X"]);
    batch.label.CopyTo(&(*args)["label"]);
}

float Evaluate(MXDataIter *digits, Executor *executor, std::map<std::string, NDArray> *args)
{
    Accuracy accuracy;
    digits->Reset();
    while (digits->Next()) {
        const DataBatch batch = digits->GetDataBatch();
        CopyInto(batch, args);
        executor->Forward(false);
        accuracy.Update(batch.label, executor->outputs[0]);
    }
    return accuracy.Get();
}

int TrainEpoch(MXDataIter *digits, Executor *executor, std::map<std::string, NDArray> *args,
               const std::vector<std::string> &names, Optimizer *optimizer)
{
    int batches = 0;
    digits->Reset();
    for (; digits->Next(); batches++) {
        CopyInto(digits->GetDataBatch(), args);
        executor->Forward(true);
        executor->Backward();
        for (size_t i = 0; i < names.size(); i++) {
            if (names[i] != "X" && names[i] != "label") {
                optimizer->Update(static_cast<int>(i), executor->arg_arrays[i],
                                  executor->grad_arrays[i]);
            }
        }
    }
    NDArray::WaitAll();
    return batches * kBatch;
}

void Train(const std::string &folder, int epochs)
{
    MXDataIter train = Digits(folder, "train"), held_out = Digits(folder, "t10k");
    const Symbol network = Network({128, 64, 10});
    const Context cpu = Context::cpu();
    std::map<std::string, NDArray> args;
    args["X"] = NDArray(Shape(kBatch, kInputs), cpu);
    args["label"] = NDArray(Shape{kBatch}, cpu);
    network.InferArgsMap(cpu, &args, args);
    Uniform draw(0.07);
    for (auto &arg : args) {
        draw(arg.first, &arg.second);
    }
    std::unique_ptr<Executor> executor(network.SimpleBind(cpu, args));
    std::unique_ptr<Optimizer> sgd(OptimizerRegistry::Find("sgd"));
    sgd->SetParam("lr", 0.1)->SetParam("wd", 0.0001)->SetParam("rescale_grad", 1.0 / kBatch);
    for (int epoch = 0; epoch < epochs; epoch++) {
        const auto begin = std::chrono::steady_clock::now();
        const int samples =
            TrainEpoch(&train, executor.get(), &args, network.ListArguments(), sgd.get());
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        const float accuracy = Evaluate(&held_out, executor.get(), &args);
        std::printf("epoch %d: %.0f samples/s, accuracy %.4f\n", epoch, samples / seconds.count(),
                    static_cast<double>(accuracy));
    }
}

}  // namespace

int main(int argc, char **argv)
try {
    const char *keys[] = {"profile_all", "aggregate_stats", "continuous_dump", "filename"};
    const char *values[] = {"True", "True", "True", "profile_output.json"};
    const int epochs = argc > 2 ? std::atoi(argv[2]) : 8;
    Check(MXRandomSeed(1));
    Check(MXSetProfilerConfig(4, keys, values));
    Check(MXSetProfilerState(1));
    if (argc > 1) {
        Train(argv[1], epochs);
    } else {
        Train(DrawnDigits().Folder(), epochs);
    }
    Check(MXSetProfilerState(0));
    const char *table = nullptr;
    Check(MXAggregateProfileStatsPrint(&table, 0, 0, 0, 0));
    std::printf("%s\n", table);
    Check(MXDumpProfile(1));
    Check(MXNotifyShutdown());
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "mlp_cpp: %s\n", error.what());
    return 1;
}
