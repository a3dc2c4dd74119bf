// The program `warptime`: hands its arguments to the library of commands.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"

int main(int argc, char** argv) {
    return warptime::cli::run_program(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
