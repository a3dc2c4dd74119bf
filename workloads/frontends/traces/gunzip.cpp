// Decodes deflate blocks bit by bit with canonical Huffman codes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/gunzip.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace warptime::workloads::traces {

namespace {

constexpr int longest_code = 15;
constexpr std::size_t header_bytes = 10;
constexpr std::size_t window_bytes = 32768;

/// A canonical code: how many symbols have each length, and the symbols in order of their codes.
struct Huffman {
    std::array<std::uint16_t, longest_code + 1> counts{};
    std::array<std::uint16_t, 288> symbols{};
};

class Inflater {
  public:
    Inflater(std::string_view bytes, const std::string& name, std::size_t most)
        : bytes_(bytes), name_(name), most_(most) {}

    std::string run() {
        std::string out;
        do {
            member(out);
        } while (at_ < bytes_.size());
        return out;
    }

  private:
    [[noreturn]] void fail(const char* expected) const {
        throw Error(name_, fmt::format("gzip data at byte {}", at_), expected);
    }

    std::uint8_t byte() {
        if (at_ >= bytes_.size()) fail("a whole gzip file; this one is truncated");
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }

    std::uint32_t little_endian(int count) {
        std::uint32_t value = 0;
        for (int i = 0; i < count; ++i) value |= static_cast<std::uint32_t>(byte()) << (8 * i);
        return value;
    }

    std::uint32_t bits(int count) {
        while (held_ < count) {
            hold_ |= static_cast<std::uint32_t>(byte()) << held_;
            held_ += 8;
        }
        const std::uint32_t value = hold_ & ((1U << count) - 1U);
        hold_ >>= count;
        held_ -= count;
        return value;
    }

    void header() {
        const std::size_t begin = at_;
        if (bytes_.size() - begin < header_bytes) fail("a whole gzip file; this one is truncated");
        if (!is_gzip(bytes_.substr(begin)) || bytes_[begin + 2] != 8) fail("a gzip member");
        const auto flags = static_cast<std::uint8_t>(bytes_[begin + 3]);
        at_ += header_bytes;
        if ((flags & 4U) != 0) at_ += little_endian(2);  // RFC 1952 section 2.3: FEXTRA
        for (const unsigned text : {8U, 16U}) {          // FNAME, FCOMMENT
            if ((flags & text) != 0) {
                while (byte() != 0) {
                }
            }
        }
        if ((flags & 2U) != 0) at_ += 2;  // FHCRC
    }

    void member(std::string& out) {
        header();
        begin_ = out.size();
        hold_ = 0;
        held_ = 0;
        bool last = false;
        while (!last) {
            last = bits(1) != 0;
            switch (bits(2)) {
                case 0:
                    stored(out);
                    break;
                case 1:
                    fixed(out);
                    break;
                case 2:
                    dynamic(out);
                    break;
                default:
                    fail("a block of type 0, 1 or 2");
            }
        }
        held_ = 0;
        hold_ = 0;
        const std::uint32_t checksum = little_endian(4);
        const std::uint32_t length = little_endian(4);
        const std::string_view text = std::string_view(out).substr(begin_);
        if (checksum != crc32(text) || length != static_cast<std::uint32_t>(text.size())) {
            fail("data whose checksum is that of the file; the file is damaged");
        }
    }

    static std::uint32_t crc32(std::string_view text) {
        static const std::array<std::uint32_t, 256> table = [] {
            std::array<std::uint32_t, 256> made{};
            for (std::uint32_t i = 0; i < made.size(); ++i) {
                std::uint32_t value = i;
                for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) * 0xEDB88320U);
                made[i] = value;
            }
            return made;
        }();
        std::uint32_t value = 0xFFFFFFFFU;
        for (const char c : text) value = table[(value ^ static_cast<std::uint8_t>(c)) & 255U] ^ (value >> 8);
        return ~value;
    }

    void check_room(const std::string& out, std::size_t more) const {
        if (out.size() + more > most_) fail(fmt::format("at most {} bytes of text", most_).c_str());
    }

    void stored(std::string& out) {
        hold_ = 0;
        held_ = 0;
        const std::uint32_t length = little_endian(2);
        if (little_endian(2) != (length ^ 0xFFFFU)) fail("a stored block whose two lengths agree");
        if (bytes_.size() - at_ < length) fail("a whole gzip file; this one is truncated");
        check_room(out, length);
        out.append(bytes_.substr(at_, length));
        at_ += length;
    }

    [[nodiscard]] Huffman code_of(std::span<const std::uint8_t> lengths) const {
        Huffman code;
        for (const std::uint8_t length : lengths) ++code.counts[length];
        code.counts[0] = 0;
        int left = 1;
        std::array<std::uint16_t, longest_code + 2> offsets{};
        for (std::size_t length = 1; length <= longest_code; ++length) {
            left = 2 * left - code.counts[length];
            if (left < 0) fail("a code with no more words than its lengths allow");
            offsets[length + 1] = static_cast<std::uint16_t>(offsets[length] + code.counts[length]);
        }
        for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
            if (lengths[symbol] != 0) {
                code.symbols[offsets[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
            }
        }
        return code;
    }

    std::uint32_t symbol(const Huffman& code) {
        std::uint32_t word = 0;
        std::uint32_t first = 0;
        std::uint32_t index = 0;
        for (std::size_t length = 1; length <= longest_code; ++length) {
            word |= bits(1);
            const std::uint32_t count = code.counts[length];
            if (word < first + count) return code.symbols[index + (word - first)];
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        fail("a word of the code");
    }

    void codes(std::string& out, const Huffman& lengths, const Huffman& distances) {
        // RFC 1951 section 3.2.5.
        static constexpr std::array<std::uint16_t, 29> length_base{
            3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
            31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
        static constexpr std::array<std::uint8_t, 29> length_bits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                                  2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
        static constexpr std::array<std::uint16_t, 30> distance_base{
            1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
            193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
        static constexpr std::array<std::uint8_t, 30> distance_bits{
            0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
        for (;;) {
            const std::uint32_t value = symbol(lengths);
            if (value < 256) {
                check_room(out, 1);
                out.push_back(static_cast<char>(value));
                continue;
            }
            if (value == 256) return;
            const std::uint32_t kind = value - 257;
            if (kind >= length_base.size()) fail("a length of 3 to 258");
            const std::size_t length = length_base[kind] + bits(length_bits[kind]);
            const std::uint32_t far = symbol(distances);
            if (far >= distance_base.size()) fail("a distance of 1 to 32768");
            const std::size_t distance = distance_base[far] + bits(distance_bits[far]);
            if (distance > out.size() - begin_ || distance > window_bytes) fail("a distance within the text");
            check_room(out, length);
            for (std::size_t i = 0; i < length; ++i) out.push_back(out[out.size() - distance]);
        }
    }

    void fixed(std::string& out) {
        std::array<std::uint8_t, 288> lengths{};
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            lengths[i] = static_cast<std::uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
        }
        std::array<std::uint8_t, 30> distances{};
        distances.fill(5);
        codes(out, code_of(lengths), code_of(distances));
    }

    void dynamic(std::string& out) {
        static constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                            11, 4,  12, 3, 13, 2, 14, 1, 15};
        const std::size_t literals = bits(5) + 257;
        const std::size_t distances = bits(5) + 1;
        const std::size_t known = bits(4) + 4;
        if (literals > 286 || distances > 30) fail("at most 286 literals and 30 distances");
        std::array<std::uint8_t, 19> short_lengths{};
        for (std::size_t i = 0; i < known; ++i) {
            short_lengths[order[i]] = static_cast<std::uint8_t>(bits(3));
        }
        const Huffman code = code_of(short_lengths);
        std::vector<std::uint8_t> lengths;
        while (lengths.size() < literals + distances) {
            const std::uint32_t value = symbol(code);
            if (value < 16) {
                lengths.push_back(static_cast<std::uint8_t>(value));
                continue;
            }
            if (value == 16 && lengths.empty()) fail("a length to repeat");
            const std::uint8_t repeated = value == 16 ? lengths.back() : std::uint8_t{0};
            const std::size_t times = value == 16 ? 3 + bits(2) : (value == 17 ? 3 + bits(3) : 11 + bits(7));
            lengths.insert(lengths.end(), times, repeated);
        }
        if (lengths.size() != literals + distances) fail("as many lengths as the block names");
        const std::span<const std::uint8_t> all(lengths);
        codes(out, code_of(all.first(literals)), code_of(all.subspan(literals)));
    }

    std::string_view bytes_;
    const std::string& name_;
    std::size_t most_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;  ///< of this member's text
    std::uint32_t hold_ = 0;
    int held_ = 0;
};

}  // namespace

bool is_gzip(std::string_view bytes) {
    return bytes.size() >= 2 && bytes[0] == '\x1F' && bytes[1] == '\x8B';
}

std::string gunzip(std::string_view bytes, const std::string& name, std::size_t most_bytes) {
    return Inflater(bytes, name, most_bytes).run();
}

}  // namespace warptime::workloads::traces
