// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/image_task.h>
#include <linnet/language_task.h>
#include <linnet/series_task.h>
#include <linnet/table_task.h>
#include <linnet/text_task.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/options.h"

// The structs of options of data, described once (options.cpp), as those of trainings are
// (model/options.h).
namespace linnet {

inline auto enum_names(ColumnType /*type*/) { return column_type_names(); }
inline auto enum_names(DateOrder /*order*/) { return date_order_names(); }
inline auto enum_names(MissingValues /*what*/) { return missing_values_names(); }
inline auto enum_names(Scaling /*scaling*/) { return scaling_names(); }
inline auto enum_names(SeriesNetwork /*network*/) { return series_network_names(); }
inline auto enum_names(SameTime /*what*/) { return same_time_names(); }
inline auto enum_names(OffStep /*what*/) { return off_step_names(); }
constexpr std::array<std::string_view, 5> enum_names(TableTarget /*target*/) {
  return {"automatic", "classes", "value", "labels", "novelty"};
}
constexpr std::array<std::string_view, 2> enum_names(OnBadImage /*what*/) {
  return {"stop", "skip"};
}
constexpr std::array<std::string_view, 2> enum_names(Exif /*what*/) { return {"apply", "ignore"}; }

template <>
struct FieldFormat<TableTargets> : FieldFormat<std::vector<std::string>> {
  static Setting write(const TableTargets& value) {
    return FieldFormat<std::vector<std::string>>::write(value.names);
  }
  static std::string cpp(const TableTargets& value) {
    return FieldFormat<std::vector<std::string>>::cpp(value.names);
  }
};
template <>
inline constexpr bool kIsOfPrograms<TableTransform> = true;

/// Makes a field one of --target, which several tasks take.
Field target_field(const Field& field);

/// The value of --task that makes a text one to continue.
inline constexpr std::string_view kLanguageTask = "language";
/// Holds --task, which is one of tables beside that.
struct TaskName {
  std::string task = {};
};

template <
    OneOf<DatasetOptions, TableOptions, TableTransformOptions, TableTaskOptions, SeriesTaskOptions,
          TextColumns, TextTaskOptions, ImageTaskOptions, LanguageTaskOptions, TaskName>
        S>
inline constexpr bool kIsDescribed<S> = true;

}  // namespace linnet
