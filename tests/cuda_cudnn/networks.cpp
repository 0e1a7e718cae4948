// SPDX-License-Identifier: Apache-2.0
#include "cuda_cudnn/networks.h"

namespace linnet::cuda {
namespace {

using Direction = CudnnConvolution::Direction;
using Tail = CudnnConvolution::Tail;

/// A square convolution with `pad` zeros on every side.
CudnnConvolution square(std::int64_t n, std::int64_t size, std::int64_t c, std::int64_t co,
                        std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  CudnnConvolution conv;
  conv.n = n;
  conv.h = conv.w = size;
  conv.c = c;
  conv.co = co;
  conv.kh = conv.kw = kernel;
  conv.stride_h = conv.stride_w = stride;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = pad;
  conv.oh = conv.ow = (size + 2 * pad - kernel) / stride + 1;
  return conv;
}

class Rows {
 public:
  /// The plain graphs; the input gradient is left out for a network's first convolution.
  void add(const std::string& name, CudnnConvolution conv, bool first = false) {
    put(name + " forward", conv);
    conv.direction = Direction::grad_weight;
    put(name + " grad_weight", conv);
    if (first) return;
    conv.direction = Direction::grad_input;
    put(name + " grad_input", conv);
  }
  void add_fused(const std::string& name, CudnnConvolution conv) {
    conv.bias = true;
    put(name + " forward+bias", conv);
    conv.tail = Tail::relu;
    put(name + " forward+bias+relu", conv);
  }
  void add_tail(const std::string& name, CudnnConvolution conv, Tail tail) {
    conv.bias = true;
    conv.tail = tail;
    put(name, conv);
  }

  std::vector<Row> rows;

 private:
  void put(const std::string& name, const CudnnConvolution& problem) {
    rows.push_back({name, problem});
  }
};

void add_resnet50(Rows& rows, const std::string& name, std::int64_t n, std::int64_t size) {
  rows.add(name + " stem", square(n, size, 3, 64, 7, 2, 3), true);
  size /= 4;  // the stem, and the pool after it
  std::int64_t in = 64;
  for (int stage = 1; stage <= 4; ++stage) {
    const std::int64_t width = std::int64_t{32} << stage;
    const std::int64_t stride = stage == 1 ? 1 : 2;
    const std::string prefix = name + " stage" + std::to_string(stage);
    const std::int64_t out_size = size / stride;
    rows.add(prefix + ".conv1 first", square(n, size, in, width, 1, 1, 0));
    rows.add(prefix + ".conv2 first", square(n, size, width, width, 3, stride, 1));
    rows.add(prefix + ".shortcut", square(n, size, in, 4 * width, 1, stride, 0));
    rows.add(prefix + ".conv3", square(n, out_size, width, 4 * width, 1, 1, 0));
    rows.add(prefix + ".conv1", square(n, out_size, 4 * width, width, 1, 1, 0));
    rows.add(prefix + ".conv2", square(n, out_size, width, width, 3, 1, 1));
    in = 4 * width;
    size = out_size;
  }
}

void add_vgg(Rows& rows) {
  constexpr std::int64_t kBatch = 128;
  std::int64_t size = 32;
  std::int64_t in = 3;
  for (const std::int64_t width : {64, 128, 256, 512, 512}) {
    const std::string prefix = "vgg " + std::to_string(size) + "x" + std::to_string(size);
    const CudnnConvolution first = square(kBatch, size, in, width, 3, 1, 1);
    rows.add(prefix + " first", first, in == 3);
    rows.add_fused(prefix + " first", first);
    if (in != width) {
      const CudnnConvolution next = square(kBatch, size, width, width, 3, 1, 1);
      rows.add(prefix, next);
      rows.add_fused(prefix, next);
    }
    in = width;
    size /= 2;
  }
}

/// What no network of the zoo has, but users may.
void add_others(Rows& rows) {
  const CudnnConvolution usual = square(64, 16, 64, 64, 3, 1, 1);
  rows.add_tail("other bias+tanh", usual, Tail::tanh);
  rows.add_tail("other bias+sigmoid", usual, Tail::sigmoid);
  rows.add_tail("other bias+gelu", usual, Tail::gelu);
  CudnnConvolution conv = usual;
  conv.groups = 2;
  rows.add("other groups 2", conv);
  rows.add_fused("other groups 2", conv);
  conv.groups = 64;
  rows.add("other depthwise", conv);
  conv = usual;
  conv.pad_top = conv.pad_left = 0;
  conv.oh = conv.ow = 15;
  rows.add("other asymmetric padding", conv);
  rows.add_fused("other asymmetric padding", conv);
  conv = usual;
  conv.dilation_h = conv.dilation_w = conv.pad_top = conv.pad_left = conv.pad_bottom =
      conv.pad_right = 2;
  rows.add("other dilation 2", conv);
  conv = square(64, 16, 6, 10, 3, 1, 1);
  rows.add("other 6 to 10 channels", conv);
  rows.add_fused("other 6 to 10 channels", conv);
}

}  // namespace

std::vector<Row> network_rows() {
  Rows rows;
  rows.add("mnist-cnn conv", square(128, 28, 1, 16, 3, 1, 1), true);
  rows.add_fused("mnist-cnn conv", square(128, 28, 1, 16, 3, 1, 1));
  add_vgg(rows);
  add_resnet50(rows, "resnet50-cifar", 128, 32);
  add_resnet50(rows, "resnet50-224", 32, 224);
  // Its other convolutions have the shapes of others' 1x1 and 3x3 ones.
  rows.add("densenet121 stem", square(32, 224, 3, 64, 7, 2, 3), true);
  add_others(rows);
  return rows.rows;
}

}  // namespace linnet::cuda
