// Vector of at most N elements stored in place; only the elements in use are set up and copied.
// Ignores: elements that own something.
// Source: std::inplace_vector of C++26.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace warptime::hw {

template <class T, std::size_t N>
class InplaceVector {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    InplaceVector() {}  // NOLINT(modernize-use-equals-default): the room stays as it is
    InplaceVector(const InplaceVector& other) : size_(other.size_) {
        std::uninitialized_copy_n(other.room_, size_, room_);
    }
    InplaceVector& operator=(const InplaceVector& other) {
        if (this != &other) {
            size_ = other.size_;
            std::uninitialized_copy_n(other.room_, size_, room_);
        }
        return *this;
    }
    ~InplaceVector() = default;

    /// Replaces the elements by `size` new ones, at most N.
    void reset(std::size_t size) {
        size_ = size;
        std::uninitialized_value_construct_n(room_, size);
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) { return room_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const { return room_[i]; }

  private:
    std::size_t size_ = 0;
    union {
        T room_[N];
    };
};

}  // namespace warptime::hw
