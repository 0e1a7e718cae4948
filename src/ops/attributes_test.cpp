// SPDX-License-Identifier: Apache-2.0
// The attributes of every operator are read back as they are written, each field by itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "every_operator.h"
#include "graph/attributes.h"

namespace linnet::testing {
namespace {

template <class O>
using AttrsOf = std::remove_cvref_t<decltype(std::declval<const O&>().attrs())>;

/// Counts fields, and changes the one at `place`.
struct Changes {
  int place = -1;
  int count = 0;

  template <class T>
  void operator()(std::string_view /*name*/, T& field) {
    if (count++ != place) return;
    if constexpr (std::is_enum_v<T>) {
      const auto next = static_cast<std::size_t>(field) + 1;
      field = static_cast<T>(next % enum_names(T{}).size());
    } else if constexpr (std::is_same_v<T, bool>) {
      field = !field;
    } else if constexpr (std::is_integral_v<T>) {
      field = static_cast<T>(field + 1);
    } else if constexpr (std::is_floating_point_v<T>) {
      field += 1;
    } else if constexpr (std::is_same_v<T, std::string>) {
      field += "a";
    } else {
      field.push_back(3);
    }
  }
};

/// Stands for a member of any type.
struct Any {
  template <class T>
  operator T() const;  // NOLINT(*-explicit-*)
};

/// Returns how many members a struct has.
template <class T, class... Members>
constexpr int members() {
  if constexpr (requires { T{Members{}..., Any{}}; }) return members<T, Members..., Any>();
  return sizeof...(Members);
}

template <class A>
A read_back(const A& written, std::string_view op) {
  Attributes text;
  A copy = written;
  copy.fields(AttributeWriter(text));
  A read;
  AttributeReader reader(op, text);
  read.fields(reader);
  reader.finish();
  return read;
}

template <class O>
void check_operator() {
  using A = AttrsOf<O>;
  SCOPED_TRACE(O::kName);
  Changes all;
  A first;
  first.fields(all);
  int of_a_run = 0;  // fields that are in no file
  if constexpr (requires(const A& a) { a.sync; }) of_a_run = 1;
  EXPECT_GE(all.count + of_a_run, members<A>()) << "fields that only some values show";
  EXPECT_EQ(read_back(A{}, O::kName), A{});
  for (int i = 0; i < all.count; ++i) {
    A changed;
    Changes one{i, 0};
    changed.fields(one);
    const A set = changed;
    EXPECT_EQ(read_back(set, O::kName), set) << "field " << i;
  }
}

template <class... Os>
void check_all(const std::tuple<Os...>* /*types*/) {
  const auto check = []<class O>(const O* /*type*/) {
    if constexpr (requires(const O& op) { op.attrs(); }) check_operator<O>();  // else a user's own
  };
  (check(static_cast<const Os*>(nullptr)), ...);
}

TEST(Attributes, OfEveryOperatorAreReadBackAsTheyAreWritten) {
  EXPECT_GT(std::tuple_size_v<EveryOperator>, 80U);
  check_all(static_cast<EveryOperator*>(nullptr));
}

}  // namespace
}  // namespace linnet::testing
