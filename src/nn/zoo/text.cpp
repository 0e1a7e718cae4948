// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <string_view>

#include "base/check.h"

namespace linnet::zoo {
namespace {

Network text(std::string_view model, const Layer& recurrent, const TextOptions& options) {
  require(options.steps > 0 && options.classes >= 0,
          "{} expects at least one word, and a number of classes or 0 for none; got {} and {}",
          model, options.steps, options.classes);
  Network network({options.steps},
                  {Embedding{.vocabulary = options.vocabulary, .features = options.features},
                   recurrent},
                  DType::i32);
  if (options.classes > 0) network.add(Dense{.units = options.classes});
  return network;
}

}  // namespace

Network gru_text(const TextOptions& options) {
  return text("gru_text", GRU{.units = options.units}, options);
}

Network lstm_text(const TextOptions& options) {
  return text("lstm_text", LSTM{.units = options.units}, options);
}

}  // namespace linnet::zoo
