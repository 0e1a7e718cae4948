// SPDX-License-Identifier: Apache-2.0
#include <linnet/ranks.h>

#include <nanobind/stl/string.h>

#include "bind.h"
#include "docstrings.h"
#include "gil.h"
#include "options.h"

namespace linnet::python {

template <>
std::vector<std::string> names_of<RankEngine>() {
  return {"automatic", "mpi", "gloo"};
}
template <>
std::vector<std::string> names_of<RankReduce>() {
  return {"tree", "fast"};
}
template <>
const Options<RanksOptions>& options<RanksOptions>() {
  using O = RanksOptions;
  static const Options<O> all{"RanksOptions",
                              {option<&O::engine>("engine"), option<&O::rank>("rank"),
                               option<&O::size>("size"), option<&O::local_rank>("local_rank"),
                               option<&O::master_address>("master_address"),
                               option<&O::master_port>("master_port"), option<&O::reduce>("reduce"),
                               option<&O::deadline_seconds>("deadline_seconds"),
                               option<&O::start_seconds>("start_seconds"),
                               option<&O::library>("library")}};
  return all;
}

void bind_ranks(nb::module_& m) {
  nb::class_<Ranks>(m, "Ranks", doc("Ranks"))
      .def(nb::init<>(), doc("Ranks.Ranks"))
      .def_static(
          "open",
          [](const nb::kwargs& named) {
            RanksOptions how;
            options<RanksOptions>().read(how, nb::borrow<nb::dict>(named), "Ranks.open");
            return without_gil([&] { return Ranks::open(how); });
          },
          nb::sig(signature("open", "", options<RanksOptions>().parameters(), "Ranks")),
          doc("Ranks.open", options<RanksOptions>().arguments()))
      .def_prop_ro("rank", &Ranks::rank, doc("Ranks.rank"))
      .def_prop_ro("size", &Ranks::size, doc("Ranks.size"))
      .def_prop_ro("local_rank", &Ranks::local_rank, doc("Ranks.local_rank"))
      .def_prop_ro("engine", &Ranks::engine, doc("Ranks.engine"))
      .def(
          "leave",
          [](const Ranks& r, const std::string& reason) { without_gil([&] { r.leave(reason); }); },
          nb::arg("reason"), doc("Ranks.leave"));
}

}  // namespace linnet::python
