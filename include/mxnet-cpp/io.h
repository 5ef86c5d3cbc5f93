// SPDX-License-Identifier: Apache-2.0
// Data iterators of the library: MNISTIter, CSVIter.
#ifndef MXNET_CPP_IO_H_
#define MXNET_CPP_IO_H_

#include <mxnet-cpp/ndarray.h>

namespace mxnet::cpp
{

struct DataBatch {
    NDArray data, label;
    int pad_num = 0;
    std::vector<int> index;
};

// auto it = MXDataIter("MNISTIter").SetParam("image", "train").CreateDataIter();
class MXDataIter
{
  public:
    explicit MXDataIter(const std::string &type) : creator_(Find(type)) {}
    template <typename T> MXDataIter &SetParam(const std::string &key, const T &value)
    {
        parameters_.Set(key, value);
        return *this;
    }
    // Reads the files.
    MXDataIter CreateDataIter()
    {
        std::vector<const char *> keys = parameters_.Keys(), values = parameters_.Values();
        DataIterHandle made = nullptr;
        Check(MXDataIterCreateIter(creator_, static_cast<uint32_t>(keys.size()), keys.data(),
                                   values.data(), &made));
        handle_ = std::shared_ptr<void>(made, MXDataIterFree);
        return *this;
    }
    void Reset() { Check(MXDataIterBeforeFirst(handle_.get())); }
    bool Next()
    {
        int has = 0;
        Check(MXDataIterNext(handle_.get(), &has));
        return has != 0;
    }
    NDArray GetData()
    {
        NDArrayHandle made = nullptr;
        Check(MXDataIterGetData(handle_.get(), &made));
        return NDArray(made);
    }
    NDArray GetLabel()
    {
        NDArrayHandle made = nullptr;
        Check(MXDataIterGetLabel(handle_.get(), &made));
        return NDArray(made);
    }
    int GetPadNum()
    {
        int pad = 0;
        Check(MXDataIterGetPadNum(handle_.get(), &pad));
        return pad;
    }
    std::vector<int> GetIndex()
    {
        uint64_t *numbers = nullptr, count = 0;
        Check(MXDataIterGetIndex(handle_.get(), &numbers, &count));
        return std::vector<int>(numbers, numbers + count);
    }
    DataBatch GetDataBatch() { return DataBatch{GetData(), GetLabel(), GetPadNum(), GetIndex()}; }

  private:
    static std::map<std::string, DataIterCreator> Creators()
    {
        uint32_t count = 0;
        DataIterCreator *list = nullptr;
        Check(MXListDataIters(&count, &list));
        std::map<std::string, DataIterCreator> creators;
        for (uint32_t i = 0; i < count; i++) {
            const char *name = nullptr, *text = nullptr, **lists[3] = {};
            uint32_t parameters = 0;
            Check(MXDataIterGetIterInfo(list[i], &name, &text, &parameters, &lists[0], &lists[1],
                                        &lists[2]));
            creators[name] = list[i];
        }
        return creators;
    }
    static DataIterCreator Find(const std::string &type)
    {
        static const auto creators = Creators();  // listed once
        if (creators.count(type) == 0) {
            throw Error("There is no data iterator " + type);
        }
        return creators.at(type);
    }

    DataIterCreator creator_;
    Parameters parameters_;
    std::shared_ptr<void> handle_;
};

}  // namespace mxnet::cpp

#endif
