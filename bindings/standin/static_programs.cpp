// Programs that hold the runtime themselves: its functions are led to the stand-in when the library is
// loaded.
// SPDX-License-Identifier: Apache-2.0
//
// nvcc links the runtime statically unless told otherwise. That runtime talks to the driver by undocumented
// tables, so the stand-in takes its place instead: the program's symbol table names the runtime's functions,
// and the first bytes of each become a jump. A stripped program has no such names and is told how to be
// linked.
#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/machine/image/elf.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

namespace machine = warptime::workloads::frontends::machine;

extern "C" int warptime_missing_function(const char* name) {
    constexpr int not_supported = 801;
    std::fprintf(stderr, "warptime: %s is not provided by the stand-in for CUDA\n", name);
    return not_supported;
}

std::uintptr_t base_of_program() {
    std::uintptr_t base = 0;
    // The first entry is the program itself.
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            *static_cast<std::uintptr_t*>(result) = info->dlpi_addr;
            return 1;
        },
        &base);
    return base;
}

/// jmp *[rip]: the address of the target follows.
void write_jump(std::uintptr_t at, std::uintptr_t target) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t first = at / page * page;
    constexpr std::array<unsigned char, 6> jump{0xff, 0x25, 0, 0, 0, 0};
    const std::uintptr_t end = at + jump.size() + sizeof target;
    // NOLINTBEGIN(performance-no-int-to-ptr): symbols give places of this process as numbers.
    if (mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        return;
    }
    std::memcpy(reinterpret_cast<void*>(at), jump.data(), jump.size());
    std::memcpy(reinterpret_cast<void*>(at + jump.size()), &target, sizeof target);
    // NOLINTEND(performance-no-int-to-ptr)
}

/// Code that loads the name of a function and jumps to the one that reports it: mov rdi, name; mov rax,
/// target; jmp rax.
class Trampolines {
  public:
    explicit Trampolines(std::size_t count) {
        bytes_ = count * entry;
        memory_ = static_cast<unsigned char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
    std::uintptr_t add(const char* name) {
        unsigned char* const at = memory_ + used_;
        used_ += entry;
        const auto name_address = reinterpret_cast<std::uintptr_t>(name);
        const auto target = reinterpret_cast<std::uintptr_t>(&warptime_missing_function);
        at[0] = 0x48;
        at[1] = 0xbf;
        std::memcpy(at + 2, &name_address, 8);
        at[10] = 0x48;
        at[11] = 0xb8;
        std::memcpy(at + 12, &target, 8);
        at[20] = 0xff;
        at[21] = 0xe0;
        return reinterpret_cast<std::uintptr_t>(at);
    }

  private:
    static constexpr std::size_t entry = 32;
    std::size_t bytes_ = 0, used_ = 0;
    unsigned char* memory_ = nullptr;
};

bool is_runtime_name(std::string_view name) {
    return name.starts_with("__cuda") ||
           (name.starts_with("cuda") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z');
}

__attribute__((constructor)) void lead_static_runtime_here() {
    const std::string text = warptime::hw::text_of_file("/proc/self/exe").value_or("");
    machine::Elf elf;
    try {
        elf = machine::read_elf({reinterpret_cast<const std::byte*>(text.data()), text.size()}, "program");
    } catch (const warptime::Error&) {
        return;
    }
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&lead_static_runtime_here), &self);
    void* const own = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (own == nullptr) {
        return;
    }
    const std::uintptr_t base = base_of_program();
    constexpr std::uint8_t function = 2;
    std::vector<const machine::ElfSymbol*> found;
    for (const machine::ElfSymbol& symbol : elf.symbols) {
        // A jump takes 14 bytes; shorter functions are followed by padding up to the next 16.
        const bool has_room = symbol.bytes >= 14 || symbol.value % 16 == 0;
        if (symbol.type == function && symbol.section != 0 && symbol.value != 0 && has_room &&
            is_runtime_name(symbol.name)) {
            found.push_back(&symbol);
        }
    }
    // Only a program that holds the runtime defines its launch.
    bool holds_runtime = false;
    for (const machine::ElfSymbol* symbol : found) {
        holds_runtime =
            holds_runtime || symbol->name == "cudaLaunchKernel" || symbol->name == "__cudaRegisterFatBinary";
    }
    if (!holds_runtime) {
        if (elf.find(".nv_fatbin") != nullptr && elf.find(".symtab") == nullptr) {
            std::fprintf(
                stderr,
                "warptime: this program is stripped; link it with -cudart shared, or do not strip it\n");
        }
        return;
    }
    static Trampolines trampolines(found.size() + 1);
    for (const machine::ElfSymbol* symbol : found) {
        // Functions for a default stream of each thread do what the others do.
        const bool of_thread = symbol->name.ends_with("_ptds") || symbol->name.ends_with("_ptsz");
        const std::string name = of_thread ? symbol->name.substr(0, symbol->name.size() - 5) : symbol->name;
        void* const target = dlsym(own, name.c_str());
        const bool from_here = target != nullptr;
        const std::uintptr_t address = from_here ? reinterpret_cast<std::uintptr_t>(target)
                                                 : trampolines.add(strdup(symbol->name.c_str()));
        write_jump(base + symbol->value, address);
    }
}

}  // namespace
