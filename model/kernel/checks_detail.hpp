// Reports of failed checks: the kernel, the record, the field, its value and the form expected.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::model::kernel::detail {

/// Record under check, for example "buffer 2 'A'". Holds references only; nothing is built until a failure.
struct Record {
    const Kernel& kernel;
    std::string_view kind;
    std::size_t id = 0;
    std::string_view name;

    /// Throws Error when `ok` is false.
    void expect(bool ok, std::string_view field, std::int64_t value, std::string_view form) const {
        if (!ok) {
            fail(field, std::to_string(value), form);
        }
    }
    void expect(bool ok, std::string_view field, double value, std::string_view form) const {
        if (!ok) {
            fail(field, std::to_string(value), form);
        }
    }
    [[noreturn]] void fail(std::string_view field, const std::string& value, std::string_view form) const;
};

/// True when 0 <= id < size.
[[nodiscard]] inline bool is_id(std::int64_t id, std::size_t size) {
    return id >= 0 && static_cast<std::uint64_t>(id) < size;
}

/// Name of a token for messages: its own, or "#3".
[[nodiscard]] std::string label_of(const Kernel& kernel, std::size_t token);

void check_index(const Record& record, std::string_view field, const Index& index);
void check_access(const Record& op, std::string_view field, const Access& access);
/// Checks nodes, loops, waits, signals, branches and ops of all roles.
void check_bodies(const Kernel& kernel);

}  // namespace warptime::model::kernel::detail
