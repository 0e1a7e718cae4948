// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace linnet {
struct NetworkDefinition;
}

LINNET_API_BEGIN
namespace linnet {

/// What a network computes: layers over one input, built into a graph as they are added; or several
/// inputs and outputs (NetworkExpression in expression.h). It has no weights; a Model has. A value:
/// copies are independent.
class Network {
 public:
  /// `sample`: the shape of one input without the batch, e.g. (28, 28, 1). `dtype`: f32 (for
  /// samples of u8 as well), or i32 for ids that an Embedding reads.
  explicit Network(Shape sample, std::vector<Layer> layers = {}, DType dtype = DType::f32);
  Network(const Network& other);
  Network& operator=(const Network& other);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  /// Appends a layer. Throws Error naming the layer and the shapes where it does not fit.
  Network& add(const Layer& layer);

  /// The network with another last layer, which is called the same unless `head` has a name.
  /// Throws Error where `layer` is not the last one with weights, or applied more than once.
  Network with_head(const std::string& layer, const Layer& head) const;

  Shape input_shape() const;   ///< of a sample; of the first input
  Shape output_shape() const;  ///< of a sample; of the first output
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  /// How many numbers are trained.
  std::int64_t parameters() const;

  /// The network as JSON, as it stands in a model file; read() throws Error on anything else.
  std::string to_json() const;
  static Network from_json(const std::string& text);

  const NetworkDefinition& definition() const { return *definition_; }
  /// Of a definition that was built inside the library.
  explicit Network(std::unique_ptr<NetworkDefinition> definition);

 private:
  std::unique_ptr<NetworkDefinition> definition_;
};

}  // namespace linnet
LINNET_API_END
