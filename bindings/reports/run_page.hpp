// What a program launched, with the time of each launch and of its lines, as a page for a browser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace warptime::reports {

/// The page, made of the JSON that `warptime run --json` prints. Lines of source are shown where their files
/// can be read. Throws Error for text that is no such report.
[[nodiscard]] std::string run_page(const std::string& json);

}  // namespace warptime::reports
