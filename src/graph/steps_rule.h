// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <linnet/types.h>

namespace linnet {

/// What an operator does with the steps, axis 1, of an operand that holds sequences of different
/// lengths (N, T, ...). Each operator states its own: Op::steps().
struct StepsRule {
  /// It works on each step alone: its first output has the operand's steps along axis 1, and their
  /// lengths.
  bool kept = false;
  bool unread = false;            ///< it reads nothing but the number of samples
  std::string_view padding = {};  ///< else what it would do with padding,
  std::string_view instead = {};  ///< and what knows lengths
};

/// Returns whether y has the samples and steps (N, T) of x.
inline bool has_steps_of(const Shape& y, const Shape& x) {
  return y.rank() >= 2 && y[0] == x[0] && y[1] == x[1];
}

namespace steps {

inline constexpr std::string_view kInstead =
    "GlobalAvgPool1d, GlobalMaxPool1d, attention and recurrent layers leave padding out";
inline constexpr std::string_view kLastState =
    "a recurrent layer gives the state after the last step that counts";

inline constexpr StepsRule kKept{.kept = true};
inline constexpr StepsRule kUnread{.unread = true};
inline constexpr StepsRule kMixed{.padding = "mix steps with padding", .instead = kInstead};
inline constexpr StepsRule kReduced{.padding = "count padding as steps", .instead = kInstead};
inline constexpr StepsRule kWeighed{.padding = "give weight to padding", .instead = kInstead};
inline constexpr StepsRule kNormalized{.padding = "include padding in mean and variance",
                                       .instead = "LayerNorm normalizes each step alone"};
inline constexpr StepsRule kCut{.padding = "cut at steps that are padding in shorter sequences",
                                .instead = kLastState};
inline constexpr StepsRule kPicked{.padding = "read steps that are padding in shorter sequences",
                                   .instead = kLastState};
inline constexpr StepsRule kAppended{
    .padding = "put steps after the padding of others",
    .instead =
        "join features (the last axis), or the results of GlobalAvgPool1d or GlobalMaxPool1d"};
inline constexpr StepsRule kMoved{
    .padding = "move the steps to another axis, where padding counts as data", .instead = kInstead};
/// Layers that combine neighbouring steps: convolutions and pooling.
inline constexpr StepsRule kNeighbours{.padding = "read padding as data", .instead = kInstead};

constexpr StepsRule kept_if(bool kept, const StepsRule& otherwise) {
  return kept ? kKept : otherwise;
}

}  // namespace steps

}  // namespace linnet
