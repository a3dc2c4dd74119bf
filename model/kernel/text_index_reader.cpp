// Recursive descent over sums of terms; depth and pool sizes are capped, since the text may be anything.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text_index_reader.hpp"

#include "model/kernel/builder.hpp"

#include <limits>
#include <vector>

namespace warptime::model::kernel::detail {

namespace {

constexpr std::int64_t most_position = std::numeric_limits<Id>::max();

bool begins_number(char c) {
    return c == '-' || (c >= '0' && c <= '9');
}

/// Appends an expression to the pool and returns its place.
std::uint32_t add_nested(TextCursor& cursor, Kernel& kernel, const Index& index) {
    if (kernel.nested.size() >= most_terms) {
        cursor.fail("at most 2^26 nested expressions in a kernel");
    }
    kernel.nested.push_back(index);
    return static_cast<std::uint32_t>(kernel.nested.size() - 1);
}

/// What stands as a factor or an exponent: a variable, or an expression in parentheses.
struct Operand {
    Term term;  ///< with the variable, if it is one
    Index inner;
    bool parenthesised = false;

    /// The operand as an expression of its own.
    [[nodiscard]] Index index(TextCursor& cursor, Kernel& kernel) const {
        if (parenthesised) return inner;
        if (kernel.terms.size() >= most_terms) {
            cursor.fail("at most 2^26 terms in a kernel");
        }
        kernel.terms.push_back(term);
        return {0, static_cast<std::uint32_t>(kernel.terms.size() - 1), 1};
    }
};

Operand read_operand(TextCursor& cursor, Kernel& kernel, int depth) {
    Operand operand;
    if (cursor.peek() == '(') {
        if (depth >= max_nesting) {
            cursor.fail("at most 16 nested expressions");
        }
        cursor.expect('(');
        operand.inner = read_bare_index(cursor, kernel, depth + 1);
        cursor.expect(')');
        operand.parenthesised = true;
        return operand;
    }
    operand.term.variable = cursor.enumerator<Variable>();
    if (cursor.take('.')) {
        operand.term.position = static_cast<std::uint32_t>(cursor.integer(0, most_position));
    }
    return operand;
}

/// Makes a term two to the power of what follows.
void read_power(TextCursor& cursor, Kernel& kernel, Term& term, int depth) {
    const Index exponent = read_operand(cursor, kernel, depth).index(cursor, kernel);
    term.variable = Variable::power;
    term.position = add_nested(cursor, kernel, exponent);
}

void read_variable(TextCursor& cursor, Kernel& kernel, Term& term, int depth) {
    if (begins_number(cursor.peek())) {
        (void)cursor.integer(2, 2);
        cursor.expect('^');
        read_power(cursor, kernel, term, depth);
        return;
    }
    const Operand first = read_operand(cursor, kernel, depth);
    if (cursor.take('*')) {
        // Both factors stand side by side in the pool, behind what they are made of.
        const Index left = first.index(cursor, kernel);
        const Index right = read_operand(cursor, kernel, depth).index(cursor, kernel);
        term.variable = Variable::product;
        term.position = add_nested(cursor, kernel, left);
        (void)add_nested(cursor, kernel, right);
        return;
    }
    term.variable = first.term.variable;
    term.position = first.term.position;
    if (first.parenthesised) {
        term.variable = Variable::nested;
        term.position = add_nested(cursor, kernel, first.inner);
    }
}

/// Reads the division, the remainder and the bounds behind a variable.
void read_operations(TextCursor& cursor, Term& term) {
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
}

/// Reads the rest of a term after its coefficient: the variable and the operations on it.
Term read_rest(TextCursor& cursor, Kernel& kernel, std::int64_t coefficient, int depth) {
    Term term;
    term.coefficient = coefficient;
    read_variable(cursor, kernel, term, depth);
    read_operations(cursor, term);
    return term;
}

/// Reads a term behind its `2^`.
Term read_rest_of_power(TextCursor& cursor, Kernel& kernel, int depth) {
    Term term;
    read_power(cursor, kernel, term, depth);
    read_operations(cursor, term);
    return term;
}

}  // namespace

Term read_term(TextCursor& cursor, Kernel& kernel, int depth) {
    std::int64_t coefficient = 1;
    if (begins_number(cursor.peek())) {
        coefficient = cursor.integer();
        if (coefficient == 2 && cursor.take('^')) return read_rest_of_power(cursor, kernel, depth);
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
            } else if (number == 2 && cursor.take('^')) {
                terms.push_back(read_rest_of_power(cursor, kernel, depth));
            } else if (terms.empty() && index.constant == 0) {
                index.constant = number;
            } else {
                cursor.fail_at(start, "a term; the constant stands first");
            }
        } else {
            terms.push_back(read_rest(cursor, kernel, 1, depth));
        }
    } while (cursor.take('+'));
    index.count = static_cast<std::uint32_t>(terms.size());
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
        cursor.fail_at(start, "at most 2^26 terms in a kernel");
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
