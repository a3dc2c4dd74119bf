// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/matrix_types.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

namespace {

struct NamedType {
    std::string_view name;
    MatrixElement element;
    char opcodes;  ///< their first letter
};
constexpr std::array named_types{
    NamedType{"BF16", MatrixElement::bf16, 'H'}, NamedType{"TF32", MatrixElement::tf32, 'H'},
    NamedType{"E4M3", MatrixElement::e4m3, 'Q'}, NamedType{"E5M2", MatrixElement::e5m2, 'Q'},
    NamedType{"S8", MatrixElement::s8, 'I'},     NamedType{"U8", MatrixElement::u8, 'I'}};

}  // namespace

FactorTypes factor_types(const Decoder& decoder) {
    const char letter = decoder.line().opcode.front();
    std::vector<MatrixElement> found;
    for (const std::string& modifier : decoder.line().modifiers) {
        for (const NamedType& type : named_types) {
            if (modifier == type.name && type.opcodes != letter) {
                decoder.refuse(fmt::format("a matrix product of {}", modifier));
            }
            if (modifier == type.name) {
                found.push_back(type.element);
            }
        }
    }
    if (letter == 'H' && found.empty()) {
        return {};
    }
    if (letter == 'H' && found.size() == 1) {
        return {found[0], found[0]};
    }
    if (letter == 'H' || found.size() != 2) {
        decoder.refuse("a matrix product of other types");
    }
    return {found[0], found[1]};
}

}  // namespace warptime::workloads::frontends::machine
