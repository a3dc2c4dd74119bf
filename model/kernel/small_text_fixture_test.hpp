// Text of a small kernel. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::model::kernel::fixture {

inline constexpr std::string_view copy_text = R"(kernel "copy"
  grid 8 1 1
  cta 128 1 1
  resources
  schedule one_per_cta tiles=8
  buffer "a" extent=4096
  role "all" warps=4
    loop trips={2 + tile.0%2}
      op 0 ld_global
        access read a contiguous origin={512*tile.0 + 128*warp} bytes=16
      op 1 add_f32 count=4 deps=0,1:1
    end
  end
end
)";

}  // namespace warptime::model::kernel::fixture
