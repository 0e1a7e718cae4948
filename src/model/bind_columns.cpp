// SPDX-License-Identifier: Apache-2.0
#include "model/bind_columns.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

/// Inputs, outputs or columns by name.
template <class Named>
std::string listed(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& each : all) names.push_back(each.name);
  return names.empty() ? "none" : quoted(names);
}

/// Returns the column of each place; null where there is none. `unused` gets the columns without a
/// place whose name is not in `others`. A single place takes a single column of any name; among
/// several a name that is not known may be a misspelt one, and the wrong one.
template <class Place>
std::vector<const Column*> bind(const std::vector<Place>& places,
                                const std::vector<Column>& columns,
                                std::vector<const Column*>& unused,
                                const std::vector<std::string>& others = {}) {
  std::vector<const Column*> bound(places.size(), nullptr);
  for (const Column& column : columns) {
    const auto place = std::ranges::find(places, column.name, &Place::name);
    if (place == places.end()) {
      if (std::ranges::find(others, column.name) == others.end()) unused.push_back(&column);
    } else {
      bound[static_cast<std::size_t>(place - places.begin())] = &column;
    }
  }
  if (unused.size() == 1 && bound.size() == 1 && bound[0] == nullptr) {
    bound[0] = unused[0];
    unused.clear();
  }
  return bound;
}

/// Returns "; did you mean 'image'?" where a column's name is near to the place's.
std::string nearest_of(const std::string& place, const std::vector<const Column*>& unused) {
  std::vector<std::string> names;
  for (const Column* column : unused) names.push_back(column->name);
  const std::string near = nearest(place, names);
  return near.empty() ? "" : fmt::format("; is '{}' meant?", near);
}

/// Both the network and the column of its input have lengths, or neither.
void check_lengths(const NetworkDefinition& network, const std::string& input, const Column& column,
                   const Dataset& data) {
  bool reads = std::ranges::count(network.unneeded_inputs, input + kLengths) > 0;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const std::optional<std::size_t> sequences = network.sequences_of(i);
    reads = reads || (sequences && network.inputs[*sequences].name == input);
  }
  require<DataError>(reads || !column.has_lengths(),
                     "the column '{}' of the data set '{}' has lengths, but the network does not "
                     "begin with a Lengths layer",
                     column.name, data.info().name);
  require<DataError>(
      !reads || column.has_lengths() || data.size() == 0,
      "the network reads lengths of its input '{}', but the column '{}' of the data set '{}' "
      "has none",
      input, column.name, data.info().name);
}

}  // namespace

std::vector<const Column*> bind_inputs(const NetworkDefinition& network, const Dataset& data) {
  std::vector<NetworkInput> places;  // without the lengths
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    if (!network.sequences_of(i)) places.push_back(network.inputs[i]);
  }
  std::vector<const Column*> unused;
  const std::vector<const Column*> bound =
      linnet::bind(places, data.inputs(), unused, network.unneeded_inputs);
  for (std::size_t i = 0; i < bound.size(); ++i) {
    require<DataError>(bound[i] != nullptr,
                       "the network's input '{}' has no column in the data set '{}'; the network "
                       "takes {}, and the data set's inputs are {}{}",
                       places[i].name, data.info().name, listed(places), listed(data.inputs()),
                       nearest_of(places[i].name, unused));
    check_lengths(network, places[i].name, *bound[i], data);
  }
  std::vector<const Column*> columns;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const std::size_t sequences = network.sequences_of(i).value_or(i);
    const auto place =
        std::ranges::find(places, network.inputs[sequences].name, &NetworkInput::name);
    columns.push_back(bound[static_cast<std::size_t>(place - places.begin())]);
  }
  return columns;
}

std::vector<const Column*> bind_targets(const NetworkDefinition& network, const Dataset& data) {
  require<DataError>(!data.targets().empty(), "the data set '{}' has no targets", data.info().name);
  std::vector<const Column*> unused;
  std::vector<const Column*> bound = bind(network.outputs, data.targets(), unused);
  require<DataError>(
      unused.empty(),
      "the data set '{}' has targets for '{}', which is not an output of the network; its outputs "
      "are {}",
      data.info().name, unused.empty() ? "" : unused[0]->name, listed(network.outputs));
  return bound;
}

std::vector<const Column*> bind_targets(const NetworkDefinition& network, const Dataset& data,
                                        const std::vector<bool>& wanted) {
  std::vector<NetworkOutput> outputs;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) {
      outputs.push_back(network.outputs[i]);
    } else {
      others.push_back(network.outputs[i].name);
    }
  }
  std::vector<const Column*> unused;
  const std::vector<const Column*> found = linnet::bind(outputs, data.targets(), unused, others);
  std::vector<const Column*> bound(wanted.size(), nullptr);
  for (std::size_t i = 0, next = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    bound[i] = found[next++];
    require<DataError>(
        bound[i] != nullptr,
        "the loss of the output '{}' needs a target: the data set '{}' has none for it (its "
        "targets are {}), and OutputLoss::target is not set",
        network.outputs[i].name, data.info().name, listed(data.targets()));
  }
  return bound;
}

bool has_folds(const NetworkDefinition& network, const Dataset& data) {
  return network.outputs.front().holds_out() && data.folds().elements() > 0;
}

}  // namespace linnet
