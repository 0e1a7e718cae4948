// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/image_task.h>
#include <linnet/text_task.h>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "fields.h"
#include "options.h"
#include "settings.h"
#include "shapes.h"
#include "task_model.h"
#include "tasks/task.h"

namespace linnet::python {

namespace {

/// The options of DatasetOptions that image_task() takes itself, beside its own.
std::vector<Option<DatasetOptions>> file_options() {
  std::vector<Option<DatasetOptions>> all;
  for (const Option<DatasetOptions>& one : options<DatasetOptions>().all) {
    if (options<ImageTaskOptions>().find(one.key) == nullptr) all.push_back(one);
  }
  return all;
}

/// "files" first, then each option of a file by its own name.
ImageTaskOptions image_options(const nb::kwargs& named) {
  nb::dict arguments = nb::borrow<nb::dict>(named);
  ImageTaskOptions how = take<ImageTaskOptions>(arguments, "image_task");
  std::vector<std::string> known;
  for (const auto& one : options<ImageTaskOptions>().all) known.emplace_back(one.key);
  for (const Option<DatasetOptions>& one : file_options()) {
    known.emplace_back(one.key);
    const nb::str key(one.key.data(), one.key.size());
    if (!arguments.contains(key)) continue;
    one.set(how.files, arguments[key], {"image_task", one.key});
    arguments.attr("pop")(key);
  }
  refuse_others(arguments, "image_task", std::move(known));
  return how;
}

std::string image_parameters() {
  std::string out = options<ImageTaskOptions>().parameters();
  for (const Option<DatasetOptions>& one : file_options()) {
    out += ", " + parameter(one.key, one.type, one.get(DatasetOptions{}));
  }
  return out;
}

void bind_images(nb::module_& m) {
  Fields<ImageTask>(m, "ImageTask")("data", &ImageTask::data)("network", &ImageTask::network)(
      "training", &ImageTask::training)("notes", &ImageTask::notes);
  m.def(
      "image_task",
      [](const nb::object& images, const nb::kwargs& named) {
        const ImageTaskOptions how = image_options(named);
        if (nb::isinstance<Splits>(images)) {
          const auto data = nb::cast<Splits>(images);
          return without_gil([&] { return image_task(data, how); });
        }
        const auto folder = Convert<std::filesystem::path>::from(images, {"image_task", "images"});
        return without_gil([&] { return image_task(folder, how); });
      },
      nb::arg("images"), nb::arg("options"),
      nb::sig(
          signature("image_task", "images: PathLike | Splits", image_parameters(), "ImageTask")),
      doc("image_task", options<ImageTaskOptions>().arguments()));
  m.def(
      "image_training",
      [](const ShapeArg& sample, std::int64_t images) {
        return image_training(shape_of(sample), images);
      },
      nb::arg("sample"), nb::arg("images"), doc("image_training"));
}

void bind_texts(nb::module_& m) {
  Fields<TextTask>(m, "TextTask")("data", &TextTask::data)("length", &TextTask::length)(
      "network", &TextTask::network)("training", &TextTask::training)("notes", &TextTask::notes);
  const std::string columns = options<TextColumns>().parameters();
  m.def(
      "text_task",
      [](const std::filesystem::path& path, const nb::kwargs& named) {
        nb::dict arguments = nb::borrow<nb::dict>(named);
        const auto columns = take<TextColumns>(arguments, "text_task");
        TextTaskOptions how;
        options<TextTaskOptions>().read(how, arguments, "text_task");
        how.columns = columns;
        return without_gil([&] { return text_task(path, how); });
      },
      nb::sig(signature("text_task", "path: PathLike",
                        columns + ", " + options<TextTaskOptions>().parameters(), "TextTask")),
      doc("text_task",
          options<TextColumns>().arguments() + options<TextTaskOptions>().arguments().substr(11)));
  m.def(
      "labelled_texts",
      [](const std::filesystem::path& path, const std::vector<std::string>& vocabulary,
         std::int64_t length, const nb::kwargs& named) {
        TextColumns columns;
        options<TextColumns>().read(columns, nb::borrow<nb::dict>(named), "labelled_texts");
        return without_gil([&] { return labelled_texts(path, columns, vocabulary, length); });
      },
      nb::arg("path"), nb::arg("vocabulary"), nb::arg("length"), nb::arg("columns"),
      nb::sig(signature("labelled_texts",
                        "path: PathLike, vocabulary: "
                        "Sequence[str], length: int",
                        columns, "Splits")),
      doc("labelled_texts", options<TextColumns>().arguments()));
  m.def("text_network", &text_network, nb::arg("length"), nb::arg("vocabulary"), nb::arg("classes"),
        doc("text_network"));
  m.def("text_training", &text_training, nb::arg("texts"), doc("text_training"));
}

bool is_setting(const std::string& key) {
  return std::ranges::any_of(all_tasks(), [&](const auto& task) {
    return std::ranges::any_of(task->flags(), [&](const TaskFlags& flags) {
      return flags.all->find(key) != nullptr;
    });
  });
}

void bind_files(nb::module_& m) {
  nb::class_<PreparedTask> bound(m, "PreparedTask",
                                 "Holds the training that prepare() chose for a file or folder.");
  bound
      .def_prop_ro(
          "data", [](const PreparedTask& task) { return task.task->data(); },
          "The samples of the three parts.")
      .def_ro("network", &PreparedTask::network,
              "The default network for these samples, or that of the model to start from.")
      .def_ro("training", &PreparedTask::training, "The default recipe, with early stopping.")
      .def_prop_ro(
          "notes", [](const PreparedTask& task) { return task.task->notes(); },
          "Sentences on what was decided.");
  bind_model(bound, "PreparedTask",
             [](const PreparedTask& of, Model& model) { of.task->equip(model); });
  m.def(
      "prepare",
      [](const std::filesystem::path& path, std::uint64_t seed, const nb::kwargs& named) {
        nb::dict arguments = nb::borrow<nb::dict>(named);
        for (const auto& [key, value] : arguments) {
          const auto name = nb::cast<std::string>(key);
          if (!is_setting(name)) {
            throw nb::type_error(
                fmt::format("[prepare] no kind of data has the setting '{}'", name).c_str());
          }
        }
        TaskFileOptions how{.seed = seed};
        how.settings.given = {table_of(arguments, "prepare")};
        return without_gil([&] { return task_for(path, how.settings).prepare(path, how); });
      },
      nb::arg("path"), nb::arg("seed") = 0, nb::arg("settings"),
      nb::sig("def prepare(path: PathLike, seed: int = 0, **settings: Any) -> PreparedTask"),
      "Returns the training on a file or folder, as `linnet train PATH` begins it: a table, a "
      "series\n(with `past`), texts or images.\n\n`seed` is that of the split and of the training. "
      "Settings are called as the command's options,\nwith `_` for `-`: `target`, `time`, "
      "`past`, `text`, `validation`. Raises Error where nothing can be\nlearned from the path, and "
      "for settings of other data.");
}

}  // namespace

void bind_tasks(nb::module_& m) {
  bind_files(m);
  bind_images(m);
  bind_texts(m);
}

}  // namespace linnet::python
