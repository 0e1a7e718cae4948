// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

namespace linnet {

/// Returns whether a model predicts the next token of a text from the ids before it: ids (T) that
/// an embedding of V rows reads become (T, V), and the V classes have names, which are the tokens.
bool is_language_model(const Model& model);

}  // namespace linnet
