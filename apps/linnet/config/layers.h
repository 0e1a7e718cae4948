// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layer.h>
#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/section.h"
#include "describe/setting.h"

namespace linnet::command {

/// Returns a value of a configuration file with its place in it. Throws Error for an integer above
/// `most`, by default one that no network can mean: products of a few must not overflow.
Setting setting_from(const toml::node& node, const std::string& file,
                     std::int64_t most = kLargestInteger);

/// Calls `read`; what SettingErrors say gets the file's name and place before it.
template <class F>
auto placed_in(const std::string& file, F&& read) {
  try {
    return read();
  } catch (const SettingError& error) {
    if (error.place.line == 0) throw;  // of an argument
    throw Error(file + ":" + std::to_string(error.place.line) + ":" +
                std::to_string(error.place.column) + ": " + error.what());
  }
}

/// The layers that entries of a configuration file describe, e.g. {type = "conv2d", filters = 16},
/// whose keys `linnet layers conv2d` lists; and the file's own layers, compositions with
/// parameters:
///   [layers.conv_norm]
///   parameters = ["filters"]
///   defaults = { stride = 1 }
///   layers = [{ type = "conv2d", filters = "$filters", stride = "$stride" }, ...]
class LayerReader {
 public:
  /// `own`: the table [layers]; null: the file has none. All errors are Error with line and column.
  LayerReader(std::string file, const toml::node* own);

  /// `where` is how errors call the entry, e.g. "[network.layers 2]".
  Layer read(const Setting& entry, const std::string& where) const;
  /// Returns the type of the first layer, within custom layers too.
  std::string first_type(const Setting& entry) const;

  const std::string& file() const { return file_; }

 private:
  struct Own {
    std::vector<std::string> parameters;  ///< each use gives them
    SettingTable defaults;                ///< a use may give them
    Setting layers;
  };

  Own read_own(const Setting& definition, const std::string& where) const;
  void expand(Setting& setting, const std::string& where, int depth, std::size_t& count) const;
  Setting composed(const SettingTable& use, SettingPlace place, const std::string& where) const;

  std::string file_;
  std::map<std::string, Own, std::less<>> own_;
};

}  // namespace linnet::command
