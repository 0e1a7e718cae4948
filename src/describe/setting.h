// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace linnet {

class Layer;

/// Where a setting stands in a file, from 1; line 0: in none.
struct SettingPlace {
  std::int64_t line = 0;
  std::int64_t column = 0;
};

struct SettingEntry;

/// A value as TOML and JSON have it, of one of their types; a monostate is of another (a date, a
/// null). A program's settings may also hold a layer itself, which may have functions. Values are
/// equal wherever they stand.
struct Setting {
  using List = std::vector<Setting>;
  using Table = std::vector<SettingEntry>;  // in the order in which it is written
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table,
                             std::shared_ptr<const Layer>>;
  Value value;
  SettingPlace place;

  Setting();
  Setting(Value of, SettingPlace at = {});  // NOLINT(*-explicit-*)
  Setting(const Setting& other);
  Setting& operator=(const Setting& other);
  Setting(Setting&& other) noexcept;
  Setting& operator=(Setting&& other) noexcept;
  ~Setting();

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&value);
  }
};
using SettingTable = Setting::Table;

struct SettingEntry {
  std::string key;
  Setting value;
  SettingPlace place = {};  ///< of the key
};

inline Setting::Setting() = default;
inline Setting::Setting(Value of, SettingPlace at) : value(std::move(of)), place(at) {}
inline Setting::Setting(const Setting& other) = default;
inline Setting& Setting::operator=(const Setting& other) = default;
inline Setting::Setting(Setting&& other) noexcept = default;
inline Setting& Setting::operator=(Setting&& other) noexcept = default;
inline Setting::~Setting() = default;

bool operator==(const Setting& a, const Setting& b);

/// Returns the value of a key, or null.
const Setting* find(const SettingTable& table, std::string_view key);
/// Returns the text of a key; "" where it has none.
std::string_view text_of(const SettingTable& table, std::string_view key);

/// Returns text such as "a string", "an integer", ...
std::string_view article_and_type(const Setting& setting);

/// As TOML: 0.5, "same", [3, 3], { type = "relu" }.
std::string to_toml(const Setting& setting);

/// A mistake in settings: the sentence, without the file's name, and where it is.
class SettingError : public Error {
 public:
  SettingError(SettingPlace where, const std::string& sentence) : Error(sentence), place(where) {}
  SettingPlace place;
};

}  // namespace linnet
