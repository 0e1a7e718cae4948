// SPDX-License-Identifier: Apache-2.0
#include "graph/interpreter.h"

#include <limits>

#include "core/half.h"

namespace linnet {

Interpreter::Interpreter(const Graph& graph) : graph_(graph), tensors_(graph.value_count()) {
  for (std::size_t id = 0; id < tensors_.size(); ++id) {
    const ValueInfo& info = graph.info(Value{static_cast<int>(id)});
    const double fill =
        info.storage == Storage::constant ? info.fill : std::numeric_limits<double>::quiet_NaN();
    tensors_[id].shape = info.type.shape;
    tensors_[id].data = info.elements;
    tensors_[id].data.resize(static_cast<std::size_t>(info.type.shape.elements()), fill);
  }
}

ReferenceTensor& Interpreter::operator[](Value value) {
  return tensors_.at(static_cast<std::size_t>(value.id));
}

void Interpreter::run(const StepInfo& step) {
  for (const Node& node : graph_.nodes()) {
    std::vector<ReferenceTensor*> inputs;
    std::vector<ReferenceTensor*> outputs;
    for (Value v : node.inputs) inputs.push_back(&(*this)[v]);
    for (Value v : node.outputs) {
      outputs.push_back(&(*this)[v]);
      outputs.back()->data.assign(outputs.back()->data.size(),
                                  std::numeric_limits<double>::quiet_NaN());
    }
    node.op->reference({inputs, outputs, step});
    for (Value v : node.outputs) {
      const DType stored = graph_.type(v).dtype;
      if (stored != DType::bf16 && stored != DType::f16) continue;
      for (double& x : (*this)[v].data) {
        const float once = odd_float_of(x);
        x = stored == DType::bf16 ? float_of_bf16(bf16_of(once)) : float_of_f16(f16_of(once));
      }
    }
  }
}

}  // namespace linnet
