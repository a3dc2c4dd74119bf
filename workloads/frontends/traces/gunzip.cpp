// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/gunzip.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <zlib.h>

namespace warptime::workloads::traces {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr int gzip_only = 16 + MAX_WBITS;  // zlib.h, inflateInit2: a gzip header and no other

/// The state of zlib, which frees its memory.
class Inflater {
  public:
    explicit Inflater(const std::string& name) : name_(name) {
        if (inflateInit2(&stream_, gzip_only) != Z_OK) throw Error(name_, "no memory", "memory to unpack it");
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    /// Unpacks one member that begins at `begin`, behind `text`, and gives the place behind it.
    std::size_t member(std::string_view bytes, std::size_t begin, std::string& text, std::size_t most) {
        inflateReset2(&stream_, gzip_only);
        std::array<char, buffer_bytes> out{};
        std::size_t at = begin;
        for (;;) {
            const std::size_t given =
                std::min<std::size_t>(bytes.size() - at, std::numeric_limits<uInt>::max());
            // zlib takes its input as not const, but only reads it.
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
            stream_.avail_in = static_cast<uInt>(given);
            stream_.next_out = reinterpret_cast<Bytef*>(out.data());
            stream_.avail_out = static_cast<uInt>(out.size());
            const int state = inflate(&stream_, Z_NO_FLUSH);
            at += given - stream_.avail_in;
            text.append(out.data(), out.size() - stream_.avail_out);
            if (text.size() > most) {
                throw Error(name_, fmt::format("more than {} bytes when unpacked", most), "a smaller file");
            }
            if (state == Z_STREAM_END) return at;
            if (state == Z_OK) continue;
            if (state == Z_BUF_ERROR)
                refuse(at, "a file that ends early", "a whole file; this one is truncated");
            refuse(at, stream_.msg != nullptr ? stream_.msg : "broken data",
                   "a gzip file whose data and checksum agree");
        }
    }

  private:
    [[noreturn]] void refuse(std::size_t at, std::string_view what, const char* expected) const {
        throw Error(name_, fmt::format("{} at byte {}", what, at), expected);
    }

    std::string name_;
    z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1F\x8B");
}

std::string gunzip(std::string_view bytes, const std::string& name, std::size_t most_bytes) {
    std::string text;
    Inflater inflater(name);
    for (std::size_t at = 0; at < bytes.size();) at = inflater.member(bytes, at, text, most_bytes);
    return text;
}

}  // namespace warptime::workloads::traces
