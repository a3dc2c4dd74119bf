"""Settings from outside: what is absurd is refused by name, what is changed is part of the answer.

SPDX-License-Identifier: Apache-2.0
"""

import json
from typing import Any

from cli_case import Case, main

GEMM = "predict gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm".split()
TILE = "--implementation triton --cta-tile 128x128x64 --stages 3 --warps 8 --group-m 8".split()


class Absurd(Case):
    def test_values_are_refused_by_name(self) -> None:
        for setting, parts in {
            "gpu.sm.count=0": ["gpu.sm.count: got '0'", "a whole number from 1 to"],
            "gpu.sm.count=0.5": ["gpu.sm.count: got '0.5'", "a whole number"],
            "gpu.l2.write_bandwidth=0x": ["gpu.l2.write_bandwidth: got '0x'", "this gives 0 B/cycle"],
            "gpu.dram.bandwidth=0x": ["gpu.dram.bandwidth: got '0x'"],
            "gpu.dram.bandwidth=1e30x": ["gpu.dram.bandwidth: got '1e30x'"],
            "gpu.shared.capacity=2x": ["shared.capacity", "shared memory is part of the L1"],
            "gpu.l2.usable=2": ["gpu.l2.usable: got '2'", "from 0.01 to 1"],
        }.items():
            self.fail_with(2, parts, *GEMM, "--set", setting)

    def test_less_shared_memory_holds_fewer_ctas(self) -> None:
        def resident(*more: str) -> int:
            text = self.succeed(*"occupancy --gpu h200-sxm --threads 128 --shared-bytes 30000 --json".split(), *more)
            return int(json.loads(text)["ctas_per_sm"])

        self.assertEqual(resident(), 7)
        self.assertEqual(resident("--set", "gpu.shared.capacity=0.5x"), 3)

    def test_a_chip_of_one_sm_is_as_fast_as_one_sm_of_the_chip(self) -> None:
        def time(*more: str) -> float:
            answer: dict[str, Any] = json.loads(self.succeed(*GEMM, *TILE, *more, "--json"))
            return float(answer["time_us"])

        chip, part = time("--set", "gpu.sm.count=1"), time("--available-sms", "1")
        self.assertLess(abs(chip / part - 1), 0.05)


class PartOfTheAnswer(Case):
    def test_text_and_json_say_what_was_changed(self) -> None:
        changes = ["--set", "gpu.l2.capacity=2x", "--set", "kernel.stages=4", *TILE[:4]]
        answer = json.loads(self.succeed(*GEMM, *changes, "--json"))
        self.assertEqual(answer["status"], "what-if")
        self.assertEqual(answer["settings"], {"gpu.l2.capacity": "2x", "kernel.stages": "4"})
        text = self.succeed(*GEMM, *changes)
        self.assertIn("settings    gpu.l2.capacity=2x\n            kernel.stages=4\n", text)
        self.assertIn("status      what-if", text)
        self.assertNotIn("settings", json.loads(self.succeed(*GEMM, "--json")))

    def test_nothing_recorded_is_held_against_it(self) -> None:
        self.fail_with(2, ["compare_recorded", "no --set"], *GEMM, "--compare-recorded", "--set", "gpu.sm.count=66")

    def test_a_clock_beyond_the_chip_is_refused_and_another_is_extrapolated(self) -> None:
        self.fail_with(1, ["clock_mhz: got '19000', expected at most 1980"], *GEMM, "--clock-mhz", "19000")
        self.assertEqual(json.loads(self.succeed(*GEMM, "--clock-mhz", "1500", "--json"))["status"], "extrapolated")
        self.assertIn("SM clock 1.500 GHz", self.succeed(*GEMM, "--clock-mhz", "1500"))

    def test_constants_of_a_sibling_are_not_called_its_own(self) -> None:
        answer = json.loads(self.succeed(*"predict gemm 4096 4096 4096 --gpu h100-sxm --json".split()))
        self.assertEqual(answer["own_constants"] + answer["inherited_constants"], answer["fitted_constants"])
        self.assertLess(answer["own_constants"], 10)

    def test_the_capacity_of_the_l2_matters_where_reuse_does(self) -> None:
        def read(factor: str) -> float:
            words = "predict gemm 8192 8192 8192 --dtype bf16 --gpu h200-sxm --json --set".split()
            answer: dict[str, Any] = json.loads(self.succeed(*words, f"gpu.l2.capacity={factor}"))
            return float(answer["counters"]["dram__bytes_read.sum"])

        # Above 3x the next wave finds what one wave has read.
        self.assertLess(read("6x"), 0.5 * read("1x"))


class Honest(Case):
    def test_achieved_counts_useful_work(self) -> None:
        answer = json.loads(self.succeed(*"predict gemm 1 4096 4096 --dtype bf16 --gpu h200-sxm --json".split()))
        work = 2.0 * 4096 * 4096
        self.assertAlmostEqual(answer["achieved"]["flops_per_s"] * answer["time_us"] * 1e-6 / work, 1.0)
        # One operation a byte of the weights: never above the roof of 4.8 TB/s.
        self.assertLess(answer["achieved"]["flops_per_s"], 4.8e12)

    def test_a_copy_prints_only_what_it_has(self) -> None:
        for command in ("predict", "explain"):
            text = self.succeed(command, *"copy 100000000 --gpu h200-sxm".split())
            self.assertNotIn("0 CTAs", text)
            self.assertNotIn("FLOP/s", text)
            self.assertNotIn("0.000", text)

    def test_explain_ends_with_what_would_help(self) -> None:
        text = self.succeed("explain", *GEMM[1:])
        self.assertRegex(text.splitlines()[-1], r"^next +twice the speed of tensor_core would save .* \(\d")
        answer = json.loads(self.succeed("explain", *GEMM[1:], "--json"))
        best = answer["would_help"][0]
        self.assertEqual(list(best), ["resource", "keys", "time_us", "saved_us"])
        self.assertAlmostEqual(best["time_us"] + best["saved_us"], answer["time_us"])


if __name__ == "__main__":
    main()
