// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "graph/graph.h"

namespace linnet::testing {

struct FakeAttrs {
  std::int64_t outputs = 1;
  std::int64_t elements = 0;  ///< of each output; 0: as many as input 0 has
  bool view = false;
  std::int64_t in_place = 0;   ///< how many inputs may be taken over: the last of these, else ...
  std::int64_t workspace = 0;  ///< floats
  /// What its kernel leaves out: "", "last element", "workspace" or "scratch" (read unwritten).
  std::string fault = "";
  template <class V>
  void fields(V&& visit) {
    visit("outputs", outputs);
    visit("elements", elements);
    visit("view", view);
    visit("in_place", in_place);
    visit("workspace", workspace);
    visit("fault", fault);
  }
  bool operator==(const FakeAttrs&) const = default;
};

/// An operator of any number of f32 inputs that does to memory what its attributes say:
/// output j [i] = sum over inputs of input[i mod its size] / 2 + j; a view's output is its input.
class FakeOp final : public OpBase<FakeOp, FakeAttrs> {
 public:
  static constexpr std::string_view kName = "fake";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override {
    ValueType type = inputs[0];
    if (attrs().elements > 0) type.shape = {attrs().elements};
    return std::vector<ValueType>(static_cast<std::size_t>(attrs().outputs), type);
  }
  void reference(const ReferenceArgs& /*args*/) const override {}
  bool is_view() const override { return attrs().view; }
  std::vector<int> in_place() const override {
    std::vector<int> inputs;
    for (auto i = static_cast<int>(attrs().in_place); i > 0; --i) inputs.push_back(i - 1);
    return inputs;
  }
};

inline std::vector<Value> add_fake(Graph& graph, FakeAttrs attrs, std::vector<Value> inputs,
                                   std::string name) {
  return graph.add(std::make_shared<FakeOp>(std::move(attrs)), std::move(inputs), std::move(name));
}

inline Value add_fake_one(Graph& graph, FakeAttrs attrs, std::vector<Value> inputs,
                          std::string name) {
  return add_fake(graph, std::move(attrs), std::move(inputs), std::move(name)).at(0);
}

inline ValueType floats(std::int64_t elements) { return {DType::f32, {elements}}; }

/// Bytes of workspace as the CPU's kernel of the operator wants them.
inline std::size_t fake_workspace(const Node& node) {
  const auto& op = dynamic_cast<const FakeOp&>(*node.op);
  return static_cast<std::size_t>(op.attrs().workspace) * sizeof(float);
}

/// A CPU whose only operator is FakeOp.
cpu::CpuBackend fake_backend(int threads);

/// A program with the memory that it was given.
struct PreparedFake {
  Memory memory;
  std::unique_ptr<Program> program;
  Program* operator->() const { return program.get(); }
};

/// Prepares `graph` on it, gives the program memory full of NaN, and binds external slot i to
/// external[i].
PreparedFake prepare_fake(cpu::CpuBackend& backend, Graph graph, const PlanOptions& options,
                          std::vector<std::vector<float>>& external);

}  // namespace linnet::testing
