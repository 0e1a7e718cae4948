// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nn/builder.h"

namespace linnet {

/// (N, ..., F) to (N * ..., F): what acts on the last axis alone sees rows.
Value as_rows(Graph& graph, Value x, const std::string& layer);
/// Rows (N * ..., units) back to the axes of `shape`, (N, ..., any).
Value from_rows(Graph& graph, Value rows, const Shape& shape, const std::string& layer);

/// Returns a product of rows (M, F) with a weight (units, F) and a bias (units), each of
/// Storage::parameter; an empty bias is none.
Value dense_rows(Graph& graph, Value rows, Value weight, Value bias, const std::string& layer);

}  // namespace linnet
