// SPDX-License-Identifier: Apache-2.0
// Symbols: networks that are described before they run.
#ifndef MXNET_CPP_SYMBOL_H_
#define MXNET_CPP_SYMBOL_H_

#include <mxnet-cpp/ndarray.h>

namespace mxnet::cpp
{

class Executor;

enum OpReqType { kNullOp = 0, kWriteTo = 1, kWriteInplace = 2, kAddTo = 3 };

class Symbol
{
  public:
    Symbol() = default;
    // Takes the handle over.
    explicit Symbol(SymbolHandle handle) : handle_(handle, MXSymbolFree) {}
    explicit Symbol(const std::string &name) : Symbol(Variable(name)) {}
    static Symbol Variable(const std::string &name = "")
    {
        SymbolHandle made = nullptr;
        Check(MXSymbolCreateVariable(name.c_str(), &made));
        return Symbol(made);
    }
    static Symbol Load(const std::string &file_name)
    {
        SymbolHandle made = nullptr;
        Check(MXSymbolCreateFromFile(file_name.c_str(), &made));
        return Symbol(made);
    }
    static Symbol Group(const std::vector<Symbol> &symbols)
    {
        std::vector<SymbolHandle> handles;
        for (const Symbol &symbol : symbols) {
            handles.push_back(symbol.GetHandle());
        }
        SymbolHandle made = nullptr;
        Check(MXSymbolCreateGroup(static_cast<mx_uint>(handles.size()), handles.data(), &made));
        return Symbol(made);
    }

    void Save(const std::string &file_name) const
    {
        Check(MXSymbolSaveToFile(GetHandle(), file_name.c_str()));
    }
    std::string ToJSON() const
    {
        const char *json = nullptr;
        Check(MXSymbolSaveToJSON(GetHandle(), &json));
        return json;
    }
    Symbol GetInternals() const
    {
        SymbolHandle made = nullptr;
        Check(MXSymbolGetInternals(GetHandle(), &made));
        return Symbol(made);
    }
    std::vector<std::string> ListArguments() const { return List(MXSymbolListArguments); }
    std::vector<std::string> ListOutputs() const { return List(MXSymbolListOutputs); }
    std::vector<std::string> ListAuxiliaryStates() const
    {
        return List(MXSymbolListAuxiliaryStates);
    }

    // Shapes of arguments, auxiliary states and outputs from those that are known.
    void InferShape(const std::map<std::string, std::vector<mx_uint>> &known,
                    std::vector<std::vector<mx_uint>> *arguments,
                    std::vector<std::vector<mx_uint>> *auxiliary,
                    std::vector<std::vector<mx_uint>> *outputs) const;
    // Arrays for all arguments: those of `known_args`, others drawn from N(0, 1).
    void InferArgsMap(const Context &context, std::map<std::string, NDArray> *args_map,
                      const std::map<std::string, NDArray> &known_args) const;
    // An executor on the arrays of `args_map`, new ones for what lacks. The caller deletes it.
    Executor *SimpleBind(const Context &context, const std::map<std::string, NDArray> &args_map,
                         const std::map<std::string, NDArray> &arg_grad_store = {},
                         const std::map<std::string, OpReqType> &grad_req_type = {},
                         const std::map<std::string, NDArray> &aux_map = {}) const;

    SymbolHandle GetHandle() const { return handle_.get(); }

  private:
    std::vector<std::string> List(int (*function)(SymbolHandle, mx_uint *, const char ***)) const
    {
        mx_uint count = 0;
        const char **names = nullptr;
        Check(function(GetHandle(), &count, &names));
        return std::vector<std::string>(names, names + count);
    }

    std::shared_ptr<void> handle_;
};

inline void Symbol::InferShape(const std::map<std::string, std::vector<mx_uint>> &known,
                               std::vector<std::vector<mx_uint>> *arguments,
                               std::vector<std::vector<mx_uint>> *auxiliary,
                               std::vector<std::vector<mx_uint>> *outputs) const
{
    std::vector<const char *> keys;
    std::vector<mx_uint> begins{0};
    std::vector<int> sizes;
    for (const auto &pair : known) {
        keys.push_back(pair.first.c_str());
        sizes.insert(sizes.end(), pair.second.begin(), pair.second.end());
        begins.push_back(static_cast<mx_uint>(sizes.size()));
    }
    mx_uint counts[3] = {0, 0, 0};
    const int *dimensions[3] = {nullptr, nullptr, nullptr};
    const int **lists[3] = {nullptr, nullptr, nullptr};
    int complete = 0;
    Check(MXSymbolInferShape(GetHandle(), static_cast<mx_uint>(keys.size()), keys.data(),
                             begins.data(), sizes.data(), &counts[0], &dimensions[0], &lists[0],
                             &counts[1], &dimensions[1], &lists[1], &counts[2], &dimensions[2],
                             &lists[2], &complete));
    if (complete == 0) {
        throw Error("The shapes that are given do not say those of all arguments");
    }
    std::vector<std::vector<mx_uint>> *results[3] = {arguments, outputs, auxiliary};
    for (int i = 0; i < 3; i++) {
        results[i]->clear();
        for (mx_uint at = 0; at < counts[i]; at++) {
            results[i]->emplace_back(lists[i][at], lists[i][at] + dimensions[i][at]);
        }
    }
}

inline void Symbol::InferArgsMap(const Context &context, std::map<std::string, NDArray> *args_map,
                                 const std::map<std::string, NDArray> &known_args) const
{
    std::map<std::string, std::vector<mx_uint>> known;
    const std::vector<std::string> names = ListArguments();
    for (const std::string &name : names) {
        const auto found = known_args.find(name);
        if (found != known_args.end()) {
            known[name] = found->second.GetShape();
        }
    }
    std::vector<std::vector<mx_uint>> arguments, auxiliary, outputs;
    InferShape(known, &arguments, &auxiliary, &outputs);
    for (size_t i = 0; i < names.size(); i++) {
        const auto found = known_args.find(names[i]);
        NDArray &array = (*args_map)[names[i]];
        if (found != known_args.end()) {
            array = found->second;
        } else {
            array = NDArray(Shape(arguments[i]), context, false);
            Invoke("_random_normal", {}, Parameters(), {array});
        }
    }
}

}  // namespace mxnet::cpp

#endif
