// SPDX-License-Identifier: Apache-2.0
// Changes model files as what they are: the network's JSON by its tree, and then, mostly, the
// tensors so that they fit it. Bytes changed at random hardly ever leave a file that is accepted.
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/mutation.h"

namespace linnet::fuzz {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kNetwork = "linnet.network";

struct ModelFile {
  Json header;
  Json network;
  std::string data;
};

std::optional<ModelFile> parse(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) return {};
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) return {};
  ModelFile file;
  file.header = Json::parse(bytes.substr(0, length), nullptr, false);
  const bool metadata = file.header.is_object() && file.header.contains(kMetadata) &&
                        file.header[kMetadata].is_object() &&
                        file.header[kMetadata].contains(kNetwork) &&
                        file.header[kMetadata][kNetwork].is_string();
  if (!metadata) return {};
  file.network = Json::parse(file.header[kMetadata][kNetwork].get<std::string>(), nullptr, false);
  file.data = bytes.substr(length);
  if (!file.network.is_object()) return {};
  return file;
}

/// Elements of a tensor that the rest of a small file could hold.
std::optional<std::size_t> elements_of(const Json& shape, std::size_t most) {
  if (!shape.is_array()) return {};
  std::size_t elements = 1;
  for (const Json& dim : shape) {
    if (!dim.is_number_integer()) return {};
    const auto count = dim.get<std::int64_t>();
    if (count < 0 || static_cast<std::uint64_t>(count) > most) return {};
    elements *= static_cast<std::size_t>(count);
    if (elements > most) return {};
  }
  return elements;
}

/// Describes the tensors that the network's parameters ask for; false where they can't be had.
bool fit_tensors(ModelFile& file, std::size_t most) {
  const auto found = file.network.find("parameters");
  if (found == file.network.end() || !found->is_array()) return false;
  Json header = Json::object();
  header[kMetadata] = file.header[kMetadata];
  std::size_t offset = 0;
  for (const Json& parameter : *found) {
    if (!parameter.is_object() || !parameter.contains("name") || !parameter.contains("shape") ||
        !parameter["name"].is_string()) {
      return false;
    }
    const auto elements = elements_of(parameter["shape"], most / sizeof(float));
    if (!elements || offset > most) return false;
    const std::size_t end = offset + *elements * sizeof(float);
    header[parameter["name"].get<std::string>()] = {{"dtype", "F32"},
                                                    {"shape", parameter["shape"]},
                                                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  const std::string old = file.data.empty() ? std::string(4, '\x3d') : file.data;
  while (file.data.size() < offset) file.data += old;
  file.data.resize(offset);
  file.header = std::move(header);
  return true;
}

std::string write(ModelFile& file) {
  constexpr auto kReplace = Json::error_handler_t::replace;
  file.header[kMetadata][kNetwork] = file.network.dump(-1, ' ', false, kReplace);
  const std::string header = file.header.dump(-1, ' ', false, kReplace);
  const std::uint64_t length = header.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + header + file.data;
}

/// A random element of one of a network's lists ("nodes", "parameters", "outputs"), or null.
Json taken_from(const Json& network, const char* list, Random& random) {
  const auto found = network.find(list);
  if (found == network.end() || !found->is_array() || found->empty()) return nullptr;
  return (*found)[below(random, found->size())];
}

std::size_t copy_out(const std::string& file, std::uint8_t* out, std::size_t most) {
  if (file.size() > most) return 0;
  std::memcpy(out, file.data(), file.size());
  return file.size();
}

}  // namespace
}  // namespace linnet::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  using namespace linnet::fuzz;
  Random random(seed);
  auto file = parse({reinterpret_cast<const char*>(data), size});
  if (!file || below(random, 12) == 0) return LLVMFuzzerMutate(data, size, most);
  for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    change(file->network, random);
    if (!file->network.is_object()) return LLVMFuzzerMutate(data, size, most);
  }
  if (below(random, 12) != 0) fit_tensors(*file, most);
  const std::size_t written = copy_out(write(*file), data, most);
  return written > 0 ? written : LLVMFuzzerMutate(data, size, most);
}

/// The first file with a node or a parameter more, which is one of the second.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned int seed) {
  using namespace linnet::fuzz;
  Random random(seed);
  auto file = parse({reinterpret_cast<const char*>(first), first_size});
  const auto other = parse({reinterpret_cast<const char*>(second), second_size});
  if (!file || !other) return 0;
  for (const char* list : {"nodes", "parameters", "outputs"}) {
    const Json taken = taken_from(other->network, list, random);
    if (taken.is_null() || !file->network.contains(list) || !file->network[list].is_array()) {
      continue;
    }
    Json& into = file->network[list];
    if (below(random, 2) == 0) continue;
    const auto at = static_cast<std::ptrdiff_t>(below(random, into.size() + 1));
    into.insert(into.begin() + at, taken);
  }
  if (below(random, 12) != 0) fit_tensors(*file, most);
  return copy_out(write(*file), out, most);
}
