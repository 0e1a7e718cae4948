// SPDX-License-Identifier: Apache-2.0
#include "datasets/fashion_mnist.h"

#include <linnet/datasets.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "datasets/download.h"
#include "datasets/mnist.h"
#include "formats/checksum.h"
#include "formats/gzip.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

Splits load_from(const fs::path& folder) {
  Splits splits = load_mnist(folder);
  for (Dataset* part : {&splits.train, &splits.test}) {
    DatasetInfo info = part->info();
    info.name = "fashion-mnist";
    info.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    part->set_info(std::move(info));
    part->check_labels();
  }
  return splits;
}

bool holds_all(const fs::path& folder, const FashionMnistSource& source) {
  return std::all_of(source.files.begin(), source.files.end(), [&](const auto& file) {
    return is_file(folder / file.name) || is_file(folder / fs::path(file.name).stem());
  });
}

/// Downloads one file and puts it into the cache only once its content is known to be right.
void fetch(const FashionMnistSource::File& file, const std::string& base_url,
           const fs::path& cache) {
  const std::string url = base_url + file.name;
  // A gzip file is never much larger than what it holds; this allows for stored blocks.
  const std::string packed = download(url, file.unpacked_bytes + (std::size_t{1} << 16));
  const std::string content = gunzip(packed, url, file.unpacked_bytes + 1);
  const std::string found = sha256(content);
  require<DataError>(found == file.sha256,
                     "'{}' is not the expected file: its SHA-256 is {}; expected {}", url, found,
                     file.sha256);
  write_file_atomically(cache / file.name, packed);
}

void fill(const fs::path& cache, const FashionMnistSource& source) {
  require(!cache.empty(), "no folder for downloads is set");
  std::error_code error;
  fs::create_directories(cache, error);
  require(!error, "cannot create '{}': {}", cache.string(), error.message());
  for (const FashionMnistSource::File& file : source.files) {
    if (!is_file(cache / file.name)) fetch(file, source.base_url, cache);
  }
}

}  // namespace

FashionMnistSource fashion_mnist_source() {
  return {.packaged = "/usr/share/datasets/fashion-mnist",
          .base_url = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
          .files = {{
              {"train-images-idx3-ubyte.gz", 47040016,
               "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
              {"train-labels-idx1-ubyte.gz", 60008,
               "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
              {"t10k-images-idx3-ubyte.gz", 7840016,
               "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
              {"t10k-labels-idx1-ubyte.gz", 10008,
               "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
          }}};
}

bool holds_fashion_mnist(const fs::path& folder) {
  return holds_all(folder, fashion_mnist_source());
}

Splits read_fashion_mnist(const fs::path& cache, const FashionMnistSource& source) {
  if (!cache.empty() && holds_all(cache, source)) return load_from(cache);
  if (holds_all(source.packaged, source)) return load_from(source.packaged);
  try {
    fill(cache, source);
  } catch (const Error& error) {
    fail<DataError>(
        "cannot find Fashion-MNIST: neither '{}' nor '{}' (Debian's package dataset-fashion-mnist) "
        "holds it, and {}; the data set 'digits' needs no files",
        cache.string(), source.packaged.string(), error.what());
  }
  return load_from(cache);
}

Splits datasets::fashion_mnist(const fs::path& cache) {
  return read_fashion_mnist(cache, fashion_mnist_source());
}

}  // namespace linnet
