// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace linnet::command {

/// Says of each column whether it is used; one at least is.
using ColumnSet = std::vector<bool>;
/// Returns what a training with these columns costs, less is better; nothing where it was
/// interrupted.
using CostOfColumns = std::function<std::optional<double>(const ColumnSet& used)>;

/// Sequential forward selection: tries each column alone, keeps the best, tries each other one
/// beside it, and so on until no further column lowers the cost, or after `most` trainings. Returns
/// false where it was interrupted.
bool forward_selection(std::size_t columns, std::int64_t most, const CostOfColumns& cost);

/// A genetic algorithm over sets of columns, of `most` trainings. The first 8 sets are all columns
/// and random ones. Children are made of two parents, each the better of two random sets: a column
/// is taken over from either, and is changed with a chance of 1 / columns. The best 8 of parents
/// and children go on. No set is tried twice; it ends earlier where all have been. A function of
/// the seed. Returns false where it was interrupted.
bool genetic_selection(std::size_t columns, std::int64_t most, std::uint64_t seed,
                       const CostOfColumns& cost);

}  // namespace linnet::command
