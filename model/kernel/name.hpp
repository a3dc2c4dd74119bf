// Short identifier stored in place, so that descriptions hold names without allocation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace warptime::model::kernel {

/// At most 23 characters of [A-Za-z0-9_.-]; longer or other text throws.
class Name {
  public:
    constexpr Name() = default;
    constexpr Name(const char* text)
        : Name(std::string_view(text)) {}  // NOLINT: names are written as literals
    constexpr explicit Name(std::string_view text) {
        if (text.size() > capacity) {
            throw Error("name", std::string(text), "at most 23 characters");
        }
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                               c == '_' || c == '.' || c == '-';
            if (!plain) {
                throw Error("name", std::string(text), "letters, digits, '_', '.' and '-' only");
            }
            text_[i] = c;
        }
    }
    [[nodiscard]] constexpr std::string_view view() const {
        std::size_t size = 0;
        while (size < capacity && text_[size] != '\0') {
            ++size;
        }
        return {text_.data(), size};
    }
    friend constexpr bool operator==(const Name&, const Name&) = default;

  private:
    static constexpr std::size_t capacity = 23;
    std::array<char, capacity + 1> text_{};
};

}  // namespace warptime::model::kernel
