// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Says which convolution whiten() sets, and from which samples.
struct Whiten {
  std::string layer = {};  ///< name of a Conv2d; empty: none
  /// Samples whose patches are used, evenly spaced in the data set, at least 1; all where it has
  /// fewer.
  std::int64_t samples = 5000;
  /// Added to each variance, in the input's unit squared, above 0: directions of smaller variance
  /// are amplified less.
  double epsilon = 5e-4;
};

/// Sets the weights of a convolution so that its outputs are uncorrelated, each of variance 1: of
/// the K = kernel height * kernel width * channels filters, filter i is eigenvector i of the
/// covariance of the patches that the layer sees, divided by sqrt(eigenvalue + epsilon), the
/// largest eigenvalue first. The next K filters are their negatives, for an activation after the
/// layer; further ones and the bias stay. Patches are those of the layer's stride and dilation that
/// lie inside the image, after the layers before it (Jordan, "94% on CIFAR-10 in 3.29 seconds on a
/// single GPU", 2024). Computed in double precision: equal data give equal bits on any number of
/// threads. Waits. Throws Error naming the layer for one that is no Conv2d or has groups, fewer
/// than 2 K filters or no patch inside the image; DataError for data without samples, that do not
/// fit the network, or whose patches are not finite or all the same.
void whiten(Model& model, const Dataset& data, const Whiten& how);

}  // namespace linnet
LINNET_API_END
