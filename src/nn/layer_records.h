// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layer.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/setting.h"

// Records say which layers a network was made of: { name = "stem", type = "conv2d", filters = 16,
// ... }, with all fields and with full names, and so the layers in a residual, a concat, a
// sequential. A layer of the user's own is { name = "swish_1", type = "custom", layers = [...] }, a
// block { name = "d_2", type = "block", weights = "d", layers = [...] }.
namespace linnet {

/// Returns the record of a layer that was built as `name`, from those of the layers that it built.
Setting layer_record(const Layer& layer, const std::string& name, std::vector<Setting> parts);
/// `weights`: the block whose weights it has; of its first application, itself.
Setting block_record(const std::string& name, const std::string& weights,
                     std::vector<Setting> parts);

/// Returns a record from a file as this library would have written it. Throws Error for a record
/// that no network could have.
Setting checked_record(const Setting& record);

/// Calls visit for every record: for those in another one before it.
void for_each_record(const std::vector<Setting>& records,
                     const std::function<void(const SettingTable&)>& visit);

/// Replaces the record of a layer, and of its parts, by `by`, also within other records; appends it
/// where there is none.
void replace_record(std::vector<Setting>& records, std::string_view layer, const Setting& by);

/// Returns what differs from the defaults, but names and layers: "filters = 16, padding =
/// \"same\"".
std::string settings_text(const SettingTable& record);

}  // namespace linnet
