// Vector that holds up to N elements in place and more of them on the heap; only elements in use are copied.
// Ignores: elements that own something.
// Source: the small-size optimisation, as in boost::container::small_vector; this one sets its size once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace warptime::hw {

template <class T, std::size_t N>
class SmallVector {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    SmallVector() {}  // NOLINT(modernize-use-equals-default): the room stays as it is
    explicit SmallVector(std::size_t size) { reset(size); }
    SmallVector(const SmallVector& other) { take(other); }
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) take(other);
        return *this;
    }
    ~SmallVector() = default;

    /// Replaces the elements by `size` new ones.
    void reset(std::size_t size) {
        make_room(size);
        std::uninitialized_value_construct_n(data_, size);
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }
    [[nodiscard]] T* begin() { return data_; }
    [[nodiscard]] T* end() { return data_ + size_; }
    [[nodiscard]] const T* begin() const { return data_; }
    [[nodiscard]] const T* end() const { return data_ + size_; }

    friend bool operator==(const SmallVector& a, const SmallVector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    void make_room(std::size_t size) {
        size_ = size;
        data_ = room_;
        if (size > N) grow(size);
    }
    void take(const SmallVector& other) {
        make_room(other.size_);
        std::uninitialized_copy_n(other.data_, other.size_, data_);
    }
    [[gnu::noinline]] void grow(std::size_t size) {
        if (size > capacity_) {
            heap_ = std::make_unique_for_overwrite<T[]>(size);
            capacity_ = size;
        }
        data_ = heap_.get();
    }

    std::size_t size_ = 0;
    T* data_ = room_;
    std::size_t capacity_ = 0;  ///< of the heap
    std::unique_ptr<T[]> heap_;
    union {
        T room_[N];
    };
};

}  // namespace warptime::hw
