// One prediction as a page for a browser, made of the same JSON that the program prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace warptime::reports {

/// The page. `json` is a report of to_json, with or without `would_help`; `text` is the explanation, which
/// the page also keeps whole. Throws Error for text that is no such report.
[[nodiscard]] std::string prediction_page(const std::string& json, const std::string& text);

}  // namespace warptime::reports
