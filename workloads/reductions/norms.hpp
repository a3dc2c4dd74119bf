// Softmax by CTAs, and the normalizations of rows with their gradients.
// Source: SoftMax.cu and layer_norm_kernel.cu of PyTorch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"

namespace warptime::workloads::reductions {

using arrays::Context;
using arrays::Sizes;

void lower_softmax(const Sizes& sizes, const Context& context, bool log);
void lower_softmax_backward(const Sizes& sizes, const Context& context);
/// `rms` leaves out the mean, the bias and its gradient.
void lower_norm(const Sizes& sizes, const Context& context, bool rms);
void lower_norm_backward(const Sizes& sizes, const Context& context, bool rms);

/// One CTA a row, at full width, with what a row needs read and written once. `places`: the places of the
/// elements are written too, as int64.
void lower_ideal_rows(const Sizes& sizes, const Context& context, std::string_view name, int inputs,
                      int outputs, int vectors, double operations, bool places = false);

}  // namespace warptime::workloads::reductions
