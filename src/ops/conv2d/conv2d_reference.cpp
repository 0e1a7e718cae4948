// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/conv2d/conv2d.h"

namespace linnet {
namespace {

/// Calls f(x element, w element, y element) for every product of the convolution: indices into the
/// flat operands. Gradients are the same products with another operand as the sum.
template <class F>
void for_each_product(const ConvShape& s, F f) {
  const Conv2dAttrs& a = s.attrs;
  const std::int64_t cg = s.group_in();
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t i = 0; i < s.oh; ++i) {
      for (std::int64_t j = 0; j < s.ow; ++j) {
        for (std::int64_t o = 0; o < s.co; ++o) {
          const std::int64_t first_channel = o / s.group_out() * cg;
          const std::int64_t y = ((n * s.oh + i) * s.ow + j) * s.co + o;
          for (std::int64_t k = 0; k < s.kh; ++k) {
            const std::int64_t row = i * a.stride_h - a.pad_top + k * a.dilation_h;
            if (row < 0 || row >= s.h) continue;
            for (std::int64_t l = 0; l < s.kw; ++l) {
              const std::int64_t column = j * a.stride_w - a.pad_left + l * a.dilation_w;
              if (column < 0 || column >= s.w) continue;
              const std::int64_t x = ((n * s.h + row) * s.w + column) * s.c + first_channel;
              const std::int64_t w = ((o * s.kh + k) * s.kw + l) * cg;
              for (std::int64_t c = 0; c < cg; ++c) f(x + c, w + c, y);
            }
          }
        }
      }
    }
  }
}

}  // namespace

void Conv2dOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(In::x);
  const ReferenceTensor& w = args.in(In::w);
  ReferenceTensor& y = args.out(Out::y);
  const ConvShape s = conv_shape(attrs(), x.shape, w.shape, "");
  for (std::int64_t i = 0; i < y.shape.elements(); ++i) {
    y[i] = attrs().bias ? args.in(In::b)[i % s.co] : 0.0;
  }
  for_each_product(s, [&](std::int64_t xi, std::int64_t wi, std::int64_t yi) {
    y[yi] += x[xi] * w[wi];
  });
  for (double& value : y.data) value = activate(attrs().activation, value);
}

void Conv2dGradInputOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& dz = args.in(In::dz);
  const ReferenceTensor& w = args.in(In::w);
  ReferenceTensor& dx = args.out(Out::dx);
  std::fill(dx.data.begin(), dx.data.end(), 0.0);
  for_each_product(shape(dz.shape, w.shape), [&](std::int64_t xi, std::int64_t wi,
                                                 std::int64_t yi) { dx[xi] += dz[yi] * w[wi]; });
}

void Conv2dGradWeightOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& x = args.in(In::x);
  const ReferenceTensor& dz = args.in(In::dz);
  ReferenceTensor& dw = args.out(Out::dw);
  std::fill(dw.data.begin(), dw.data.end(), 0.0);
  for_each_product(shape(x.shape, dz.shape), [&](std::int64_t xi, std::int64_t wi,
                                                 std::int64_t yi) { dw[wi] += dz[yi] * x[xi]; });
}

}  // namespace linnet
