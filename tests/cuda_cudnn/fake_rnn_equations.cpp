// SPDX-License-Identifier: Apache-2.0
#include "cuda_cudnn/fake_rnn_equations.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cuda/device.cuh"

namespace linnet::cuda::fake_rnns {
namespace {

/// In the reserve's first double: which call is next.
constexpr double kForwardDone = 77;
constexpr double kDataDone = 78;

double logistic_of(double v) { return 1 / (1 + std::exp(-v)); }

/// A unit's new state from a and c of its gates; `k` keeps its gates and c_n or m, U apart.
double cell(const Call& call, const double* a, const double* c, double before, double m,
            double* k) {
  const std::int64_t u = call.l.units;
  switch (call.l.mode) {
    case CUDNN_RNN_TANH: return k[0] = std::tanh(a[0] + c[0]);
    case CUDNN_RNN_RELU: return k[0] = std::max(a[0] + c[0], 0.0);
    case CUDNN_GRU: {
      const double r = k[0] = logistic_of(a[0] + c[0]);
      const double i = k[u] = logistic_of(a[1] + c[1]);
      const double n = k[2 * u] = std::tanh(a[2] + r * c[2]);
      k[3 * u] = c[2];
      return (1 - i) * n + i * before;
    }
    case CUDNN_LSTM: {
      const double i = k[0] = logistic_of(a[0] + c[0]);
      const double f = k[u] = logistic_of(a[1] + c[1]);
      const double g = k[2 * u] = std::tanh(a[2] + c[2]);
      const double o = k[3 * u] = logistic_of(a[3] + c[3]);
      k[4 * u] = f * m + i * g;
      return o * std::tanh(k[4 * u]);
    }
  }
  return 0;
}

/// A unit's slopes by a and by c, U apart; returns what reaches the state before directly.
double cell_slopes(const Call& call, const double* k, double before, double m_before, double d,
                   double* dm, double* da, double* dc) {
  const std::int64_t u = call.l.units;
  double direct = 0;
  switch (call.l.mode) {
    case CUDNN_RNN_TANH: da[0] = d * (1 - k[0] * k[0]); break;
    case CUDNN_RNN_RELU: da[0] = k[0] > 0 ? d : 0; break;
    case CUDNN_GRU: {
      const double r = k[0], i = k[u], n = k[2 * u], c = k[3 * u];
      da[2 * u] = d * (1 - i) * (1 - n * n);
      da[u] = d * (before - n) * i * (1 - i);
      da[0] = da[2 * u] * c * r * (1 - r);
      direct = d * i;
      break;
    }
    case CUDNN_LSTM: {
      const double i = k[0], f = k[u], g = k[2 * u], o = k[3 * u], tanh_m = std::tanh(k[4 * u]);
      const double all = *dm + d * o * (1 - tanh_m * tanh_m);
      da[0] = all * g * i * (1 - i);
      da[u] = all * m_before * f * (1 - f);
      da[2 * u] = all * i * (1 - g * g);
      da[3 * u] = d * tanh_m * o * (1 - o);
      *dm = all * f;
      break;
    }
  }
  for (std::int64_t g = 0; g < gates(call.l); ++g) dc[g * u] = da[g * u];
  if (call.l.mode == CUDNN_GRU) dc[2 * u] *= k[0];
  return direct;
}

}  // namespace

void forward(Call call) {
  sim::device().pretended_seconds += call.seconds;
  const Layer& l = call.l;
  const std::int64_t u = l.units;
  for (std::int64_t s = 0; s < call.n; ++s) {
    std::vector<double> m(static_cast<std::size_t>(u));
    std::vector<double> own(static_cast<std::size_t>(kept(l)));
    for (std::int64_t t = 0; t < call.steps; ++t) {
      double* k = call.reserve == nullptr ? own.data() : call.step(s, t);
      for (std::int64_t j = 0; j < u; ++j) {
        std::array<double, 4> a{};
        std::array<double, 4> c{};
        for (std::int64_t g = 0; g < gates(l); ++g) {
          const auto at = static_cast<std::size_t>(g);
          a.at(at) = call.b(g, j);
          c.at(at) = call.b(gates(l) + g, j);
          for (std::int64_t i = 0; i < l.features; ++i) {
            a.at(at) += call.w(g, j, i) * call.x[(s * call.steps + t) * l.features + i];
          }
          for (std::int64_t i = 0; i < u; ++i) {
            c.at(at) += call.w(gates(l) + g, j, i) * call.before(s, t, i);
          }
        }
        double& memory = m[static_cast<std::size_t>(j)];
        const double h = cell(call, a.data(), c.data(), call.before(s, t, j), memory, k + j);
        if (l.mode == CUDNN_LSTM) memory = k[4 * u + j];
        call.y[(s * call.steps + t) * u + j] = static_cast<float>(h + call.error);
      }
    }
    for (std::int64_t j = 0; j < u && call.last != nullptr; ++j) {
      call.last[s * u + j] = call.y[((s + 1) * call.steps - 1) * u + j];
    }
  }
  if (call.reserve != nullptr) *call.reserve = kForwardDone;
  std::fill_n(call.work, kWorkBytes, std::byte{0xFF});  // results don't survive in it
}

void gradient_of_data(Call call) {
  const Layer& l = call.l;
  const std::int64_t u = l.units;
  const bool in_turn = *call.reserve == kForwardDone;
  for (std::int64_t s = 0; s < call.n; ++s) {
    std::vector<double> dh(static_cast<std::size_t>(u));
    std::vector<double> dm(dh);
    for (std::int64_t j = 0; j < u && call.dlast != nullptr; ++j) {
      dh[static_cast<std::size_t>(j)] = call.dlast[s * u + j];
    }
    for (std::int64_t t = call.steps - 1; t >= 0; --t) {
      const std::int64_t row = s * call.steps + t;
      double* k = call.step(s, t);
      double* da = k + (gates(l) + 1) * u;
      double* dc = da + gates(l) * u;
      for (std::int64_t j = 0; j < u; ++j) {
        double& d = dh[static_cast<std::size_t>(j)];
        const double m_before = t == 0 || l.mode != CUDNN_LSTM ? 0 : call.step(s, t - 1)[4 * u + j];
        d = cell_slopes(call, k + j, call.before(s, t, j), m_before, d + call.dy[row * u + j],
                        &dm[static_cast<std::size_t>(j)], da + j, dc + j);
      }
      for (std::int64_t i = 0; i < l.features; ++i) {
        double sum = in_turn ? 0 : NAN;
        for (std::int64_t r = 0; r < gates(l) * u; ++r) sum += da[r] * call.w(r / u, r % u, i);
        call.dx[row * l.features + i] = static_cast<float>(sum);
      }
      for (std::int64_t i = 0; i < u; ++i) {
        for (std::int64_t r = 0; r < gates(l) * u; ++r) {
          dh[static_cast<std::size_t>(i)] += dc[r] * call.w(gates(l) + r / u, r % u, i);
        }
      }
    }
  }
  *call.reserve = in_turn ? kDataDone : 0;
  std::fill_n(call.work, kWorkBytes, std::byte{0xFF});
}

void gradient_of_weights(Call call) {
  const Layer& l = call.l;
  const std::int64_t u = l.units;
  const bool in_turn = *call.reserve == kDataDone;
  for (std::int64_t id = 0; id < 2 * gates(l); ++id) {
    const bool recurrent = id >= gates(l);
    for (std::int64_t e = 0; e < u * (columns(l, id) + 1); ++e) {
      const std::int64_t row = e / (columns(l, id) + 1);
      const std::int64_t column = e % (columns(l, id) + 1);
      const bool bias = column == columns(l, id);
      if (bias && !l.bias) continue;
      double sum = in_turn ? 0 : NAN;
      for (std::int64_t at = 0; at < call.n * call.steps; ++at) {
        const double slope =
            call.step(at / call.steps, at % call.steps)[(gates(l) + 1 + id) * u + row];
        sum += slope * (bias        ? 1
                        : recurrent ? call.before(at / call.steps, at % call.steps, column)
                                    : double{call.x[at * l.features + column]});
      }
      const std::size_t to =
          bias ? place(l, id, true) + static_cast<std::size_t>(row)
               : place(l, id, false) + static_cast<std::size_t>(row * columns(l, id) + column);
      call.dweights[to] += static_cast<float>(sum);
    }
  }
  std::fill_n(call.work, kWorkBytes, std::byte{0xFF});
}

}  // namespace linnet::cuda::fake_rnns
