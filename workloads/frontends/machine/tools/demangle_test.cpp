// Tests of kernels' names: what compilers make of them, and back.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/tools/demangle.hpp"

#include <doctest/doctest.h>

#include <string>
#include <typeinfo>

namespace first::second {
struct Layer {};
template <class T, int N>
struct Tile {};
template <class T>
struct Probe {};
}  // namespace first::second

namespace warptime::workloads::frontends::machine {
namespace {

TEST_CASE("names demangled by hand, after the Itanium C++ ABI") {
    CHECK(demangled("_Z5saxpyifPKfPf") == "saxpy(int, float, float const*, float*)");
    CHECK(demangled("_ZN5space6kernelEv") == "space::kernel()");
    CHECK(demangled("_ZN5space6kernelIiEEvPT_") == "void space::kernel<int>(int*)");
    CHECK(demangled("_Z12warp_per_rowILi32EEvPKfPfii") ==
          "void warp_per_row<32>(float const*, float*, int, int)");
    CHECK(demangled("_ZN12_GLOBAL__N_13fooEi") == "(anonymous namespace)::foo(int)");
}

TEST_CASE("names that are not mangled stay as they are") {
    for (const std::string name : {"", "saxpy", "my_kernel", "main", "_Z", "_Zx", "_ZN5space", "_Z99short",
                                   "$__internal_0_$__cuda_sm20_div_s64", "a b", "kernel(int)"}) {
        CAPTURE(name);
        CHECK(demangled(name) == name);
    }
}

TEST_CASE("what the compiler of this test mangles comes back") {
    using first::second::Layer;
    using first::second::Probe;
    using first::second::Tile;
    const auto name_of = [](const std::type_info& type) {
        return demangled(std::string("_ZTI") + type.name());  // the symbol of its type information
    };
    CHECK(name_of(typeid(int)) == "typeinfo for int");
    CHECK(name_of(typeid(Layer)) == "typeinfo for first::second::Layer");
    CHECK(name_of(typeid(Probe<Tile<Layer, 16>>)) ==
          "typeinfo for first::second::Probe<first::second::Tile<first::second::Layer, 16> >");
}

TEST_CASE("the plain name has no return type, namespaces, template arguments and parameters") {
    CHECK(plain_name("_Z5saxpyifPKfPf") == "saxpy");
    CHECK(plain_name("_ZN5space6kernelEv") == "kernel");
    CHECK(plain_name("_ZN5space6kernelIiEEvPT_") == "kernel");
    CHECK(plain_name("_Z12warp_per_rowILi32EEvPKfPfii") == "warp_per_row");
    CHECK(plain_name("_ZN12_GLOBAL__N_13fooEi") == "foo");
    CHECK(plain_name("_ZN5space12_GLOBAL__N_13fooEi") == "foo");
    CHECK(plain_name("_ZN12_GLOBAL__N_13fooIfEEvT_") == "foo");
    // Arguments with namespaces, arguments of their own, and functions: void a::run<b::T<int> >(b::T<int>).
    CHECK(plain_name("_ZN1a3runIN1b1TIiEEEEvT_") == "run");
    CHECK(plain_name("_Z3runIFivEEvPT_") == "run");               // void run<int ()>(int (*)())
    CHECK(plain_name("_Z3runIN12_GLOBAL__N_11TEEvT_") == "run");  // void run<(anonymous namespace)::T>(...)
    CHECK(plain_name("_ZN4TileIFivEE3runEv") == "run");           // Tile<int ()>::run()
    CHECK(plain_name("_Z3fooPFivE") == "foo");                    // foo(int (*)())
    CHECK(plain_name("_Z3runRKN1a1TE") == "run");                 // run(a::T const&)
}

TEST_CASE("the plain name of text that is not mangled") {
    CHECK(plain_name("").empty());
    CHECK(plain_name("my_kernel") == "my_kernel");
    CHECK(plain_name("void space::kernel<int>(float*, int)") == "kernel");
    CHECK(plain_name("kernel<(int)5, a::B>") == "kernel");
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
