// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace linnet {
struct NetworkDefinition;
}

LINNET_API_BEGIN
namespace linnet {

class CustomOperator;

/// Makes a custom operator (custom_operator.h) from its settings.
using OperatorReader =
    std::function<std::shared_ptr<const CustomOperator>(const std::string& settings)>;
/// Maps names of custom operators to their readers.
using OperatorReaders = std::map<std::string, OperatorReader, std::less<>>;

/// Describes the forms in which a network sees an image, whose outputs are averaged (test-time
/// augmentation).
struct TestViews {
  bool flip = true;  ///< whether each view is also mirrored horizontally
  /// Pixels by which the image is moved down and right, and up and left, for two further views,
  /// from 0 to below its height and width; what comes in is mirrored at the edge. The image itself
  /// then counts as much as both. 0: none.
  std::int64_t shift = 0;
};

/// Describes what a network computes: layers over one input, built into a graph as they are added,
/// or several inputs and outputs (FunctionalNetwork in expression.h). Its weights are in a Model. A
/// value: copies are independent. `const` functions may be called from several threads at once.
class Network {
 public:
  /// Makes a network of layers. `sample`: the shape of one input sample without the batch, e.g.
  /// (28, 28, 1). `dtype`: f32 (also for samples of u8), or i32 for ids that an Embedding reads.
  /// Throws Error as add() does.
  explicit Network(Shape sample, std::vector<Layer> layers = {}, DType dtype = DType::f32);
  Network(const Network& other);             ///< Copies the description.
  Network& operator=(const Network& other);  ///< Copies the description.
  Network(Network&&) noexcept;             ///< Moves the description; the other one is empty then.
  Network& operator=(Network&&) noexcept;  ///< Moves the description; the other one is empty then.
  ~Network();

  /// Appends a layer, and returns the network. Throws Error naming the layer and the shapes if it
  /// does not fit.
  Network& add(const Layer& layer);

  /// Returns the network with another last layer, named `layer` unless `head` has a name; other
  /// layers keep weights they share with it. Throws Error if `layer` is not the last with weights.
  Network with_head(const std::string& layer, const Layer& head) const;

  /// Returns the network that averages its outputs over several views of each image of the first
  /// input, by the same weights: the numbers before a last Softmax, LogSoftmax or Sigmoid. One pass
  /// takes as long as one of each view. Throws Error for an input other than images, for an output
  /// with axes of its own, such as pixels, and for views out of range. Views that the network has
  /// are replaced.
  Network with_views(const TestViews& views = {}) const;
  /// Returns the network that with_views() was called on, or this one where it has no views.
  Network without_views() const;
  /// Returns the views that the network averages; nothing where it has none.
  std::optional<TestViews> views() const;

  /// Returns the shape of one sample of the first input.
  Shape input_shape() const;
  /// Returns the shape of one sample of the first output.
  Shape output_shape() const;
  /// Returns the names of the inputs, in order; a network of layers has one, "input".
  std::vector<std::string> input_names() const;
  /// Returns the names of the outputs, in order; a network of layers has one, "output".
  std::vector<std::string> output_names() const;
  /// Returns the number of trained numbers.
  std::int64_t parameters() const;

  /// Returns the network as JSON, as model files hold it.
  std::string to_json() const;
  /// Returns the network of JSON that to_json() wrote, in this or an older version. `operators`
  /// makes the own operators that it names. Throws DataError for any other text.
  static Network from_json(const std::string& text, const OperatorReaders& operators = {});

  /// @cond
  // For the library.
  const NetworkDefinition& definition() const { return *definition_; }
  explicit Network(std::unique_ptr<NetworkDefinition> definition);
  /// @endcond

 private:
  std::unique_ptr<NetworkDefinition> definition_;
};

}  // namespace linnet
LINNET_API_END
