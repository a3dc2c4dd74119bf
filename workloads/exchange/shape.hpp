// Steps and bytes of an exchange between GPUs by each algorithm, as one GPU counts them.
// Ignores: uneven parts, and boxes that are not full where there is more than one.
// Source: Thakur, Rabenseifner, Gropp 2005 (rings and trees); Sanders, Speck, Traeff 2009 (two trees at
// once); NVIDIA's NVLink SHARP (each GPU's data cross its links once up and once, in its share, as results).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/libraries/exchange_rule.hpp"

#include <cstdint>

namespace warptime::workloads::exchange {

enum class Op : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_recv };

/// `gpus` exchange; `boxes` boxes hold them, evenly. `bytes`: of the whole message, which is the buffer that
/// is reduced or broadcast, the result of a gather, the input of a scatter, what each GPU has for all others,
/// or what one GPU sends.
struct Exchanged {
    Op op = Op::all_reduce;
    std::int64_t gpus = 2;
    std::int64_t boxes = 1;
    double bytes = 0.0;
    [[nodiscard]] double per_box() const { return static_cast<double>(gpus) / static_cast<double>(boxes); }
};

/// Steps that follow one another, and bytes that one GPU sends in one direction, within and across boxes.
struct Shape {
    double hops_within = 0.0, hops_across = 0.0;
    double bytes_within = 0.0, bytes_across = 0.0;
    double own_bytes = 0.0;      ///< of the GPU's own part, which no link carries
    double handled_bytes = 0.0;  ///< through the GPU's channels: sent on, received, or its own
};

/// Throws Error for an algorithm that the operation does not have.
[[nodiscard]] Shape shape_of(const Exchanged& exchanged, libraries::ExchangeAlgorithm algorithm);

}  // namespace warptime::workloads::exchange
