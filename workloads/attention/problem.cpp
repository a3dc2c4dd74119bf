// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/problem.hpp"

namespace warptime::workloads::attention {

namespace {

double d(std::int64_t value) {
    return static_cast<double>(value);
}

}  // namespace

double Problem::scores_of_head() const {
    if (!causal) return d(sq) * d(sk);
    // Rows from `first` on see 1, 2, ... keys, up to all of them.
    const std::int64_t first = std::max<std::int64_t>(0, sq - sk);
    const double seen_first = d(keys_of(first));
    const double seen_last = d(sk);
    return 0.5 * (seen_first + seen_last) * d(sq - first);
}

double Problem::forward_flop() const {
    return 4.0 * d(head_dim) * scores_of_head() * d(q_heads());
}

double Problem::backward_flop() const {
    return 2.5 * forward_flop();
}

double Problem::q_bytes() const {
    return d(q_heads()) * d(sq) * d(head_dim) * hw::bytes_of(dtype);
}

double Problem::k_bytes() const {
    return d(batch * kv_heads) * d(sk) * d(head_dim) * hw::bytes_of(dtype);
}

double Problem::row_bytes() const {
    return d(q_heads()) * d(sq) * hw::bytes_of(Dtype::fp32);
}

}  // namespace warptime::workloads::attention
