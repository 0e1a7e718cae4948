// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

namespace linnet {

/// Describes where datasets::fashion_mnist() looks, apart from its cache; tests put their own in.
struct FashionMnistSource {
  /// One of the four files. The check sum is of the unpacked content: Debian packs the same bytes
  /// without a name and a date, so its .gz files differ from the original ones.
  struct File {
    std::string name;  ///< e.g. "train-images-idx3-ubyte.gz"
    std::size_t unpacked_bytes;
    std::string sha256;
  };

  std::filesystem::path packaged;  ///< the folder of Debian's package
  std::string base_url;            ///< ends in '/'
  std::array<File, 4> files;
};

/// Returns the real one: Xiao, Rasul and Vollgraf, "Fashion-MNIST", 2017 (arXiv:1708.07747).
FashionMnistSource fashion_mnist_source();

/// Returns whether a folder has the four files, packed or not.
bool holds_fashion_mnist(const std::filesystem::path& folder);

Splits read_fashion_mnist(const std::filesystem::path& cache, const FashionMnistSource& source);

}  // namespace linnet
