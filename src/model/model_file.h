// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstddef>
#include <span>

namespace linnet {

/// Returns the model of the bytes of a file that Model::save() wrote, which are only used during
/// the call. Throws as Model::load() does.
Model load_model(std::span<const std::byte> bytes, ModelOptions options = {});

}  // namespace linnet
