// Tests of atomic operations: what memory holds behind them, and that the old values are those of some order.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32, places = 3;

/// Applies an operation by all lanes whose flag is set, each to one of three words or pairs in memory.
struct Outcome {
    std::vector<std::uint64_t> memory;  ///< behind it
    std::vector<std::uint64_t> old;     ///< that each lane got
};

enum class Where : std::uint8_t { global, shared, generic_shared, reduction };

class Atomic {
  public:
    /// `operation` is "ADD.64" and the like.
    Atomic(const std::string& operation, bool wide, Where where, bool compares = false)
        : wide_(wide), where_(where) {
        const std::string value = compares ? "R12, R14" : "R12";
        std::string line;
        std::vector<std::string> body{"MOV R20, R0", "MOV R21, R0"};
        ProgramOptions options;
        options.static_shared = 64;
        const std::string move = wide ? ".64" : "";
        if (where == Where::global) {
            line = "@P0 ATOMG.E." + operation + ".STRONG.GPU PT, R20, desc[UR4][R10.64], " + value;
        } else if (where == Where::reduction) {
            line = "@P0 REDG.E." + operation + ".STRONG.GPU desc[UR4][R10.64], " + value;
        } else if (where == Where::shared) {
            line = "@P0 ATOMS." + operation + " R20, [R10], " + value;
        } else {
            line = "@P0 ATOM.E." + operation + " PT, R20, [R10.64], " + value;
        }
        const bool in_shared = where == Where::shared || where == Where::generic_shared;
        if (in_shared) {
            // Lanes 0 to 2 fill shared memory and read it behind the operation.
            body.insert(body.end(),
                        {"IMAD.SHL.U32 R8, R0, 0x8, RZ", "ISETP.LT.AND P1, PT, R0, 0x3, PT",
                         "LDG.E" + move + " R16, desc[UR4][R6.64], P1", "@P1 STS" + move + " [R8], R16"});
        }
        body.push_back(line);
        if (in_shared) {
            body.insert(body.end(),
                        {"@P1 LDS" + move + " R16, [R8]", "@P1 STG.E" + move + " desc[UR4][R6.64], R16"});
        }
        program_ = std::make_unique<LaneProgram>(
            body, std::vector<std::string>{"R6", "R7", "R10", "R11", "R12", "R13", "R14", "R15", "P0"},
            std::vector<std::string>{"R20", "R21"}, options);
    }

    [[nodiscard]] Outcome operator()(const std::vector<std::uint64_t>& memory,
                                     const std::vector<std::size_t>& place,
                                     const std::vector<std::uint64_t>& value,
                                     const std::vector<std::uint64_t>& other, const Words& flags) const {
        Words initial(2 * places);
        for (std::size_t i = 0; i < places; ++i) {
            initial[2 * i] = low_of(memory[i]);
            initial[2 * i + 1] = high_of(memory[i]);
        }
        const Buffer buffer(initial);
        std::vector<Words> inputs(8, Words(lanes));
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::uint64_t base = where_ == Where::shared           ? 0
                                       : where_ == Where::generic_shared ? shared_window
                                                                         : buffer.address();
            const std::uint64_t own = buffer.address() + 8 * std::min(lane, places - 1);
            const std::vector<std::uint64_t> pairs{own, base + 8 * place[lane], value[lane], other[lane]};
            for (std::size_t i = 0; i < 8; ++i) {
                inputs[i][lane] = i % 2 == 0 ? low_of(pairs[i / 2]) : high_of(pairs[i / 2]);
            }
        }
        inputs.push_back(flags);
        const std::vector<Words> results = (*program_)(inputs);
        Outcome outcome;
        const Words after = buffer.words();
        for (std::size_t i = 0; i < places; ++i) {
            outcome.memory.push_back(pair_of(after[2 * i], wide_ ? after[2 * i + 1] : 0));
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            outcome.old.push_back(pair_of(results[0][lane], wide_ ? results[1][lane] : 0));
        }
        return outcome;
    }

  private:
    bool wide_;
    Where where_;
    std::unique_ptr<LaneProgram> program_;
};

/// Random operands of one run.
struct Trial {
    std::vector<std::uint64_t> memory, value, other;
    std::vector<std::size_t> place;
    Words flags;
};
Trial random_trial(bool wide, const rc::Gen<std::uint32_t>& word) {
    const auto number = [&] { return pair_of(*word, wide ? *word : 0); };
    Trial trial;
    for (std::size_t i = 0; i < places; ++i) {
        trial.memory.push_back(number());
    }
    const std::uint32_t used = 1 + random_below(places);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        trial.value.push_back(number());
        trial.other.push_back(number());
        trial.place.push_back(random_below(used));
    }
    trial.flags = some_words(any_flag());
    return trial;
}

using Fold = std::function<std::uint64_t(std::uint64_t old, std::uint64_t value)>;

/// Some order of the lanes of a place explains all old values: each lane's old value is the fold of those
/// before it. Found by following the chain from the value in memory.
bool some_order(const Trial& trial, const Outcome& outcome, const Fold& fold) {
    for (std::size_t p = 0; p < places; ++p) {
        std::vector<std::size_t> left;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            if (trial.flags[lane] != 0 && trial.place[lane] == p) {
                left.push_back(lane);
            }
        }
        std::uint64_t current = trial.memory[p];
        while (!left.empty()) {
            // Lanes that change nothing may come first.
            auto next = std::find_if(left.begin(), left.end(), [&](std::size_t lane) {
                return outcome.old[lane] == current && fold(current, trial.value[lane]) == current;
            });
            if (next == left.end()) {
                next = std::find_if(left.begin(), left.end(),
                                    [&](std::size_t lane) { return outcome.old[lane] == current; });
            }
            if (next == left.end()) {
                return false;
            }
            current = fold(current, trial.value[*next]);
            left.erase(next);
        }
        if (current != outcome.memory[p]) {
            return false;
        }
    }
    return true;
}

struct Kind {
    std::string name;
    bool wide;
    Fold fold;
};
std::int64_t as_signed64(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}
const std::vector<Kind> kinds{
    {"ADD", false, [](std::uint64_t a, std::uint64_t b) { return std::uint64_t{low_of(a + b)}; }},
    {"ADD.64", true, [](std::uint64_t a, std::uint64_t b) { return a + b; }},
    {"MIN", false, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); }},
    {"MAX", false, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); }},
    {"MIN.S32", false,
     [](std::uint64_t a, std::uint64_t b) { return as_signed(low_of(a)) < as_signed(low_of(b)) ? a : b; }},
    {"MAX.S32", false,
     [](std::uint64_t a, std::uint64_t b) { return as_signed(low_of(a)) > as_signed(low_of(b)) ? a : b; }},
    {"MIN.64", true, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); }},
    {"MAX.S64", true,
     [](std::uint64_t a, std::uint64_t b) { return as_signed64(a) > as_signed64(b) ? a : b; }},
    {"AND", false, [](std::uint64_t a, std::uint64_t b) { return a & b; }},
    {"OR", false, [](std::uint64_t a, std::uint64_t b) { return a | b; }},
    {"XOR", false, [](std::uint64_t a, std::uint64_t b) { return a ^ b; }},
    {"XOR.64", true, [](std::uint64_t a, std::uint64_t b) { return a ^ b; }},
    // PTX ISA, atom.inc and atom.dec.
    {"INC", false, [](std::uint64_t a, std::uint64_t b) { return a >= b ? 0 : a + 1; }},
    {"DEC", false, [](std::uint64_t a, std::uint64_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"EXCH", false, [](std::uint64_t, std::uint64_t b) { return b; }},
    {"EXCH.64", true, [](std::uint64_t, std::uint64_t b) { return b; }},
};

TEST_CASE("old values and memory are those of the lanes one after the other, in global and shared memory") {
    for (const Kind& kind : kinds) {
        for (const Where where : {Where::global, Where::shared, Where::generic_shared}) {
            const Atomic atomic(kind.name, kind.wide, where);
            CHECK(rc::check(kind.name, [&] {
                Trial trial = random_trial(kind.wide, any_word());
                if (kind.name == "INC" || kind.name == "DEC") {
                    // One bound for all, so that the order does not matter.
                    std::fill(trial.value.begin(), trial.value.end(), random_below(20));
                    trial.memory.assign(places, random_below(25));
                }
                const Outcome outcome =
                    atomic(trial.memory, trial.place, trial.value, trial.other, trial.flags);
                if (kind.name == "EXCH" || kind.name == "EXCH.64") {
                    for (std::size_t p = 0; p < places; ++p) {
                        std::multiset<std::uint64_t> put{trial.memory[p]}, got{outcome.memory[p]};
                        for (std::size_t lane = 0; lane < lanes; ++lane) {
                            if (trial.flags[lane] != 0 && trial.place[lane] == p) {
                                put.insert(trial.value[lane]);
                                got.insert(outcome.old[lane]);
                            }
                        }
                        RC_ASSERT(put == got);
                    }
                }
                // Lanes that are off keep what they had: their number.
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    RC_ASSERT(trial.flags[lane] != 0 || low_of(outcome.old[lane]) == lane);
                }
                // Folds that do not care for the order tell the end.
                for (std::size_t p = 0; p < places && !kind.name.starts_with("EXCH"); ++p) {
                    std::uint64_t expected = trial.memory[p];
                    for (std::size_t lane = 0; lane < lanes; ++lane) {
                        if (trial.flags[lane] != 0 && trial.place[lane] == p) {
                            expected = kind.fold(expected, trial.value[lane]);
                        }
                    }
                    RC_ASSERT(outcome.memory[p] == expected);
                }
            }));
        }
    }
}

TEST_CASE("counters that all lanes increase give each lane a number of its own") {
    for (const Where where : {Where::global, Where::shared}) {
        const Atomic atomic("ADD", false, where);
        CHECK(rc::check("tickets", [&] {
            Trial trial = random_trial(false, any_word());
            std::fill(trial.value.begin(), trial.value.end(), 1);
            std::fill(trial.place.begin(), trial.place.end(), 1);
            const Outcome outcome = atomic(trial.memory, trial.place, trial.value, trial.other, trial.flags);
            std::set<std::uint32_t> tickets;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                if (trial.flags[lane] != 0) {
                    tickets.insert(low_of(outcome.old[lane] - trial.memory[1]));
                }
            }
            const auto count = std::accumulate(trial.flags.begin(), trial.flags.end(), 0U);
            RC_ASSERT(tickets.size() == count);
            RC_ASSERT(tickets.empty() || *tickets.rbegin() == count - 1);
            RC_ASSERT(low_of(outcome.memory[1]) == low_of(trial.memory[1] + count));
        }));
    }
}

TEST_CASE("a chain of old values explains sums, minima and exchanges") {
    for (const Kind& kind : kinds) {
        const Atomic atomic(kind.name, kind.wide, Where::global);
        CHECK(rc::check(kind.name, [&] {
            Trial trial = random_trial(kind.wide, any_word());
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                // Values that all differ leave one possible next lane at most.
                trial.value[lane] = kind.name == "INC" || kind.name == "DEC" ? 40 : 5 + 977 * lane;
            }
            const Outcome outcome = atomic(trial.memory, trial.place, trial.value, trial.other, trial.flags);
            // Bits that are set already make several lanes fit; the end alone is checked for those above.
            if (kind.name != "AND" && kind.name != "OR") {
                RC_ASSERT(some_order(trial, outcome, kind.fold));
            }
        }));
    }
}

TEST_CASE("a compare-exchange writes where the word is the one expected, once") {
    for (const bool wide : {false, true}) {
        for (const Where where : {Where::global, Where::shared, Where::generic_shared}) {
            const Atomic atomic(wide ? "CAS.64" : "CAS", wide, where, true);
            CHECK(rc::check("CAS", [&] {
                Trial trial = random_trial(wide, any_word());
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    // Lanes expect what lies there, or something else; all write values of their own.
                    trial.value[lane] = trial.memory[trial.place[lane]] + (random_below(4) == 0 ? 1 : 0);
                    trial.value[lane] = wide ? trial.value[lane] : std::uint64_t{low_of(trial.value[lane])};
                    trial.other[lane] = 0x70000000 + lane;
                }
                const Outcome outcome =
                    atomic(trial.memory, trial.place, trial.value, trial.other, trial.flags);
                for (std::size_t p = 0; p < places; ++p) {
                    std::size_t winners = 0, tried = 0;
                    std::uint64_t written = trial.memory[p];
                    for (std::size_t lane = 0; lane < lanes; ++lane) {
                        if (trial.flags[lane] == 0 || trial.place[lane] != p) {
                            continue;
                        }
                        tried += trial.value[lane] == trial.memory[p] ? 1U : 0U;
                        if (outcome.old[lane] == trial.value[lane]) {
                            ++winners;
                            written = trial.other[lane];
                        }
                        RC_ASSERT(outcome.old[lane] == trial.memory[p] ||
                                  outcome.old[lane] == outcome.memory[p]);
                    }
                    RC_ASSERT(winners == (tried > 0 ? 1U : 0U));
                    RC_ASSERT(outcome.memory[p] == written);
                }
            }));
        }
    }
}

TEST_CASE("of the lanes of a bank one swap an execution is done, and the others are told so") {
    ProgramOptions options;
    options.static_shared = 4096;
    const LaneProgram program(
        {"MOV R9, RZ", "STS [R10], R9", "ATOMS.CAST.SPIN R20, [R10], R9, R12", "LDS R21, [R10]"},
        {"R10", "R12"}, {"R20", "R21"}, options);
    // Words of one bank in four lines, and words of banks of their own.
    CHECK(rc::check("swaps", [&program] {
        Words place(lanes), value(lanes), expected(lanes);
        std::set<std::uint32_t> banks;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            place[lane] = static_cast<std::uint32_t>(128 * (lane % 16) + 4 * random_below(32));
            value[lane] = static_cast<std::uint32_t>(1 + lane);
            expected[lane] = banks.insert(place[lane] / 4 % 32).second ? 1 : 0;
        }
        const std::vector<Words> results = program({place, value});
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[0][lane] == expected[lane]);
            if (expected[lane] != 0) RC_ASSERT(results[1][lane] == value[lane]);
        }
    }));
}

TEST_CASE("reductions leave what the operations would, and give nothing back") {
    for (const Kind& kind : kinds) {
        if (kind.name.starts_with("EXCH")) {
            continue;
        }
        const Atomic reduction(kind.name, kind.wide, Where::reduction);
        CHECK(rc::check("REDG." + kind.name, [&] {
            Trial trial = random_trial(kind.wide, any_word());
            if (kind.name == "INC" || kind.name == "DEC") {
                std::fill(trial.value.begin(), trial.value.end(), 9);
            }
            const Outcome outcome =
                reduction(trial.memory, trial.place, trial.value, trial.other, trial.flags);
            for (std::size_t p = 0; p < places; ++p) {
                std::uint64_t expected = trial.memory[p];
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    if (trial.flags[lane] != 0 && trial.place[lane] == p) {
                        expected = kind.fold(expected, trial.value[lane]);
                    }
                }
                RC_ASSERT(outcome.memory[p] == expected);
            }
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                RC_ASSERT(low_of(outcome.old[lane]) == lane);
            }
        }));
    }
}

TEST_CASE("sums of reals, of one word, two words and pairs of halves") {
    // Whole numbers, so that the order does not matter.
    struct Real {
        std::string name;
        bool wide;
        std::uint64_t (*write)(int low, int high);
    };
    const std::vector<Real> reals{
        {"ADD.F32.FTZ.RN", false,
         [](int low, int) { return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(low))}; }},
        {"ADD.F64.RN", true,
         [](int low, int) { return std::bit_cast<std::uint64_t>(static_cast<double>(low)); }},
        {"ADD.F16x2.RN", false,
         [](int low, int high) {
             return std::uint64_t{std::bit_cast<std::uint16_t>(static_cast<_Float16>(low))} |
                    (std::uint64_t{std::bit_cast<std::uint16_t>(static_cast<_Float16>(high))} << 16U);
         }},
        {"ADD.BF16x2.RN", false, [](int low, int high) {
             return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(low)) >> 16U} |
                    std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(high)) & 0xffff0000U};
         }}};
    for (const Real& kind : reals) {
        for (const Where where : {Where::global, Where::reduction}) {
            const Atomic atomic(kind.name, kind.wide, where);
            CHECK(rc::check(kind.name, [&] {
                Trial trial = random_trial(kind.wide, any_word());
                std::vector<std::array<int, 2>> sums(places);
                for (std::size_t p = 0; p < places; ++p) {
                    sums[p] = {static_cast<int>(random_below(9)), -static_cast<int>(random_below(9))};
                    trial.memory[p] = kind.write(sums[p][0], sums[p][1]);
                }
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const std::array<int, 2> own{static_cast<int>(random_below(9)) - 4,
                                                 static_cast<int>(random_below(9)) - 4};
                    trial.value[lane] = kind.write(own[0], own[1]);
                    if (trial.flags[lane] != 0) {
                        sums[trial.place[lane]][0] += own[0];
                        sums[trial.place[lane]][1] += own[1];
                    }
                }
                const Outcome outcome =
                    atomic(trial.memory, trial.place, trial.value, trial.other, trial.flags);
                for (std::size_t p = 0; p < places; ++p) {
                    RC_ASSERT(outcome.memory[p] == kind.write(sums[p][0], sums[p][1]));
                }
            }));
        }
    }
}

TEST_CASE("ATOMS.POPC.INC counts its lanes") {
    ProgramOptions options;
    options.static_shared = 64;
    const LaneProgram program({"MOV R9, RZ", "STS [RZ], R9", "STS [RZ+0x4], R9",
                               "@P0 ATOMS.POPC.INC.32 RZ, [R10]", "LDS R20, [RZ]", "LDS R21, [RZ+0x4]"},
                              {"R10", "P0"}, {"R20", "R21"}, options);
    CHECK(rc::check("counts", [&program] {
        const Words flags = some_words(any_flag());
        Words place = some_words(any_flag());
        Words expected(2);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            expected[place[lane]] += flags[lane];
            place[lane] *= 4;
        }
        const std::vector<Words> results = program({place, flags});
        RC_ASSERT(results[0] == Words(lanes, expected[0]));
        RC_ASSERT(results[1] == Words(lanes, expected[1]));
    }));
}

TEST_CASE("threads of many CTAs add to one word without loss") {
    const LaneProgram program({"ATOMG.E.ADD.STRONG.GPU PT, R20, desc[UR4][R10.64], R12"},
                              {"R10", "R11", "R12"}, {"R20"});
    constexpr std::size_t threads = 4096;
    const Buffer sum(Words{0});
    Words ones(threads, 1);
    const Words old = program(
        {Words(threads, low_of(sum.address())), Words(threads, high_of(sum.address())), ones}, threads)[0];
    CHECK(sum.words() == Words{threads});
    CHECK(std::set<std::uint32_t>(old.begin(), old.end()).size() == threads);
}

TEST_CASE("atomics outside of memory or misaligned are faults that name the thread") {
    const Buffer word(Words{0});
    const auto message = [](const std::string& line, std::uint64_t address) {
        const LaneProgram program({line}, {"R10", "R11"}, {});
        try {
            Words low(lanes, low_of(address)), high(lanes, high_of(address));
            (void)program({low, high});
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string{};
    };
    CHECK(message("REDG.E.ADD desc[UR4][R10.64], R12", word.address()).empty());
    CHECK(has_parts(message("REDG.E.ADD desc[UR4][R10.64], R12", word.address() + 4),
                    {"out-of-bounds atomic of 4 bytes", "thread (0, 0, 0)", "kernel test"}));
    CHECK(has_parts(message("ATOMG.E.ADD.64 PT, R12, desc[UR4][R10.64], R14", word.address()),
                    {"out-of-bounds atomic of 8 bytes"}));
    CHECK(has_parts(message("ATOMS.ADD R12, [R10], R13", 64),
                    {"out-of-bounds atomic of 4 bytes at offset 0x40"}));
}

TEST_CASE("sums of fp32 in global memory take denormals for zero where FTZ says so") {
    for (const bool flush : {false, true}) {
        const Buffer buffer(Words{1U, 0x00000003U});
        ProgramOptions options;
        options.parameters = 1;
        const std::string ftz = flush ? ".FTZ" : "";
        const Program program({"MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "MOV R10, 0x2",
                               "S2R R0, SR_TID.X", "ISETP.EQ.U32.AND P0, PT, R0, RZ, PT",
                               "@P0 REDG.E.ADD.F32" + ftz + ".RN.STRONG.GPU desc[UR4][R2.64], R10"},
                              options);
        CHECK(program.error(one_cta(32), {buffer.address()}).empty());
        CHECK(buffer.words()[0] == (flush ? 0U : 3U));
        CHECK(buffer.words()[1] == 3U);
    }
}

TEST_CASE("vectors of halves are changed word by word") {
    struct Case {
        std::string operation;
        Words before, value, after;
    };
    // fp16: 1 is 3c00, 2 is 4000, 3 is 4200. bf16: 1 is 3f80, 2 is 4000, 3 is 4040; 7e00 and 7fc0 are none.
    const std::vector<Case> cases{{"ADD.F16x8.RN",
                                   {0x3c003c00U, 0x40003c00U, 0U, 0x3c000000U},
                                   {0x40003c00U, 0x3c000000U, 0x42003c00U, 0x3c00bc00U},
                                   {0x42004000U, 0x42003c00U, 0x42003c00U, 0x4000bc00U}},
                                  {"ADD.BF16x4.RN",
                                   {0x3f804000U, 0U, 5U, 6U},
                                   {0x40003f80U, 0x3f80U, 0U, 0U},
                                   {0x40404040U, 0x3f80U, 5U, 6U}},
                                  {"MIN.F16x4.RN",
                                   {0x3c004000U, 0x7e00bc00U, 5U, 6U},
                                   {0x40003c00U, 0x3c00c000U, 0U, 0U},
                                   {0x3c003c00U, 0x3c00c000U, 5U, 6U}},
                                  {"MAX.BF16x8.RN",
                                   {0x3f804000U, 0x7fc0bf80U, 0U, 0x3f80U},
                                   {0x40003f80U, 0x3f800000U, 0x3f80U, 0U},
                                   {0x40004000U, 0x3f800000U, 0x3f80U, 0x3f80U}}};
    for (const Case& own : cases) {
        CAPTURE(own.operation);
        const Buffer buffer(own.before);
        ProgramOptions options;
        options.parameters = 1;
        const Program program(
            {"MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "S2R R0, SR_TID.X",
             fmt::format("MOV R12, {:#x}", own.value[0]), fmt::format("MOV R13, {:#x}", own.value[1]),
             fmt::format("MOV R14, {:#x}", own.value[2]), fmt::format("MOV R15, {:#x}", own.value[3]),
             "ISETP.EQ.U32.AND P0, PT, R0, RZ, PT",
             "@P0 REDG.E." + own.operation + ".STRONG.GPU desc[UR4][R2.64], R12"},
            options);
        CHECK(program.error(one_cta(32), {buffer.address()}).empty());
        CHECK(buffer.words() == own.after);
    }
    CHECK(has_parts(refusal_of("REDG.E.MIN.F32x2.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R12"),
                    {"a vector of another operation than the PTX ISA has"}));
}

TEST_CASE("an exchange of 16 bytes, and one that compares them all") {
    for (const bool compares : {false, true}) {
        const std::string line = compares ? "ATOMG.E.CAS.128.STRONG.GPU P1, R20, desc[UR4][R6.64], R12, R16"
                                          : "ATOMG.E.EXCH.128.STRONG.GPU PT, R20, desc[UR4][R6.64], R12";
        const std::vector<std::string> inputs{"R6",  "R7",  "R12", "R13", "R14",
                                              "R15", "R16", "R17", "R18", "R19"};
        const LaneProgram program({"PLOP3.LUT P1, PT, PT, PT, PT, 0x80, 0x0", line}, inputs,
                                  {"R20", "R21", "R22", "R23", "P1"});
        // Lane 0 finds what it expects; what it writes is what lane 1 expects; lane 2 has one word wrong.
        const Buffer memory(Words{1, 2, 3, 4});
        std::vector<Words> in(inputs.size(), Words(32, 77));
        for (std::size_t lane = 0; lane < 32; ++lane) {
            in[0][lane] = low_of(memory.address());
            in[1][lane] = high_of(memory.address());
        }
        const auto set = [&in](std::size_t lane, std::size_t first, const Words& words) {
            for (std::size_t w = 0; w < 4; ++w) in[first + w][lane] = words[w];
        };
        set(0, 2, {1, 2, 3, 4});
        set(0, 6, {5, 6, 7, 8});
        set(1, 2, {5, 6, 7, 8});
        set(1, 6, {9, 10, 11, 12});
        set(2, 2, {9, 10, 11, 13});
        const std::vector<Words> got = program(in);
        const auto old = [&got](std::size_t lane) {
            return Words{got[0][lane], got[1][lane], got[2][lane], got[3][lane]};
        };
        CHECK(old(0) == Words{1, 2, 3, 4});
        if (compares) {
            CHECK(memory.words() == Words{9, 10, 11, 12});
            CHECK(old(1) == Words{5, 6, 7, 8});
            CHECK(old(2) == Words{9, 10, 11, 12});
            CHECK(got[4][0] == 1);
            CHECK(got[4][1] == 1);
            CHECK(got[4][2] == 0);
        } else {
            CHECK(memory.words() == Words{77, 77, 77, 77});
            CHECK(old(1) == Words{1, 2, 3, 4});
            CHECK(old(2) == Words{5, 6, 7, 8});
        }
    }
    CHECK(
        has_parts(refusal_of("ATOMG.E.ADD.128.STRONG.GPU PT, R20, desc[UR4][R6.64], R12"), {"CAS and EXCH"}));
}

TEST_CASE("an addition of halves by a generic address is done in global memory alone, and says so") {
    ProgramOptions options;
    options.static_shared = 64;
    const LaneProgram program({"ATOM.E.ADD.F16x2.RN.STRONG.GPU P1, RZ, [R6.64], R12"}, {"R6", "R7", "R12"},
                              {"P1"}, options);
    const Buffer memory(Words{0x3c003c00U});
    std::vector<Words> in{Words(32, low_of(memory.address())), Words(32, high_of(memory.address())),
                          Words(32, 0x3c000000U)};
    for (std::size_t lane = 8; lane < 32; ++lane) {
        in[0][lane] = low_of(shared_window) + 4;
        in[1][lane] = high_of(shared_window);
    }
    const Words done = program(in).front();
    for (std::size_t lane = 0; lane < 32; ++lane) CHECK(done[lane] == (lane < 8 ? 1U : 0U));
    CHECK(memory.words() == Words{0x48803c00U});  // 1 + 8, 1
}

TEST_CASE("an access of a word may go on to the end of the last one, bytes and halves may not") {
    // Atomics on half words read and swap the word around them.
    const Buffer memory(std::uint64_t{6});
    const auto at = [&memory](std::uint64_t offset) {
        return std::vector<Words>{Words(32, low_of(memory.address() + offset)),
                                  Words(32, high_of(memory.address() + offset))};
    };
    const auto program = [](const std::string& access) {
        return LaneProgram({access + " R20, desc[UR4][R6.64]", access + " R21, desc[UR4][R8.64]"},
                           {"R6", "R7", "R8", "R9"}, {"R20"});
    };
    const auto both = [&at](std::uint64_t first, std::uint64_t second) {
        std::vector<Words> in = at(first);
        for (const Words& words : at(second)) in.push_back(words);
        return in;
    };
    CHECK_NOTHROW((void)program("LDG.E")(both(0, 4)));
    CHECK_THROWS((void)program("LDG.E")(both(0, 8)));
    CHECK_NOTHROW((void)program("LDG.E.U16")(both(0, 4)));
    CHECK_THROWS((void)program("LDG.E.U16")(both(0, 6)));
    CHECK_THROWS((void)program("LDG.E.U8")(both(6, 0)));
    CHECK_THROWS((void)program("LDG.E.64")(both(0, 0)));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
