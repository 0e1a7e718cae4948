// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace linnet {

/// Whether the backend has a kernel for an operator that a pass would like to write.
using Supports = std::function<bool(const Op& op, std::span<const ValueType> inputs,
                                    std::span<const ValueType> outputs)>;

/// The name under which chains of nodes that compute sample by sample are left out.
inline constexpr std::string_view kChainSamples = "chain_samples";
/// The name under which no stage has tasks of several operators.
inline constexpr std::string_view kShareStages = "share_stages";

/// A named rewriting of a graph that keeps its meaning.
struct Pass {
  std::string_view name;
  void (*run)(Graph& graph, const Supports& supports);
};

/// A graph after differentiation.
struct TrainingGraph {
  Graph graph;
  std::size_t backward = 0;  ///< its first node of the backward pass
  Value loss;
};

/// A named rewriting of such a graph that changes its results by rounding at most.
struct TrainingPass {
  std::string_view name;
  void (*run)(TrainingGraph& training, const Supports& supports);
};

/// gather_batch -> scale becomes one gather; augment -> scale or channel_scale one augment.
void fuse_gather_scale(Graph& graph, const Supports& supports);
/// softmax or log_softmax -> cross_entropy becomes softmax_cross_entropy.
void fuse_softmax_cross_entropy(Graph& graph, const Supports& supports);
/// conv2d or dense -> bias_add -> activation becomes one operator.
void fuse_epilogue(Graph& graph, const Supports& supports);
/// conv2d -> max_pool2d becomes conv2d_pool where the backend has it.
void fuse_conv2d_pool(Graph& graph, const Supports& supports);
/// gather_batch -> conv2d_pool -> flatten -> dense -> softmax_cross_entropy becomes small_cnn, with
/// all gradients, where the backend has it, it saves something (SmallCnnOp::saving()) and nothing
/// but metrics reads what is between.
void fuse_small_cnn(Graph& graph, const Supports& supports);
/// small_cnn -> metrics, finite_check becomes one small_cnn where it computes all gradients of the
/// step and the backend has that.
void fuse_small_cnn_finish(Graph& graph, const Supports& supports);
/// batch_norm -> [add] -> [relu] becomes one batch norm.
void fuse_batch_norm(Graph& graph, const Supports& supports);
/// At inference, conv2d -> batch norm becomes conv2d_norm where the backend has it.
void fold_batch_norm(Graph& graph, const Supports& supports);
/// Lets convolutions, dense layers and poolings of what quantize has rounded compute on its levels
/// at inference, and write levels where only these are read, where the backend has that.
void use_int8(Graph& graph, const Supports& supports);
/// Drops nodes whose results nobody reads.
void remove_dead(Graph& graph, const Supports& supports);
/// Weights that several kernels take in 16 bits, forward and backward, are copied at the graph's
/// begin in one node, so that store_bf16 or store_f16 may round the copies.
void copy_weights(Graph& graph, const Supports& supports);
/// Gradients of convolutions' weights that kernels give in 16 bits are copied where they belong
/// some at a time, so that store_bf16 or store_f16 may store them so until then.
void copy_gradients(Graph& graph, const Supports& supports);
/// Values between operators lie in memory as bf16 where the kernels of all that touch them, which
/// the backend has at its precision, read and write them so. Operators still infer f32.
void store_bf16(Graph& graph, const Supports& supports);
/// Does the same with f16.
void store_f16(Graph& graph, const Supports& supports);

/// [activation_grad] -> max_pool2d_grad -> conv2d_grad_input, conv2d_grad_weight, bias_grad become
/// conv2d_pool_grad_input and conv2d_pool_grad, which skip all but winners, where the backend has
/// both.
void fuse_pool_grads(TrainingGraph& training, const Supports& supports);
/// The backward pass computes results of batch norms again, from the statistics that were found,
/// and the sign of a ReLU after one from the norm's operand, so that these results live in the
/// forward pass alone; and single concatenations of such results.
void recompute_norms(TrainingGraph& training, const Supports& supports);
/// Concatenations of channels that begin with each other's results, and the gradients of these
/// results, share one buffer: each writes, or adds, its part of it. Where the backend has
/// update_channels and batch norms are the results' only readers.
void share_concats(TrainingGraph& training, const Supports& supports);
/// The backward pass cuts operands of other concatenations out of their results, as in a U-Net,
/// once these are no longer needed, so that operands live up to the concatenation alone.
void slice_concats(TrainingGraph& training, const Supports& supports);

/// What stands before and after batch norms and their gradients becomes part of them, where the
/// backend has that: update_channels -> batch_norm, add -> batch_norm_grad -> update_channels ->
/// slice.
void join_norms(TrainingGraph& training, const Supports& supports);
/// batch_norm -> 1x1 conv2d becomes statistics and a convolution that normalises what it reads, and
/// batch_norm_again -> conv2d_grad_weight one operator, where the backend has that.
void fuse_norm_conv2d(TrainingGraph& training, const Supports& supports);
/// activation_grad -> bias_grad becomes one operator where the backend has it; before it, the
/// product that a dense layer of one unit hands back, an outer product, becomes part of it.
void fuse_bias_grad(TrainingGraph& training, const Supports& supports);

/// Returns whether a pass is among those that were left out by name.
bool is_disabled(std::string_view pass, std::span<const std::string> disabled);

/// In this order, on the forward graph before it is differentiated.
std::span<const Pass> forward_passes();
/// Returns those that follow, in this order, on a graph that predicts or evaluates.
std::span<const Pass> inference_passes();
/// In this order, on a training's graph once it is differentiated.
std::span<const TrainingPass> training_passes();
/// In this order, on the whole graph.
std::span<const Pass> final_passes();

/// Runs the passes but those named in `disabled`, and verifies the graph after each. Throws Error
/// for a name in `disabled` that no pass has.
void run_passes(Graph& graph, std::span<const Pass> passes, const Supports& supports,
                std::span<const std::string> disabled = {});
void run_passes(TrainingGraph& training, std::span<const TrainingPass> passes,
                const Supports& supports, std::span<const std::string> disabled = {});

}  // namespace linnet
