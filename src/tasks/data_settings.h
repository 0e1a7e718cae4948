// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "describe/flags.h"

namespace linnet {

/// What arguments and a configuration say of a training's data, by the names of flags: "date_order"
/// of --date-order. Each task describes those that it takes. Arguments come first.
struct DataSettings {
  Setting given = {SettingTable()};  ///< those of a configuration have a place
  std::int64_t fold = 0;             ///< the one that is trained
  std::optional<Table> rows = {};    ///< of the file, where they are read already

  /// Returns whether one of these is given.
  bool has(const std::vector<std::string_view>& keys) const;
  /// Reads those that `options` describe by flags. Throws SettingError at a wrong value.
  void read(const Description& options, void* object) const;
  template <class O>
  O read() const {
    O options;
    read(flags_of<O>(), &options);
    return options;
  }
  /// Throws Error where one of these is given, see refuse_flags().
  void refuse(const std::vector<std::string_view>& keys, std::string_view purpose,
              std::string_view input) const;
};

}  // namespace linnet
