// SPDX-License-Identifier: Apache-2.0
// How well a network does.
#ifndef MXNET_CPP_METRIC_H_
#define MXNET_CPP_METRIC_H_

#include <mxnet-cpp/ndarray.h>

#include <cmath>

namespace mxnet::cpp
{

class EvalMetric
{
  public:
    virtual ~EvalMetric() = default;
    // Waits for both.
    virtual void Update(NDArray labels, NDArray predictions) = 0;
    void Reset()
    {
        count_ = 0;
        sum_ = 0;
    }
    float Get() const
    {
        return count_ == 0 ? 0 : static_cast<float>(sum_ / static_cast<double>(count_));
    }

  protected:
    size_t count_ = 0;
    double sum_ = 0;
};

// The share of rows whose largest prediction is at the place that the label says.
class Accuracy : public EvalMetric
{
  public:
    void Update(NDArray labels, NDArray predictions) override
    {
        std::vector<mx_float> truth, given;
        Invoke("argmax_channel", {predictions}, Parameters())[0].SyncCopyToCPU(&given);
        labels.SyncCopyToCPU(&truth);
        if (given.size() != truth.size()) {
            throw Error("Accuracy: predictions are not one row for each label");
        }
        for (size_t row = 0; row < truth.size(); row++) {
            sum_ += std::lround(given[row]) == std::lround(truth[row]);
        }
        count_ += truth.size();
    }
};

}  // namespace mxnet::cpp

#endif
