// Writes a C++ source that holds data files as string literals.
// Usage: embed_files SYMBOL ROOT LIST OUTPUT, where LIST names one file a line and ROOT is cut off the names.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + path);
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

/// One literal a line of input; every byte that is not plain text is written as three octal digits.
std::string literal(const std::string& bytes) {
    std::string out = "\n    \"";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (byte == '\n') {
            out += i + 1 < bytes.size() ? "\\n\"\n    \"" : "\\n";
        } else if (byte == '"' || byte == '\\' || byte == '?' || byte < 0x20 || byte >= 0x7f) {
            out += fmt::format("\\{:03o}", byte);
        } else {
            out += bytes[i];
        }
    }
    return out + "\"";
}

void run(const std::string& symbol, const std::filesystem::path& root, const std::string& list,
         const std::string& output) {
    std::vector<std::string> paths;
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);) {
        if (!line.empty()) {
            paths.push_back(line);
        }
    }
    const std::size_t split = symbol.rfind("::");
    const std::string scope = split == std::string::npos ? "" : symbol.substr(0, split);
    const std::string name = split == std::string::npos ? symbol : symbol.substr(split + 2);

    // Data files may be longer than the 65536 bytes that some compilers accept in a literal.
    std::string text = "// Generated from data files; do not edit.\n#include <array>\n#include <span>\n\n";
    text += "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n";
    text += "#include \"hw/embedded_file.hpp\"\n\n";
    text += scope.empty() ? "" : fmt::format("namespace {} {{\n\n", scope);
    text += fmt::format("std::span<const ::warptime::hw::EmbeddedFile> {}();\n\n", name);
    text += fmt::format("std::span<const ::warptime::hw::EmbeddedFile> {}() {{\n", name);
    text += fmt::format("static constexpr std::array<::warptime::hw::EmbeddedFile, {}> files{{{{\n",
                        paths.size());
    for (const std::string& path : paths) {
        const std::string bytes = read_file(path);
        text +=
            fmt::format("    {{\"{}\", {{{}, {}}}}},\n",
                        std::filesystem::relative(path, root).generic_string(), literal(bytes), bytes.size());
    }
    text += "}};\nreturn files;\n}\n";
    text += scope.empty() ? "" : fmt::format("\n}}  // namespace {}\n", scope);
    std::ofstream out(output, std::ios::binary);
    out << text;
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + output);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 5) {
            throw std::runtime_error("usage: embed_files SYMBOL ROOT LIST OUTPUT");
        }
        run(argv[1], argv[2], argv[3], argv[4]);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
