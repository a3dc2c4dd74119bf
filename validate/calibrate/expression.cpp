// Evaluates formulas by recursive descent while reading, because formulas are short and rows few.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/expression.hpp"

#include "hw/error.hpp"

#include <cctype>
#include <charconv>
#include <string>

namespace warptime::validate::calibrate {
namespace {

class Reader {
  public:
    Reader(std::string_view text, const Names& names) : text_(text), names_(&names) {}

    double all() {
        const double result = either();
        skip_blanks();
        if (at_ != text_.size()) fail("an operator");
        return result;
    }

  private:
    double either() {
        double left = both();
        while (take_word("or")) {
            const double right = both();
            left = left != 0.0 || right != 0.0 ? 1.0 : 0.0;
        }
        return left;
    }

    double both() {
        double left = negated();
        while (take_word("and")) {
            const double right = negated();
            left = left != 0.0 && right != 0.0 ? 1.0 : 0.0;
        }
        return left;
    }

    double negated() {
        if (take_word("not")) return negated() == 0.0 ? 1.0 : 0.0;
        return comparison();
    }

    double comparison() {
        const double left = sum();
        // The longer signs come first, because they begin with the shorter signs.
        if (take("<=")) return left <= sum() ? 1.0 : 0.0;
        if (take(">=")) return left >= sum() ? 1.0 : 0.0;
        if (take("==")) return left == sum() ? 1.0 : 0.0;
        if (take("!=")) return left != sum() ? 1.0 : 0.0;
        if (take("<")) return left < sum() ? 1.0 : 0.0;
        if (take(">")) return left > sum() ? 1.0 : 0.0;
        return left;
    }

    double sum() {
        double left = product();
        for (;;) {
            if (take("+")) {
                left += product();
            } else if (take("-")) {
                left -= product();
            } else {
                return left;
            }
        }
    }

    double product() {
        double left = single();
        for (;;) {
            if (take("*")) {
                left *= single();
            } else if (take("/")) {
                left /= single();
            } else {
                return left;
            }
        }
    }

    double single() {
        if (take("-")) return -single();
        if (take("(")) {
            const double inner = either();
            if (!take(")")) fail("a closing )");
            return inner;
        }
        skip_blanks();
        if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
        const std::string_view name = word();
        if (name.empty()) fail("a number, a name or (");
        at_ += name.size();
        return (*names_)(name);
    }

    double number() {
        double value = 0.0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc()) fail("a number");
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }

    [[nodiscard]] static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

    [[nodiscard]] std::string_view word() const {
        std::size_t end = at_;
        while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
                                      text_[end] == '_' || text_[end] == '.')) {
            ++end;
        }
        return text_.substr(at_, end - at_);
    }

    void skip_blanks() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    bool take(std::string_view sign) {
        skip_blanks();
        if (text_.substr(at_, sign.size()) != sign) return false;
        at_ += sign.size();
        return true;
    }

    bool take_word(std::string_view expected) {
        skip_blanks();
        if (word() != expected) return false;
        at_ += expected.size();
        return true;
    }

    [[noreturn]] void fail(const char* expected) const {
        throw Error("formula " + std::string(text_), std::string(text_.substr(at_)), expected);
    }

    std::string_view text_;
    const Names* names_;
    std::size_t at_ = 0;
};

}  // namespace

double evaluate(std::string_view formula, const Names& names) {
    return Reader(formula, names).all();
}

}  // namespace warptime::validate::calibrate
