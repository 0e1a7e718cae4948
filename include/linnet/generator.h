// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

LINNET_API_BEGIN
namespace linnet {

/// Says how a text is continued.
struct GenerateOptions {
  std::int64_t length = 500;  ///< characters to add, at least 0
  /// Divides the logits before characters are drawn, at least 0: below 1 likely ones are drawn more
  /// often. 0: always the likeliest.
  double temperature = 0.8;
  std::int64_t top_k = 0;  ///< draws among this many of the likeliest characters; 0: among all
  std::uint64_t seed = 0;  ///< seed of the draws
  /// Is called with each character as soon as it is drawn; false ends the text after it.
  std::function<bool(std::string_view character)> on_text = {};
};

/// Continues texts by a model that language_task() trained, or another one that predicts the next
/// character at each step: ids (T) to logits (T, V), whose class names are the V characters.
///
/// Keys and values of attention are kept, so that a character costs a pass over a single step. When
/// the T characters of the context are full, the last T / 2 of them are read again as the beginning
/// of a new context. Networks of other layers than embeddings, dense layers, activations, layer
/// norms and causal attention compute the whole context for each character.
///
/// Texts depend on the model, the prompt and the options alone, not on the number of threads. A
/// generator reads the model's present weights; not thread-safe, as the model.
class Generator {
 public:
  /// Compiles the step. `cache`: whether keys and values are kept; false computes the whole context
  /// each time, for comparison. Throws Error for a model that is not a language model, and
  /// OutOfMemory.
  explicit Generator(const Model& model, bool cache = true);
  Generator(Generator&&) noexcept;  ///< Moves; then the other one can only be assigned to.
  Generator& operator=(
      Generator&&) noexcept;  ///< Moves; then the other one can only be assigned to.
  ~Generator();

  /// Returns whether keys and values are kept.
  bool caches() const;

  /// Returns the text that follows `prompt`, without it. An empty prompt is a line break. Throws
  /// Error for options out of range, for a prompt that is not UTF-8, and naming a character that
  /// the model does not know.
  std::string generate(std::string_view prompt, const GenerateOptions& options = {});

  /// Returns the logits (V), f32, of the character that follows a text. Throws as generate() does.
  Tensor logits(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the text that follows `prompt`, by a Generator of its own.
std::string generate(const Model& model, std::string_view prompt,
                     const GenerateOptions& options = {});

}  // namespace linnet
LINNET_API_END
