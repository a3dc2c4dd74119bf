// Tests of the ELF reader: images written field by field come back, and spoilt ones give an Error.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/image/elf.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/image/elf_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace testing;

constexpr std::size_t place_of_sections = 40;  ///< in the file header: the offset of the section headers
constexpr std::size_t place_of_entry = 58;
constexpr std::size_t place_of_count = 60;
constexpr std::size_t place_of_names = 62;

/// Place in the file of a field of a section's header.
std::size_t header_field(std::size_t section, std::size_t field) {
    return 64 + 64 * section + field;
}

std::vector<std::byte> numbered(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(i + 1);
    }
    return bytes;
}

/// Two sections with bytes, one without, and two symbols.
Image small_image() {
    Image image;
    const std::uint16_t text =
        image.add(ImageSection{.name = ".text.k", .contents = numbered(32), .flags = 6, .alignment = 128});
    image.add(ImageSection{.name = ".nv.shared.k", .type = 8, .contents = {}, .no_bits = 4096});
    const std::uint16_t data = image.add(ImageSection{.name = ".nv.global.init", .contents = numbered(5)});
    image.add(ImageSymbol{.name = "k", .type = 2, .section = text, .value = 16, .bytes = 32});
    image.add(ImageSymbol{.name = "table", .type = 1, .section = data, .value = 1, .bytes = 4});
    return image;
}

std::string error_of(const std::vector<std::byte>& bytes) {
    try {
        (void)read_elf(bytes, "file.cubin");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

bool says(const std::string& error, const std::string& part) {
    return error.find(part) != std::string::npos;
}

TEST_CASE("header, sections and symbols come back as they were written") {
    Image image = small_image();
    image.flags = 0x12345678;
    image.abi_version = 8;
    image.machine = 190;
    const std::vector<std::byte> bytes = image.build();
    const Elf elf = read_elf(bytes, "file.cubin");
    CHECK(elf.machine == 190);
    CHECK(elf.flags == 0x12345678);
    CHECK(elf.abi_version == 8);
    REQUIRE(elf.sections.size() == 7);
    CHECK(elf.sections[0].name.empty());
    CHECK(elf.sections[1].name == ".text.k");
    CHECK(elf.sections[1].type == 1);
    CHECK(elf.sections[1].flags == 6);
    CHECK(elf.sections[1].bytes == 32);
    CHECK(elf.sections[1].alignment == 128);
    CHECK(std::vector(elf.sections[1].contents.begin(), elf.sections[1].contents.end()) == numbered(32));
    CHECK(elf.sections[4].name == ".symtab");
    CHECK(elf.sections[4].link == 5);
    CHECK(elf.sections[6].name == ".shstrtab");
    REQUIRE(elf.symbols.size() == 3);
    CHECK(elf.symbols[0].name.empty());
    CHECK(elf.symbols[1].name == "k");
    CHECK(elf.symbols[1].type == 2);  // without the binding in the upper half of its byte
    CHECK(elf.symbols[1].section == 1);
    CHECK(elf.symbols[1].value == 16);
    CHECK(elf.symbols[1].bytes == 32);
    CHECK(elf.symbols[2].name == "table");
    CHECK(elf.symbols[2].type == 1);
    CHECK(elf.symbols[2].section == 3);
}

TEST_CASE("a section without bytes in the file has its size and no contents") {
    const std::vector<std::byte> bytes = small_image().build();
    const Elf elf = read_elf(bytes, "file.cubin");
    const ElfSection* const shared = elf.find(".nv.shared.k");
    REQUIRE(shared != nullptr);
    CHECK(shared->bytes == 4096);
    CHECK(shared->contents.empty());
}

TEST_CASE("a section is found by its whole name, the first of several") {
    Image image = small_image();
    image.add(ImageSection{.name = ".text.k", .contents = numbered(1)});
    const std::vector<std::byte> bytes = image.build();
    const Elf elf = read_elf(bytes, "file.cubin");
    CHECK(elf.find(".text.k") == &elf.sections[1]);
    CHECK(elf.find(".text") == nullptr);
    CHECK(elf.find(".text.kk") == nullptr);
}

TEST_CASE("section headers may be longer than the fields that are read") {
    Image image = small_image();
    image.header_bytes = 88;
    const std::vector<std::byte> bytes = image.build();
    const Elf elf = read_elf(bytes, "file.cubin");
    REQUIRE(elf.sections.size() == 7);
    CHECK(elf.sections[3].name == ".nv.global.init");
    CHECK(elf.sections[3].contents.size() == 5);
    CHECK(elf.symbols.size() == 3);
}

TEST_CASE("a file that is no ELF file of 64 bits and little endian is refused by name") {
    const std::vector<std::byte> good = small_image().build();
    CHECK(error_of(good).empty());
    std::vector<std::byte> bytes = good;
    bytes[1] = std::byte{'e'};
    CHECK(says(error_of(bytes), "file.cubin: got 'a file that does not begin as an ELF file'"));
    CHECK(says(error_of(bytes), "expected a cubin"));
    bytes = good;
    bytes[4] = std::byte{1};
    CHECK(says(error_of(bytes), "another width or byte order"));
    CHECK(says(error_of(bytes), "expected 64 bits, little endian"));
    bytes = good;
    bytes[5] = std::byte{2};
    CHECK(says(error_of(bytes), "another width or byte order"));
    bytes = good;
    overwrite<std::uint16_t>(bytes, place_of_entry, 40);
    CHECK(says(error_of(bytes), "section headers of 40 bytes"));
    CHECK(says(error_of(bytes), "expected 64"));
}

TEST_CASE("a file cut short anywhere gives an Error with its name") {
    const std::vector<std::byte> whole = small_image().build();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        // A copy of its own, so that a sanitizer sees every read behind the end.
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        CHECK(says(error_of(cut), "file.cubin: got '"));
    }
}

TEST_CASE("offsets and sizes beyond the file give an Error, also where their sum overflows") {
    const std::vector<std::byte> good = small_image().build();
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t offset : {std::uint64_t{good.size() - 31}, most, most - 31}) {
        std::vector<std::byte> bytes = good;
        overwrite(bytes, header_field(1, 24), offset);
        CHECK(says(error_of(bytes), "a section that ends behind the file"));
    }
    for (const std::uint64_t size : {std::uint64_t{good.size()}, most}) {
        std::vector<std::byte> bytes = good;
        overwrite(bytes, header_field(1, 32), size);
        CHECK(says(error_of(bytes), "a section that ends behind the file"));
    }
    for (const std::uint64_t table : {std::uint64_t{good.size() - 63}, most, most - 70}) {
        std::vector<std::byte> bytes = good;
        overwrite(bytes, place_of_sections, table);
        CHECK(says(error_of(bytes), "expected a whole cubin"));
    }
    std::vector<std::byte> bytes = good;
    overwrite<std::uint16_t>(bytes, place_of_count, 0xffff);
    CHECK_FALSE(error_of(bytes).empty());
}

TEST_CASE("a section may end exactly with the file, and one byte later it may not") {
    const std::vector<std::byte> good = small_image().build();
    std::vector<std::byte> bytes = good;
    overwrite<std::uint64_t>(bytes, header_field(1, 24), good.size() - 32);
    CHECK(error_of(bytes).empty());
    overwrite<std::uint64_t>(bytes, header_field(1, 32), 33);
    CHECK(says(error_of(bytes), "a section that ends behind the file"));
}

TEST_CASE("names outside of their tables are empty, not an error") {
    const std::vector<std::byte> good = small_image().build();
    std::vector<std::byte> bytes = good;
    overwrite<std::uint32_t>(bytes, header_field(1, 0), 0xffff'ffff);
    CHECK(read_elf(bytes, "file.cubin").sections[1].name.empty());
    bytes = good;
    overwrite<std::uint16_t>(bytes, place_of_names, 7);  // one behind the last section
    for (const ElfSection& section : read_elf(bytes, "file.cubin").sections) {
        CHECK(section.name.empty());
    }
    bytes = good;
    overwrite<std::uint32_t>(bytes, header_field(4, 40), 7);  // the symbols' table of names
    CHECK(read_elf(bytes, "file.cubin").symbols.empty());
}

TEST_CASE("a name without an end goes as far as its table") {
    std::vector<std::byte> bytes = small_image().build();
    bytes.back() = std::byte{'!'};  // the zero behind .shstrtab
    CHECK(read_elf(bytes, "file.cubin").sections[6].name == ".shstrtab!");
}

TEST_CASE("a table of symbols of any size has the whole ones") {
    const std::vector<std::byte> good = small_image().build();
    for (std::uint64_t size = 0; size <= 72; ++size) {
        std::vector<std::byte> bytes = good;
        overwrite(bytes, header_field(4, 32), size);
        CHECK(read_elf(bytes, "file.cubin").symbols.size() == size / 24);
    }
}

TEST_CASE("entries of relocations with and without addends; half an entry at the end is left out") {
    Bytes with;
    add_rela(with, 0x10, 56, 3, -8);
    add_rela(with, 0x1'0000'0000, 2, 0x8000'0001, 64);
    Bytes without;
    add_rel(without, 0x20, 57, 4);
    without.join(numbered(15));
    Image image;
    image.add(ImageSection{.name = ".rela.a", .type = section_rela, .contents = with.get(), .info = 9});
    image.add(ImageSection{.name = ".rel.a", .type = section_rel, .contents = without.get()});
    const std::vector<std::byte> bytes = image.build();
    const Elf elf = read_elf(bytes, "file.cubin");
    CHECK(elf.sections[1].info == 9);
    const auto first = relocations_of(elf.sections[1]);
    REQUIRE(first.size() == 2);
    CHECK(first[0].offset == 0x10);
    CHECK(first[0].type == 56);
    CHECK(first[0].symbol == 3);
    CHECK(first[0].addend == -8);
    CHECK(first[1].offset == 0x1'0000'0000);
    CHECK(first[1].symbol == 0x8000'0001);
    CHECK(first[1].addend == 64);
    const auto second = relocations_of(elf.sections[2]);
    REQUIRE(second.size() == 1);
    CHECK(second[0].offset == 0x20);
    CHECK(second[0].type == 57);
    CHECK(second[0].symbol == 4);
    CHECK(second[0].addend == 0);
}

TEST_CASE("a value is there exactly where all of its bytes are") {
    CHECK(rc::check("values", [] {
        const std::vector<std::byte> bytes = numbered(*rc::gen::inRange<std::size_t>(0, 12));
        const auto offset = *rc::gen::oneOf(
            rc::gen::inRange<std::uint64_t>(0, 16),
            rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 16), [](std::uint64_t below) { return ~below; }));
        const std::optional<std::uint32_t> value = value_at<std::uint32_t>(bytes, offset);
        const bool fits = offset < 16 && offset + 4 <= bytes.size();
        RC_ASSERT(value.has_value() == fits);
        if (fits) {
            std::uint32_t expected = 0;
            for (std::size_t i = 4; i-- > 0;) {
                expected = expected << 8U | static_cast<std::uint32_t>(offset + i + 1);
            }
            RC_ASSERT(*value == expected);
        }
    }));
}

TEST_CASE("sections and symbols of any number and size come back") {
    CHECK(rc::check("round trip", [] {
        Image image;
        const auto sizes =
            *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 60));
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            image.add(ImageSection{.name = "s" + std::to_string(i), .contents = numbered(sizes[i])});
        }
        const auto values =
            *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::arbitrary<std::uint64_t>());
        for (const std::uint64_t value : values) {
            image.add(ImageSymbol{.name = "v" + std::to_string(value), .value = value, .bytes = ~value});
        }
        const std::vector<std::byte> bytes = image.build();
        const Elf elf = read_elf(bytes, "file.cubin");
        RC_ASSERT(elf.sections.size() == sizes.size() + 4);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const ElfSection* const section = elf.find("s" + std::to_string(i));
            RC_ASSERT(section == &elf.sections[i + 1]);
            RC_ASSERT(std::vector(section->contents.begin(), section->contents.end()) == numbered(sizes[i]));
        }
        RC_ASSERT(elf.symbols.size() == values.size() + 1);
        for (std::size_t i = 0; i < values.size(); ++i) {
            RC_ASSERT(elf.symbols[i + 1].name == "v" + std::to_string(values[i]));
            RC_ASSERT(elf.symbols[i + 1].value == values[i]);
            RC_ASSERT(elf.symbols[i + 1].bytes == ~values[i]);
        }
    }));
}

TEST_CASE("spoilt bytes give an Error or a result within the file") {
    const std::vector<std::byte> good = small_image().build();
    CHECK(rc::check("spoilt", [&good] {
        std::vector<std::byte> bytes = good;
        const int changes = *rc::gen::inRange(1, 8);
        for (int i = 0; i < changes; ++i) {
            bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
                static_cast<std::byte>(*rc::gen::element(0, 1, 2, 4, 8, 9, 0x7f, 0x80, 0xff));
        }
        try {
            for (const ElfSection& section : read_elf(bytes, "file.cubin").sections) {
                RC_ASSERT(section.contents.empty() || section.contents.data() >= bytes.data());
                RC_ASSERT(section.contents.empty() ||
                          section.contents.data() + section.contents.size() <= bytes.data() + bytes.size());
                RC_ASSERT(relocations_of(section).size() <= section.contents.size() / 16);
            }
        } catch (const Error& error) {
            RC_ASSERT(error.parameter() == "file.cubin");
        }
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
