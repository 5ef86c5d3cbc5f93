// SPDX-License-Identifier: Apache-2.0
// First values of parameters, by the ends of their names: bias and beta are zeros, gamma is ones.
#ifndef MXNET_CPP_INITIALIZER_H_
#define MXNET_CPP_INITIALIZER_H_

#include <mxnet-cpp/ndarray.h>

namespace mxnet::cpp
{

class Initializer
{
  public:
    virtual ~Initializer() = default;
    void operator()(const std::string &name, NDArray *array)
    {
        if (Ends(name, "bias") || Ends(name, "beta") || Ends(name, "moving_mean")) {
            Fill(array, 0);
        } else if (Ends(name, "gamma") || Ends(name, "moving_var")) {
            Fill(array, 1);
        } else {
            InitWeight(array);
        }
    }

  protected:
    virtual void InitWeight(NDArray *array) = 0;
    static void Fill(NDArray *array, double value)
    {
        Parameters parameters;
        parameters.Set("src", value);
        Invoke("_set_value", {}, parameters, {*array});
    }
    static void DrawUniform(double low, double high, NDArray *array)
    {
        Parameters parameters;
        parameters.Set("low", low);
        parameters.Set("high", high);
        Invoke("_random_uniform", {}, parameters, {*array});
    }

  private:
    static bool Ends(const std::string &name, const std::string &end)
    {
        return name.size() >= end.size() &&
               name.compare(name.size() - end.size(), end.size(), end) == 0;
    }
};

class Uniform : public Initializer
{
  public:
    explicit Uniform(double scale) : Uniform(-scale, scale) {}
    Uniform(double begin, double end) : begin_(begin), end_(end) {}

  protected:
    void InitWeight(NDArray *array) override { DrawUniform(begin_, end_, array); }

  private:
    double begin_, end_;
};

}  // namespace mxnet::cpp

#endif
