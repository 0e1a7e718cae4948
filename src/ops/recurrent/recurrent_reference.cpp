// SPDX-License-Identifier: Apache-2.0
// The definition in double: step by step, sample by sample.
#include <cmath>

#include "ops/recurrent/recurrent.h"

namespace linnet {
namespace {

using Vector = std::vector<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// out[r] += the sum over c of w[r, c] v[c] for rows [begin, end) of w.
void add_product(const ReferenceTensor& w, const double* v, std::int64_t begin, std::int64_t end,
                 double* out) {
  const std::int64_t columns = w.shape[1];
  for (std::int64_t r = begin; r < end; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[r] += w[r * columns + c] * v[c];
  }
}

/// v[c] += the sum over r of w[r, c] d[r], and dw[r, c] += d[r] u[c], for rows [begin, end).
void add_gradients(const ReferenceTensor& w, const double* d, const double* u, std::int64_t begin,
                   std::int64_t end, double* v, ReferenceTensor& dw) {
  const std::int64_t columns = w.shape[1];
  for (std::int64_t r = begin; r < end; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      v[c] += w[r * columns + c] * d[r];
      dw[r * columns + c] += d[r] * u[c];
    }
  }
}

/// One step of one sample: a and c are the sums without biases left out. h and m become the new
/// ones; `saved` is filled.
void forward_step(const RecurrentShape& s, const ReferenceTensor& w_hh, const ReferenceTensor* b_hh,
                  Vector& a, Vector& h, Vector& m, double* saved) {
  const std::int64_t u = s.units;
  Vector c(at(s.columns()));
  if (b_hh != nullptr) c = b_hh->data;
  const std::int64_t first = s.cell == Cell::gru_original ? 2 * u : s.columns();
  add_product(w_hh, h.data(), 0, first, c.data());
  if (s.cell == Cell::gru_original) {
    Vector rh(at(u));
    for (std::int64_t j = 0; j < u; ++j) rh[at(j)] = logistic(a[at(j)] + c[at(j)]) * h[at(j)];
    add_product(w_hh, rh.data(), 2 * u, 3 * u, c.data());
  }
  for (std::int64_t j = 0; j < u; ++j) {
    const auto sum = [&](std::int64_t gate) { return a[at(gate * u + j)] + c[at(gate * u + j)]; };
    const double before = h[at(j)];
    saved[s.state() + j] = before;
    switch (s.cell) {
      case Cell::tanh: h[at(j)] = std::tanh(sum(0)); break;
      case Cell::relu: h[at(j)] = sum(0) < 0 ? 0 : sum(0); break;
      case Cell::gru:
      case Cell::gru_original: {
        const double r = logistic(sum(0));
        const double z = logistic(sum(1));
        const double c_n = c[at(2 * u + j)];
        const double n = std::tanh(s.cell == Cell::gru ? a[at(2 * u + j)] + r * c_n : sum(2));
        saved[j] = r;
        saved[u + j] = z;
        saved[2 * u + j] = n;
        saved[3 * u + j] = s.cell == Cell::gru ? c_n : r * before;
        h[at(j)] = (1 - z) * n + z * before;
        break;
      }
      case Cell::lstm: {
        const double i = logistic(sum(0));
        const double f = logistic(sum(1));
        const double g = std::tanh(sum(2));
        const double o = logistic(sum(3));
        m[at(j)] = f * m[at(j)] + i * g;
        saved[j] = i;
        saved[u + j] = f;
        saved[2 * u + j] = g;
        saved[3 * u + j] = o;
        saved[4 * u + j] = m[at(j)];
        h[at(j)] = o * std::tanh(m[at(j)]);
        break;
      }
    }
    if (cell_gates(s.cell) == 1) saved[j] = h[at(j)];
  }
}

/// Gradients of one step by the gates' sums: da by a, dc by c, from dh; dh becomes what reaches the
/// state before directly, dm the gradient by m before. `m_before` is null in the first step.
void backward_step(const RecurrentShape& s, const double* saved, const double* m_before, Vector& dh,
                   Vector& dm, Vector& da, Vector& dc) {
  const std::int64_t u = s.units;
  for (std::int64_t j = 0; j < u; ++j) {
    const double before = saved[s.state() + j];
    const double d = dh[at(j)];
    switch (s.cell) {
      case Cell::tanh: da[at(j)] = d * (1 - saved[j] * saved[j]); break;
      case Cell::relu: da[at(j)] = saved[j] > 0 ? d : 0; break;
      case Cell::gru:
      case Cell::gru_original: {
        const double z = saved[u + j];
        const double n = saved[2 * u + j];
        da[at(u + j)] = d * (before - n) * z * (1 - z);
        da[at(2 * u + j)] = d * (1 - z) * (1 - n * n);
        dh[at(j)] = d * z;
        break;
      }
      case Cell::lstm: {
        const double i = saved[j];
        const double f = saved[u + j];
        const double g = saved[2 * u + j];
        const double o = saved[3 * u + j];
        const double t = std::tanh(saved[4 * u + j]);
        const double all = dm[at(j)] + d * o * (1 - t * t);
        da[at(j)] = all * g * i * (1 - i);
        da[at(u + j)] = m_before == nullptr ? 0 : all * m_before[j] * f * (1 - f);
        da[at(2 * u + j)] = all * i * (1 - g * g);
        da[at(3 * u + j)] = d * t * o * (1 - o);
        dm[at(j)] = all * f;
        break;
      }
    }
    if (s.cell != Cell::gru && s.cell != Cell::gru_original) dh[at(j)] = 0;
    if (s.cell == Cell::gru) {
      const double r = saved[j];
      da[at(j)] = da[at(2 * u + j)] * saved[3 * u + j] * r * (1 - r);
    }
  }
  dc = da;
  if (s.cell == Cell::gru) {
    for (std::int64_t j = 0; j < u; ++j) dc[at(2 * u + j)] *= saved[j];
  }
}

/// gru_original's way through r h: into dh, and into the gradient by r's sum.
void through_reset(const RecurrentShape& s, const ReferenceTensor& w_hh, const double* saved,
                   Vector& dh, Vector& da, Vector& dc, ReferenceTensor& dw_hh) {
  const std::int64_t u = s.units;
  Vector drh(at(u));
  add_gradients(w_hh, dc.data(), saved + 3 * u, 2 * u, 3 * u, drh.data(), dw_hh);
  for (std::int64_t j = 0; j < u; ++j) {
    const double r = saved[j];
    da[at(j)] = dc[at(j)] = drh[at(j)] * saved[s.state() + j] * r * (1 - r);
    dh[at(j)] += drh[at(j)] * r;
  }
}

}  // namespace

void RecurrentOp::reference(const ReferenceArgs& args) const {
  const RecurrentShape s = recurrent_shape(attrs(), args.in(In::x).shape, args.in(In::w_hh).shape);
  for (std::int64_t n = 0; n < s.n; ++n) {
    Vector h(at(s.units));
    Vector m(at(s.units));
    for (std::int64_t index = 0; index < s.steps; ++index) {
      const std::int64_t row = n * s.steps + s.step(index);
      Vector a(at(s.columns()));
      if (attrs().bias) a = args.in(In::b_ih).data;
      add_product(args.in(In::w_ih), args.in(In::x).data.data() + row * s.features, 0, s.columns(),
                  a.data());
      forward_step(s, args.in(In::w_hh), attrs().bias ? &args.in(In::b_hh) : nullptr, a, h, m,
                   args.out(Out::saved).data.data() + row * s.saved());
      for (std::int64_t j = 0; j < s.units; ++j) args.out(Out::y)[row * s.units + j] = h[at(j)];
    }
    for (std::int64_t j = 0; j < s.units; ++j) args.out(Out::last)[n * s.units + j] = h[at(j)];
  }
}

void RecurrentGradOp::reference(const ReferenceArgs& args) const {
  const RecurrentShape s = recurrent_shape(attrs(), args.in(In::x).shape, args.in(In::w_hh).shape);
  for (std::size_t i = 0; i < args.outputs.size(); ++i) {
    for (double& x : args.out(i).data) x = 0;
  }
  const double* all_saved = args.in(saved_input()).data.data();
  for (std::int64_t n = 0; n < s.n; ++n) {
    Vector dh(at(s.units));
    Vector dm(at(s.units));
    for (std::int64_t j = 0; attrs().last_gradient && j < s.units; ++j) {
      dh[at(j)] = args.in(last_input())[n * s.units + j];
    }
    for (std::int64_t index = s.steps - 1; index >= 0; --index) {
      const std::int64_t row = n * s.steps + s.step(index);
      for (std::int64_t j = 0; attrs().y_gradient && j < s.units; ++j) {
        dh[at(j)] += args.in(y_input())[row * s.units + j];
      }
      const double* saved = all_saved + row * s.saved();
      const double* m_before =
          index == 0 ? nullptr
                     : all_saved + (n * s.steps + s.step(index - 1)) * s.saved() + 4 * s.units;
      Vector da(at(s.columns()));
      Vector dc;
      backward_step(s, saved, m_before, dh, dm, da, dc);
      std::int64_t end = s.columns();
      if (s.cell == Cell::gru_original) {
        through_reset(s, args.in(In::w_hh), saved, dh, da, dc, args.out(Out::dw_hh));
        end = 2 * s.units;
      }
      add_gradients(args.in(In::w_hh), dc.data(), saved + s.state(), 0, end, dh.data(),
                    args.out(Out::dw_hh));
      add_gradients(args.in(In::w_ih), da.data(), args.in(In::x).data.data() + row * s.features, 0,
                    s.columns(), args.out(Out::dx).data.data() + row * s.features,
                    args.out(Out::dw_ih));
      for (std::int64_t c = 0; attrs().bias && c < s.columns(); ++c) {
        args.out(Out::db_ih)[c] += da[at(c)];
        args.out(Out::db_hh)[c] += dc[at(c)];
      }
    }
  }
}

}  // namespace linnet
