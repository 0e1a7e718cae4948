// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/devices.h>

#include <memory>

#include "base/bytes_text.h"
#include "commands/commands.h"
#include "config/device.h"
#include "report/json.h"
#include "report/machine.h"

namespace linnet::command {
namespace {

std::string capability(const CudaDevice& device) {
  return fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10);
}

Json cuda_json(const CudaStatus& cuda) {
  Json json;
  json["usable"] = cuda.unusable.empty();
  json["unusable"] = cuda.unusable.empty() ? Json() : Json(cuda.unusable);
  json["libraries"] = cuda.libraries;
  json["devices"] = Json::array();
  for (const CudaDevice& device : cuda.devices) {
    json["devices"].push_back({{"index", device.index},
                               {"name", device.name},
                               {"uuid", device.uuid},
                               {"compute_capability", capability(device)},
                               {"multiprocessors", device.multiprocessors},
                               {"memory_bytes", device.memory_bytes}});
  }
  return json;
}

std::string cuda_text(const CudaStatus& cuda) {
  std::string out;
  for (const CudaDevice& device : cuda.devices) {
    out += fmt::format(
        "cuda:{:<3} {}\n         compute capability {}, {} multiprocessors, {} of memory\n"
        "         {}\n",
        device.index, device.name, capability(device), device.multiprocessors,
        bytes_text(device.memory_bytes), device.uuid);
  }
  std::vector<std::string> last = cuda.libraries;
  if (!cuda.unusable.empty()) last.insert(last.begin(), cuda.unusable);
  return out + fmt::format("cuda     {}\n", fmt::join(last, "\n         "));
}

int devices(bool json) {
  const Machine machine = this_machine();
  const CudaStatus cuda = cuda_status(cuda_library());
  if (json) {
    print_json({{"cpu",
                 {{"name", machine.processor},
                  {"flags", machine.flags},
                  {"cores", machine.cores},
                  {"bf16", cpu_bf16()},
                  {"memory_bytes", machine.memory_bytes},
                  {"available_bytes", machine.available_bytes}}},
                {"cuda", cuda_json(cuda)}});
    return kSuccess;
  }
  print_out(fmt::format(
      "cpu      {}\n         {} usable processors, {} of memory ({} free)\n         {}\n         "
      "bf16: {}\n{}",
      machine.processor, machine.cores, bytes_text(machine.memory_bytes),
      bytes_text(machine.available_bytes), fmt::join(machine.flags, " "), cpu_bf16(),
      cuda_text(cuda)));
  return kSuccess;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "Lists the devices of this machine");
  command->add_flag("--json", *json, "Print one JSON object");
  command->footer("Example: linnet devices --json");
  command->callback([&action, json] { action = [json] { return devices(*json); }; });
}

}  // namespace linnet::command
