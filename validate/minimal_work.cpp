// gemm: 2 m n k operations, A + B + C bytes. copy: 2 n, add: 3 n elements. SPDX-License-Identifier:
// Apache-2.0
#include "validate/minimal_work.hpp"

#include "hw/dtype.hpp"
#include "workloads/defaults.hpp"

namespace warptime::validate {
namespace {

double size(const workloads::Operation& operation, std::string_view parameter) {
    return static_cast<double>(
        workloads::parse_size(workloads::value_or_default(operation, parameter), parameter));
}

double element_bytes(const workloads::Operation& operation, std::string_view parameter) {
    return hw::bytes_of(hw::parse_dtype(workloads::value_or_default(operation, parameter), parameter));
}

}  // namespace

std::optional<MinimalWork> minimal_work(const workloads::Operation& operation) {
    if (operation.op == "gemm") {
        const double m = size(operation, "m");
        const double n = size(operation, "n");
        const double k = size(operation, "k");
        const double batch = size(operation, "batch");
        return MinimalWork{2.0 * m * n * k * batch, batch * (m * k * element_bytes(operation, "dtype") +
                                                             n * k * element_bytes(operation, "dtype_b") +
                                                             m * n * element_bytes(operation, "out_dtype"))};
    }
    if (operation.op == "copy" || operation.op == "add") {
        const double n = size(operation, "n");
        const bool is_add = operation.op == "add";
        return MinimalWork{is_add ? n : 0.0, (is_add ? 3.0 : 2.0) * n * element_bytes(operation, "dtype")};
    }
    return std::nullopt;
}

}  // namespace warptime::validate
