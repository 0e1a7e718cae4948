// SPDX-License-Identifier: Apache-2.0
#include <linnet/generator.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "base/utf8.h"
#include "data/characters.h"
#include "model/generation_graph.h"
#include "model/language.h"
#include "model/model_state.h"
#include "model/options.h"
#include "model/step_graph.h"

namespace linnet {

/// Runs the step of a network with caches.
class CachedSteps {
 public:
  CachedSteps(std::shared_ptr<ModelState> model, GenerationGraph step, std::int64_t tokens)
      : model_(std::move(model)), logits_(static_cast<std::size_t>(tokens)) {
    const Backend& backend = *model_->backend;
    program_ = model_->backend->prepare(std::move(step.graph), {.fixed_weights = true});
    const auto buffer = [&](Storage storage) -> std::shared_ptr<Buffer>& {
      return memory_.buffers[static_cast<std::size_t>(storage)];
    };
    buffer(Storage::parameter) = model_->parameters;
    buffer(Storage::state) = model_->statistics;
    buffer(Storage::arena) =
        backend.allocate(program_->plan().bytes[static_cast<std::size_t>(Storage::arena)]);
    program_->attach(memory_);
    std::vector<std::size_t> slots{sizeof(std::int32_t), sizeof(std::int32_t),
                                   logits_.size() * sizeof(float)};
    slots.insert(slots.end(), step.cache_bytes.begin(), step.cache_bytes.end());
    for (const std::size_t bytes : slots) {
      slots_.push_back(backend.allocate(bytes));
      program_->bind(slots_.size() - 1, slots_.back()->data());
    }
  }

  /// Reads one id; `wanted`: whether its logits are.
  void read(std::int32_t id, std::int64_t position, bool wanted) {
    const Backend& backend = *model_->backend;
    const auto at = static_cast<std::int32_t>(position);
    backend.upload(*slots_[0], 0, std::as_bytes(std::span(&id, 1)));
    backend.upload(*slots_[1], 0, std::as_bytes(std::span(&at, 1)));
    if (model_->weights_shared || version_ != model_->weights_version) {
      program_->weights_changed();
      version_ = model_->weights_version;
    }
    program_->run({.samples = 1});
    if (wanted) backend.download(*slots_[2], 0, std::as_writable_bytes(std::span(logits_)));
  }

  std::span<const float> logits() const { return logits_; }

 private:
  std::shared_ptr<ModelState> model_;
  Memory memory_;
  std::unique_ptr<Program> program_;
  std::vector<std::unique_ptr<Buffer>> slots_;
  std::vector<float> logits_;
  std::uint64_t version_ = std::numeric_limits<std::uint64_t>::max();
};

namespace {

/// Draws ids, likely ones more often.
class Draw {
 public:
  Draw(const GenerateOptions& options, std::size_t tokens) : options_(options), order_(tokens) {
    std::iota(order_.begin(), order_.end(), 0);
    const auto most = static_cast<std::size_t>(options.top_k);
    kept_ = most == 0 ? tokens : std::min(most, tokens);
    if (options.temperature == 0) kept_ = 1;
  }

  std::int32_t operator()(std::span<const float> logits, std::uint64_t number) {
    const auto logit = [&](std::int32_t id) { return logits[static_cast<std::size_t>(id)]; };
    require(std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }),
            "the model's outputs are not finite; its weights are NaN, infinite or huge");
    std::ranges::partial_sort(order_, order_.begin() + static_cast<std::ptrdiff_t>(kept_),
                              [&](std::int32_t a, std::int32_t b) {
                                return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
                              });
    if (kept_ == 1) return order_[0];
    weights_.clear();
    double all = 0;
    for (std::size_t i = 0; i < kept_; ++i) {
      const double above = static_cast<double>(logit(order_[i])) - logit(order_[0]);
      all += weights_.emplace_back(std::exp(above / options_.temperature));
    }
    const std::uint64_t bits = mix_bits(mix_bits(options_.seed) ^ number);
    double left = all * (static_cast<double>(bits >> 11U) * 0x1p-53);
    for (std::size_t i = 0; i + 1 < kept_; ++i) {
      left -= weights_[i];
      if (left < 0) return order_[i];
    }
    return order_[kept_ - 1];
  }

 private:
  const GenerateOptions& options_;
  std::size_t kept_ = 0;
  std::vector<std::int32_t> order_;
  std::vector<double> weights_;
};

}  // namespace

struct Generator::State {
  Model model;
  std::int64_t context = 0;
  Characters characters;
  std::unique_ptr<CachedSteps> steps = nullptr;  ///< null: the whole context is computed each time
  std::vector<std::int32_t> read = {};           ///< ids of the context
  Tensor whole = {};                             ///< logits of all its steps, without caches

  void push(std::int32_t id, bool wanted) {
    if (std::ssize(read) == context) {
      const std::vector<std::int32_t> kept(read.end() - context / 2, read.end());
      read.clear();
      for (const std::int32_t one : kept) push(one, false);
    }
    read.push_back(id);
    if (steps) {
      steps->read(id, std::ssize(read) - 1, wanted);
    } else if (wanted) {
      Tensor ids(DType::i32, {1, context});
      std::ranges::fill(ids.as_writable<std::int32_t>(), 0);
      std::ranges::copy(read, ids.as_writable<std::int32_t>().begin());
      whole = model.predict(ids, 1).to(DType::f32);
    }
  }

  std::span<const float> logits() const {
    if (steps) return steps->logits();
    const std::size_t tokens = model.class_names().size();
    return whole.as<float>().subspan((read.size() - 1) * tokens, tokens);
  }

  /// Reads a text; returns whether its last character's logits follow.
  void begin(std::string_view text) {
    require(is_utf8(text), "the prompt is not UTF-8");
    const Characters::Ids found = characters.encode(text.empty() ? "\n" : text);
    require(found.unknown == 0 || !text.empty(),
            "the prompt is empty, and the model knows no line break to begin with; give it a "
            "character");
    require(found.unknown == 0, "the model does not know the character '{}' of the prompt",
            escaped(found.first_unknown));
    read.clear();
    // Earlier ones would leave the context again.
    const std::int64_t first = std::max<std::int64_t>(std::ssize(found.ids) - context, 0);
    for (std::int64_t i = first; i < std::ssize(found.ids); ++i) {
      push(found.ids[static_cast<std::size_t>(i)], i + 1 == std::ssize(found.ids));
    }
  }
};

Generator::Generator(const Model& model, bool cache) {
  require(is_language_model(model),
          "expected a language model, from ids (T) to logits (T, V) whose V classes are "
          "characters; got a network from {} to {} with {} class names",
          to_string(model.network().input_shape()),
          to_string(model.network().definition().output_sample()), model.class_names().size());
  state_ = std::make_unique<State>(State{.model = model,
                                         .context = model.network().input_shape()[0],
                                         .characters = Characters(model.class_names())});
  if (!cache) return;
  const std::shared_ptr<ModelState>& shared = model.shared_state();
  if (auto step = generation_graph(shared->definition(), supports_of(*shared->backend))) {
    state_->steps =
        std::make_unique<CachedSteps>(shared, std::move(*step), std::ssize(model.class_names()));
  }
}
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;
Generator::~Generator() = default;

bool Generator::caches() const { return state_->steps != nullptr; }

std::string Generator::generate(std::string_view prompt, const GenerateOptions& options) {
  description_of<GenerateOptions>().check(&options, "");
  const std::vector<std::string>& names = state_->model.class_names();
  state_->begin(prompt);
  Draw draw(options, names.size());
  std::string text;
  for (std::int64_t i = 0; i < options.length; ++i) {
    const std::int32_t id = draw(state_->logits(), static_cast<std::uint64_t>(i));
    const std::string& character = names[static_cast<std::size_t>(id)];
    text += character;
    if (options.on_text && !options.on_text(character)) break;
    if (i + 1 < options.length) state_->push(id, true);
  }
  return text;
}

Tensor Generator::logits(std::string_view text) {
  state_->begin(text);
  const std::span<const float> logits = state_->logits();
  return Tensor(std::vector<float>(logits.begin(), logits.end()), {std::ssize(logits)});
}

std::string generate(const Model& model, std::string_view prompt, const GenerateOptions& options) {
  return Generator(model).generate(prompt, options);
}

}  // namespace linnet
