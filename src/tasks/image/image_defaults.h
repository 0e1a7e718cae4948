// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <span>
#include <string>

namespace linnet {

/// Label smoothing of the default recipe for classes. With it the epoch of the lowest validation
/// loss is about as accurate as the last one; without it a confident network's loss rises before.
inline constexpr double kClassSmoothing = 0.1;

/// Returns the default network for images of this shape: a stem that reduces the shorter side to 8
/// to 16 pixels, three residual blocks, the mean over all pixels, dropout and a dense layer "fc" of
/// `outputs` units.
Network image_network(const Shape& sample, std::int64_t outputs);

/// Changes image_training(), whose optimizer suits image_network(), for other networks: AdamW.
void suit_any_network(TrainingOptions& training);

/// Returns whether mirrored images may keep their classes, as far as names tell: false where all
/// classes are single characters, or one names a side.
bool may_be_mirrored(std::span<const std::string> classes);

}  // namespace linnet
