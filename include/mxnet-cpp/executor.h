// SPDX-License-Identifier: Apache-2.0
// Executors: symbols with arrays for their variables, run forwards and backwards.
#ifndef MXNET_CPP_EXECUTOR_H_
#define MXNET_CPP_EXECUTOR_H_

#include <mxnet-cpp/symbol.h>

namespace mxnet::cpp
{

class Executor
{
  public:
    // Arrays in the order of ListArguments and ListAuxiliaryStates.
    Executor(const Symbol &symbol, const Context &context, const std::vector<NDArray> &arguments,
             const std::vector<NDArray> &gradients, const std::vector<OpReqType> &requests,
             const std::vector<NDArray> &auxiliary)
        : arg_arrays(arguments), grad_arrays(gradients), aux_arrays(auxiliary), symbol_(symbol)
    {
        std::vector<NDArrayHandle> args = Handles(arg_arrays), states = Handles(aux_arrays);
        std::vector<NDArrayHandle> grads = Handles(grad_arrays);
        std::vector<mx_uint> how(requests.begin(), requests.end());
        ExecutorHandle made = nullptr;
        Check(MXExecutorBindEX(symbol.GetHandle(), context.GetDeviceType(), context.GetDeviceId(),
                               0, nullptr, nullptr, nullptr, static_cast<mx_uint>(args.size()),
                               args.data(), grads.data(), how.data(),
                               static_cast<mx_uint>(states.size()), states.data(), nullptr, &made));
        handle_ = std::shared_ptr<void>(made, MXExecutorFree);
        UpdateOutputs();
    }

    // Does not wait; `outputs` are those of this run.
    void Forward(bool is_train)
    {
        Check(MXExecutorForward(handle_.get(), is_train));
        UpdateOutputs();
    }
    // Gradients of the outputs; none: those of losses.
    void Backward(const std::vector<NDArray> &head_gradients = {})
    {
        std::vector<NDArrayHandle> heads = Handles(head_gradients);
        Check(MXExecutorBackwardEx(handle_.get(), static_cast<mx_uint>(heads.size()), heads.data(),
                                   1));
    }
    std::map<std::string, NDArray> arg_dict() const
    {
        return Named(symbol_.ListArguments(), arg_arrays);
    }
    std::map<std::string, NDArray> grad_dict() const
    {
        return Named(symbol_.ListArguments(), grad_arrays);
    }
    std::map<std::string, NDArray> aux_dict() const
    {
        return Named(symbol_.ListAuxiliaryStates(), aux_arrays);
    }

    std::vector<NDArray> arg_arrays, grad_arrays, aux_arrays, outputs;

  private:
    static std::vector<NDArrayHandle> Handles(const std::vector<NDArray> &arrays)
    {
        std::vector<NDArrayHandle> handles;
        for (const NDArray &array : arrays) {
            handles.push_back(array.GetHandle());
        }
        return handles;
    }
    static std::map<std::string, NDArray> Named(const std::vector<std::string> &names,
                                                const std::vector<NDArray> &arrays)
    {
        std::map<std::string, NDArray> named;
        for (size_t i = 0; i < names.size(); i++) {
            named[names[i]] = arrays[i];
        }
        return named;
    }
    void UpdateOutputs()
    {
        mx_uint count = 0;
        NDArrayHandle *list = nullptr;
        Check(MXExecutorOutputs(handle_.get(), &count, &list));
        outputs.clear();
        for (mx_uint i = 0; i < count; i++) {
            outputs.emplace_back(list[i]);
        }
    }

    Symbol symbol_;
    std::shared_ptr<void> handle_;
};

inline Executor *Symbol::SimpleBind(const Context &context,
                                    const std::map<std::string, NDArray> &args_map,
                                    const std::map<std::string, NDArray> &arg_grad_store,
                                    const std::map<std::string, OpReqType> &grad_req_type,
                                    const std::map<std::string, NDArray> &aux_map) const
{
    std::map<std::string, NDArray> args = args_map;
    InferArgsMap(context, &args, args_map);
    std::map<std::string, std::vector<mx_uint>> known;
    std::vector<NDArray> arguments, gradients, states;
    std::vector<OpReqType> requests;
    for (const std::string &name : ListArguments()) {
        const auto gradient = arg_grad_store.find(name);
        const auto request = grad_req_type.find(name);
        const Shape shape = args[name].GetShapeOf();
        known[name] = shape;
        arguments.push_back(args[name]);
        gradients.push_back(gradient != arg_grad_store.end() ? gradient->second
                                                             : NDArray(shape, context, false));
        requests.push_back(request != grad_req_type.end() ? request->second : kWriteTo);
    }
    const std::vector<std::string> names = ListAuxiliaryStates();
    std::vector<std::vector<mx_uint>> shapes, state_shapes, outputs;
    if (!names.empty()) {
        InferShape(known, &shapes, &state_shapes, &outputs);
    }
    for (size_t i = 0; i < names.size(); i++) {
        const auto state = aux_map.find(names[i]);
        states.push_back(state != aux_map.end()
                             ? state->second
                             : NDArray(std::vector<mx_float>(Shape(state_shapes[i]).Size()),
                                       Shape(state_shapes[i]), context));
    }
    return new Executor(*this, context, arguments, gradients, requests, states);
}

}  // namespace mxnet::cpp

#endif
