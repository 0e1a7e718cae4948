// SPDX-License-Identifier: Apache-2.0
#include "op_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "core/half.h"

#include "backend/cpu/widen.h"
#include "graph/differentiate.h"
#include "graph/interpreter.h"
#include "op_backends.h"
#include "op_bf16.h"
#include "ops/ops.h"

namespace linnet::testing {
namespace {

using Bytes = std::vector<std::byte>;

/// FNV-1a: a seed from a name, the same on every platform.
std::uint64_t seed_of(const std::string& name) {
  std::uint64_t hash = 14695981039346656037U;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

std::vector<double> random_data(const ValueType& type, const Fill& fill, std::mt19937_64& random,
                                std::size_t records = 1) {
  std::uniform_real_distribution<double> uniform(fill.low, fill.high);
  std::vector<double> data(records * static_cast<std::size_t>(type.shape.elements()));
  for (double& x : data) {
    x = uniform(random);
    // What the device can hold exactly, so that only the kernel's own rounding is measured.
    x = type.dtype == DType::f32 ? static_cast<double>(static_cast<float>(x)) : std::floor(x);
  }
  return data;
}

Bytes to_bytes(const ValueType& type, const std::vector<double>& data) {
  Bytes bytes(size_of(type.dtype) * data.size());  // more than the type says for a data set
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto put = [&](auto value) {
      std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
    };
    switch (type.dtype) {
      case DType::f32: put(static_cast<float>(data[i])); break;
      case DType::f64: put(data[i]); break;
      case DType::i32: put(static_cast<std::int32_t>(data[i])); break;
      case DType::u8: put(static_cast<std::uint8_t>(data[i])); break;
      case DType::bf16: put(bf16_of(odd_float_of(data[i]))); break;
      case DType::f16: put(f16_of(odd_float_of(data[i]))); break;
      default: throw InternalError("no operator computes in this type");
    }
  }
  return bytes;
}

std::vector<double> to_doubles(const ValueType& type, const Bytes& bytes) {
  std::vector<double> data(static_cast<std::size_t>(type.shape.elements()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto get = [&](auto value) {
      std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
      return static_cast<double>(value);
    };
    switch (type.dtype) {
      case DType::f32: data[i] = get(float{}); break;
      case DType::f64: data[i] = get(double{}); break;
      case DType::i32: data[i] = get(std::int32_t{}); break;
      case DType::u8: data[i] = get(std::uint8_t{}); break;
      case DType::bf16:
      case DType::f16: {
        std::uint16_t half = 0;
        std::memcpy(&half, bytes.data() + i * sizeof(half), sizeof(half));
        data[i] = type.dtype == DType::bf16 ? float_of_bf16(half) : float_of_f16(half);
        break;
      }
      default: throw InternalError("no operator computes in this type");
    }
  }
  return data;
}

std::unique_ptr<Buffer> filled(const Backend& backend, const Bytes& bytes) {
  std::unique_ptr<Buffer> buffer = backend.allocate(bytes.size());
  backend.upload(*buffer, 0, bytes);
  return buffer;
}

/// Runs `graph` with `inputs` as external slots in their order; returns the bytes of `outputs`,
/// which become external too (so that the planner can't recycle them). All memory starts as NaN.
std::vector<Bytes> run_on(Backend& backend, Graph graph, const std::vector<Value>& inputs,
                          const std::vector<Bytes>& data, const std::vector<Value>& outputs,
                          const StepInfo& step, bool checked, bool aliasing,
                          std::shared_ptr<const StepExchange> exchange = nullptr) {
  std::vector<std::unique_ptr<Buffer>> operands;
  for (const Bytes& bytes : data) operands.push_back(filled(backend, bytes));
  std::vector<Buffer*> results;
  for (std::size_t i = 0; i < inputs.size(); ++i) graph.info(inputs[i]).offset = i;
  for (Value v : outputs) {
    const auto mutated = std::find(inputs.begin(), inputs.end(), v);
    if (mutated != inputs.end()) {  // an operand that the operator writes as well
      results.push_back(operands[static_cast<std::size_t>(mutated - inputs.begin())].get());
      continue;
    }
    operands.push_back(filled(backend, Bytes(graph.type(v).bytes(), std::byte{0xFF})));
    results.push_back(operands.back().get());
    if (graph.info(v).storage != Storage::arena) continue;
    graph.info(v).storage = Storage::external;
    graph.info(v).offset = operands.size() - 1;
  }
  const auto program = backend.prepare(std::move(graph), {.reuse = aliasing, .in_place = aliasing});
  verify_plan(program->plan());
  Memory memory;
  for (std::size_t s = 0; s < kStorages; ++s) {
    memory.buffers[s] = filled(backend, Bytes(program->plan().bytes[s], std::byte{0xFF}));
  }
  memory.exchange = std::move(exchange);
  program->attach(memory);
  for (std::size_t slot = 0; slot < operands.size(); ++slot) {
    program->bind(slot, operands[slot]->data());
  }
  if (checked) {
    program->run_checked(step);
  } else {
    program->run(step, 1, 0);
  }
  std::vector<Bytes> bytes;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    bytes.emplace_back(results[i]->bytes());
    backend.download(*results[i], 0, bytes.back());
  }
  return bytes;
}

bool runs_on(const TestedDevice& device, const std::vector<std::string>& devices) {
  return devices.empty() ||
         std::any_of(devices.begin(), devices.end(), [&](const std::string& part) {
           return device.name.find(part) != std::string::npos;
         });
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double scale = 1e-30;
  for (double e : expected) {
    if (std::isfinite(e)) scale = std::max(scale, std::abs(e));
  }
  std::size_t worst = 0;
  double worst_error = -1;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
    const double error = std::abs(actual[i] - expected[i]) / scale;
    if (!(error <= worst_error)) {
      worst_error = error;
      worst = i;
    }
  }
  EXPECT_FALSE(worst_error > tolerance || std::isnan(worst_error))
      << what << ": element " << worst << " is " << actual[worst] << ", expected "
      << expected[worst] << " (relative error " << worst_error << ", allowed " << tolerance << ")";
}

std::vector<Bytes> all_bytes(const Graph& graph, const std::vector<Value>& values,
                             const std::vector<std::vector<double>>& data) {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.push_back(to_bytes(graph.type(values[i]), data[i]));
  }
  return out;
}

/// Returns the sets of operands that are tried as bfloat16s, of those that may have a row for each
/// sample (if there are any): all sets of up to four, else each alone, all but each, and all.
std::vector<std::vector<bool>> stored_sets(const std::vector<ValueType>& types) {
  const auto floats_of_rank = [&](std::size_t rank) {
    std::vector<std::size_t> floats;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i].dtype == DType::f32 && types[i].shape.rank() >= rank) floats.push_back(i);
    }
    return floats;
  };
  std::vector<std::size_t> floats = floats_of_rank(2);
  if (floats.empty()) floats = floats_of_rank(0);
  std::vector<std::vector<bool>> sets;
  const auto add = [&](const auto& has) {
    sets.emplace_back(types.size(), false);
    for (std::size_t i = 0; i < floats.size(); ++i) sets.back()[floats[i]] = has(i);
  };
  if (floats.size() <= 4) {
    for (std::size_t set = 1; set < std::size_t{1} << floats.size(); ++set) {
      add([&](std::size_t i) { return (set >> i & 1U) != 0; });
    }
    return sets;
  }
  add([](std::size_t) { return true; });
  for (std::size_t one = 0; one < floats.size(); ++one) {
    add([&](std::size_t i) { return i == one; });
    add([&](std::size_t i) { return i != one; });
  }
  return sets;
}

constexpr std::array kHalves{DType::bf16, DType::f16};

/// One node whose operands and results are stored in a 16-bit type, in all ways that a device takes
/// at that precision: results are those of the reference on rounded operands, rounded where they
/// are stored so, and the same bits at any number of threads.
void check_stored(const Graph& graph, const Node& node,
                  const std::vector<std::vector<double>>& data, const StepInfo& step,
                  double tolerance, DType half) {
  const auto nearest = [half](double x) {
    return half == DType::bf16 ? nearest_bf16(x) : float_of_f16(f16_of(odd_float_of(x)));
  };
  const std::vector<ValueType> inputs = graph.types(node.inputs);
  std::vector<ValueType> all = inputs;
  for (Value v : node.outputs) all.push_back(graph.type(v));
  const auto folds = folded_weights().find(node.op->name());
  const bool has_folded = folds != folded_weights().end();
  const bool rounds = rounds_in_bf16(*node.op) || has_folded;
  for (const std::vector<bool>& set : stored_sets(all)) {
    std::vector<ValueType> types = all;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i]) types[i].dtype = half;
    }
    for (const TestedDevice& device : tested_in(half)) {
      const std::span stored(types);
      if (!device.backends[0]->supports(*node.op, stored.first(inputs.size()),
                                        stored.subspan(inputs.size()))) {
        continue;
      }
      SCOPED_TRACE(
          fmt::format("{} stored as {} on {}", node.op->name(), to_string({}, types), device.name));
      Graph own;
      std::vector<Value> operands;
      std::vector<std::vector<double>> rounded = data;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        operands.push_back(own.add_value("operand", inputs[i], Storage::external, i));
        if (!set[i] && !(rounds && i < 2)) continue;
        const bool folded = has_folded && i == 1 && device.name.find("CUDA") != std::string::npos;
        if (folded) folds->second(*node.op, rounded, nearest);
        if (!folded) std::ranges::transform(rounded[i], rounded[i].begin(), nearest);
      }
      const std::vector<Value> results = own.add(node.op, operands, node.name);
      Interpreter interpreter(own);
      for (std::size_t i = 0; i < operands.size(); ++i) interpreter[operands[i]].data = rounded[i];
      interpreter.run(step);
      // Cases of large numbers are none of f16's.
      const auto is_small = [](const std::vector<double>& values) {
        return std::ranges::all_of(values, [](double x) { return !(std::abs(x) > 65504); });
      };
      if (half == DType::f16 && (!std::ranges::all_of(rounded, is_small) ||
                                 !std::ranges::all_of(results, [&](Value result) {
                                   return is_small(interpreter[result].data);
                                 }))) {
        continue;
      }
      for (std::size_t i = 0; i < operands.size(); ++i) own.info(operands[i]).type = types[i];
      for (std::size_t i = 0; i < results.size(); ++i) {
        own.info(results[i]).type = types[inputs.size() + i];
      }
      own.verify();
      std::vector<Bytes> first;
      for (Backend* backend : device.backends) {
        const std::vector<Bytes> bytes =
            run_on(*backend, own, operands, all_bytes(own, operands, rounded), results, step,
                   first.empty(), true);
        if (first.empty()) first = bytes;
        EXPECT_EQ(bytes, first) << "other bits at " << backend->threads() << " threads";
      }
      for (std::size_t i = 0; i < results.size(); ++i) {
        const std::vector<double>& expected = interpreter[results[i]].data;
        const std::vector<double> actual = to_doubles(own.type(results[i]), first[i]);
        double largest = 1e-30;
        for (const double e : expected) largest = std::max(largest, std::abs(e));
        const bool stores = own.type(results[i]).dtype == half;
        const double of_each = !stores ? 0 : half == DType::bf16 ? 0x1p-8 : 0x1p-10;
        const double least = stores && half == DType::f16 ? 0x1p-24 : 0;  // of subnormal numbers
        for (std::size_t k = 0; k < expected.size(); ++k) {
          ASSERT_NEAR(actual[k], expected[k],
                      4 * tolerance * largest + of_each * std::abs(expected[k]) + least)
              << "element " << k << " of result " << i;
        }
      }
    }
  }
}

/// Gradients without a gradient: what linnet::gradient() refuses, with the layers whose they are.
const std::set<std::string_view> kNoSecond{
    "batch_norm_grad",   "group_norm_grad",      "recurrent_grad",
    "max_pool2d_grad",   "global_max_pool_grad", "cross_entropy_grad",
    "element_loss_grad", "row_loss_grad",        "softmax_cross_entropy_grad"};

/// Sum over outputs of <output, cotangent>, by the reference.
double project(const Graph& graph, const std::vector<Value>& inputs,
               const std::vector<std::vector<double>>& data, const std::vector<Value>& outputs,
               const std::vector<std::vector<double>>& cotangents, const StepInfo& step) {
  Interpreter interpreter(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) interpreter[inputs[i]].data = data[i];
  interpreter.run(step);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<double>& out = interpreter[outputs[i]].data;
    for (std::size_t k = 0; k < out.size(); ++k) sum += out[k] * cotangents[i][k];
  }
  return sum;
}

/// Compares the gradients of `gradients`, by what they are computed from, with central differences.
/// Gradients that refuse to be differentiated are those of kNoSecond.
void check_second(const OpCase& c, Graph graph, const std::vector<Value>& inputs,
                  const std::vector<std::vector<double>>& data, const std::vector<Value>& gradients,
                  std::mt19937_64& random) {
  const Graph first = graph;
  std::vector<Value> wrt;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (graph.type(inputs[i]).dtype != DType::f32) continue;
    wrt.push_back(inputs[i]);
    places.push_back(i);
  }
  std::vector<Value> cotangents;
  std::vector<std::vector<double>> cotangent_data;
  for (const Value v : gradients) {
    cotangents.push_back(graph.add_value("second", graph.type(v), Storage::external));
    cotangent_data.push_back(random_data(graph.type(v), {-1, 1}, random));
  }
  std::vector<Value> second;
  try {
    second = differentiate(graph, gradients, cotangents, wrt);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    const std::string name(message.substr(1, message.find(' ') - 1));
    EXPECT_TRUE(kNoSecond.contains(name)) << c.name << ": " << message;
    return;
  }
  graph.verify();
  Interpreter interpreter(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) interpreter[inputs[i]].data = data[i];
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    interpreter[cotangents[i]].data = cotangent_data[i];
  }
  interpreter.run(c.step);
  for (std::size_t w = 0; w < wrt.size(); ++w) {
    const std::size_t elements = data[places[w]].size();
    for (std::size_t k = 0; k < std::min<std::size_t>(elements, 8); ++k) {
      const std::size_t element = elements <= 8 ? k : random() % elements;
      const double h = 1e-5;
      std::vector<std::vector<double>> moved = data;
      moved[places[w]][element] += h;
      const double up = project(first, inputs, moved, gradients, cotangent_data, c.step);
      moved[places[w]][element] -= 2 * h;
      const double down = project(first, inputs, moved, gradients, cotangent_data, c.step);
      const double numeric = (up - down) / (2 * h);
      const double analytic = second[w] ? interpreter[second[w]].data[element] : 0;
      EXPECT_NEAR(analytic, numeric, 1e-5 * std::max(1.0, std::abs(numeric)))
          << c.name << ": second gradient by operand " << places[w] << " at element " << element;
    }
  }
}

void check_gradient(const OpCase& c, Graph graph, std::vector<Value> inputs,
                    std::vector<std::vector<double>> data, std::vector<Value> outputs,
                    std::mt19937_64& random) {
  const Graph forward = graph;
  std::vector<Value> wrt;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool wanted =
        i < c.differentiable.size() ? c.differentiable[i] : c.differentiable.empty();
    if (wanted && graph.type(inputs[i]).dtype == DType::f32) wrt.push_back(inputs[i]);
  }
  std::vector<Value> roots;
  std::vector<Value> cotangents;
  std::vector<std::vector<double>> cotangent_data;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Value v = outputs[i];
    if (graph.type(v).dtype != DType::f32 || (i < c.roots.size() && !c.roots[i])) continue;
    roots.push_back(v);
    cotangents.push_back(graph.add_value("cotangent", graph.type(v), Storage::external));
    cotangent_data.push_back(random_data(graph.type(v), {-1, 1}, random));
  }
  const std::vector<Value> gradients = differentiate(graph, roots, cotangents, wrt);
  graph.verify();

  for (std::size_t n = forward.nodes().size(); n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (rounds_in_bf16(*node.op)) check_bf16({c.name, node.op, graph.types(node.inputs)});
  }

  const std::size_t forward_inputs = inputs.size();
  std::vector<Value> all_inputs = inputs;
  std::vector<std::vector<double>> all_data = data;
  all_inputs.insert(all_inputs.end(), cotangents.begin(), cotangents.end());
  all_data.insert(all_data.end(), cotangent_data.begin(), cotangent_data.end());
  Interpreter interpreter(graph);
  for (std::size_t i = 0; i < all_inputs.size(); ++i) {
    interpreter[all_inputs[i]].data = all_data[i];
  }
  interpreter.run(c.step);

  for (std::size_t n = forward.nodes().size(); n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.op->is_view()) continue;
    std::vector<std::vector<double>> operands;
    for (Value v : node.inputs) operands.push_back(interpreter[v].data);
    for (const DType half : kHalves) {
      check_stored(graph, node, operands, c.step, c.tolerance, half);
    }
  }

  // A gradient that is an operand itself (identity) needs no kernel and no comparison.
  std::vector<Value> computed;
  for (std::size_t w = 0; w < wrt.size(); ++w) {
    ASSERT_TRUE(gradients[w]) << c.name << ": no gradient for input " << w;
    if (graph.producer(gradients[w]) != nullptr) computed.push_back(gradients[w]);
    const auto input =
        static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), wrt[w]) - inputs.begin());
    const std::vector<double>& analytic = interpreter[gradients[w]].data;
    const std::size_t count = std::min<std::size_t>(analytic.size(), 48);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t element = analytic.size() <= 48 ? k : random() % analytic.size();
      const double h = 1e-5;
      std::vector<std::vector<double>> moved = data;
      moved[input][element] += h;
      const double up = project(forward, inputs, moved, roots, cotangent_data, c.step);
      moved[input][element] -= 2 * h;
      const double down = project(forward, inputs, moved, roots, cotangent_data, c.step);
      const double numeric = (up - down) / (2 * h);
      EXPECT_NEAR(analytic[element], numeric, 1e-6 * std::max(1.0, std::abs(numeric)))
          << c.name << ": gradient of input " << input << " at element " << element;
    }
  }
  ASSERT_GE(all_inputs.size(), forward_inputs);
  std::sort(computed.begin(), computed.end(), [](Value a, Value b) { return a.id < b.id; });
  computed.erase(std::unique(computed.begin(), computed.end()), computed.end());
  compare_with_reference(graph, all_inputs, all_data, computed, c.tolerance, c.step, c.devices);
  if (!all_ops().is_of_networks(c.op->name())) return;  // gradient() meets no others
  check_second(c, graph, all_inputs, all_data, computed, random);
}

/// Returns whether the device has kernels for all nodes.
bool supports_all(const Backend& backend, const Graph& graph) {
  return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
    return backend.supports(*node.op, graph.types(node.inputs), graph.types(node.outputs));
  });
}

/// Compares the outputs of a graph on a CPU in double precision, where it has all kernels.
void compare_in_f64(Graph graph, const std::vector<Value>& inputs,
                    const std::vector<std::vector<double>>& data, const std::vector<Value>& outputs,
                    Interpreter& interpreter, const StepInfo& step, bool finite) {
  constexpr double kTolerance = 1e-13;
  for (const TestedDevice& device : tested_in_f64()) {
    if (!supports_all(*device.backends[0], graph)) continue;
    cpu::widen(graph);
    const std::vector<Bytes> bytes = all_bytes(graph, inputs, data);
    std::vector<Bytes> first;
    for (Backend* backend : device.backends) {
      const std::vector<Bytes> found = run_on(*backend, graph, inputs, bytes, outputs, step,
                                              finite && first.empty(), first.empty());
      if (first.empty()) first = found;
      EXPECT_EQ(found, first) << "other bits at " << backend->threads() << " threads in fp64";
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      expect_close(to_doubles(graph.type(outputs[i]), first[i]), interpreter[outputs[i]].data,
                   kTolerance, "in fp64");
    }
  }
}

}  // namespace

void compare_with_reference(const Graph& graph, const std::vector<Value>& inputs,
                            const std::vector<std::vector<double>>& data,
                            const std::vector<Value>& outputs, double tolerance,
                            const StepInfo& step, const std::vector<std::string>& devices) {
  Interpreter interpreter(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) interpreter[inputs[i]].data = data[i];
  interpreter.run(step);
  const std::vector<Bytes> bytes = all_bytes(graph, inputs, data);
  bool finite = true;  // checked runs take a NaN for an element that was not written
  for (Value v : outputs) {
    for (double x : interpreter[v].data) finite = finite && !std::isnan(x);
  }
  compare_in_f64(graph, inputs, data, outputs, interpreter, step, finite);
  for (const TestedDevice& device : tested_devices()) {
    if (!runs_on(device, devices)) continue;
    const std::vector<Bytes> first =
        run_on(*device.backends[0], graph, inputs, bytes, outputs, step, finite, true);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Node* node = graph.producer(outputs[i]);
      expect_close(to_doubles(graph.type(outputs[i]), first[i]), interpreter[outputs[i]].data,
                   tolerance,
                   std::string(node != nullptr ? node->op->name() : "operand") + " on " +
                       device.name);
    }
    for (Backend* backend : device.backends) {
      EXPECT_EQ(run_on(*backend, graph, inputs, bytes, outputs, step, false, true), first)
          << "other bits on " << device.name << " at " << backend->threads() << " threads";
    }
    EXPECT_EQ(run_on(*device.backends.back(), graph, inputs, bytes, outputs, step, false, false),
              first)
        << "other bits on " << device.name << " without aliasing";
    for (std::uint64_t seed : {1, 2}) {  // a missing barrier would show
      if (device.reorder == nullptr) break;
      device.reorder(seed);
      EXPECT_EQ(run_on(*device.backends[0], graph, inputs, bytes, outputs, step, false, true),
                first)
          << "other bits on " << device.name << " with its threads in another order";
      device.reorder(0);
    }
  }
}

void check(const OpCase& c) {
  SCOPED_TRACE(c.name + ": " + std::string(c.op->name()) + " " + to_string(c.op->attributes()));
  EXPECT_TRUE(all_ops().read(c.op->name(), c.op->attributes())->same(*c.op))
      << "the operator does not survive being written and read";

  std::mt19937_64 random(seed_of(c.name));
  Graph graph;
  std::vector<Value> inputs;
  std::vector<std::vector<double>> data;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Fill fill = c.fills.empty() ? Fill{} : c.fills[std::min(i, c.fills.size() - 1)];
    inputs.push_back(
        graph.add_value("input" + std::to_string(i), c.inputs[i], Storage::external, i));
    data.push_back(random_data(c.inputs[i], fill, random, i < c.records.size() ? c.records[i] : 1));
  }
  std::vector<Value> outputs = graph.add(c.op, inputs, c.name);
  graph.verify();
  std::vector<Value> compared = outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (c.op->mutates(i)) compared.push_back(inputs[i]);
  }
  if (c.op->is_view()) {
    // Memory of its own makes the copy kernel run.
    compare_with_reference(graph, inputs, data, compared, 0, c.step, c.devices);
  } else {
    compare_with_reference(graph, inputs, data, compared, c.tolerance, c.step, c.devices);
  }
  if (rounds_in_bf16(*c.op)) check_bf16(c);
  for (const DType half : kHalves) {
    if (c.op->is_view()) break;
    check_stored(graph, graph.nodes()[0], data, c.step, c.tolerance, half);
  }
  if (c.gradient) check_gradient(c, graph, inputs, data, outputs, random);
}

std::vector<std::vector<double>> run(const Graph& graph, const std::vector<Value>& inputs,
                                     const std::vector<std::vector<double>>& data,
                                     const std::vector<Value>& outputs, const StepInfo& step,
                                     std::shared_ptr<const StepExchange> exchange) {
  return run(*tested_cpu().backends[1], graph, inputs, data, outputs, step, false,
             std::move(exchange));
}

std::vector<std::vector<double>> run(Backend& backend, const Graph& graph,
                                     const std::vector<Value>& inputs,
                                     const std::vector<std::vector<double>>& data,
                                     const std::vector<Value>& outputs, const StepInfo& step,
                                     bool checked, std::shared_ptr<const StepExchange> exchange) {
  const std::vector<Bytes> bytes = run_on(backend, graph, inputs, all_bytes(graph, inputs, data),
                                          outputs, step, checked, true, std::move(exchange));
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    values.push_back(to_doubles(graph.type(outputs[i]), bytes[i]));
  }
  return values;
}

std::string inference_error(OpPtr op, const std::vector<ValueType>& inputs,
                            const std::string& layer) {
  Graph graph;
  std::vector<Value> values;
  for (const ValueType& type : inputs) {
    values.push_back(graph.add_value("input", type, Storage::external));
  }
  try {
    graph.add(std::move(op), values, layer);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace linnet::testing
