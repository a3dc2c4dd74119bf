// Reader of one kernel's records in the text form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "model/kernel/text_cursor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warptime::model::kernel::detail {

/// Reads everything between `kernel "name"` and its `end` into an empty kernel. Only check() examines ids;
/// the caller runs it afterwards.
class KernelReader {
  public:
    KernelReader(TextCursor& cursor, Kernel& kernel) : cursor_(cursor), kernel_(kernel), build_(kernel) {}

    /// The cursor stands after the name on the first line; afterwards it stands after `end`.
    void read();

  private:
    /// Reads one record of the header; false when the word names none.
    bool header(std::string_view record);
    void role();
    void body(std::string_view record);

    void dimensions(Dim3& dims);
    void resources();
    void coverage();
    void hand_overs();
    void schedule();
    void item();
    void cta_class();
    void buffer();
    void token();
    void run();
    void addresses();
    void reuse();
    void loop();
    void branch();
    void op();
    void access();
    void read_deps(std::vector<Dep>& deps);

    /// Calls `take(key)` for each `key=` up to the end of the line; `take` is false for an unknown key.
    template <class Take>
    void fields(std::string_view known, Take take) {
        while (!cursor_.at_line_end()) {
            const std::size_t start = cursor_.start_of_token();
            const std::string_view key = cursor_.identifier(known);
            cursor_.expect('=');
            if (!take(key)) {
                cursor_.fail_at(start, known);
            }
        }
    }
    /// Fills values from a list separated by commas; returns their number.
    template <class Array, class Read>
    std::size_t list(Array& values, Read read) {
        std::size_t size = 0;
        do {
            if (size == values.size()) {
                cursor_.fail("no more than " + std::to_string(values.size()) + " values");
            }
            values[size++] = read();
        } while (cursor_.take(','));
        return size;
    }
    template <class Records>
    Id reference(const Records& records, std::string_view what);
    template <class Records>
    void cap(const Records& records, std::size_t most, std::string_view what) {
        if (records.size() >= most) {
            cursor_.fail(std::string("fewer ") + std::string(what));
        }
    }
    Name name();

    TextCursor& cursor_;
    Kernel& kernel_;
    Builder build_;
};

}  // namespace warptime::model::kernel::detail
