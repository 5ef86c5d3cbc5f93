// SPDX-License-Identifier: Apache-2.0
// A front end that knows no operator beforehand: it asks the library which there are and what they
// take, builds a network out of what it was told, and trains it on two classes of points. The C
// functions alone; no generated header, no wrapper.
//
// Prints the operators it uses, then the loss of each step; leaves discover.json.
#include <mxnet/c_api.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{

constexpr int kCpu = 1, kFloat = 0, kRows = 64, kColumns = 2, kClasses = 2, kSteps = 60;

void check(int result)
{
    if (result != 0) {
        throw std::runtime_error(MXGetLastError());
    }
}

// ---- what the library tells -------------------------------------------------------------------
struct Operator {
    AtomicSymbolCreator creator = nullptr;
    std::string key_of_count;  // "num_args", or "": fixed inputs
    std::vector<std::string> inputs;  // names, in order
    std::map<std::string, std::string> parameter_types;  // by name
};

using Settings = std::map<std::string, std::string>;

Operator ask(AtomicSymbolCreator creator, std::string *name)
{
    const char *text = nullptr, *about = nullptr, *key = nullptr, *returned = nullptr;
    const char **names = nullptr, **types = nullptr, **texts = nullptr;
    mx_uint count = 0;
    check(MXSymbolGetAtomicSymbolInfo(creator, &text, &about, &count, &names, &types, &texts, &key,
                                      &returned));
    Operator found;
    found.creator = creator;
    found.key_of_count = key;
    for (mx_uint i = 0; i < count; i++) {
        const std::string type = types[i];
        if (type.rfind("NDArray", 0) == 0 || type.rfind("Symbol", 0) == 0) {
            found.inputs.push_back(names[i]);
        } else {
            found.parameter_types[names[i]] = type;
        }
    }
    *name = text;
    return found;
}

std::map<std::string, Operator> discover()
{
    mx_uint count = 0;
    AtomicSymbolCreator *creators = nullptr;
    check(MXSymbolListAtomicSymbolCreators(&count, &creators));
    std::map<std::string, Operator> all;
    for (mx_uint i = 0; i < count; i++) {
        std::string name;
        Operator found = ask(creators[i], &name);
        if (!all.emplace(name, std::move(found)).second) {
            throw std::runtime_error("listed twice: " + name);
        }
    }
    return all;
}

// Whether an operator takes the value, by the type's text alone.
bool fits(const std::string &type, const std::string &value)
{
    if (type[0] == '{') {
        const std::string choices = type.substr(0, type.find('}'));
        return choices.find("'" + value + "'") != std::string::npos;
    }
    const bool number = value.find_first_not_of("0123456789.-") == std::string::npos;
    const bool whole = number && value.find('.') == std::string::npos;
    return type.rfind("int", 0) == 0 || type.rfind("long", 0) == 0 ? whole
           : type.rfind("float", 0) == 0                           ? number
                                                                   : true;
}

class Catalog
{
  public:
    Catalog() : all_(discover())
    {
    }

    size_t size() const
    {
        return all_.size();
    }

    // All settings are parameters of the operator, and all it requires are among them.
    const Operator &find(const std::string &name, const Settings &settings) const
    {
        const auto at = all_.find(name);
        if (at == all_.end()) {
            throw std::runtime_error("not found: " + name);
        }
        for (const auto &[key, value] : settings) {
            const auto type = at->second.parameter_types.find(key);
            if (type == at->second.parameter_types.end() || !fits(type->second, value)) {
                throw std::runtime_error(name + " takes no " + key + "=" + value);
            }
        }
        for (const auto &[key, type] : at->second.parameter_types) {
            const bool counted = key == at->second.key_of_count;
            if (type.find("required") != std::string::npos && settings.count(key) == 0 &&
                !counted) {
                throw std::runtime_error(name + " requires " + key);
            }
        }
        return at->second;
    }

  private:
    std::map<std::string, Operator> all_;
};

struct Pairs {
    std::vector<const char *> keys, values;
    explicit Pairs(const Settings &settings)
    {
        for (const auto &[key, value] : settings) {
            keys.push_back(key.c_str());
            values.push_back(value.c_str());
        }
    }
};

// ---- the network ------------------------------------------------------------------------------
using Symbol = std::shared_ptr<void>;
using Array = std::shared_ptr<void>;

Symbol own_symbol(SymbolHandle handle)
{
    return Symbol(handle, MXSymbolFree);
}

Symbol variable(const char *name)
{
    SymbolHandle made = nullptr;
    check(MXSymbolCreateVariable(name, &made));
    return own_symbol(made);
}

// Inputs of a fixed operator go in by the names it has told, those of one with a count by position;
// what is left out becomes variables.
Symbol compose(const Catalog &catalog, const std::string &op, const char *name, Settings settings,
               const std::vector<Symbol> &inputs)
{
    const Operator &found = catalog.find(op, settings);
    const bool counted = !found.key_of_count.empty();
    std::vector<const char *> names;
    std::vector<SymbolHandle> handles;
    for (size_t i = 0; i < inputs.size(); i++) {
        handles.push_back(inputs[i].get());
        names.push_back(counted ? nullptr : found.inputs.at(i).c_str());
    }
    if (counted) {
        settings[found.key_of_count] = std::to_string(inputs.size());
    }
    Pairs pairs(settings);
    SymbolHandle made = nullptr;
    check(MXSymbolCreateAtomicSymbol(found.creator, mx_uint(pairs.keys.size()), pairs.keys.data(),
                                     pairs.values.data(), &made));
    Symbol symbol = own_symbol(made);
    check(MXSymbolCompose(made, name, mx_uint(handles.size()), counted ? nullptr : names.data(),
                          handles.data()));
    std::printf("uses %s of %zu inputs, %zu parameters%s%s\n", op.c_str(), found.inputs.size(),
                found.parameter_types.size(), counted ? ", counted by " : "",
                found.key_of_count.c_str());
    return symbol;
}

// Two branches, joined by an operator that takes any number of inputs.
Symbol network(const Catalog &catalog)
{
    const Symbol data = variable("data");
    std::vector<Symbol> branches;
    for (const char *kind : {"relu", "tanh"}) {
        const std::string name = std::string(kind) + "_dense";
        Symbol hidden =
            compose(catalog, "FullyConnected", name.c_str(), {{"num_hidden", "8"}}, {data});
        branches.push_back(compose(catalog, "Activation", kind, {{"act_type", kind}}, {hidden}));
    }
    Symbol joined = compose(catalog, "Concat", "join", {{"dim", "1"}}, branches);
    Symbol out = compose(catalog, "FullyConnected", "out", {{"num_hidden", "2"}}, {joined});
    return compose(catalog, "SoftmaxOutput", "loss", {{"normalization", "batch"}},
                   {out, variable("label")});
}

// ---- training ---------------------------------------------------------------------------------
Array own_array(NDArrayHandle handle)
{
    return Array(handle, MXNDArrayFree);
}

Array make_array(const int *shape, int rank)
{
    NDArrayHandle made = nullptr;
    const std::vector<mx_uint> sizes(shape, shape + rank);
    check(MXNDArrayCreate(sizes.data(), mx_uint(rank), kCpu, 0, 0, kFloat, &made));
    return own_array(made);
}

// An operator that writes to `output`.
void run(const Catalog &catalog, const std::string &op, const Settings &settings,
         std::vector<NDArrayHandle> inputs, NDArrayHandle output)
{
    const Operator &found = catalog.find(op, settings);
    Pairs pairs(settings);
    NDArrayHandle *outputs = &output;
    int count = 1;
    check(MXImperativeInvoke(found.creator, int(inputs.size()), inputs.data(), &count, &outputs,
                             int(pairs.keys.size()), pairs.keys.data(), pairs.values.data(),
                             nullptr));
}

struct Trained {
    std::vector<std::string> names;
    std::vector<Array> arguments, gradients;  // no gradient of data and labels
    ExecutorHandle executor = nullptr;

    Trained() = default;
    Trained(const Trained &) = delete;
    Trained &operator=(const Trained &) = delete;
    ~Trained()
    {
        MXExecutorFree(executor);
    }
};

void make_arguments(const Catalog &catalog, SymbolHandle symbol, Trained *t)
{
    const char **names = nullptr, *given[] = {"data", "label"};
    const mx_uint begins[] = {0, 2, 3};
    const int sizes[] = {kRows, kColumns, kRows};
    mx_uint counts[3], count = 0;
    const int *ranks[3], **shapes[3];
    int complete = 0;
    check(MXSymbolListArguments(symbol, &count, &names));
    t->names.assign(names, names + count);
    check(MXSymbolInferShape(symbol, 2, given, begins, sizes, &counts[0], &ranks[0], &shapes[0],
                             &counts[1], &ranks[1], &shapes[1], &counts[2], &ranks[2], &shapes[2],
                             &complete));
    for (mx_uint i = 0; i < count; i++) {
        const bool learned = t->names[i] != "data" && t->names[i] != "label";
        t->arguments.push_back(make_array(shapes[0][i], ranks[0][i]));
        t->gradients.push_back(learned ? make_array(shapes[0][i], ranks[0][i]) : nullptr);
        if (learned) {
            run(catalog, "_random_uniform", {{"low", "-0.5"}, {"high", "0.5"}}, {},
                t->arguments.back().get());
        }
    }
}

void bind(const Catalog &catalog, SymbolHandle symbol, Trained *t)
{
    make_arguments(catalog, symbol, t);
    std::vector<NDArrayHandle> arguments, gradients;
    std::vector<mx_uint> requests;
    for (size_t i = 0; i < t->names.size(); i++) {
        arguments.push_back(t->arguments[i].get());
        gradients.push_back(t->gradients[i].get());
        requests.push_back(t->gradients[i] != nullptr);
    }
    check(MXExecutorBind(symbol, kCpu, 0, mx_uint(arguments.size()), arguments.data(),
                         gradients.data(), requests.data(), 0, nullptr, &t->executor));
}

// Points of a square; the class is whether both coordinates have one sign.
std::vector<float> fill(const Trained &t)
{
    std::vector<float> points, classes;
    for (int i = 0; i < kRows; i++) {
        const float x = float(i % 8) - 3.5f, y = float(i / 8) - 3.5f;
        points.insert(points.end(), {x / 2, y / 2});
        classes.push_back(x * y > 0 ? 1.0f : 0.0f);
    }
    for (size_t i = 0; i < t.names.size(); i++) {
        if (t.names[i] == "data") {
            check(MXNDArraySyncCopyFromCPU(t.arguments[i].get(), points.data(), points.size()));
        } else if (t.names[i] == "label") {
            check(MXNDArraySyncCopyFromCPU(t.arguments[i].get(), classes.data(), classes.size()));
        }
    }
    return classes;
}

double loss_of(const Trained &t, const std::vector<float> &classes)
{
    mx_uint count = 0;
    NDArrayHandle *outputs = nullptr;
    check(MXExecutorOutputs(t.executor, &count, &outputs));
    const Array output = own_array(outputs[0]);
    std::vector<float> chances(size_t(kRows) * kClasses);
    check(MXNDArraySyncCopyToCPU(output.get(), chances.data(), chances.size()));
    double sum = 0;
    for (size_t i = 0; i < classes.size(); i++) {
        sum -= std::log(double(chances[i * kClasses + size_t(classes[i])]));
    }
    return sum / kRows;
}

void train(const Catalog &catalog, const Trained &t)
{
    const std::vector<float> classes = fill(t);
    for (int step = 0; step < kSteps; step++) {
        check(MXExecutorForward(t.executor, 1));
        check(MXExecutorBackward(t.executor, 0, nullptr));
        std::printf("step %d loss %.6f\n", step, loss_of(t, classes));
        for (size_t i = 0; i < t.names.size(); i++) {
            if (t.gradients[i] != nullptr) {
                run(catalog, "sgd_update", {{"lr", "0.5"}},
                    {t.arguments[i].get(), t.gradients[i].get()}, t.arguments[i].get());
            }
        }
    }
    check(MXNDArrayWaitAll());
}

void profiled()
{
    const char *keys[] = {"profile_all", "filename"}, *values[] = {"1", "discover.json"};
    check(MXSetProfilerConfig(2, keys, values));
    check(MXSetProfilerState(1));
    const Catalog catalog;
    std::printf("operators %zu\n", catalog.size());
    const Symbol symbol = network(catalog);
    {
        Trained trained;
        check(MXRandomSeed(7));
        bind(catalog, symbol.get(), &trained);
        train(catalog, trained);
    }
    check(MXDumpProfile(1));
}

}  // namespace

int main()
{
    try {
        profiled();
        return MXNotifyShutdown() == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "discover: %s\n", error.what());
        return 1;
    }
}
