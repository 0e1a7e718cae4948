// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers.h>

#include <memory>
#include <string>
#include <vector>

namespace linnet {

struct NetworkDefinition;

/// What a network computes: layers over one input, built into a graph as they are added. It has no
/// weights; a Model has. A value: copies are independent.
class Network {
 public:
  /// `sample`: the shape of one input without the batch, e.g. (28, 28, 1).
  explicit Network(Shape sample, std::vector<Layer> layers = {});
  Network(const Network& other);
  Network& operator=(const Network& other);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  /// Appends a layer. Throws Error naming the layer and the shapes where it does not fit.
  Network& add(const Layer& layer);

  Shape input_shape() const;   ///< of a sample
  Shape output_shape() const;  ///< of a sample
  /// How many numbers are trained.
  std::int64_t parameters() const;

  /// The network as JSON, as it stands in a model file; read() throws Error on anything else.
  std::string to_json() const;
  static Network from_json(const std::string& text);

  const NetworkDefinition& definition() const { return *definition_; }

 private:
  explicit Network(std::unique_ptr<NetworkDefinition> definition);
  std::unique_ptr<NetworkDefinition> definition_;
};

}  // namespace linnet
