// SPDX-License-Identifier: Apache-2.0
#include "config/training.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "model/options.h"

namespace linnet::command {
namespace {

std::vector<Field> renamed(std::vector<Field> fields,
                           const std::map<std::string_view, std::string_view>& names) {
  for (Field& field : fields) {
    const auto name = names.find(field.key);
    if (name != names.end()) field.key = name->second;
  }
  return fields;
}

}  // namespace

const Description& training_table() {
  static const Description kAll = [] {
    using O = TrainingOptions;
    Description made = description_of<O>();
    made.fields = renamed(made.fields_without({"optimizer", "schedule", "warmup", "loss_options",
                                               "custom_loss", "output_losses", "trains", "clip",
                                               "average", "lookahead", "augment", "checkpoints",
                                               "metrics", "ranks", "disabled_passes"}),
                          {{"keep_best", "save_best"}});
    for (const std::vector<Field>& part :
         {lifted<&O::clip>(renamed(description_of<Clip>().fields,
                                   {{"norm", "clip_norm"}, {"value", "clip_value"}})),
          lifted<&O::average>(renamed(description_of<Average>().fields,
                                      {{"decay", "average"}, {"warmup", "average_warmup"}})),
          lifted<&O::lookahead>(renamed(description_of<Lookahead>().fields,
                                        {{"every", "lookahead"}, {"alpha", "lookahead_alpha"}})),
          lifted<&O::checkpoints>(by_flags(description_of<Checkpoints>()).fields)}) {
      made.fields.insert(made.fields.end(), part.begin(), part.end());
    }
    return made;
  }();
  return kAll;
}

}  // namespace linnet::command
