// Unpacks gzip files (deflate) by zlib, as profilers write their traces.
// Ignores: other compressions, and the name and time that a gzip header may hold.
// Source: RFC 1951 (deflate), RFC 1952 (gzip).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace warptime::workloads::traces {

/// Whether the bytes begin as a gzip file does.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// The unpacked text of all members. `name` is the owner in errors. Throws Error with the offset for bytes
/// that end early or are no deflate stream, for a wrong checksum, and for more than `most_bytes` of text.
[[nodiscard]] std::string gunzip(std::string_view bytes, const std::string& name,
                                 std::size_t most_bytes = std::size_t{8} << 30);

}  // namespace warptime::workloads::traces
