// SPDX-License-Identifier: Apache-2.0
// Operators as symbols: any by its name, and those of a perceptron as functions.
#ifndef MXNET_CPP_OP_H_
#define MXNET_CPP_OP_H_

#include <mxnet-cpp/symbol.h>

namespace mxnet::cpp
{

// Symbol y = Operator("FullyConnected")("data", x).SetParam("num_hidden", 10).CreateSymbol("fc");
class Operator
{
  public:
    explicit Operator(const std::string &name) : name_(name) {}
    template <typename T> Operator &SetParam(const std::string &key, const T &value)
    {
        parameters_.Set(key, value);
        return *this;
    }
    Operator &SetInput(const std::string &name, const Symbol &symbol)
    {
        names_.push_back(name);
        inputs_.push_back(symbol);
        return *this;
    }
    Operator &operator()(const std::string &name, const Symbol &symbol)
    {
        return SetInput(name, symbol);
    }
    // By position; not together with inputs by name.
    Operator &operator()(const Symbol &symbol)
    {
        inputs_.push_back(symbol);
        return *this;
    }
    // `name` "": one is made.
    Symbol CreateSymbol(const std::string &name = "")
    {
        std::vector<const char *> keys = parameters_.Keys(), values = parameters_.Values(), names;
        SymbolHandle made = nullptr;
        Check(MXSymbolCreateAtomicSymbol(FindOperator(name_), static_cast<mx_uint>(keys.size()),
                                         keys.data(), values.data(), &made));
        Symbol symbol(made);
        std::vector<SymbolHandle> inputs;
        for (const Symbol &input : inputs_) {
            inputs.push_back(input.GetHandle());
        }
        for (const std::string &input : names_) {
            names.push_back(input.c_str());
        }
        const std::string given = name.empty() ? NextName() : name;
        Check(MXSymbolCompose(made, given.c_str(), static_cast<mx_uint>(inputs.size()),
                              names.empty() ? nullptr : names.data(), inputs.data()));
        return symbol;
    }

  private:
    std::string NextName() const
    {
        static thread_local std::map<std::string, int> counts;
        std::string base = name_;
        for (char &letter : base) {
            letter =
                letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
        }
        return base + std::to_string(counts[base]++);
    }

    std::string name_;
    Parameters parameters_;
    std::vector<std::string> names_;
    std::vector<Symbol> inputs_;
};

enum class ActivationActType { kRelu, kSigmoid, kSoftrelu, kSoftsign, kTanh };

inline const char *TextOf(ActivationActType type)
{
    static const char *const texts[] = {"relu", "sigmoid", "softrelu", "softsign", "tanh"};
    return texts[static_cast<int>(type)];
}

// Each with the name of its symbol first, or without one.
inline Symbol FullyConnected(const std::string &name, const Symbol &data, const Symbol &weight,
                             const Symbol &bias, int num_hidden, bool flatten = true)
{
    return Operator("FullyConnected")
        .SetParam("num_hidden", num_hidden)
        .SetParam("flatten", flatten)("data", data)("weight", weight)("bias", bias)
        .CreateSymbol(name);
}
inline Symbol FullyConnected(const Symbol &data, const Symbol &weight, const Symbol &bias,
                             int num_hidden, bool flatten = true)
{
    return FullyConnected("", data, weight, bias, num_hidden, flatten);
}

inline Symbol Activation(const std::string &name, const Symbol &data, ActivationActType act_type)
{
    return Operator("Activation")
        .SetParam("act_type", TextOf(act_type))("data", data)
        .CreateSymbol(name);
}
inline Symbol Activation(const Symbol &data, ActivationActType act_type)
{
    return Activation("", data, act_type);
}

inline Symbol SoftmaxOutput(const std::string &name, const Symbol &data, const Symbol &label)
{
    return Operator("SoftmaxOutput")("data", data)("label", label).CreateSymbol(name);
}
inline Symbol SoftmaxOutput(const Symbol &data, const Symbol &label)
{
    return SoftmaxOutput("", data, label);
}

inline Symbol operator+(const Symbol &a, const Symbol &b)
{
    return Operator("elemwise_add")(a)(b).CreateSymbol();
}
}  // namespace mxnet::cpp

#endif
