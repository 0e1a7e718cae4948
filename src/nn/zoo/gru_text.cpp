// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include "base/check.h"

namespace linnet::zoo {

Network gru_text(const TextOptions& options) {
  require(options.steps > 0 && options.classes >= 0,
          "gru_text takes at least one word, and a number of classes or 0 for none; got {} and {}",
          options.steps, options.classes);
  Network network({options.steps},
                  {Embedding{.vocabulary = options.vocabulary, .features = options.features},
                   GRU{.units = options.units}},
                  DType::i32);
  if (options.classes > 0) network.add(Dense{.units = options.classes});
  return network;
}

}  // namespace linnet::zoo
