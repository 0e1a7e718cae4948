// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx/exporter.h"
#include "onnx/node_import.h"

namespace linnet::onnx {

/// How ONNX's operators are read, by their names, and how the network's are written, by theirs.
struct Rules {
  Operators imports;
  ExportOperators exports;

  /// Returns how a node is read; null: its operator is not.
  const Operator* import_of(const NodeProto& node) const;
};

/// Returns those of this folder and of all src/ops/NAME/NAME_onnx.cpp.
const Rules& rules();

/// Adds those of src/ops; generated.
void register_operator_rules(Rules& all);

}  // namespace linnet::onnx
