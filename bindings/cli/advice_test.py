"""what-if and advise from the command line: what is asked wrongly is refused by name, and JSON keeps its contract.

SPDX-License-Identifier: Apache-2.0
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from cli_case import Case, main

GEMM = "gemm 4096 4096 4096 --gpu h200-sxm".split()
TILE = "--implementation triton --cta-tile 128x128x64 --stages 3 --warps 8".split()
ROWS = "softmax 8192 4096 --gpu h200-sxm".split()
COPY = "copy 67108864 --gpu h200-sxm".split()

# Columns of a tile in shared memory: every lane of a load falls into one bank.
COLUMNS = """kernel "columns"
  grid 4096 1 1
  cta 256 1 1
  resources registers=24 static_shared=4096
  schedule one_per_cta tiles=4096 group=4096
  buffer "from" dtype=int8 extent=16777216
  buffer "tile" space=shared dtype=int8 extent=4096
  buffer "to" dtype=int8 extent=4194304
  role "warps" warps=8
    op 0 ld_global count=4
      access read from contiguous origin={4096*tile.0 + 128*warp} step=1024
    op 1 st_shared count=4 deps=0
      access write tile contiguous origin={128*warp} step=1024
    op 2 bar_sync deps=1
    loop trips={32}
      op 3 ld_shared deps=2
        access read tile stride origin={4*loop.0} inner=128
      op 4 fma_f32 deps=3,4:1
    end
    op 5 st_global deps=4
      access write to contiguous origin={1024*tile.0 + 128*warp}
    op 6 exit
  end
end
"""


# A result that each thread stores and reads back.
AGAIN = """kernel "again"
  grid 2048 1 1
  cta 128 1 1
  schedule one_per_cta tiles=2048 group=8
  buffer "a" dtype=int8 extent=1048576
  buffer "b" dtype=int8 extent=1048576
  role "warps" warps=4
    op 0 ld_global
      access read a contiguous origin={512*tile.0 + 128*warp}
    op 1 mul_f32 deps=0
    op 2 st_global deps=1
      access write b contiguous origin={512*tile.0 + 128*warp}
    op 3 bar_sync deps=2
    op 4 ld_global deps=3
      access read b contiguous origin={512*tile.0 + 128*warp}
    op 5 mul_f32 deps=4
    op 6 st_global deps=5
      access write b contiguous origin={512*tile.0 + 128*warp}
    op 7 exit
  end
end
"""


class ChangesOfADescription(Case):
    def test_what_advise_names_what_if_can_make(self) -> None:
        """The same change by name, alone, saves what advise says of it; one without an effect is refused."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "again.kernel"
            path.write_text(AGAIN)
            kernel = ["kernel", str(path), "--gpu", "h200-sxm"]
            advised = {remedy["name"]: remedy["saved_us"]
                       for remedy in json.loads(self.succeed("advise", *kernel, "--json"))["remedies"]}  # fmt: skip
            for name in ["recompute", "fuse"]:
                made = json.loads(self.succeed("what-if", *kernel, "--change", f"kernel.{name}=1", "--json"))
                self.assertGreater(made["saved_us"], 0)
                self.assertAlmostEqual(made["saved_us"], advised[name], places=9)
            for change in ["fast_math=1", "unserialize_wgmma=1", "split_sums=4"]:
                self.fail_with(2, ["with an effect"], "what-if", *kernel, "--change", f"kernel.{change}")
            self.fail_with(2, ["a whole number from 2 to 64"], "what-if", *kernel, "--change", "kernel.split_sums=1")


class WrongArguments(Case):
    def test_each_is_refused_with_what_is_expected(self) -> None:
        for parts, arguments in [
            (["change: got ''", "at least one KEY=VALUE"], ["what-if", *GEMM]),
            (["nearest: gpu.l2.capacity"], ["what-if", *GEMM, "--change", "gpu.l2.capacty=2x"]),
            (["nearest: gpu.l2.capacity"], ["what-if", *GEMM, "--change", "l2.capacity=2x"]),
            (["nearest: kernel.stages"], ["what-if", *GEMM, "--change", "kernel.stage=5"]),
            (["gpu.KEY=VALUE"], ["what-if", *GEMM, "--change", "gpu.l2.capacity"]),
            (["gpu.l2.capacity", "already"], ["what-if", *GEMM, "--change", "gpu.l2.capacity=1x"]),
            (["kernel.stages", "it is 3 already"], ["what-if", *GEMM, *TILE, "--change", "kernel.stages=3"]),
            (["cta_tile", "shared memory"], ["what-if", *GEMM, *TILE, "--change", "kernel.stages=20"]),
            (["kernel.bank_conflicts", "0: the change"], ["what-if", *ROWS, "--change", "kernel.bank_conflicts=1"]),
            (["kernel.pad_shared", "with an effect"], ["what-if", *COPY, "--change", "kernel.pad_shared=4"]),
            (["kernel.ctas_per_sm", "a whole number from 1"], ["what-if", *ROWS, "--change", "kernel.ctas_per_sm=0"]),
            (["on: got", "another GPU"], ["what-if", *COPY, "--on", "h200-sxm"]),
            (["elasticities", "no --change"], ["what-if", *COPY, "--elasticities", "--change", "gpu.sm.count=66"]),
            (["gpu: got ''"], ["advise", "copy", "1000"]),
        ]:
            with self.subTest(arguments=arguments):
                self.fail_with(2, parts, *arguments)


class WhatIf(Case):
    def test_json_holds_both_predictions_and_the_difference(self) -> None:
        told = self.succeed(
            "what-if", *GEMM, *TILE, "--change", "kernel.stages=4", "--change", "gpu.l2.capacity=2x", "--json"
        )
        answer: dict[str, Any] = json.loads(told)
        before = json.loads(self.succeed("predict", *GEMM, *TILE, "--json"))
        self.assertEqual(answer["before"], before)
        self.assertEqual(answer["after"]["settings"], {"gpu.l2.capacity": "2x", "kernel.stages": "4"})
        self.assertEqual(answer["changes"], {"kernel.stages": "4", "gpu.l2.capacity": "2x"})
        self.assertAlmostEqual(answer["saved_us"], before["time_us"] - answer["after"]["time_us"])
        self.assertLessEqual(answer["saved_low_us"], answer["saved_us"])
        self.assertLessEqual(answer["saved_us"], answer["saved_high_us"])

    def test_another_gpu_is_what_predict_says_of_it(self) -> None:
        answer = json.loads(self.succeed("what-if", *COPY, "--on", "a100-sxm-80gb", "--json"))
        other = json.loads(self.succeed("predict", *COPY[:-1], "a100-sxm-80gb", "--json"))
        self.assertEqual(answer["after"], other)
        self.assertLess(answer["saved_us"], 0.0)

    def test_elasticities_are_sorted_by_size(self) -> None:
        answer = json.loads(self.succeed("what-if", *COPY, "--elasticities", "--json"))
        sizes = [abs(row["elasticity"]) for row in answer["elasticities"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        of = {row["key"]: row["elasticity"] for row in answer["elasticities"]}
        self.assertGreater(of["kernel.n"], 0.9)
        self.assertLess(of["gpu.dram.bandwidth"], -0.5)


class Advise(Case):
    def test_a_kernel_with_bank_conflicts_is_told_so(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "columns.kernel"
            path.write_text(COLUMNS)
            words = ["kernel", str(path), "--gpu", "h200-sxm"]
            answer = json.loads(self.succeed("advise", *words, "--json"))
            best = answer["remedies"][0]
            self.assertIn(best["name"], ("pad_shared", "swizzle_shared"))
            self.assertIn("ld_shared of tile (op 3)", best["where"])
            keys = ["name", "how", "where", "scope", "time_us", "saved_us", "saved_low_us", "saved_high_us", "limiter"]
            for remedy in answer["remedies"]:
                self.assertEqual(list(remedy), keys)
                self.assertAlmostEqual(remedy["time_us"] + remedy["saved_us"], answer["baseline"]["time_us"])
            changed = json.loads(self.succeed("what-if", *words, "--change", "kernel.pad_shared=4", "--json"))
            self.assertGreater(changed["saved_us"], 0.5 * changed["before"]["time_us"])
            self.assertIn("pad_shared", self.succeed("advise", *words))


if __name__ == "__main__":
    main()
