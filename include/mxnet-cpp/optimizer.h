// SPDX-License-Identifier: Apache-2.0
// Optimizers: "sgd", with momentum if that is set.
#ifndef MXNET_CPP_OPTIMIZER_H_
#define MXNET_CPP_OPTIMIZER_H_

#include <mxnet-cpp/ndarray.h>

namespace mxnet::cpp
{

class Optimizer
{
  public:
    virtual ~Optimizer() = default;
    // lr, wd, rescale_grad, clip_gradient, momentum.
    template <typename T> Optimizer *SetParam(const std::string &key, const T &value)
    {
        parameters_.Set(key, value);
        return this;
    }
    // One step of the weight with this number. Does not wait.
    virtual void Update(int index, NDArray weight, NDArray gradient) = 0;

  protected:
    Parameters parameters_;
};

class SGDOptimizer : public Optimizer
{
  public:
    void Update(int index, NDArray weight, NDArray gradient) override
    {
        Parameters parameters;
        for (const char *key : {"lr", "wd", "rescale_grad", "clip_gradient"}) {
            if (parameters_.Has(key)) {
                parameters.Set(key, parameters_.Get(key, ""));
            }
        }
        if (!parameters.Has("lr")) {
            parameters.Set("lr", 0.01);
        }
        if (!parameters_.Has("momentum")) {
            Invoke("sgd_update", {weight, gradient}, parameters, {weight});
            return;
        }
        auto state = states_.find(index);
        if (state == states_.end()) {
            const std::vector<mx_float> zeros(weight.Size());
            NDArray made(zeros, weight.GetShapeOf(), weight.GetContext());
            state = states_.emplace(index, made).first;
        }
        parameters.Set("momentum", parameters_.Get("momentum", "0"));
        Invoke("sgd_mom_update", {weight, gradient, state->second}, parameters, {weight});
    }

  private:
    std::map<int, NDArray> states_;
};

class OptimizerRegistry
{
  public:
    // The caller deletes it.
    static Optimizer *Find(const std::string &name)
    {
        if (name != "sgd") {
            throw Error("There is no optimizer " + name + "; there is sgd");
        }
        return new SGDOptimizer();
    }
};

}  // namespace mxnet::cpp

#endif
