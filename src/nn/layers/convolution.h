// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/functions.h>
#include <linnet/layers/conv2d.h>

#include <string>
#include <string_view>

#include "nn/builder.h"
#include "ops/conv2d/conv2d.h"

namespace linnet {

/// Returns a convolution's attributes for images x (N, H, W, C) under a kernel (height, width).
Conv2dAttrs conv_attributes(const Shape& x, Size2d kernel, const Conv2dOptions& options);

/// Returns a transposed convolution's, for images x (N, H, W, C). Throws Error naming `owner`,
/// "conv_transpose2d 'up'", for an output padding that doesn't fit and padding that leaves nothing.
Conv2dGradInputAttrs conv_transpose_attributes(std::string_view owner, const Shape& x,
                                               Size2d kernel,
                                               const ConvTranspose2dOptions& options);

/// Appends a convolution of the current images, with its weights, under the name `layer`. `kind` is
/// for errors; the settings' own name is not looked at.
void add_convolution(NetworkBuilder& builder, std::string_view kind, const std::string& layer,
                     const Conv2d& conv);

}  // namespace linnet
