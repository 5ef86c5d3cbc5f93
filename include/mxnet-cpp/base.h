// SPDX-License-Identifier: Apache-2.0
// What all of the C++ headers share: errors, devices, shapes, parameters as texts.
#ifndef MXNET_CPP_BASE_H_
#define MXNET_CPP_BASE_H_

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mxnet::cpp
{

class Error : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

// What a C function returned: 0, or the library knows why not.
inline void Check(int result)
{
    if (result != 0) {
        throw Error(MXGetLastError());
    }
}

enum DeviceType { kCPU = 1, kGPU = 2, kCPUPinned = 3 };

class Context
{
  public:
    Context(const DeviceType &type, int id) : type_(type), id_(id) {}
    DeviceType GetDeviceType() const { return type_; }
    int GetDeviceId() const { return id_; }
    static Context cpu(int device_id = 0) { return Context(kCPU, device_id); }
    static Context gpu(int device_id = 0) { return Context(kGPU, device_id); }

  private:
    DeviceType type_;
    int id_;
};

// Sizes of an array, of its first axis first.
class Shape : public std::vector<mx_uint>
{
  public:
    Shape() = default;
    Shape(std::initializer_list<mx_uint> sizes) : std::vector<mx_uint>(sizes) {}
    explicit Shape(const std::vector<mx_uint> &sizes) : std::vector<mx_uint>(sizes) {}
    explicit Shape(mx_uint s1) : Shape{s1} {}
    Shape(mx_uint s1, mx_uint s2) : Shape{s1, s2} {}
    Shape(mx_uint s1, mx_uint s2, mx_uint s3, mx_uint s4) : Shape{s1, s2, s3, s4} {}
    mx_uint ndim() const { return static_cast<mx_uint>(size()); }
    size_t Size() const
    {
        size_t count = 1;
        for (mx_uint length : *this) {
            count *= length;
        }
        return count;
    }
};

inline std::ostream &operator<<(std::ostream &out, const Shape &shape)  // "(2,3)"
{
    out << '(';
    for (size_t i = 0; i < shape.size(); i++) {
        out << (i == 0 ? "" : ",") << shape[i];
    }
    return out << ')';
}

// Keys and values as the C functions take them.
class Parameters
{
  public:
    template <typename T> void Set(const std::string &key, const T &value)
    {
        std::ostringstream text;
        text.precision(17);
        text << std::boolalpha << value;
        values_[key] = text.str();
    }
    bool Has(const std::string &key) const { return values_.count(key) != 0; }
    std::string Get(const std::string &key, const std::string &otherwise) const
    {
        const auto found = values_.find(key);
        return found == values_.end() ? otherwise : found->second;
    }
    // Valid until the next change.
    std::vector<const char *> Keys() const
    {
        std::vector<const char *> list;
        for (const auto &pair : values_) {
            list.push_back(pair.first.c_str());
        }
        return list;
    }
    std::vector<const char *> Values() const
    {
        std::vector<const char *> list;
        for (const auto &pair : values_) {
            list.push_back(pair.second.c_str());
        }
        return list;
    }

  private:
    std::map<std::string, std::string> values_;
};

}  // namespace mxnet::cpp

#endif
