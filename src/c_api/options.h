// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/trainer.h>

#include <optional>
#include <string>
#include <string_view>

#include "describe/field.h"
#include "describe/setting.h"

namespace linnet::c_api {

/// Parses options of the caller, a JSON object; NULL and "" are an empty one.
Setting parse_options(const char* text, std::string_view what);

/// Takes a key out of a table; nothing where it has none.
std::optional<Setting> taken(Setting& table, std::string_view key);
/// Takes an object out of it; an empty one where it has none.
Setting taken_table(Setting& table, std::string_view key);
/// Throws Error for the first key that is left.
void refuse_others(const Setting& table, std::initializer_list<std::string_view> known);

/// Fills the fields of described options that the table names.
template <class S>
void read_options(S& options, const Setting& table, const std::string& where) {
  description_of<S>().read(&options, table, where);
}

ModelOptions read_model_options(const Setting& table, const std::string& where);
/// Also reads the optimizer and the schedule, which are kinds or objects with one.
void read_training_options(TrainingOptions& options, Setting table, const std::string& where);

/// Reads {"input": [4], "layers": [...]}.
Network read_network(const char* text);

}  // namespace linnet::c_api
