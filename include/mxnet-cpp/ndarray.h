// SPDX-License-Identifier: Apache-2.0
// Arrays of float32, and operators on them.
#ifndef MXNET_CPP_NDARRAY_H_
#define MXNET_CPP_NDARRAY_H_

#include <mxnet-cpp/base.h>

#include <memory>

namespace mxnet::cpp
{

class NDArray
{
  public:
    NDArray() : NDArray(CreateNone()) {}
    // Takes the handle over.
    explicit NDArray(const NDArrayHandle &handle) : handle_(handle, MXNDArrayFree) {}
    // Values are undefined.
    NDArray(const Shape &shape, const Context &context, bool delay_alloc = true)
        : NDArray(Create(shape, context, delay_alloc))
    {
    }
    NDArray(const mx_float *data, const Shape &shape, const Context &context)
        : NDArray(shape, context, false)
    {
        SyncCopyFromCPU(data, shape.Size());
    }
    NDArray(const std::vector<mx_float> &data, const Shape &shape, const Context &context)
        : NDArray(data.data(), shape, context)
    {
    }

    // Wait for what is being computed. `size`: elements, all of them.
    void SyncCopyFromCPU(const mx_float *data, size_t size)
    {
        Check(MXNDArraySyncCopyFromCPU(GetHandle(), data, size));
    }
    void SyncCopyFromCPU(const std::vector<mx_float> &data)
    {
        SyncCopyFromCPU(data.data(), data.size());
    }
    void SyncCopyToCPU(mx_float *data, size_t size = 0) const
    {
        Check(MXNDArraySyncCopyToCPU(GetHandle(), data, size == 0 ? Size() : size));
    }
    void SyncCopyToCPU(std::vector<mx_float> *data, size_t size = 0) const
    {
        data->resize(size == 0 ? Size() : size);
        SyncCopyToCPU(data->data(), data->size());
    }
    void WaitToRead() const { Check(MXNDArrayWaitToRead(GetHandle())); }
    static void WaitAll() { Check(MXNDArrayWaitAll()); }

    // Does not wait. The other has the same shape.
    NDArray CopyTo(NDArray *other) const;
    NDArray Copy(const Context &context) const
    {
        NDArray made(GetShapeOf(), context);
        CopyTo(&made);
        return made;
    }
    std::vector<mx_uint> GetShape() const
    {
        const int *sizes = nullptr;
        int dimensions = 0;
        Check(MXNDArrayGetShape(GetHandle(), &dimensions, &sizes));
        std::vector<mx_uint> shape;
        for (int i = 0; i < dimensions; i++) {
            shape.push_back(static_cast<mx_uint>(sizes[i]));
        }
        return shape;
    }
    Shape GetShapeOf() const { return Shape(GetShape()); }
    size_t Size() const { return GetShapeOf().Size(); }
    Context GetContext() const
    {
        int type = 0, id = 0;
        Check(MXNDArrayGetContext(GetHandle(), &type, &id));
        return Context(static_cast<DeviceType>(type), id);
    }
    NDArrayHandle GetHandle() const { return handle_.get(); }

  private:
    static NDArrayHandle CreateNone()
    {
        NDArrayHandle made = nullptr;
        Check(MXNDArrayCreateNone(&made));
        return made;
    }
    static NDArrayHandle Create(const Shape &shape, const Context &context, bool delay_alloc)
    {
        NDArrayHandle made = nullptr;
        Check(MXNDArrayCreate(shape.data(), shape.ndim(), context.GetDeviceType(),
                              context.GetDeviceId(), delay_alloc, 0, &made));
        return made;
    }

    std::shared_ptr<void> handle_;
};

// An operator of the library by its name, run on arrays at once.
inline OpHandle FindOperator(const std::string &name)
{
    OpHandle op = nullptr;
    Check(NNGetOpHandle(name.c_str(), &op));
    return op;
}

// `outputs` empty: they are made. Does not wait.
inline std::vector<NDArray> Invoke(const std::string &name, const std::vector<NDArray> &inputs,
                                   const Parameters &parameters,
                                   const std::vector<NDArray> &outputs = {})
{
    std::vector<NDArrayHandle> in, out;
    for (const NDArray &array : inputs) {
        in.push_back(array.GetHandle());
    }
    for (const NDArray &array : outputs) {
        out.push_back(array.GetHandle());
    }
    std::vector<const char *> keys = parameters.Keys(), values = parameters.Values();
    int count = static_cast<int>(out.size());
    NDArrayHandle *list = out.empty() ? nullptr : out.data();
    Check(MXImperativeInvoke(FindOperator(name), static_cast<int>(in.size()), in.data(), &count,
                             &list, static_cast<int>(keys.size()), keys.data(), values.data(),
                             nullptr));
    if (!out.empty()) {
        return outputs;
    }
    std::vector<NDArray> made;
    for (int i = 0; i < count; i++) {
        made.emplace_back(list[i]);
    }
    return made;
}

inline NDArray NDArray::CopyTo(NDArray *other) const
{
    Invoke("_copyto", {*this}, Parameters(), {*other});
    return *other;
}

}  // namespace mxnet::cpp

#endif
