// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ops/batch_norm/from_sums.h"
#include "ops/batch_norm/joined.h"
#include "ops/conv2d/norm_conv2d.h"
#include "ops/slice/slice.h"
#include "ops/update_channels/update_channels.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Finds batch norms between two convolutions, and in blocks of concatenations, and writes the
/// graph without them.
class FuseNormConv2d {
 public:
  FuseNormConv2d(const TrainingGraph& training, const Supports& supports)
      : old_(training.graph), backward_(training.backward), supports_(supports) {
    const std::vector<Node>& nodes = old_.nodes();
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (Value v : nodes[n].inputs) readers_[v.id].insert(n);
    }
    for (std::size_t n = 0; n < backward_; ++n) find_norm(n, plain_source(n));
    for (std::size_t n = 0; n < backward_; ++n) find_block(n);
    for (std::size_t n = 0; n < backward_; ++n) find_norm(n, block_source(n));
    for (std::size_t n = 0; n < backward_; ++n) find_from_sums(n);
  }

  bool found() const { return !norms_.empty() || !from_sums_.empty(); }

  TrainingGraph run(Value loss) {
    TrainingGraph out;
    GraphCopy copy(old_);
    for (std::size_t n = 0; n < old_.nodes().size(); ++n) {
      if (n == backward_) out.backward = copy.made().nodes().size();
      const Node& node = old_.nodes()[n];
      if (norms_.count(n) > 0 || later_.count(n) > 0 || updates_.count(n) > 0) continue;
      const auto gradient = gradients_.find(n);
      if (convs_.count(n) > 0) {
        add_conv(copy, n);
      } else if (const auto before = inputs_.find(n); before != inputs_.end()) {
        add_grad_input(copy, n, *before->second);
      } else if (gradient != gradients_.end()) {
        add_gradient(copy, *gradient->second);
      } else if (from_sums_.count(n) > 0) {
        const NormNode norm = norm_at(n);
        const auto begin = node.outputs.begin() + norm.first_output;
        copy.add(std::make_shared<BatchNormFromSumsOp>(*norm.attrs),
                 of(copy, operands_from_sums(n)), node.name, {begin, node.outputs.end()});
      } else if (op_as<SliceGradOp>(&node) != nullptr && block_of(node.outputs.front())) {
        begin_block(copy, *block_of(node.outputs.front()));
      } else {
        copy.add_as_it_was(node);
      }
    }
    out.loss = copy.of(loss);
    out.graph = std::move(copy.made());
    return out;
  }

 private:
  /// A block of concatenations that lie in one value, with the sums of its channels.
  struct Block {
    Value first;      ///< its first channels
    Value begun;      ///< the first version of the value: these, and room for others
    Value sums = {};  ///< of the new graph, once the block has begun there
  };
  /// Where the sums of an image's channels come from: a convolution, or a block.
  struct Source {
    std::optional<std::size_t> conv = {};
    std::optional<std::size_t> block = {};
    bool operator==(const Source&) const = default;
  };
  /// A value of the old graph, or sums: of a convolution, which may be a gradient, or of a block.
  struct Operand {
    Value old = {};
    Source sums = {};
    Operand(Value value) : old(value) {}         // NOLINT(google-explicit-constructor)
    Operand(const Source& from) : sums(from) {}  // NOLINT(google-explicit-constructor)
  };
  using Operands = std::vector<Operand>;

  /// What a norm of either kind is: of x, or joined with the update of a block.
  struct NormNode {
    const BatchNormAttrs* attrs = nullptr;  ///< null: not a norm
    Value x = {};                           ///< as it is normalised
    std::ptrdiff_t first_output = 0;        ///< where y stands, mean and inv_std after it
  };
  /// A norm with the nodes around it.
  struct Norm {
    std::size_t node = 0;
    Source source = {};                          ///< of the sums of what is normalised
    std::size_t after = 0;                       ///< the convolution that alone reads the result
    std::size_t gradient = 0;                    ///< the norm's
    std::optional<std::size_t> weights = {};     ///< the gradient of `after`'s weights
    std::optional<std::size_t> grad_input = {};  ///< by `after`'s x, where it leaves sums
  };
  /// A convolution with what becomes part of it.
  struct Conv {
    NormConv2dAttrs attrs;
    const Norm* norm = nullptr;  ///< before it; null: none
    std::size_t block = 0;       ///< with `into`
    Value whole = {};            ///< what the result becomes part of
    Value result = {};           ///< what stands for both then
  };

  const Node& node(std::size_t n) const { return old_.nodes()[n]; }
  const std::set<std::size_t>& readers(Value v) const {
    static const std::set<std::size_t> nobody;
    const auto found = readers_.find(v.id);
    return found != readers_.end() ? found->second : nobody;
  }
  bool in_arena(Value v) const { return old_.info(v).storage == Storage::arena; }

  /// Returns whether node n is a convolution alone that a norm may become part of.
  bool is_plain(std::size_t n) const {
    const auto* conv = op_as<Conv2dOp>(&node(n));
    return conv != nullptr && !conv->attrs().bias && conv->attrs().activation == Activation::none &&
           in_arena(node(n).outputs[Conv2dOp::Out::y]);
  }

  Conv conv_at(std::size_t n) const {
    const auto found = convs_.find(n);
    if (found != convs_.end()) return found->second;
    return {.attrs = {.conv = op_as<Conv2dOp>(&node(n))->attrs()}};
  }

  /// Returns the node that computes a value; the number of nodes if there is none.
  std::size_t producer(Value v) const {
    return old_.producer(v) != nullptr ? static_cast<std::size_t>(old_.info(v).producer)
                                       : old_.nodes().size();
  }
  std::int64_t channels(Value v) const { return old_.shape(v)[-1]; }

  NormNode norm_at(std::size_t n) const {
    if (const auto* op = op_as<BatchNormOp>(&node(n))) {
      return {&op->attrs(), node(n).inputs[BatchNormOp::In::x], 0};
    }
    const auto* op = op_as<BatchNormJoinedOp>(&node(n));
    if (op == nullptr) return {};
    return {&op->attrs(), node(n).outputs[BatchNormJoinedOp::Out::wide], 1};
  }
  /// Returns the block of which a value is a version.
  std::optional<std::size_t> block_of(Value v) const {
    const auto found = block_of_.find(v.id);
    return found != block_of_.end() ? std::optional(found->second) : std::nullopt;
  }

  /// Returns the convolution whose result node n, a norm, normalises.
  Source plain_source(std::size_t n) const {
    const NormNode norm = norm_at(n);
    if (norm.attrs == nullptr || norm.first_output > 0) return {};
    const std::size_t before = producer(norm.x);
    const bool fits = before < backward_ && is_plain(before) &&
                      channels(norm.x) == channels(node(n).inputs[BatchNormOp::In::gamma]);
    return fits ? Source{.conv = before} : Source{};
  }
  /// Returns the block whose first channels node n normalises.
  Source block_source(std::size_t n) const {
    const NormNode norm = norm_at(n);
    if (norm.attrs == nullptr || norms_.count(n) > 0) return {};
    if (const auto block = block_of(norm.x)) return {.block = block};
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].first == norm.x) return {.block = b};
    }
    return {};
  }

  /// A block all of whose parts are results of convolutions, each of which writes its channels.
  void find_block(std::size_t n) {
    const auto* op = op_as<SliceGradOp>(&node(n));
    if (op == nullptr || op->attrs().begin != 0) return;
    const Value first = node(n).inputs.front();
    Value wide = node(n).outputs.front();
    if (op->attrs().axis + 1 != static_cast<int>(old_.shape(wide).rank()) ||
        !supported(WidenWithSumsOp({.channels = channels(wide)}), {first})) {
      return;
    }
    blocks_.push_back({.first = first, .begun = wide});
    std::map<std::size_t, Conv> convs;
    std::set<std::size_t> updates;
    std::vector<Value> versions{wide};
    bool fits = true;
    // What a convolution writes into must be there when it runs.
    std::size_t least = old_.producer(first) != nullptr ? producer(first) + 1 : 0;
    for (std::int64_t known = channels(first); fits;) {
      const auto update = update_of(wide);
      if (!update) break;
      const auto [u, part] = *update;
      const std::size_t from = producer(part);
      fits = least <= from && from < backward_ && is_plain(from) && readers(part).size() == 1;
      if (!fits) break;
      least = from + 1;
      Conv conv = conv_at(from);
      conv.attrs.sums = conv.attrs.into = true;
      conv.attrs.begin = known;
      conv.block = blocks_.size() - 1;
      conv.whole = wide;
      conv.result = wide = node(u).outputs.front();
      known += channels(part);
      const NormNode norm = norm_at(u);
      fits =
          known <= channels(wide) && supported(from, conv) &&
          (norm.attrs == nullptr || supported(BatchNormFromSumsOp(*norm.attrs),
                                              operands_from_sums(u, Source{.block = conv.block})));
      convs[from] = conv;
      if (norm.attrs == nullptr) updates.insert(u);
      versions.push_back(wide);
    }
    if (!fits || convs.empty()) return blocks_.pop_back();
    for (const auto& [from, conv] : convs) convs_[from] = conv;
    updates_.merge(updates);
    for (Value v : versions) block_of_[v.id] = blocks_.size() - 1;
  }

  /// Returns the node of the forward pass that writes channels of a wide value, and these.
  std::optional<std::pair<std::size_t, Value>> update_of(Value wide) const {
    for (std::size_t n : readers(wide)) {
      const std::vector<Value>& inputs = node(n).inputs;
      const auto* update = op_as<UpdateChannelsOp>(&node(n));
      if (n < backward_ && inputs.front() == wide && update != nullptr && !update->attrs().add) {
        return std::pair{n, inputs[UpdateChannelsOp::In::part]};
      }
      if (n < backward_ && inputs.front() == wide && norm_at(n).first_output > 0) {
        return std::pair{n, inputs[BatchNormJoinedOp::In::part]};
      }
    }
    return std::nullopt;
  }

  /// Norms that stay take their statistics from sums all the same.
  void find_from_sums(std::size_t n) {
    const NormNode norm = norm_at(n);
    if (norm.attrs == nullptr || norms_.count(n) > 0 || norm.attrs->sync != nullptr) return;
    Source source = block_source(n);
    if (source == Source{}) {
      source = plain_source(n);
      if (!source.conv) return;
      Conv conv = conv_at(*source.conv);
      if (conv.attrs.sums) return;
      conv.attrs.sums = true;
      if (!supported(*source.conv, conv)) return;
      if (!supported(BatchNormFromSumsOp(*norm.attrs), operands_from_sums(n, source))) return;
      convs_[*source.conv] = conv;
    } else if (!supported(BatchNormFromSumsOp(*norm.attrs), operands_from_sums(n, source))) {
      return;
    }
    from_sums_[n] = source;
  }

  /// Norms between what leaves sums and a convolution.
  void find_norm(std::size_t n, const Source& source) {
    if (source == Source{}) return;
    const BatchNormAttrs& attrs = *norm_at(n).attrs;
    const std::optional<Norm> norm = around(n, source);
    if (!norm) return;
    Conv after = conv_at(norm->after);
    after.attrs.norm = true;
    after.attrs.activation = attrs.activation;
    after.attrs.epsilon = attrs.epsilon;
    after.norm = &norms_.emplace(n, *norm).first->second;
    bool fits = supported(norm->after, after) &&
                supported(BatchNormGradFromSumsOp(gradient_attrs(*norm)), gradient_operands(*norm));
    if (source.conv) {
      Conv before = conv_at(*source.conv);
      before.attrs.sums = true;
      fits = fits && supported(*source.conv, before);
      if (fits) convs_[*source.conv] = before;
    }
    if (!fits) {
      norms_.erase(n);
      return;
    }
    convs_[norm->after] = after;
    gradients_[norm->gradient] = after.norm;
    find_grad_input(norms_.at(n));
    if (norm->weights) later_.insert(*norm->weights);
  }

  /// A gradient by the norm's result that can leave the sums with which the norm's own begins.
  void find_grad_input(Norm& norm) {
    const Value dy = node(norm.gradient).inputs[BatchNormGradOp::In::dy];
    const std::size_t n = producer(dy);
    if (n == old_.nodes().size() || op_as<Conv2dGradInputOp>(&node(n)) == nullptr ||
        readers(dy).size() != 1 || !in_arena(dy)) {
      return;
    }
    norm.grad_input = n;
    if (supported(NormConv2dGradInputOp(grad_input_attrs(norm)), grad_input_operands(norm)) &&
        supported(BatchNormGradFromSumsOp(gradient_attrs(norm)), gradient_operands(norm))) {
      inputs_[n] = &norm;
    } else {
      norm.grad_input.reset();
    }
  }

  std::optional<Norm> around(std::size_t n, const Source& source) const {
    const NormNode at = norm_at(n);
    const BatchNormAttrs* attrs = at.attrs;
    const auto output = [&](std::size_t i) {
      return node(n).outputs[i + static_cast<std::size_t>(at.first_output)];
    };
    const Value y = output(BatchNormOp::Out::y);
    const std::set<std::size_t>& of_mean = readers(output(BatchNormOp::Out::mean));
    if (attrs->residual || attrs->sync != nullptr || attrs->momentum != 1 || !in_arena(y) ||
        of_mean.size() != 1 || readers(output(BatchNormOp::Out::inv_std)) != of_mean) {
      return std::nullopt;
    }
    Norm norm{.node = n, .source = source, .gradient = *of_mean.begin()};
    const Node& gradient = node(norm.gradient);
    if (const auto* op = op_as<BatchNormGradJoinedOp>(&gradient)) {
      if (op->attrs().residual || op->attrs().summand) return std::nullopt;
    } else if (const auto* alone = op_as<BatchNormGradOp>(&gradient);
               alone == nullptr || alone->attrs().from_input) {
      return std::nullopt;
    }
    const Value of_x = gradient.inputs[BatchNormGradOp::In::x];
    if (of_x != at.x && !(source.block && block_of(of_x) == source.block)) return std::nullopt;
    bool has_after = false;
    for (std::size_t reader : readers(y)) {
      const Node& by = node(reader);
      if (reader == norm.gradient) continue;
      if (reader < backward_ && is_plain(reader) && by.inputs[Conv2dOp::In::x] == y &&
          by.inputs[Conv2dOp::In::w] != y && !has_after) {
        norm.after = reader;
        has_after = true;
      } else if (op_as<Conv2dGradWeightOp>(&by) != nullptr && !norm.weights &&
                 by.inputs[Conv2dGradWeightOp::In::x] == y &&
                 by.inputs[Conv2dGradWeightOp::In::dz] != y &&
                 readers(by.outputs[Conv2dGradWeightOp::Out::dw]).empty()) {
        norm.weights = reader;
      } else {
        return std::nullopt;
      }
    }
    return has_after ? std::optional(norm) : std::nullopt;
  }

  /// Returns the operands that node n of the old graph has as such a convolution.
  Operands operands(std::size_t n, const Conv& conv) const {
    Operands all{node(n).inputs.begin(), node(n).inputs.end()};
    if (conv.norm != nullptr) {
      const std::vector<Value>& norm = node(conv.norm->node).inputs;
      all[NormConv2dOp::In::x] = norm_at(conv.norm->node).x;
      all.insert(all.end(),
                 {conv.norm->source, norm[BatchNormOp::In::gamma], norm[BatchNormOp::In::beta]});
    }
    if (conv.attrs.into) all.insert(all.end(), {conv.whole, Source{.block = conv.block}});
    return all;
  }
  Operands operands_from_sums(std::size_t n, const Source& source) const {
    Operands all{node(n).inputs.begin(), node(n).inputs.end()};
    const NormNode norm = norm_at(n);
    if (norm.first_output > 0) all.pop_back();  // the part
    all[BatchNormOp::In::x] = norm.x;
    all.emplace_back(source);
    return all;
  }
  Operands operands_from_sums(std::size_t n) const {
    return operands_from_sums(n, from_sums_.at(n));
  }
  Operands gradient_operands(const Norm& norm) const {
    using In = BatchNormOp::In;
    const Node& gradient = node(norm.gradient);
    const std::vector<Value>& of = node(norm.node).inputs;
    Operands all{gradient.inputs[BatchNormGradOp::In::dy],
                 gradient.inputs[BatchNormGradOp::In::x],
                 of[In::gamma],
                 of[In::beta],
                 of[In::running_mean],
                 of[In::running_var],
                 norm.source};
    if (norm.grad_input) all.emplace_back(Source{.conv = norm.grad_input});
    if (gradient_attrs(norm).into) all.emplace_back(gradient.inputs.back());
    return all;
  }
  NormConv2dGradInputAttrs grad_input_attrs(const Norm& norm) const {
    const BatchNormAttrs& attrs = *norm_at(norm.node).attrs;
    return {.conv = op_as<Conv2dGradInputOp>(&node(*norm.grad_input))->attrs(),
            .activation = attrs.activation,
            .epsilon = attrs.epsilon};
  }
  Operands grad_input_operands(const Norm& norm) const {
    const std::vector<Value>& inputs = node(*norm.grad_input).inputs;
    const std::vector<Value>& of = node(norm.node).inputs;
    Operands all{inputs.begin(), inputs.end()};
    all.insert(all.end(), {node(norm.gradient).inputs[BatchNormGradOp::In::x], norm.source,
                           of[BatchNormOp::In::gamma], of[BatchNormOp::In::beta]});
    return all;
  }
  BatchNormGradFromSumsAttrs gradient_attrs(const Norm& norm) const {
    const BatchNormAttrs& attrs = *norm_at(norm.node).attrs;
    const auto* joined = op_as<BatchNormGradJoinedOp>(&node(norm.gradient));
    return {.epsilon = attrs.epsilon,
            .activation = attrs.activation,
            .summed = norm.grad_input.has_value(),
            .into = joined != nullptr && joined->attrs().into,
            .piece = joined != nullptr ? joined->attrs().piece : 0};
  }

  ValueType type(const Operand& operand) const {
    if (operand.old) return old_.type(operand.old);
    const auto [conv, block] = operand.sums;
    const Value of = conv ? node(*conv).outputs.front() : blocks_.at(*block).begun;
    return {DType::f32, Shape{2, channels(of)}};
  }
  bool supported(const Op& op, const Operands& operands) const {
    std::vector<ValueType> types;
    for (const Operand& operand : operands) types.push_back(type(operand));
    return supports_(op, types, op.infer(types));
  }
  bool supported(std::size_t n, const Conv& conv) const {
    return supported(NormConv2dOp(conv.attrs), operands(n, conv));
  }

  /// Adds what a block begins with, unless it is there.
  void begin_block(GraphCopy& copy, std::size_t b) {
    Block& block = blocks_.at(b);
    if (block.sums) return;
    const WidenWithSumsOp op({.channels = channels(block.begun)});
    const std::vector<Value> made =
        copy.made().add(std::make_shared<WidenWithSumsOp>(op), {copy.of(block.first)}, "widen");
    copy.set(block.begun, made[WidenWithSumsOp::Out::wide]);
    block.sums = made[WidenWithSumsOp::Out::sums];
  }

  /// Returns what stands for operands.
  std::vector<Value> of(GraphCopy& copy, const Operands& old) {
    std::vector<Value> made;
    for (const Operand& operand : old) {
      if (operand.sums.block) begin_block(copy, *operand.sums.block);
    }
    for (const Operand& operand : old) {
      made.push_back(operand.old         ? copy.of(operand.old)
                     : operand.sums.conv ? sums_.at(*operand.sums.conv)
                                         : blocks_.at(*operand.sums.block).sums);
    }
    return made;
  }

  void add_conv(GraphCopy& copy, std::size_t n) {
    const Conv& conv = convs_.at(n);
    const Value y = conv.attrs.into ? conv.result : node(n).outputs[Conv2dOp::Out::y];
    const std::vector<Value> made = copy.made().add(std::make_shared<NormConv2dOp>(conv.attrs),
                                                    of(copy, operands(n, conv)), node(n).name);
    copy.made().info(made[NormConv2dOp::Out::y]).name = old_.info(y).name;
    copy.set(y, made[NormConv2dOp::Out::y]);
    if (conv.attrs.sums && !conv.attrs.into) sums_[n] = made[NormConv2dOp::Out::sums];
  }

  void add_grad_input(GraphCopy& copy, std::size_t n, const Norm& norm) {
    const std::vector<Value> made =
        copy.made().add(std::make_shared<NormConv2dGradInputOp>(grad_input_attrs(norm)),
                        of(copy, grad_input_operands(norm)), node(n).name);
    copy.set(node(n).outputs.front(), made[NormConv2dGradInputOp::Out::dy]);
    sums_[n] = made[NormConv2dGradInputOp::Out::sums];
  }

  /// The weight gradient reads what the norm's gradient writes, so it follows.
  void add_gradient(GraphCopy& copy, const Norm& norm) {
    using Out = BatchNormGradFromSumsOp::Out;
    std::vector<Value> outputs = node(norm.gradient).outputs;
    outputs.insert(
        outputs.begin() + Out::y,
        node(norm.node).outputs[static_cast<std::size_t>(norm_at(norm.node).first_output)]);
    copy.add(std::make_shared<BatchNormGradFromSumsOp>(gradient_attrs(norm)),
             of(copy, gradient_operands(norm)), node(norm.gradient).name, outputs);
    if (norm.weights) copy.add_as_it_was(node(*norm.weights));
  }

  const Graph& old_;
  std::size_t backward_;
  const Supports& supports_;
  std::map<int, std::set<std::size_t>> readers_;  ///< by the value's id
  std::map<std::size_t, Norm> norms_;             ///< by their nodes
  std::map<std::size_t, Conv> convs_;             ///< by their nodes
  std::map<std::size_t, const Norm*> gradients_;  ///< by their nodes
  std::map<std::size_t, const Norm*> inputs_;     ///< by the nodes of gradients that leave sums
  std::set<std::size_t> later_;                   ///< gradients of weights that are moved
  std::map<std::size_t, Source> from_sums_;       ///< norms that stay, but read sums
  std::set<std::size_t> updates_;                 ///< of blocks; parts of convolutions then
  std::vector<Block> blocks_;
  std::map<int, std::size_t> block_of_;  ///< by the ids of its versions
  std::map<std::size_t, Value> sums_;    ///< of the new graph, by the old one's convolutions
};

}  // namespace

void fuse_norm_conv2d(TrainingGraph& training, const Supports& supports) {
  FuseNormConv2d fuse(training, supports);
  if (fuse.found()) training = fuse.run(training.loss);
}

}  // namespace linnet
