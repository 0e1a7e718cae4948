// SPDX-License-Identifier: Apache-2.0
#include <linnet/state.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"

namespace linnet {

State::State(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::unordered_set<std::string_view> names;
  for (const Entry& entry : entries_) {
    require(names.insert(entry.name).second, "a state has two entries '{}'", entry.name);
  }
}

const Tensor* State::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &found->value;
}

const Tensor& State::operator[](std::string_view name) const {
  const Tensor* value = find(name);
  require(value != nullptr, "the state has no entry '{}' among its {}", name, size());
  return *value;
}

void State::set(std::string name, Tensor value) {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found != entries_.end()) {
    found->value = std::move(value);
  } else {
    entries_.push_back({std::move(name), std::move(value)});
  }
}

State State::part(std::string_view prefix) const {
  State part;
  for (const Entry& entry : entries_) {
    if (entry.name.starts_with(prefix)) {
      part.entries_.push_back({entry.name.substr(prefix.size()), entry.value});
    }
  }
  return part;
}

bool same_bits(const State& a, const State& b) {
  return std::ranges::equal(a, b, [](const State::Entry& x, const State::Entry& y) {
    return x.name == y.name && same_bits(x.value, y.value);
  });
}

}  // namespace linnet
