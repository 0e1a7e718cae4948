// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/batch.h>
#include <linnet/generator.h>
#include <linnet/lbfgs.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <array>
#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "describe/field.h"

// The structs of options, described once (options.cpp): checks, keys of configuration files, flags
// of the command, arguments in Python, settings in checkpoints and the keys of programs follow.
namespace linnet {

inline std::vector<std::string_view> enum_names(Loss /*loss*/) { return loss_names(); }
constexpr std::string_view enum_type(Loss /*loss*/) { return "Loss"; }
constexpr std::array<std::string_view, 2> enum_names(OnFailedSave /*what*/) {
  return {"stop", "proceed"};
}
constexpr std::string_view enum_type(OnFailedSave /*what*/) { return "OnFailedSave"; }
constexpr std::array<std::string_view, 2> enum_names(Better /*which*/) {
  return {"smaller", "larger"};
}
constexpr std::string_view enum_type(Better /*which*/) { return "Better"; }
constexpr std::array<std::string_view, 6> enum_names(Precision /*precision*/) {
  return {"automatic", "fp32", "tf32", "bf16", "fp16", "fp64"};
}

template <>
struct FieldFormat<std::filesystem::path> : NoNumbers {
  static std::string type() { return "a path"; }
  static Setting write(const std::filesystem::path& value) { return {value.string()}; }
  static std::filesystem::path read(const FieldReading& from) {
    return FieldFormat<std::string>::read(from);
  }
  static std::string cpp(const std::filesystem::path& value) {
    return FieldFormat<std::string>::cpp(value.string());
  }
};

template <class T, class... Types>
concept OneOf = (... || std::same_as<T, Types>);

/// A value that files describe in another place, or that only programs have; it has no setting.
template <class T>
inline constexpr bool kIsOfPrograms =
    OneOf<T, Optimizer, Schedule, std::vector<ParameterGroup>, std::vector<OutputLoss>,
          std::vector<CustomMetric>, Ranks, Dataset, Callback*, std::shared_ptr<ThreadTeam>,
          OperatorReaders>;
template <class T>
requires kIsOfPrograms<T>
struct FieldFormat<T> : NoNumbers {
  static std::string type() { return "an object of a program"; }
  static Setting write(const T& /*value*/) { return {}; }
  static T read(const FieldReading& from) { from.refuse_type(type()); }
  static std::string cpp(const T& /*value*/) { return "..."; }
};

/// An array of tables; a text stands for a table with this name alone.
template <>
struct FieldFormat<std::vector<Freeze>> : NoNumbers {
  static std::string type() { return "an array of tables such as {name = \"conv*\", after = 2}"; }
  static Setting write(const std::vector<Freeze>& value);
  static std::vector<Freeze> read(const FieldReading& from);
  static std::string cpp(const std::vector<Freeze>& value) { return value.empty() ? "{}" : "..."; }
};

/// A text stands for a table with this layer alone.
template <>
struct FieldFormat<Whiten> : NoNumbers {
  static std::string type() { return "the name of a layer, or a table with the key 'layer'"; }
  static Setting write(const Whiten& value);
  static Whiten read(const FieldReading& from);
  static std::string cpp(const Whiten& value) { return value.layer.empty() ? "{}" : "..."; }
};

template <OneOf<LossOptions, OutputLoss, Augment, Clip, Warmup, Average, Lookahead, Freeze, Whiten,
                ParameterGroup, Checkpoints, Watch, Objective, FitOptions, TrainerOptions,
                TrainingOptions, CpuOptions, CudaOptions, ModelOptions, LBFGS, BatchOptions,
                GenerateOptions>
              S>
inline constexpr bool kIsDescribed<S> = true;

/// Returns what is wrong with a device's name, or "".
std::string device_mistake(const std::string& name);

/// Copies the fields that both structs have, by name, from `source` to `target`.
template <class S, class T>
void copy_fields(const S& source, T& target) {
  for (const Field& field : description_of<T>().fields) {
    const Field* same = description_of<S>().find(field.key);
    if (same == nullptr || same->format != field.format) continue;
    field.format->copy(same->of(&source), field.member(&target));
  }
}

/// Returns all fields of described options as text, by which programs and checkpoints know them.
template <class S>
std::string key_of(const S& options) {
  return to_toml({description_of<S>().write(&options, true)});
}

}  // namespace linnet
