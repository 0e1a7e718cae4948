// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>
#include <linnet/functions.h>

#include <memory>
#include <utility>
#include <vector>

#include "gil.h"

// Expressions of Python may outlive what they refer to; each use of them is checked.
namespace linnet::python {

/// What expressions refer to: a network, layer, loss or metric under construction.
struct Tracing {
  bool open = true;
  std::shared_ptr<FunctionalNetwork> network = {};  ///< kept while its expressions live
};

/// An Expression that knows whether it may still be used.
class Traced {
 public:
  Traced(std::shared_ptr<const Tracing> tracing, Expression expression)
      : tracing_(std::move(tracing)), expression_(std::move(expression)) {}

  /// Throws Error for an expression of a function that has returned.
  const Expression& get() const;
  /// Returns another expression of the same construction.
  Traced with(Expression expression) const { return {tracing_, std::move(expression)}; }
  std::vector<Traced> with(const std::vector<Expression>& expressions) const {
    std::vector<Traced> all;
    for (const Expression& one : expressions) all.push_back(with(one));
    return all;
  }

 private:
  std::shared_ptr<const Tracing> tracing_;
  Expression expression_;
};

std::vector<Expression> expressions_of(const std::vector<Traced>& all);
/// Throws Error for none.
const Traced& first_of(const std::vector<Traced>& all);

/// Calls a function of Python with expressions that are closed when it has returned. Takes the
/// lock. Throws TypeError unless the function returns an expression.
Expression call_traced(PyObject* function, const Expression& a, const Expression& b,
                       const char* what);

/// A weight's initial values: a number, or an initializer as layers take it.
Initializer initializer_of(nb::handle value, const char* what);

}  // namespace linnet::python
