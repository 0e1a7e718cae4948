// SPDX-License-Identifier: Apache-2.0
#include "onnx/rules.h"

namespace linnet::onnx {

const Operator* Rules::import_of(const NodeProto& node) const {
  const auto found = is_of_onnx(node)
                         ? imports.find(node.op_type)
                         : imports.find(fmt::format("{}.{}", node.domain, node.op_type));
  return found == imports.end() ? nullptr : &found->second;
}

const Rules& rules() {
  static const Rules kAll = [] {
    Rules all;
    add_elementwise(all.imports);
    add_shapes(all.imports);
    add_parts(all.imports);
    add_images(all.imports);
    add_pools(all.imports);
    add_resize(all.imports);
    add_norms(all.imports);
    add_products(all.imports);
    add_recurrent(all.imports);
    add_learned(all.imports);
    add_vector_machines(all.imports);
    add_trees(all.imports);
    add_attention(all.imports);
    add_places(all.imports);
    add_quantized(all.imports);
    add_grid(all.imports);
    add_neighbours(all.imports);
    add_elementwise_export(all.exports);
    add_gradient_export(all.exports);
    add_image_export(all.exports);
    add_product_export(all.exports);
    add_sequence_export(all.exports);
    register_operator_rules(all);
    return all;
  }();
  return kAll;
}

}  // namespace linnet::onnx
