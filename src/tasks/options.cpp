// SPDX-License-Identifier: Apache-2.0
#include "tasks/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "tasks/table/networks.h"

namespace linnet {
namespace {

constexpr double kMostShare = 0.99;
constexpr double kMostSteps = 1 << 20;
constexpr std::int64_t kMostSide = 1'000'000;
constexpr double kMostLayers = 1000;

/// The shares that are held out, which every task has.
template <class O>
std::vector<Field> share_fields() {
  return {field<&O::validation>("validation")
              .between(0, kMostShare)
              .group("Tables")
              .flag("--validation",
                    "Share of the samples that choose the epoch; 0.1 if not given, of a table, a "
                    "folder\nor texts; else none"),
          field<&O::test>("test")
              .between(0, kMostShare)
              .group("Tables")
              .flag("--test",
                    "Share of the samples that measure the model; 0.2 if not given, where there is "
                    "no\ntest set")};
}

/// Returns what is wrong with a size of images.
std::string size_mistake(const std::string& text) {
  try {
    const std::string where;
    const Shape size = FieldFormat<Shape>::read({"", where, {text}});
    const auto fits = [](std::int64_t side) { return side >= 1 && side <= kMostSide; };
    if (size.rank() <= 2 && std::ranges::all_of(size.dims(), fits)) return {};
  } catch (const SettingError&) {  // says what any shape is
  }
  return fmt::format("expected pixels, such as 224, or HEIGHTxWIDTH, such as 224x192; got '{}'",
                     text);
}

template <class O>
Field stratify_field() {
  return field<&O::stratify>("stratify")
      .as({"random", "stratified"})
      .group("Tables")
      .flag("--split",
            "How samples are split: stratified (the same share of each class, the\ndefault) or "
            "random");
}

template <class O>
Field time_field() {
  return field<&O::time>("time").column().group("Tables").flag(
      "--time",
      "Column of a table by which the earliest rows train and the latest measure; of series\n"
      "(--past) their time, none: rows follow each other at equal steps; if not given, the\n"
      "only column of dates");
}

template <class O>
Field ignore_field() {
  return field<&O::ignore>("ignore").column().group("Tables").flag(
      "--ignore", "Column of a table that is left out; may be given several times");
}

/// Takes the names of all tasks of --task; which of them fit is the task's to say.
Field task_field(const Field& field) {
  return field
      .as({"automatic", "classification", "regression", "labels", "novelty",
           std::string(kLanguageTask)})
      .group("Tables")
      .flag("--task",
            "What is learned of a table's target; automatic: classes of categories, values of\n"
            "numbers, labels of several booleans; novelty, without a target: how unlike the\n"
            "training rows a row is. language: a text file or a folder of *.txt is a text to\n"
            "continue, and its next characters are learned");
}

Field sheet_field(const Field& field) {
  return field.column().flag(
      "--sheet", "Sheet of a spreadsheet (.xlsx), by name or number from 1; else the first");
}

}  // namespace

Field target_field(const Field& field) {
  return field.column().group("Tables").flag(
      "--target",
      "Column that a model of a table predicts, by name or number from 1; given several\n"
      "times: several numbers, or several labels of 0 and 1");
}

template <>
Description described<DatasetOptions>() {
  using O = DatasetOptions;
  return {
      "data",
      "DatasetOptions",
      {field<&O::streamed>("streamed"),
       field<&O::size>("size")
           .between(1, kMostSide)
           .checked(&size_mistake)
           .flag("--image-size",
                 "Size to which image files are resized at loading: one number, or HEIGHTxWIDTH"),
       field<&O::channels>("channels")
           .as({"1", "3"})
           .flag("--channels",
                 "Channels of image files: 1 (grey) or 3 (colour); if not given, 3 if any has "
                 "colour"),
       field<&O::on_bad_image>("on_bad_image")
           .flag("--on-bad-image",
                 "What follows when an image file cannot be decoded: stop, or leave it out and "
                 "count it"),
       field<&O::exif>("exif").flag(
           "--exif",
           "What the EXIF orientation of image files does: apply (the default) turns them "
           "upright, ignore leaves the pixels as stored"),
       field<&O::white>("white").between(1, 65535).flag(
           "--white",
           "Sample of 16-bit image files that becomes white, e.g. 4095; if not given, the "
           "least 2^n - 1 that no training image exceeds"),
       field<&O::targets>("targets"), field<&O::threads>("threads"), field<&O::seed>("seed"),
       field<&O::coarse_labels>("coarse_labels"), field<&O::words>("words"),
       field<&O::ignored_label>("ignored_label"), field<&O::train_samples>("train_samples"),
       field<&O::test>("test"), field<&O::text_length>("text_length")},
      nullptr};
}

template <>
Description described<TableOptions>() {
  using O = TableOptions;
  return {
      "table",
      "TableOptions",
      {field<&O::separator>("separator")
           .as({",", ";", "|", "tab", "blank"})
           .flag("--separator", "Separator of a table's fields; else found"),
       field<&O::header>("header").flag(
           "--header",
           "The first record of a table names the columns, or (--no-header) is a row; else found"),
       field<&O::decimal>("decimal")
           .as({".", ","})
           .flag("--decimal", "Decimal separator of a table; else found"),
       field<&O::thousands>("thousands")
           .as({".", ",", "'", "blank", "none"})
           .flag("--thousands",
                 "Separator of groups of three digits in a table's numbers; else found"),
       field<&O::missing>("missing").column().flag(
           "--missing-text",
           "Text that stands for a missing value of a table in every column, e.g. -999, beside "
           "the\n"
           "empty field, and NA, ? and the like among numbers, dates and truth values; may be\n"
           "given several times; \"\": the empty field alone"),
       field<&O::missing_words>("missing_words"),
       field<&O::types>("types").flag(
           "--type",
           "Type of a table's column, COLUMN=TYPE, by name or number from 1: number,\n"
           "integer, category, boolean, date_time, constant or identifier; may be given\n"
           "several times"),
       field<&O::date_order>("date_order")
           .flag("--date-order",
                 "Order of the parts of a table's dates, e.g. day_first for 31/03/2024; else "
                 "found"),
       field<&O::encoding>("encoding")
           .flag("--encoding",
                 "Encoding of a table's file, e.g. cp1252, cp1251, utf-16 or gbk; else found"),
       field<&O::comment>("comment").flag(
           "--comment",
           "First character of a table's lines that are comments, or none; else #, where the\n"
           "file begins with it"),
       sheet_field(field<&O::sheet>("sheet"))},
      nullptr};
}

template <>
Description described<TableTransformOptions>() {
  using O = TableTransformOptions;
  return {
      "transform",
      "TableTransformOptions",
      {field<&O::missing>("missing").flag(
           "--missing",
           "What stands in for missing values of a table: mean (the default), median,\n"
           "most_frequent, interpolate between the rows before and after, or drop, which\n"
           "leaves such rows out"),
       field<&O::scaling>("scaling"),
       field<&O::column_scaling>("column_scaling")
           .flag("--scale",
                 "Scaling of a table's numbers: standard (the default), min_max, robust, quantile "
                 "or\nlog1p; COLUMN=METHOD for one column; may be given several times"),
       field<&O::target>("target")
           .as({"automatic", "classification", "regression", "labels", "novelty"})
           .flag("--task",
                 "What is learned of the target; automatic: classes of categories, values of\n"
                 "numbers, labels of several booleans; novelty, without a target: how unlike the\n"
                 "training rows a row is"),
       field<&O::most_one_hot>("most_one_hot"), field<&O::least_count>("least_count"),
       ignore_field<O>()},
      nullptr};
}

template <>
Description described<TableTaskOptions>() {
  using O = TableTaskOptions;
  return {"table task", "TableTaskOptions",
          joined({{target_field(field<&O::target>("target")), field<&O::transform>("transform"),
                   field<&O::fitted>("fitted")},
                  share_fields<O>(),
                  {stratify_field<O>(),
                   field<&O::group>("group").column().flag(
                       "--group",
                       "Column of a table whose equal texts are never in two parts, e.g. a "
                       "patient"),
                   time_field<O>(),
                   field<&O::folds>("folds").at_least(2).flag(
                       "--folds",
                       "Number of parts of a cross-validation of a table: each measures a model "
                       "that the\nothers trained; prints their scores, mean and std, and keeps no "
                       "model"),
                   field<&O::fold>("fold"),
                   field<&O::ensemble>("ensemble")
                       .between(0, kMostMembers)
                       .flag("--ensemble",
                             "Number of networks that are trained together on a table and "
                             "averaged in one\nmodel; 1: a single network; 0 (default): 1 to 3, by "
                             "the number of rows"),
                   field<&O::validation_folds>("validation_folds")
                       .between(0, kMostValidationFolds)
                       .flag("--validation-folds",
                             "Number of parts of a table's training rows that members of the "
                             "ensemble hold out\nin turn, instead of --validation; 1: none; 0 "
                             "(default): 5, 3 or 1, by the number\nof rows"),
                   field<&O::seed>("seed")}}),
          nullptr};
}

template <>
Description described<SeriesTaskOptions>() {
  using O = SeriesTaskOptions;
  return {
      "series task", "SeriesTaskOptions",
      joined(
          {{target_field(field<&O::targets>("targets")), time_field<O>(),
            field<&O::entity>("entity").column().flag("--entity",
                                                      "Column that tells several series apart"),
            field<&O::past>("past")
                .between(1, kMostSteps)
                .flag("--past",
                      "Steps of a series that the model sees; makes windows of a table's rows"),
            field<&O::future>("future")
                .between(1, kMostSteps)
                .flag("--future", "Steps of a series that the model forecasts; 1 if not given"),
            field<&O::known>("known").column().flag(
                "--known",
                "Column of a series whose values are known ahead; may be given several times"),
            ignore_field<O>(),
            field<&O::season>("season")
                .between(1, kMostSteps)
                .flag("--season",
                      "Steps of a season, for the seasonal naive forecast; 1: none; found if not "
                      "given"),
            field<&O::network>("network").flag("--network",
                                               "Default network of a series; gru if not given"),
            field<&O::step>("step").flag(
                "--step",
                "Time from one step of a series to the next, e.g. 15min, 1h, 1d or 1month; the\n"
                "most common one if not given"),
            field<&O::same_time>("same_time")
                .flag("--same-time",
                      "What becomes of several rows of a series that have the same time: refuse "
                      "(the\ndefault), first, last, or the mean or sum of their numbers"),
            field<&O::off_step>("off_step")
                .flag("--off-step",
                      "What becomes of times between two steps of a series: refuse (the default) "
                      "or\nnearest, the nearest step")},
           share_fields<O>(),
           {field<&O::seed>("seed")}}),
      nullptr};
}

template <>
Description described<TextColumns>() {
  using O = TextColumns;
  return {"columns",
          "TextColumns",
          {field<&O::text>("text")
               .column()
               .group("Data and run")
               .flag("--text",
                     "Column of a table that holds the texts to classify; --target: their labels"),
           target_field(field<&O::target>("target")), sheet_field(field<&O::sheet>("sheet"))},
          nullptr};
}

template <>
Description described<TextTaskOptions>() {
  using O = TextTaskOptions;
  return {"text task", "TextTaskOptions",
          joined({{field<&O::columns>("columns")},
                  share_fields<O>(),
                  {stratify_field<O>(), field<&O::seed>("seed"), field<&O::words>("words"),
                   field<&O::length>("length")}}),
          nullptr};
}

template <>
Description described<LanguageTaskOptions>() {
  using O = LanguageTaskOptions;
  return {
      "language task", "LanguageTaskOptions",
      joined(
          {{field<&O::context>("context")
                .between(1, kMostSteps)
                .flag("--context",
                      "Characters that a language model sees at most; 128 if not given"),
            field<&O::layers>("layers")
                .between(1, kMostLayers)
                .flag("--layers", "Layers of a language model; 4 if not given"),
            field<&O::width>("width")
                .between(1, kMostSteps)
                .flag("--width",
                      "Numbers that stand for a character in a language model; 128 if not given"),
            field<&O::heads>("heads")
                .between(1, kMostSteps)
                .flag("--heads",
                      "Heads of each attention of a language model, which divide the width; 4 if "
                      "not given"),
            field<&O::dropout>("dropout").from_to_below(0, 1).flag(
                "--dropout",
                "Probability of zeroing an element of a language model in training; 0.1 if "
                "not given"),
            field<&O::stride>("stride")
                .between(0, kMostSteps)
                .flag("--stride",
                      "Characters from one training window of a text to the next; half of the "
                      "context if\nnot given")},
           share_fields<O>(),
           {field<&O::seed>("seed")}}),
      nullptr};
}

template <>
Description described<TaskName>() {
  return {"task", "TaskName", {task_field(field<&TaskName::task>("task"))}, nullptr};
}

template <>
Description described<ImageTaskOptions>() {
  using O = ImageTaskOptions;
  return {"image task", "ImageTaskOptions",
          joined({share_fields<O>(),
                  {stratify_field<O>(), field<&O::seed>("seed"), field<&O::files>("files")}}),
          nullptr};
}

}  // namespace linnet
