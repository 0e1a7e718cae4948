// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

// Update rules. Definitions and defaults are PyTorch's (Lion's are its paper's). Each rule but
// LevenbergMarquardt is one pass over the flat array of parameters; the schedule's factor
// multiplies the learning rate. Every number must be finite; the training throws Error naming the
// one that is out of its range before the first step.

/// Updates by Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015).
struct Adam {
  /// Step size, in a parameter's unit; at least 0. PyTorch's default.
  double learning_rate = 1e-3;
  /// Share of the old mean of gradients that a step keeps, in [0, 1).
  double beta1 = 0.9;
  /// Share of the old mean of squared gradients that a step keeps, in [0, 1).
  double beta2 = 0.999;
  /// Added to the root of the mean square, after its bias is corrected; above 0.
  double epsilon = 1e-8;
  /// L2 penalty: this times the parameter is added to its gradient; at least 0.
  double weight_decay = 0;
};

/// Updates by stochastic gradient descent, with momentum in PyTorch's form: m = momentum * m + g, w
/// -= rate m (Sutskever et al., "On the importance of initialization and momentum in deep
/// learning", 2013).
struct SGD {
  /// Step size, in a parameter's unit per gradient's unit; at least 0. PyTorch's default.
  double learning_rate = 1e-3;
  /// Share of the last step's direction that a step keeps, in [0, 1); 0: no momentum.
  double momentum = 0;
  /// Uses Nesterov's form, which looks ahead: w -= rate (g + momentum * m). Needs a momentum.
  bool nesterov = false;
  /// L2 penalty: this times the parameter is added to its gradient; at least 0.
  double weight_decay = 0;
};

/// Updates by Adam with weight decay apart from the gradient (Loshchilov and Hutter, "Decoupled
/// weight decay regularization", 2019).
struct AdamW {
  /// Step size, in a parameter's unit; at least 0. PyTorch's default.
  double learning_rate = 1e-3;
  /// Share of the old mean of gradients that a step keeps, in [0, 1).
  double beta1 = 0.9;
  /// Share of the old mean of squared gradients that a step keeps, in [0, 1).
  double beta2 = 0.999;
  /// Added to the root of the mean square, after its bias is corrected; above 0.
  double epsilon = 1e-8;
  /// A step multiplies the parameter by 1 - learning rate * weight_decay; at least 0.
  double weight_decay = 1e-2;
};

/// Updates by RMSprop (Tieleman and Hinton, lecture 6.5 of "Neural networks for machine learning",
/// 2012), not centred.
struct RMSprop {
  /// Step size, in a parameter's unit; at least 0. PyTorch's default.
  double learning_rate = 1e-2;
  /// Share of the old mean of squared gradients that a step keeps, in [0, 1).
  double alpha = 0.99;
  /// Added to the root of the mean square; above 0.
  double epsilon = 1e-8;
  /// Share of the last step's direction that a step keeps, in [0, 1); 0: no momentum.
  double momentum = 0;
  /// L2 penalty: this times the parameter is added to its gradient; at least 0.
  double weight_decay = 0;
};

/// Updates by Adagrad (Duchi et al., "Adaptive subgradient methods for online learning and
/// stochastic optimization", 2011).
struct Adagrad {
  /// Step size, in a parameter's unit; at least 0. PyTorch's default.
  double learning_rate = 1e-2;
  /// Initial sum of squared gradients, in a gradient's unit squared; at least 0. PyTorch's default.
  double initial_accumulator_value = 0;
  /// Added to the root of the sum of squared gradients; above 0.
  double epsilon = 1e-10;
  /// L2 penalty: this times the parameter is added to its gradient; at least 0.
  double weight_decay = 0;
};

/// Updates by Lion, the sign of a momentum: w -= rate (sign(beta1 m + (1 - beta1) g) + weight_decay
/// * w), then m = beta2 m + (1 - beta2) g (Chen et al., "Symbolic discovery of optimization
/// algorithms", 2023). Its steps are larger than Adam's: use a third to a tenth of Adam's learning
/// rate.
struct Lion {
  /// Step size, in a parameter's unit; at least 0. The paper's default.
  double learning_rate = 1e-4;
  /// Share of the momentum in the direction of a step, in [0, 1).
  double beta1 = 0.9;
  /// Share of the old momentum that a step keeps, in [0, 1).
  double beta2 = 0.99;
  /// A step multiplies the parameter by 1 - learning rate * weight_decay; at least 0.
  double weight_decay = 0;
};

/// Updates weights of dense layers and convolutions as matrices, by a momentum whose singular
/// values are made about 1, and every other parameter by AdamW (Jordan et al., "Muon: an optimizer
/// for hidden layers in neural networks", 2024). A matrix has a row for each output of the layer: a
/// convolution's filter is one row. Its step is the learning rate times sqrt(max(1, rows /
/// columns)) times the orthogonal matrix. AdamW has biases, norms, embeddings, recurrent layers and
/// convolutions in groups. Excluding the last layer often helps.
struct Muon {
  /// Step size of matrices, in a parameter's unit; at least 0. PyTorch's default; 0.02 is usual.
  double learning_rate = 1e-3;
  /// Share of the old mean of gradients that a step keeps, in [0, 1).
  double momentum = 0.95;
  /// Uses Nesterov's form: the direction is momentum * mean + (1 - momentum) * gradient.
  bool nesterov = true;
  /// Iterations of Newton and Schulz towards the orthogonal matrix, in [1, 20].
  int iterations = 5;
  /// Scales each matrix to the norm sqrt(rows) before a step, for layers that are followed by
  /// norms; the learning rate is relative to that.
  bool normalize_weights = false;
  /// A step multiplies the parameter by 1 - its learning rate * weight_decay; at least 0.
  double weight_decay = 0.1;
  /// Patterns of the names of matrices that AdamW updates instead, such as "dense_2.weight": *
  /// stands for any characters, ? for one.
  std::vector<std::string> exclude = {};
  /// Step size of AdamW's parameters, in a parameter's unit; at least 0.
  double adam_learning_rate = 1e-3;
  /// Share of the old mean of gradients that AdamW keeps, in [0, 1).
  double adam_beta1 = 0.9;
  /// Share of the old mean of squared gradients that AdamW keeps, in [0, 1).
  double adam_beta2 = 0.999;
  /// Added to AdamW's root of the mean square, after its bias is corrected; above 0.
  double adam_epsilon = 1e-8;
};

// It takes outputs whose loss is mse, on the CPU in fp32, and networks of at most 10,000 weights
// that train, without dropout, batch norm and noise; a fit throws Error naming what does not fit.
// docs/training.md says more.

/// Minimises a mean squared error over all samples, for small networks of high accuracy, by
/// exact derivatives of all residuals r (Hagan and Menhaj, "Training feedforward networks with the
/// Marquardt algorithm", 1994). An epoch is one step (J^T J + damping) step = -J^T r, tried with
/// more damping until the loss falls; damping by the gain ratio (Madsen, Nielsen and Tingleff,
/// "Methods for non-linear least squares problems", 2004). There is no learning rate. The batch
/// size changes nothing but memory. A fit ends where none lowers it.
struct LevenbergMarquardt {
  /// Damping of the first iteration, in units of the loss per weight squared; above 0. MATLAB's
  /// default (trainlm's mu).
  double damping = 1e-3;
  /// L2 penalty: half of this times the square of each weight is added to the loss; at least 0.
  double weight_decay = 0;
};

/// Holds the update rule of a training, e.g. Adam{.learning_rate = 4e-3}.
using Optimizer = std::variant<Adam, SGD, AdamW, RMSprop, Adagrad, Lion, Muon, LevenbergMarquardt>;

/// Limits gradients before an update, which prevents steps that are too large. Both limits may be
/// set: the norm is limited first.
struct Clip {
  /// Largest L2 norm over the gradients of all parameters that train: larger ones are scaled down
  /// to it (PyTorch's clip_grad_norm_). A gradient's unit, at least 0; 0: no limit.
  double norm = 0;
  /// Largest magnitude of an element: each is clamped to [-value, value] (PyTorch's
  /// clip_grad_value_). A gradient's unit, at least 0; 0: no limit.
  double value = 0;
};

/// Selects parameters by a pattern of their names, and says how they train. A parameter belongs to
/// the first group that matches it.
struct ParameterGroup {
  /// Pattern of names such as "dense_1.weight": * stands for any characters, ? for one.
  std::string name = "*";
  /// Factor of the group's learning rate on the optimizer's, at least 0.
  double learning_rate_factor = 1;
  /// Weight decay of the group instead of the optimizer's, at least 0; empty: the optimizer's.
  std::optional<double> weight_decay = {};
};

}  // namespace linnet
LINNET_API_END
