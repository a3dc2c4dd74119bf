// Reads launch, schedule, buffers, tokens and address pools of the text form, and whole programs.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text_reader.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/text.hpp"
#include "model/kernel/text_index_reader.hpp"

#include <fmt/format.h>

#include <limits>

namespace warptime::model::kernel {

namespace detail {

namespace {
constexpr std::int64_t most_int = std::numeric_limits<std::int32_t>::max();
constexpr auto most_ids = static_cast<std::size_t>(std::numeric_limits<Id>::max());
constexpr std::size_t most_items = std::size_t{1} << 22;
}  // namespace

void KernelReader::read() {
    for (;;) {
        cursor_.next_line();
        const std::size_t start = cursor_.start_of_token();
        const std::string_view record = cursor_.identifier("a record of a kernel, or end");
        if (record == "end") {
            return;
        }
        if (record == "role") {
            role();
        } else if (!header(record)) {
            cursor_.fail_at(start,
                            "grid, cluster, cta, resources, coverage, hand_overs, evidence, schedule, item, "
                            "class, buffer, "
                            "token, term, nested, run, file, reuse, addresses, role or end");
        }
    }
}

bool KernelReader::header(std::string_view record) {
    if (record == "grid") {
        dimensions(kernel_.grid);
    } else if (record == "cluster") {
        dimensions(kernel_.cluster);
    } else if (record == "cta") {
        dimensions(kernel_.cta);
    } else if (record == "resources") {
        resources();
    } else if (record == "coverage") {
        coverage();
    } else if (record == "hand_overs") {
        hand_overs();
    } else if (record == "evidence") {
        kernel_.evidence = cursor_.enumerator<Evidence>();
    } else if (record == "schedule") {
        schedule();
    } else if (record == "item") {
        item();
    } else if (record == "class") {
        cta_class();
    } else if (record == "buffer") {
        buffer();
    } else if (record == "token") {
        token();
    } else if (record == "term") {
        cap(kernel_.terms, most_terms, "than 2^26 terms");
        kernel_.terms.push_back(read_term(cursor_, kernel_));
    } else if (record == "nested") {
        cap(kernel_.nested, most_terms, "than 2^26 nested expressions");
        kernel_.nested.push_back(read_index(cursor_, kernel_));
    } else if (record == "run") {
        run();
    } else if (record == "file") {
        kernel_.files.push_back(cursor_.quoted());
    } else if (record == "reuse") {
        reuse();
    } else if (record == "addresses") {
        addresses();
    } else {
        return false;
    }
    return true;
}

Name KernelReader::name() {
    const std::size_t start = cursor_.start_of_token();
    const std::string text = cursor_.quoted();
    try {
        return Name(std::string_view(text));
    } catch (const Error& error) {
        cursor_.fail_at(start, error.expected());
    }
}

void KernelReader::dimensions(Dim3& dims) {
    dims.x = cursor_.integer();
    dims.y = cursor_.integer();
    dims.z = cursor_.integer();
}

void KernelReader::resources() {
    fields("registers=, static_shared=, dynamic_shared=, carveout= or named_barriers=",
           [&](std::string_view key) {
               if (key == "registers") {
                   kernel_.registers_per_thread = static_cast<std::int32_t>(cursor_.integer(0, most_int));
               } else if (key == "static_shared") {
                   kernel_.static_shared = cursor_.integer();
               } else if (key == "dynamic_shared") {
                   kernel_.dynamic_shared = cursor_.integer();
               } else if (key == "carveout") {
                   kernel_.carveout = cursor_.integer();
               } else if (key == "named_barriers") {
                   kernel_.named_barriers = static_cast<std::int32_t>(cursor_.integer(0, most_int));
               } else {
                   return false;
               }
               return true;
           });
}

void KernelReader::hand_overs() {
    fields("in_series=, wait= or told=", [&](std::string_view key) {
        HandOvers& own = kernel_.hand_overs;
        if (key == "in_series") {
            own.in_series = cursor_.real();
        } else if (key == "wait") {
            own.wait = static_cast<Id>(cursor_.integer(0, most_int));
        } else if (key == "told") {
            own.told = static_cast<Id>(cursor_.integer(0, most_int));
        } else {
            return false;
        }
        return true;
    });
}

void KernelReader::coverage() {
    fields("exact=, extrapolated= or unknown=", [&](std::string_view key) {
        double* const part = key == "exact"          ? &kernel_.coverage.exact
                             : key == "extrapolated" ? &kernel_.coverage.extrapolated
                             : key == "unknown"      ? &kernel_.coverage.unknown
                                                     : nullptr;
        if (part == nullptr) {
            return false;
        }
        *part = cursor_.real();
        return true;
    });
}

void KernelReader::schedule() {
    Schedule& schedule = kernel_.schedule;
    schedule.kind = cursor_.enumerator<ScheduleKind>();
    fields("tiles=, raster=, group=, split_k=, stream_k=, k_iterations= or on_demand=",
           [&](std::string_view key) {
               if (key == "tiles") {
                   list(schedule.tiles, [&] { return cursor_.integer(); });
               } else if (key == "raster") {
                   schedule.raster = cursor_.enumerator<Raster>();
               } else if (key == "group") {
                   schedule.group = cursor_.integer();
               } else if (key == "split_k") {
                   schedule.split_k = cursor_.integer();
               } else if (key == "stream_k") {
                   schedule.stream_k = cursor_.flag();
               } else if (key == "k_iterations") {
                   schedule.k_iterations = cursor_.integer();
               } else if (key == "on_demand") {
                   schedule.on_demand = cursor_.flag();
               } else {
                   return false;
               }
               return true;
           });
}

void KernelReader::item() {
    cap(kernel_.schedule.items, most_items, "than 2^22 items");
    WorkItem item;
    fields("tile=, begin=, end=, class= or problem=", [&](std::string_view key) {
        if (key == "tile") {
            list(item.tile, [&] { return cursor_.integer(); });
        } else if (key == "begin") {
            item.begin = cursor_.integer();
        } else if (key == "end") {
            item.end = cursor_.integer();
        } else if (key == "class") {
            item.cta_class = static_cast<Id>(cursor_.integer(0, most_ids));
        } else if (key == "problem") {
            item.problem = static_cast<std::int32_t>(cursor_.integer(0, most_int));
        } else {
            return false;
        }
        return true;
    });
    kernel_.schedule.items.push_back(item);
}

void KernelReader::cta_class() {
    cap(kernel_.cta_classes, most_ids, "than 2^31 classes");
    CtaClass cls;
    fields("first=, last=, multiplicity= or phase=", [&](std::string_view key) {
        if (key == "first") {
            cls.first = cursor_.integer();
        } else if (key == "last") {
            cls.last = cursor_.integer();
        } else if (key == "multiplicity") {
            cls.multiplicity = cursor_.real();
        } else if (key == "phase") {
            cls.phase = cursor_.enumerator<CtaPhase>();
        } else {
            return false;
        }
        return true;
    });
    kernel_.cta_classes.push_back(cls);
}

void KernelReader::buffer() {
    cap(kernel_.buffers, most_ids, "than 2^31 buffers");
    Buffer buffer;
    buffer.name = name();
    fields(
        "space=, dtype=, extent=, rank=, stride=, base=, base_alignment=, stages=, swizzle=, page_bytes=, "
        "before=, contents=, written_by_step= or since_bytes=",
        [&](std::string_view key) {
            const auto small = [&] { return static_cast<std::int32_t>(cursor_.integer(0, most_int)); };
            if (key == "space") {
                buffer.space = cursor_.enumerator<Space>();
            } else if (key == "dtype") {
                const std::size_t start = cursor_.start_of_token();
                try {
                    buffer.dtype = hw::parse_dtype(cursor_.word("a dtype"));
                } catch (const Error& error) {
                    cursor_.fail_at(start, error.expected());
                }
            } else if (key == "extent") {
                buffer.rank =
                    static_cast<std::uint8_t>(list(buffer.extent, [&] { return cursor_.integer(); }));
            } else if (key == "rank") {
                buffer.rank = static_cast<std::uint8_t>(cursor_.integer(1, max_rank));
            } else if (key == "stride") {
                list(buffer.stride, [&] { return cursor_.integer(); });
            } else if (key == "base") {
                buffer.base = cursor_.integer();
            } else if (key == "base_alignment") {
                buffer.base_alignment = cursor_.integer();
            } else if (key == "stages") {
                buffer.stages = small();
            } else if (key == "swizzle") {
                buffer.swizzle_bytes = small();
            } else if (key == "page_bytes") {
                buffer.page_bytes = cursor_.integer();
            } else if (key == "before") {
                buffer.before = cursor_.enumerator<Before>();
            } else if (key == "contents") {
                buffer.contents = cursor_.enumerator<Contents>();
            } else if (key == "written_by_step") {
                buffer.written_by_step = static_cast<Id>(cursor_.integer(0, most_ids));
            } else if (key == "since_bytes") {
                buffer.since_bytes = cursor_.integer();
            } else {
                return false;
            }
            return true;
        });
    kernel_.buffers.push_back(buffer);
}

void KernelReader::token() {
    cap(kernel_.tokens, most_ids, "than 2^31 tokens");
    Token token;
    token.name = name();
    fields("kind=, scope=, key=, arrivals=, initial= or depth=", [&](std::string_view key) {
        const auto small = [&] { return static_cast<std::int32_t>(cursor_.integer(0, most_int)); };
        if (key == "kind") {
            token.kind = cursor_.enumerator<TokenKind>();
        } else if (key == "scope") {
            token.scope = cursor_.enumerator<Scope>();
        } else if (key == "key") {
            token.key = cursor_.enumerator<TokenKey>();
        } else if (key == "arrivals") {
            token.arrivals = small();
        } else if (key == "initial") {
            token.initial = small();
        } else if (key == "depth") {
            token.depth = small();
        } else {
            return false;
        }
        return true;
    });
    kernel_.tokens.push_back(token);
}

void KernelReader::run() {
    AddressRun run;
    fields("start=, step=, repeat= or lanes=", [&](std::string_view key) {
        if (key == "start") {
            run.start = cursor_.integer();
        } else if (key == "step") {
            run.step = cursor_.integer();
        } else if (key == "repeat") {
            run.repeat = cursor_.integer();
        } else if (key == "lanes") {
            run.lane_mask = static_cast<std::uint32_t>(cursor_.integer(0, 0xffffffffLL));
        } else {
            return false;
        }
        return true;
    });
    kernel_.address_pool.push_back(run);
}

void KernelReader::reuse() {
    Reuse read;
    for (auto* const shares : {&read.sectors, &read.whole}) {
        double least = 0.0;
        for (double& share : *shares) {
            const std::size_t start = cursor_.start_of_token();
            share = cursor_.real();
            if (!(share >= least && share <= 1.0)) {
                cursor_.fail_at(
                    start,
                    "18 shares from 0 to 1, of sectors and of whole accesses, each rising with the distance");
            }
            least = share;
        }
    }
    fields("beside= or together=", [&](std::string_view key) {
        if (key != "beside" && key != "together") return false;
        const std::size_t start = cursor_.start_of_token();
        double& share = key == "beside" ? read.beside : read.together;
        share = cursor_.real();
        if (!(share >= 0.0 && share <= 1.0)) cursor_.fail_at(start, "a share from 0 to 1");
        return true;
    });
    kernel_.reuse.push_back(read);
}

void KernelReader::addresses() {
    while (!cursor_.at_line_end()) {
        kernel_.address_list.push_back(cursor_.integer());
    }
}

}  // namespace detail

namespace {

using detail::TextCursor;

void expect_word(TextCursor& cursor, std::string_view word) {
    const std::size_t start = cursor.start_of_token();
    if (cursor.identifier(word) != word) {
        cursor.fail_at(start, word);
    }
}

void read_after(TextCursor& cursor, Step& step) {
    const std::int64_t most = std::numeric_limits<Id>::max();
    step.after[0] = static_cast<Id>(cursor.integer(no_id, most));
    cursor.expect(',');
    step.after[1] = static_cast<Id>(cursor.integer(no_id, most));
}

/// Reads the rest of the line of a memset or memcpy, or of the first line of a kernel.
void read_step_fields(TextCursor& cursor, Step& step, Memcpy& copy) {
    while (!cursor.at_line_end()) {
        const std::size_t start = cursor.start_of_token();
        const std::string_view key = cursor.identifier("bytes=, link=, pinned=, passes= or after=");
        cursor.expect('=');
        const bool is_copy = step.kind == StepKind::memcpy;
        if (key == "after") {
            read_after(cursor, step);
        } else if (key == "bytes" && step.kind != StepKind::kernel) {
            copy.bytes = cursor.integer();
        } else if (key == "link" && is_copy) {
            copy.link = cursor.enumerator<Link>();
        } else if (key == "pinned" && is_copy) {
            copy.pinned = cursor.flag();
        } else if (key == "passes" && is_copy) {
            constexpr std::int64_t most_passes = 1000;
            copy.passes = static_cast<std::int32_t>(cursor.integer(1, most_passes));
        } else {
            cursor.fail_at(start, "a field of this step");
        }
    }
}

ExchangeLink read_link(TextCursor& cursor) {
    ExchangeLink link;
    link.hops = cursor.real();
    cursor.expect(',');
    link.hop_seconds = cursor.real();
    cursor.expect(',');
    link.bytes = cursor.real();
    cursor.expect(',');
    link.bytes_per_second = cursor.real();
    return link;
}

/// Reads the rest of the line of an exchange.
Exchange read_exchange(TextCursor& cursor, Step& step) {
    Exchange exchange;
    exchange.name = cursor.quoted();
    while (!cursor.at_line_end()) {
        const std::size_t start = cursor.start_of_token();
        const std::string_view key = cursor.identifier(
            "bytes=, start=, handled=, fill=, within=, across=, band=, evidence= or after=");
        cursor.expect('=');
        if (key == "after") {
            read_after(cursor, step);
        } else if (key == "bytes") {
            exchange.bytes = cursor.integer();
        } else if (key == "start") {
            exchange.start_seconds = cursor.real();
        } else if (key == "handled") {
            exchange.handled_bytes = cursor.real();
            cursor.expect(',');
            exchange.handled_per_second = cursor.real();
        } else if (key == "fill") {
            exchange.fill_seconds = cursor.real();
        } else if (key == "within" || key == "across") {
            exchange.links[key == "across" ? 1 : 0] = read_link(cursor);
        } else if (key == "band") {
            exchange.band = cursor.real();
        } else if (key == "evidence") {
            exchange.evidence = cursor.enumerator<Evidence>();
        } else {
            cursor.fail_at(start, "a field of an exchange");
        }
    }
    return exchange;
}

}  // namespace

Kernel parse_text(std::string_view text) {
    TextCursor cursor(text);
    (void)cursor.at_end();
    expect_word(cursor, "kernel");
    Kernel kernel;
    kernel.name = cursor.quoted();
    detail::KernelReader(cursor, kernel).read();
    if (!cursor.at_line_end() || !cursor.at_end()) {
        cursor.fail("the end of the text");
    }
    check(kernel);
    return kernel;
}

Program parse_program_text(std::string_view text) {
    TextCursor cursor(text);
    (void)cursor.at_end();
    expect_word(cursor, "program");
    Program program;
    for (;;) {
        cursor.next_line();
        const std::size_t start = cursor.start_of_token();
        const std::string_view word = cursor.identifier("kernel, memset, memcpy, exchange or end");
        if (word == "end") {
            break;
        }
        if (program.steps.size() >= static_cast<std::size_t>(std::numeric_limits<Id>::max())) {
            cursor.fail_at(start, "fewer than 2^31 steps");
        }
        Memcpy fields;
        if (word == "kernel") {
            Kernel& kernel = program.add_kernel();
            kernel.name = cursor.quoted();
            read_step_fields(cursor, program.steps.back(), fields);
            detail::KernelReader(cursor, kernel).read();
        } else if (word == "memset") {
            program.add_memset(0);
            read_step_fields(cursor, program.steps.back(), fields);
            program.memsets.back().bytes = fields.bytes;
        } else if (word == "memcpy") {
            program.add_memcpy(fields);
            read_step_fields(cursor, program.steps.back(), fields);
            program.memcpys.back() = fields;
        } else if (word == "exchange") {
            program.add_exchange({});
            program.exchanges.back() = read_exchange(cursor, program.steps.back());
        } else {
            cursor.fail_at(start, "kernel, memset, memcpy, exchange or end");
        }
    }
    if (!cursor.at_line_end() || !cursor.at_end()) {
        cursor.fail("the end of the text");
    }
    check(program);
    return program;
}

}  // namespace warptime::model::kernel
