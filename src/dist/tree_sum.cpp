// SPDX-License-Identifier: Apache-2.0
#include "dist/tree_sum.h"

#include <algorithm>

namespace linnet {
namespace {

// A piece is received and added while it is in the caches.
constexpr std::size_t kPieceBytes = std::size_t{1} << 22;
// Below this, whole arrays in log2(R) messages are faster than halves in twice as many; a message of
// Gloo goes through a thread of its own.
constexpr std::size_t kWholeBytes = std::size_t{1} << 13;
constexpr std::size_t kWholeBytesOfGloo = std::size_t{1} << 17;

template <class T>
void add(std::span<T> left, std::span<const T> right, std::span<T> sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = left[i] + right[i];
}

}  // namespace

TreeSum::TreeSum(Communicator& communicator)
    : communicator_(communicator),
      whole_bytes_(communicator.engine() == "gloo" ? kWholeBytesOfGloo : kWholeBytes) {}

void TreeSum::sum(std::span<float> values) { pieces(values); }
void TreeSum::sum(std::span<double> values) { pieces(values); }

template <class T>
void TreeSum::pieces(std::span<T> values) {
  if (communicator_.size() == 1) return;
  constexpr std::size_t most = kPieceBytes / sizeof(T);
  for (std::size_t begin = 0; begin < values.size(); begin += most) {
    piece(values.subspan(begin, std::min(most, values.size() - begin)));
  }
}

template <class T>
void TreeSum::combine(int partner, std::span<const T> send, std::span<T> into) {
  received_.resize(std::max(received_.size(), into.size_bytes()));
  const std::span<T> other(reinterpret_cast<T*>(received_.data()), into.size());
  communicator_.exchange(partner, std::as_bytes(send), std::as_writable_bytes(other));
  if (partner > communicator_.rank()) {
    add<T>(into, other, into);
  } else {
    add<T>(other, into, into);
  }
}

template <class T>
void TreeSum::piece(std::span<T> values) {
  const int rank = communicator_.rank();
  const int size = communicator_.size();
  if (values.size_bytes() <= whole_bytes_) {
    for (int bit = 1; bit < size; bit *= 2) combine<T>(rank ^ bit, values, values);
    return;
  }
  // mine: what this rank sums. Halves that were given away come back in the opposite order.
  struct Half {
    int partner;
    std::span<T> kept, given;
  };
  std::vector<Half> halves;
  std::span<T> mine = values;
  for (int bit = 1; bit < size; bit *= 2) {
    const std::span<T> low = mine.first(mine.size() / 2);
    const std::span<T> high = mine.subspan(mine.size() / 2);
    const bool upper = (rank & bit) != 0;
    halves.push_back({rank ^ bit, upper ? high : low, upper ? low : high});
    combine<T>(rank ^ bit, halves.back().given, halves.back().kept);
    mine = halves.back().kept;
  }
  for (auto half = halves.rbegin(); half != halves.rend(); ++half) {
    communicator_.exchange(half->partner, std::as_bytes(half->kept),
                           std::as_writable_bytes(half->given));
  }
}

}  // namespace linnet
