// Recursive descent over sums of terms; depth and pool sizes are capped, since the text may be anything.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text_index_reader.hpp"

#include "model/kernel/builder.hpp"

#include <limits>
#include <vector>

namespace warptime::model::kernel::detail {

namespace {

constexpr std::int64_t most_position = std::numeric_limits<std::uint16_t>::max();

void read_variable(TextCursor& cursor, Kernel& kernel, Term& term, int depth) {
    if (cursor.peek() == '(') {
        if (depth >= max_nesting) {
            cursor.fail("at most 16 nested expressions");
        }
        if (kernel.nested.size() >= static_cast<std::size_t>(std::numeric_limits<Id>::max())) {
            cursor.fail("fewer than 32767 nested expressions");
        }
        cursor.expect('(');
        const Index inner = read_bare_index(cursor, kernel, depth + 1);
        cursor.expect(')');
        term.variable = Variable::nested;
        term.position = static_cast<std::uint16_t>(kernel.nested.size());
        kernel.nested.push_back(inner);
        return;
    }
    term.variable = cursor.enumerator<Variable>();
    if (cursor.take('.')) {
        term.position = static_cast<std::uint16_t>(cursor.integer(0, most_position));
    }
}

/// Reads the rest of a term after its coefficient: the variable and the operations on it.
Term read_rest(TextCursor& cursor, Kernel& kernel, std::int64_t coefficient, int depth) {
    Term term;
    term.coefficient = coefficient;
    read_variable(cursor, kernel, term, depth);
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (cursor.take('/')) {
        term.divisor = cursor.integer(1, most);
    }
    if (cursor.take('%')) {
        term.modulus = cursor.integer(0, most);
    }
    if (cursor.take('[')) {
        if (cursor.peek() != ',') {
            term.low = cursor.integer();
        }
        cursor.expect(',');
        if (cursor.peek() != ']') {
            term.high = cursor.integer();
        }
        cursor.expect(']');
    }
    return term;
}

bool begins_number(char c) {
    return c == '-' || (c >= '0' && c <= '9');
}

}  // namespace

Term read_term(TextCursor& cursor, Kernel& kernel, int depth) {
    std::int64_t coefficient = 1;
    if (begins_number(cursor.peek())) {
        coefficient = cursor.integer();
        cursor.expect('*');
    }
    return read_rest(cursor, kernel, coefficient, depth);
}

Index read_bare_index(TextCursor& cursor, Kernel& kernel, int depth) {
    Index index;
    std::vector<Term> terms;
    do {
        if (begins_number(cursor.peek())) {
            const std::size_t start = cursor.start_of_token();
            const std::int64_t number = cursor.integer();
            if (cursor.take('*')) {
                terms.push_back(read_rest(cursor, kernel, number, depth));
            } else if (terms.empty() && index.constant == 0) {
                index.constant = number;
            } else {
                cursor.fail_at(start, "a term; the constant stands first");
            }
        } else {
            terms.push_back(read_rest(cursor, kernel, 1, depth));
        }
        if (terms.size() > std::numeric_limits<std::uint16_t>::max()) {
            cursor.fail("at most 65535 terms");
        }
    } while (cursor.take('+'));
    index.count = static_cast<std::uint16_t>(terms.size());
    const std::size_t start = cursor.start_of_token();
    if (cursor.take('@')) {
        const std::size_t first =
            static_cast<std::size_t>(cursor.integer(0, static_cast<std::int64_t>(most_terms)));
        bool same = terms.empty() || first + terms.size() <= kernel.terms.size();
        for (std::size_t i = 0; same && i < terms.size(); ++i) {
            same = kernel.terms[first + i] == terms[i];
        }
        if (!same) {
            cursor.fail_at(start, "the place of equal terms read before");
        }
        index.first = static_cast<std::uint32_t>(first);
        return index;
    }
    if (kernel.terms.size() + terms.size() > most_terms) {
        cursor.fail_at(start, "at most 2^20 terms in a kernel");
    }
    index.first = terms.empty() ? 0 : static_cast<std::uint32_t>(kernel.terms.size());
    kernel.terms.insert(kernel.terms.end(), terms.begin(), terms.end());
    return index;
}

Index read_index(TextCursor& cursor, Kernel& kernel) {
    cursor.expect('{');
    const Index index = read_bare_index(cursor, kernel);
    cursor.expect('}');
    return index;
}

}  // namespace warptime::model::kernel::detail
