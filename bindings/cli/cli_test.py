# Tests of the program as a user meets it: exit codes, messages, the JSON contract, batches. Standard library only.
# SPDX-License-Identifier: Apache-2.0
"""Run as `cli_test.py PATH_OF_WARPTIME`."""

import csv
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from cli_case import Case, main, program, run

ROOT = Path(__file__).resolve().parents[2]
GEMM = ["predict", "gemm", "1024", "1024", "1024", "--gpu", "h200-sxm"]
PREDICTION_KEYS = [
    "schema", "version", "gpu", "operation", "conditions", "engine", "time_us", "low_us", "high_us", "span_us",
    "status", "band_source", "class", "limiter", "bounds", "shares", "utilization", "achieved", "occupancy",
    "waves", "counters", "clock_mhz", "power_w", "fitted_constants", "own_constants", "inherited_constants", "kernels",
]  # fmt: skip
LIMITERS = {
    "tensor_core",
    "fp32",
    "fp64",
    "int",
    "sfu",
    "issue",
    "shared",
    "l1",
    "l2",
    "crossbar",
    "dram",
    "tma",
    "chain_latency",
    "bytes_in_flight",
    "launch",
    "tail",
    "atomic",
}


class Help(Case):
    def test_every_command_shows_an_example(self) -> None:
        commands = ["gpus", "systems", "operators", "predict", "explain", "occupancy", "batch", "sweep", "check", "validate", "record", "calibrate"]
        overview = self.succeed("--help")
        for command in commands:
            self.assertIn(command, overview)
            text = self.succeed(command, "--help")
            self.assertIn("Example:\n  warptime " + command, text)
            self.assertIn("--json", text)
        self.assertEqual(self.succeed("help"), overview)
        self.assertEqual(self.succeed("help", "predict"), self.succeed("predict", "--help"))
        self.fail_with(2, ["command", "'predcit'", "nearest: 'predict'"], "help", "predcit")
        text = self.succeed("predict", "gemm", "--help")
        self.assertIn("Usage: warptime predict gemm", text)
        for part in ["Example:\n  warptime predict gemm", "--cta-tile", "--gpu", "--cache", "--set"]:
            self.assertIn(part, text)

    def test_names_count_in_any_case_and_by_their_aliases(self) -> None:
        usual = ["predict", "gemm", "1024", "1024", "1024", "--gpu", "h200-sxm", "--dtype", "fp16", "--json"]
        tiled = ["--implementation", "triton", "--stages", "3", "--warps", "8"]
        same = self.succeed(*usual, *tiled, "--cta-tile", "128x128x64", "--cache", "cold")
        other = ["predict", "GEMM", "--M", "1024", "--N", "1024", "--k", "1024", "--gpu", "H200", "--dtype", "np.float16"]
        tiled[1] = "Triton"
        self.assertEqual(self.succeed(*other, *tiled, "--tile", "128x128x64", "--cache", "Cold", "--json"), same)
        four = "a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb"
        self.fail_with(2, ["gpu", "'a100'", four], *GEMM[:5], "--gpu", "a100")
        self.fail_with(2, ["nearest: 'h200-sxm'"], *GEMM[:5], "--gpu", "h20")

    def test_examples_work(self) -> None:
        for command in ["gpus", "operators", "predict", "explain", "occupancy"]:
            example = self.succeed(command, "--help").rsplit("Example:\n", 1)[1].split()
            self.assertEqual(example[0], "warptime")
            self.succeed(*example[1:])

    def test_version(self) -> None:
        self.assertRegex(self.succeed("--version"), r"^warptime \d+\.\d+\.\d+\n$")


class Listings(Case):
    def test_gpus(self) -> None:
        self.assertIn("h200-sxm", self.succeed("gpus"))
        ids = [gpu["id"] for gpu in json.loads(self.succeed("gpus", "--json"))["gpus"]]
        self.assertEqual(ids, sorted(ids))
        self.assertIn("a100-sxm-80gb", ids)
        self.assertEqual(len(self.succeed("gpus").splitlines()), 1 + len(ids))

    def test_one_gpu_gives_a_source_for_every_number(self) -> None:
        keys = json.loads(self.succeed("gpus", "h200-sxm", "--json"))["keys"]
        self.assertGreater(len(keys), 50)
        for key in keys:
            self.assertTrue(key["source"], key)

    def test_settings_show_up(self) -> None:
        def capacity(*arguments: str) -> float:
            keys = json.loads(self.succeed("gpus", "h200-sxm", "--json", *arguments))["keys"]
            return float(next(key["value"] for key in keys if key["key"] == "l2.capacity"))

        self.assertEqual(capacity("--set", "gpu.l2.capacity=2x"), 2 * capacity())

    def test_systems(self) -> None:
        listed = json.loads(self.succeed("systems", "--json"))["systems"]
        self.assertIn("hgx-h100-8", [system["id"] for system in listed])
        for system in listed:
            shown = json.loads(self.succeed("systems", system["id"], "--json"))
            self.assertEqual(shown["schema"], "warptime.system/1")
            for key in shown["keys"]:
                self.assertTrue(key["source"] and key["meaning"], key)
        self.assertIn("nvlink.bandwidth", self.succeed("systems", "hgx-a100-8"))
        self.fail_with(2, ["system", "nearest: 'dgx-b200'"], "systems", "dgx-b20")

    def test_exchanges_run_on_the_box_of_the_gpu(self) -> None:
        one = ["predict", "all_reduce", "8", "268435456", "--gpu", "h100-sxm", "--json"]
        usual = json.loads(self.succeed(*one))
        named = json.loads(self.succeed(*one, "--system", "hgx-h100-8"))
        self.assertEqual(usual["time_us"], named["time_us"])
        self.assertAlmostEqual(sum(usual["shares"].values()), 1.0)
        self.assertEqual(usual["kernels"][0]["name"], "all_reduce nvls")
        ring = json.loads(self.succeed(*one, "--algorithm", "ring"))
        self.assertGreater(ring["time_us"], usual["time_us"])
        simulated = json.loads(self.succeed(*one, "--engine", "simulation"))
        self.assertAlmostEqual(simulated["time_us"], usual["time_us"])
        self.fail_with(1, ["all_reduce system", "hgx-h100-8"], "predict", "all_reduce", "8", "1024", "--gpu", "t4")

    def test_operators(self) -> None:
        listed = json.loads(self.succeed("operators", "--json"))["operators"]
        names = [operator["name"] for operator in listed]
        self.assertEqual(names, sorted(set(names)))
        some = {"add", "attention", "conv2d", "copy", "embedding", "gemm", "grouped_gemm", "kernel", "softmax", "transpose"}
        self.assertLessEqual(some, set(names))
        gemm = json.loads(self.succeed("operators", "gemm", "--json"))["operators"][0]
        self.assertEqual([p["name"] for p in gemm["parameters"] if p["required"]], ["m", "n", "k"])


class Predictions(Case):
    def predict(self, *arguments: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.succeed(*arguments, "--json"))
        return answer

    def test_a_described_kernel(self) -> None:
        file = str(ROOT / "examples" / "kernels" / "saxpy.kernel")
        answer = self.predict("predict", "kernel", file, "--gpu", "h200")
        self.assertEqual(answer["kernels"][0]["name"], "saxpy")
        self.assertEqual(answer["counters"]["smsp__inst_executed.sum"], 65536 * 8 * 15)
        self.assertAlmostEqual(answer["achieved"]["flops_per_s"] * answer["time_us"] * 1e-6, 2 * 2**26, delta=10)
        self.assertEqual(answer["status"], "extrapolated")
        self.assertIn("textbook programs", answer["band_source"])
        changed = self.predict("predict", "kernel", file, "--gpu", "h200", "--set", "gpu.l2.capacity=2x")
        self.assertEqual(changed["status"], "what-if")
        simulated = self.predict("predict", "kernel", file, "--gpu", "h200", "--engine", "simulation")
        self.assertIn("textbook programs", simulated["band_source"])
        self.assertLess(abs(simulated["time_us"] / answer["time_us"] - 1), 0.1)
        self.fail_with(1, ["nope.kernel", "a .kernel file"], "predict", "kernel", "nope.kernel", "--gpu", "h200")
        self.fail_with(2, ["kernel file", "a value"], "predict", "kernel", "--gpu", "h200")
        self.fail_with(1, ["README.md", "line 1", "kernel"], "predict", "kernel", str(ROOT / "README.md"), "--gpu", "h200")
        with self.subTest("batch"):
            cases = f"op,file,gpu\nkernel,{file},h200\ngemm,{file},h200\n"
            rows = list(csv.DictReader(run("batch", "-", text=cases).stdout.decode().splitlines()))
            for column in ["time_us", "low_us", "high_us"]:
                self.assertAlmostEqual(float(rows[0][column]), answer[column], places=6)
            self.assertEqual(rows[0]["status"], answer["status"])
            self.assertIn("gemm parameter: got 'file'", rows[1]["error"])

    def test_json_contract(self) -> None:
        for arguments in [GEMM, ["predict", "copy", "1048576", "--gpu", "h200-sxm"]]:
            p = self.predict(*arguments)
            self.assertEqual(list(p), PREDICTION_KEYS)
            self.assertEqual(p["schema"], "warptime.prediction/1")
            self.assertEqual(p["gpu"], "h200-sxm")
            self.assertEqual(p["engine"], "analytical")
            self.assertLessEqual(p["low_us"], p["time_us"])
            self.assertLessEqual(p["time_us"], p["high_us"])
            self.assertGreater(p["low_us"], 0)
            self.assertGreaterEqual(p["span_us"], 0.999 * p["time_us"])
            self.assertIn(p["limiter"], LIMITERS)
            self.assertIn(p["class"], ["compute", "memory", "latency", "occupancy", "launch"])
            self.assertIn(p["status"], ["calibrated", "extrapolated"])
            self.assertAlmostEqual(sum(p["shares"].values()), 1.0, places=6)
            self.assertTrue(p["bounds"])
            for bound in p["bounds"]:
                self.assertEqual(list(bound), ["name", "time_us", "inputs"])
                self.assertIn(bound["name"], LIMITERS)
            self.assertEqual(list(p["utilization"]), ["tensor", "fp32", "issue", "shared", "l1", "l2", "dram"])
            self.assertAlmostEqual(sum(kernel["time_us"] for kernel in p["kernels"]), p["time_us"], places=6)

    def test_predict_and_explain_agree(self) -> None:
        explained = json.loads(self.succeed("explain", *GEMM[1:], "--json"))
        self.assertGreater(len(explained.pop("would_help")), 0)
        self.assertEqual(json.loads(self.succeed(*GEMM, "--json")), explained)

    def test_text_forms(self) -> None:
        short = self.succeed(*GEMM)
        self.assertLessEqual(short.count("\n"), 10)
        for part in ["time", "limiter", "TFLOP/s"]:
            self.assertIn(part, short)
        deep = self.succeed("explain", *GEMM[1:])
        for part in ["shares of the time", "bounds", "dram__bytes_read.sum", "steps"]:
            self.assertIn(part, deep)

    def test_same_input_same_bytes(self) -> None:
        self.assertEqual(self.succeed(*GEMM, "--json"), self.succeed(*GEMM, "--json"))
        self.assertEqual(self.succeed("explain", *GEMM[1:]), self.succeed("explain", *GEMM[1:]))

    def test_both_spellings_and_places_of_options(self) -> None:
        dashes = self.succeed(*GEMM, "--cta-tile", "128x128x64", "--b-major=n", "--json")
        lines = ["predict", "--gpu=h200-sxm", "gemm", "1024", "1024", "--k", "1024", "--cta_tile=128x128x64"]
        self.assertEqual(self.succeed(*lines, "--b_major", "n", "--json"), dashes)

    def test_conditions_reach_the_answer(self) -> None:
        p = self.predict(*GEMM, "--cache", "warm", "--duty", "isolated", "--data", "zeros", "--available-sms",
                         "66", "--clock-mhz", "1500")  # fmt: skip
        expected = {"cache": "warm", "duty": "isolated", "data": "zeros", "available_sms": 66, "clock_mhz": 1500,
                    "ecc": None, "between": None, "in_turn": None}
        self.assertEqual(p["conditions"], expected)
        self.assertGreater(p["time_us"], self.predict(*GEMM)["time_us"] * 0.5)

    def test_launches_between_push_out_what_a_warm_cache_held(self) -> None:
        for engine in ["analytical", "simulation"]:
            asked = ["predict", "copy", "2097152", "--dtype", "bf16", "--gpu", "h100-sxm", "--engine", engine]
            warm, kept, part, gone = (self.predict(*asked, "--cache", "warm", *more) for more in
                                      ([], ["--between", "1MB"], ["--between", "28MB"], ["--between", "1GB"]))  # fmt: skip
            self.assertEqual(warm["counters"]["dram__bytes_read.sum"], 0)
            self.assertEqual(kept["counters"]["dram__bytes_read.sum"], 0)
            self.assertEqual(gone["counters"]["dram__bytes_read.sum"], 4194304)
            self.assertTrue(0 < part["counters"]["dram__bytes_read.sum"] < 4194304)
            self.assertLess(warm["time_us"], part["time_us"])
            self.assertLess(part["time_us"], gone["time_us"])
            self.assertEqual(part["conditions"]["between"], 28e6)
        self.assertIn("28.00 MB touched between two runs", self.succeed(*asked, "--cache", "warm", "--between", "28MB"))
        self.fail_with(1, ["between: got '1000', expected cache warm"], *asked, "--between", "1000")
        self.fail_with(2, ["between: got 'much'"], *asked, "--cache", "warm", "--between", "much")

    def test_operands_that_take_turns_are_named(self) -> None:
        for engine in ["analytical", "simulation"]:
            asked = ["predict", "gemm", "1024", "1024", "1024", "--gpu", "h100-sxm", "--engine", engine, "--cache", "warm"]
            both, weights, result = (self.predict(*asked, "--between", "1GB", *more) for more in
                                     ([], ["--in-turn", "b"], ["--in_turn=c"]))  # fmt: skip
            read = [p["counters"]["dram__bytes_read.sum"] for p in (both, weights, result)]
            self.assertEqual(read[2], 0)
            self.assertAlmostEqual(read[1] / 2**21, 1, delta=0.01)
            self.assertAlmostEqual(read[0] / 2**22, 1, delta=0.01)
            # Loads that come sooner change the order of the others, which costs the simulation up to a percent.
            self.assertLessEqual(weights["time_us"], both["time_us"] * (1.01 if engine == "simulation" else 1))
            self.assertLess(result["time_us"], weights["time_us"])
            self.assertEqual(weights["conditions"]["in_turn"], "b")
            self.fail_with(1, ["in_turn: got 'w', expected operands, one of a, b, c"], *asked, "--between", "1GB",
                           "--in-turn", "w")  # fmt: skip
        turns = ["--between", "1GB", "--in-turn", "a+b"]
        self.assertIn("1.000 GB touched between two runs (a+b in turn)", self.succeed(*asked, *turns))
        self.fail_with(1, ["in_turn: got 'b', expected between above 0"], *asked, "--in-turn", "b")
        self.fail_with(2, ["in_turn: got 'a,b', expected one to 4 different names"], *asked, "--in-turn", "a,b")
        tiles = ["tiles", *asked[1:7], "--cache", "warm", "--between", "1GB", "--in-turn", "w"]
        self.fail_with(1, ["in_turn: got 'w'"], *tiles)

    def test_error_correction_costs_bandwidth(self) -> None:
        copy = ["predict", "copy", "268435456", "--gpu"]
        # Reads and writes that are equally fast but for check bits.
        alike = ["--set", "gpu.dram.read_efficiency=0.8", "--set", "gpu.dram.write_efficiency=0.8"]
        for engine in ["analytical", "simulation"]:
            shipped, on, off = (self.predict(*copy, "l40s", "--engine", engine, *alike, *ecc)
                                for ecc in ([], ["--ecc", "on"], ["--ecc", "off"]))  # fmt: skip
            self.assertEqual(shipped["time_us"], on["time_us"])
            # A sector of check bits stands beside fifteen of data. Stores also read it: 17 sectors for 15.
            self.assertAlmostEqual(off["time_us"] / on["time_us"], 2 / (16 / 15 + 17 / 15), delta=0.001)
            self.assertEqual([p["conditions"]["ecc"] for p in (shipped, on, off)], [None, "on", "off"])
        on, off = (self.predict(*copy, "l40s", "--ecc", ecc) for ecc in ("on", "off"))
        self.assertEqual(off["status"], on["status"])
        shipped, on, off = (self.predict(*copy, "rtx-4090", *ecc) for ecc in ([], ["--ecc", "on"], ["--ecc", "off"]))
        self.assertEqual(shipped["time_us"], off["time_us"])
        self.assertGreater(on["time_us"], 1.05 * off["time_us"])
        self.assertIn("ECC off", self.succeed("predict", "copy", "268435456", "--gpu", "t4", "--ecc", "off"))
        self.fail_with(1, ["ecc: got 'off'", "h200-sxm"], *copy, "h200-sxm", "--ecc", "off")
        self.fail_with(2, ["ecc: got 'maybe'"], *copy, "l40s", "--ecc", "maybe")

    def test_settings_change_the_time(self) -> None:
        copy = ["predict", "copy", "268435456", "--gpu", "h200-sxm"]
        base = self.predict(*copy)["time_us"]
        doubled = self.predict(*copy, "--set", "gpu.dram.bandwidth=2x")["time_us"]
        self.assertLess(doubled, 0.7 * base)
        given = self.predict(*GEMM, "--cta-tile", "128x128x64", "--stages", "4")
        changed = self.predict(*GEMM, "--cta-tile", "128x128x64", "--stages", "2", "--set", "kernel.stages=2x")
        self.assertEqual(changed.pop("settings"), {"kernel.stages": "2x"})
        self.assertEqual((given.pop("status"), changed.pop("status")), ("calibrated", "what-if"))
        self.assertEqual(given, changed)


class Errors(Case):
    def test_sizes(self) -> None:
        for size in ["0", "-1", "99999999999999999999", "4.5", "1e3", "many", ""]:
            self.fail_with(2, ["gemm m", f"'{size}'", "a whole number from 1"],
                           "predict", "gemm", size, "64", "64", "--gpu", "h200-sxm")  # fmt: skip
        self.fail_with(2, ["gemm k", "columns of A"], "predict", "gemm", "64", "64", "--gpu", "h200-sxm")

    def test_a_parameter_without_effect_is_refused_by_its_name(self) -> None:
        for option, value in [
            ("split-k", "8"),
            ("stages", "2"),
            ("mma", "mma.sync"),
            ("implementation", "triton"),
            ("acc-dtype", "fp16"),
        ]:
            expected = ["gemm " + option.replace("-", "_"), value]
            self.fail_with(2, expected, *GEMM, "--" + option, value)
        self.fail_with(2, ["gemm stages", "cta_tile"], *GEMM, "--set", "kernel.stages=4")
        tile = ["--cta-tile", "128x128x64"]
        self.fail_with(2, ["gemm reduction", "split_k"], *GEMM, *tile, "--reduction", "atomic")
        self.fail_with(1, ["gemm schedule", "9.0"], *GEMM, *tile, "--schedule", "cluster_launch_control")

    def test_nearest_names(self) -> None:
        self.fail_with(2, ["'prdict'", "nearest: 'predict'"], "prdict")
        self.fail_with(2, ["operator", "'gemn'", "nearest: 'gemm'"], "predict", "gemn", "1", "1", "1")
        self.fail_with(2, ["'--stagse'", "nearest: '--stages'"], *GEMM, "--stagse", "3")
        self.fail_with(2, ["gemm dtype", "'bf61'", "nearest: 'bf16'"], *GEMM, "--dtype", "bf61")
        self.fail_with(2, ["gpu", "'h200-smx'", "nearest: 'h200-sxm'"], *GEMM[:5], "--gpu", "h200-smx")
        self.fail_with(2, ["'l2.capacty'", "nearest: 'l2.capacity'"], *GEMM, "--set", "gpu.l2.capacty=2x")
        self.fail_with(2, ["stagess", "nearest: 'stages'"], *GEMM, "--set", "kernel.stagess=2")
        self.fail_with(2, ["cache", "'hot'"], *GEMM, "--cache", "hot")
        self.fail_with(2, ["engine", "nearest: 'analytical'"], *GEMM, "--engine", "analytic")
        self.fail_with(2, ["op", "nearest: 'copy'"], "operators", "copi")

    def test_other_wrong_usage(self) -> None:
        self.fail_with(2, ["gpu", "warptime gpus"], *GEMM[:5])
        self.fail_with(2, ["command"])
        self.fail_with(2, ["operator"], "predict")
        self.fail_with(2, ["gemm", "'5'"], *GEMM[:5], "5", "--gpu", "h200-sxm")
        self.fail_with(2, ["cta_tile", "MxNxK"], *GEMM, "--cta-tile", "128x128")
        self.fail_with(2, ["clock_mhz"], *GEMM, "--clock-mhz", "fast")
        self.fail_with(2, ["'gpu.l2.capacity'"], *GEMM, "--set", "gpu.l2.capacity")
        self.fail_with(2, ["missing.toml"], *GEMM[:5], "--gpu", "missing.toml")
        self.fail_with(2, ["recorded"], "validate")
        self.fail_with(2, ["threads"], "occupancy", "--gpu", "h200-sxm")
        self.fail_with(2, ["registers", "'x'"], "occupancy", "--gpu", "h200-sxm", "--threads", "32",
                       "--registers", "x")  # fmt: skip

    def test_engines_are_scored_side_by_side_on_a_sample(self) -> None:
        recorded = ("validate", "--recorded", "--suite", "copy_add", "--sample", "6")
        board = json.loads(self.succeed(*recorded, "--engine", "analytical,simulation", "--json"))
        self.assertEqual(board["sample"], 6)
        (suite,) = board["suites"]
        self.assertEqual([e["engine"] for e in suite["engines"]], ["analytical", "simulation"])
        for engine in suite["engines"]:
            counts = (s["model"]["rows"] + s["model"]["short_rows"] for s in engine["splits"])
            self.assertEqual(sum(counts), 6)
        self.fail_with(2, ["engine", "every engine once"], *recorded, "--engine", "simulation,simulation")
        self.fail_with(2, ["engine", "nearest: 'simulation'"], *recorded, "--engine", "analytical,simulatio")
        self.fail_with(2, ["sample", "'0'"], "validate", "--recorded", "--sample", "0")
        self.fail_with(2, ["sample", "--check"], *recorded, "--check")
        self.fail_with(2, ["compiled", "--check"], "validate", "--recorded", "--compiled", "--check")
        self.fail_with(2, ["kernels_that_ran"], "validate", "--recorded", "--kernels-that-ran", "--check")
        self.fail_with(1, ["--suite", "nosuch"], "validate", "--recorded", "--suite", "nosuch", "--check")
        self.fail_with(1, ["--gpu", "'t4'"], "validate", "--recorded", "--gpu", "t4", "--check")
        self.fail_with(2, ["engine", "--tighten"], "validate", "--recorded", "--engine", "simulation", "--tighten")

    def test_both_engines_answer_and_say_which(self) -> None:
        for operation in (GEMM, ["predict", "copy", "1000000", "--gpu", "h200-sxm"]):
            engines = ["analytical", "simulation"]
            answers = [json.loads(self.succeed(*operation, "--engine", e, "--json")) for e in engines]
            self.assertEqual([a["engine"] for a in answers], engines)
            self.assertEqual(set(answers[0]), set(answers[1]))
            self.assertEqual(answers[1]["status"], "extrapolated")
            self.assertIn("prior", answers[1]["band_source"])
            self.assertAlmostEqual(sum(answers[1]["shares"].values()), 1.0)
            for counter in ("smsp__inst_executed.sum", "launch__waves_per_multiprocessor"):
                if counter in answers[0]["counters"]:
                    self.assertAlmostEqual(answers[1]["counters"][counter], answers[0]["counters"][counter])
        table = "op,m,n,k,engine\ngemm,512,512,512,simulation\ngemm,512,512,512,\ngemm,512,512,512,simulated\n"
        result = run("batch", "-", "--gpu", "h200-sxm", text=table)
        self.assertEqual(result.returncode, 3, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout.decode())))
        self.assertGreater(float(rows[0]["time_us"]), 0.0)
        self.assertNotEqual(rows[0]["high_us"], rows[1]["high_us"])
        self.assertEqual([row["status"] for row in rows], ["extrapolated", "calibrated", ""])
        self.assertIn("simulation", rows[2]["error"])

    def test_what_an_architecture_lacks(self) -> None:
        gemm = ["predict", "gemm", "4096", "4096", "4096", "--gpu"]
        tile = ["--cta-tile", "128x128x64"]
        self.fail_with(1, ["mma", "'wgmma'", "no wgmma", "tcgen05"], *gemm, "b200", *tile, "--mma", "wgmma")
        self.fail_with(1, ["mma", "'tcgen05'", "specialization"], *gemm, "b200", *tile, "--mma", "tcgen05")
        for gpu in ["b200", "rtx-5090"]:
            answer = run(*gemm, gpu)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn("read off public names", answer.stdout.decode())
        for arguments in [[], tile]:
            self.fail_with(1, ["dtype", "'bf16'", "fp16, int8"], *gemm, "t4", "--dtype", "bf16", *arguments)
        self.fail_with(2, ["gpu", "'rtx4091'", "nearest: 'rtx-4090'"], *gemm, "rtx4091")

    def test_two_gpus_side_by_side(self) -> None:
        text = run("gpus", "--compare", "h100-sxm", "b200").stdout.decode()
        self.assertRegex(text, r"\ntensor bf16 .* 2\.2\dx")
        self.assertRegex(text, r"\nsm.count +132 +148 +1\.12x")
        told = json.loads(run("gpus", "--compare", "v100-sxm", "b200", "--json").stdout)
        self.assertEqual(told["schema"], "warptime.gpu_comparison/1")
        gains = {row["name"]: row["gain"] for row in told["bounds"]}
        self.assertIsNone(gains["tensor fp8"])
        self.assertGreater(gains["dram read"], 5.0)
        changed = json.loads(
            run("gpus", "--compare", "l4", "l4", "--set", "gpu.dram.bandwidth=2x", "--json").stdout
        )  # fmt: skip
        self.assertAlmostEqual({row["name"]: row["gain"] for row in changed["bounds"]}["dram read"], 2.0)
        self.fail_with(2, ["gpu", "two GPUs"], "gpus", "--compare", "h100-sxm")
        self.fail_with(2, ["gpu", "'b201'", "nearest: 'b200'"], "gpus", "--compare", "h100-sxm", "b201")

    def test_a_sheet_of_ones_own(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            sheet = str(Path(folder) / "mine.toml")
            change = ["--set", "gpu.sm.count=100", "--set", "gpu.dram.bandwidth=1 TB/s", "--set", "gpu.l2.capacity=0.5x"]
            written = run("gpus", "new", "--like", "l40s", *change, "-o", sheet)
            self.assertEqual(written.returncode, 0, written.stderr)
            gemm = ["predict", "gemm", "2048", "2048", "2048", "--json", "--gpu"]
            mine, same = (json.loads(run(*gemm, *more).stdout) for more in ([sheet], ["l40s", *change]))
            self.assertAlmostEqual(mine["time_us"], same["time_us"], places=9)
            self.fail_with(2, ["output", "does not exist yet"], "gpus", "new", "--like", "l40s", *change, "-o", sheet)
            other = str(Path(folder) / "other.toml")
            new = ["gpus", "new", "-o", other, "--like"]
            self.fail_with(2, ["set"], *new, "l40s")
            self.fail_with(2, ["'l40t'", "nearest: 'l40s'"], *new, "l40t", *change)
            self.fail_with(2, ["kernel.stages"], *new, "l40s", "--set", "kernel.stages=4")
            self.assertFalse(Path(other).exists())
        self.fail_with(2, ["like"], "gpus", "new", *change)
        self.fail_with(2, ["like", "gpus new"], "gpus", "--like", "l40s")

    def test_a_table_of_ones_own(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "rows.csv"

            def score(text: str, *more: str) -> subprocess.CompletedProcess[bytes]:
                table.write_text(text)
                return run("validate", "--data", str(table), "--gpu", "a100-sxm-80gb", *more)

            rows = "m,n,k,dtype,time_us\n2048,2048,2048,bf16,80\n4096,4096,4096,bf16,560\n"
            told = json.loads(score(rows, "--json").stdout)
            self.assertEqual((told["schema"], told["all"]["rows"]), ("warptime.table_score/1", 2))
            predicted = [
                json.loads(run("predict", "gemm", n, n, n, "--gpu", "a100-sxm-80gb", "--json").stdout)["time_us"]
                for n in ("2048", "4096")
            ]
            error = (abs(predicted[0] / 80 - 1) + abs(predicted[1] / 560 - 1)) / 2
            self.assertAlmostEqual(told["all"]["mape"], error, places=9)
            # The same times under the name of their unit are the same table.
            in_ms = rows.replace("time_us", "time_ms").replace(",80", ",0.080").replace(",560", ",0.560")
            self.assertAlmostEqual(json.loads(score(in_ms, "--json").stdout)["all"]["mape"], error, places=9)
            for text, words in [
                (in_ms.replace("time_ms", "time_us"), ["time_us", "in ms?", "time_ms"]),
                (rows + "4096,40", ["line 4", "2 fields", "cut off"]),
                (rows.replace("dtype", "type"), ["column", "'type'"]),
                (rows.replace("time_us", "took"), ["no measured time"]),
                (rows.replace(",80", ",-80"), ["time_us", "-80", "positive"]),
                ("m,n,k,dtype,time_us\n", ["no rows"]),
            ]:
                result = score(text)
                self.assertEqual(result.returncode, 2, text)
                for word in words:
                    self.assertIn(word, result.stderr.decode())
            none = score("m,n,k,dtype,time_us\n64,64,64,fp8,5\n128,64,64,fp8,5\n", "--json")
            self.assertEqual(none.returncode, 2)
            told = json.loads(none.stdout)["error"]
            self.assertEqual(told["value"], "2 rows, none of which can be predicted")
            self.assertRegex(told["expected"], "at least one that can; the first says .*line 2.*fp8")
            some = score(rows + "64,64,64,fp8,5\n")
            self.assertEqual(some.returncode, 3)
            self.assertIn("1 of 3 rows", some.stderr.decode())

    def test_what_cannot_be_predicted(self) -> None:
        self.fail_with(1, ["expected"], *GEMM, "--cta-tile", "512x512x128")
        self.fail_with(1, ["141 GB"], "predict", "gemm", "999999", "999999", "999999", "--gpu", "h200-sxm")
        self.fail_with(1, ["copy", "141 GB"], "predict", "copy", "9007199254740992", "--gpu", "h200-sxm")
        self.fail_with(1, ["available_sms", "132"], *GEMM, "--available-sms", "133")
        self.fail_with(1, ["threads"], "occupancy", "--gpu", "h200-sxm", "--threads", "2048")

    def test_a_line_break_in_a_value_stays_on_the_line(self) -> None:
        result = run(*GEMM, "--dtype", "bf\n16")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"'bf\\n16'", result.stderr)
        self.assertEqual(result.stderr.count(b"\n"), 1)


class Occupancy(Case):
    ARGUMENTS: ClassVar = [
        "occupancy",
        "--gpu",
        "h200-sxm",
        "--threads",
        "256",
        "--registers",
        "128",
        "--shared-bytes",
        "98304",
    ]

    def test_text_and_json(self) -> None:
        text = self.succeed(*self.ARGUMENTS)
        self.assertIn("2 CTAs and 16 of 64 warps per SM", text)
        answer = json.loads(self.succeed(*self.ARGUMENTS, "--json"))
        self.assertEqual(answer["ctas_per_sm"], 2)
        self.assertEqual(answer["warps_per_sm"], 16)
        self.assertEqual(answer["ctas_by_limit"], {"threads": 8, "ctas": 32, "registers": 2, "shared": 2,
                                                   "barriers": answer["ctas_by_limit"]["barriers"]})  # fmt: skip
        hints = answer["largest_for_one_more"]
        more = ["--registers", str(hints["registers"]), "--shared-bytes", str(hints["shared_bytes"]), "--json"]
        self.assertEqual(json.loads(self.succeed(*self.ARGUMENTS[:5], *more))["ctas_per_sm"], 3)


class Batch(Case):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def batch(self, text: str | bytes, *arguments: str, gpu: bool = True) -> tuple[int, list[dict[str, str]], str]:
        """Exit code, output rows, stderr; the folder holds the input and, if there is one, the output."""
        data = text.encode() if isinstance(text, str) else text
        (self.folder / "cases.csv").write_bytes(data)
        options = ["--gpu", "h200-sxm"] if gpu else []
        result = run("batch", "cases.csv", *options, "-o", "out.csv", *arguments, cwd=str(self.folder))
        rows: list[dict[str, str]] = []
        if (self.folder / "out.csv").exists():
            with open(self.folder / "out.csv", encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        return result.returncode, rows, result.stderr.decode()

    def refused(self, text: str | bytes, parts: list[str], gpu: bool = True) -> None:
        code, _, message = self.batch(text, gpu=gpu)
        self.assertEqual(code, 2, message)
        for part in parts:
            self.assertIn(part, message)
        self.assertEqual(os.listdir(self.folder), ["cases.csv"])

    def test_rows_agree_with_predict(self) -> None:
        code, rows, _ = self.batch(
            'op,m,n,k,dtype,cache,_id\ngemm,1024,1024,1024,,,a\ngemm,512,64,4096,fp16,warm,"b,c"\n'
        )
        self.assertEqual(code, 0)
        self.assertEqual(list(rows[0])[7:], ["time_us", "low_us", "high_us", "limiter", "status", "error"])
        self.assertEqual([row["_id"] for row in rows], ["a", "b,c"])
        options = [["1024", "1024", "1024"], ["512", "64", "4096", "--dtype", "fp16", "--cache", "warm"]]
        for row, arguments in zip(rows, options):
            single = json.loads(self.succeed("predict", "gemm", *arguments, "--gpu", "h200-sxm", "--json"))
            for name in ["time_us", "low_us", "high_us"]:
                self.assertEqual(float(row[name]), single[name])
            self.assertEqual(row["limiter"], single["limiter"])
            self.assertEqual(row["status"], single["status"])
            self.assertEqual(row["error"], "")

    def test_an_output_is_an_input(self) -> None:
        first = self.batch("op,n,gpu,engine\ncopy,4096,h200,\ncopy,4096,l40s,\ncopy,1,t4,Simulation\ncopy,0,t4,\n")
        self.assertEqual(first[0], 3)
        self.assertEqual([row["status"] for row in first[1]], ["calibrated", "extrapolated", "extrapolated", ""])
        again = self.batch((self.folder / "out.csv").read_text())
        self.assertEqual(again[:2], first[:2])

    def test_settings_make_every_row_a_what_if(self) -> None:
        table = "op,m,n,k,cta_tile,implementation,stages\ngemm,512,512,512,64x64x64,triton,3\n"
        for setting in ["kernel.stages=2x", "gpu.l2.capacity=2x"]:
            result = run("batch", "-", "--gpu", "h200-sxm", "--set", setting, "--json", text=table)
            self.assertEqual([row["status"] for row in json.loads(result.stdout)], ["what-if"], result.stderr)

    def test_rows_as_json(self) -> None:
        text = "op,n,_note\ncopy,4096,a\ncopy,0,b\n"
        rows = self.batch(text)[1]
        result = run("batch", "-", "--gpu", "h200-sxm", "--json", text=text)
        self.assertEqual(result.returncode, 3)
        objects = json.loads(result.stdout)
        self.assertEqual([list(o) for o in objects], [list(rows[0])] * 2)
        for row, found in zip(rows, objects):
            self.assertEqual({k: "" if v is None else str(v) for k, v in found.items()}, row)
        self.assertIsInstance(objects[0]["time_us"], float)
        self.assertEqual(json.loads(run("batch", "-", "--gpu", "h200-sxm", "--json", text="op,n\n").stdout), [])

    def test_one_bad_row_leaves_the_others(self) -> None:
        text = "op,n,stages\ncopy,1024,\ncopy,-1,\ncopi,1024,\ncopy,1024,4\ncopy,1024\nadd,2048,\n"
        code, rows, message = self.batch(text)
        self.assertEqual(code, 3)
        self.assertIn("4 of 6 rows failed", message)
        self.assertEqual([row["error"] == "" for row in rows], [True, False, False, False, False, True])
        self.assertEqual([row["time_us"] != "" for row in rows], [True, False, False, False, False, True])
        for row, part in zip(rows[1:5], ["copy n: got '-1'", "nearest: 'copy'", "'stages'", "2 fields"]):
            self.assertIn(part, row["error"])

    def test_gpu_column(self) -> None:
        code, rows, _ = self.batch("op,n,gpu\ncopy,1048576,h200-sxm\ncopy,1048576,l40s\ncopy,1048576,l41s\n", gpu=False)
        self.assertEqual(code, 3)
        self.assertNotEqual(rows[0]["time_us"], rows[1]["time_us"])
        self.assertIn("nearest: 'l40s'", rows[2]["error"])

    def test_a_gpu_is_needed(self) -> None:
        self.refused("op,n\ncopy,1024\n", ["gpu"], gpu=False)

    def test_byte_order_mark_and_crlf(self) -> None:
        code, rows, _ = self.batch(b"\xef\xbb\xbfop,n\r\ncopy,1024\r\n")
        self.assertEqual((code, rows[0]["op"]), (0, "copy"))

    def test_refused_files_leave_no_output(self) -> None:
        self.refused("op,n,dtyp\ncopy,1024,bf16\n", ["'dtyp'", "nearest: 'dtype'"])
        self.refused("op,n,n\ncopy,1,1\n", ["cases.csv", "'n'"])
        self.refused("n\n1024\n", ["column 'op'"])
        self.refused("", ["cases.csv"])
        self.refused('op,n\ncopy,1024\ncopy,"1024\n', ["cases.csv line 3", "closing quote"])
        self.refused('op,n\ncopy,10"24\n', ["cases.csv line 2"])
        self.refused(b"op,n\ncopy,1024\ncopy,\xff\n", ["cases.csv line 3", "UTF-8"])

    def test_an_old_output_survives_a_refusal(self) -> None:
        (self.folder / "out.csv").write_text("old")
        self.assertEqual(self.batch('op,n\ncopy,"1\n')[0], 2)
        self.assertEqual((self.folder / "out.csv").read_text(), "old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["cases.csv", "out.csv"])

    def test_streams(self) -> None:
        result = run("batch", "-", "--gpu", "h200-sxm", text="op,n\ncopy,1024\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout.decode())))
        self.assertGreater(float(rows[0]["time_us"]), 0)
        self.fail_with(2, ["missing.csv"], "batch", "missing.csv", "--gpu", "h200-sxm", "-o", "unused")

    def test_summary_as_json(self) -> None:
        (self.folder / "cases.csv").write_text("op,n\ncopy,1024\ncopy,0\n")
        paths = [str(self.folder / "cases.csv"), "-o", str(self.folder / "out.csv")]
        result = run("batch", *paths, "--gpu", "h200-sxm", "--json")
        self.assertEqual(result.returncode, 3)
        summary = json.loads(result.stdout)
        self.assertEqual((summary["rows"], summary["failed"]), (2, 1))

    def peak_memory_of_batch(self, rows: int) -> int:
        """Predict `rows` distinct copies and return the program's peak resident memory, KiB."""
        with open(self.folder / "cases.csv", "w", encoding="utf-8") as file:
            file.write("op,n,dtype,_note\n")
            file.writelines(f"copy,{1024 * (i + 1)},fp32,a note that passes through {i}\n" for i in range(rows))
        command = [program(), "batch", "cases.csv", "--gpu", "h200-sxm", "-o", "out.csv"]
        # A sanitizer keeps freed memory in quarantine, which grows with the rows and is none of the program's.
        environment = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}
        with subprocess.Popen(command, cwd=self.folder, env=environment, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        with open(self.folder / "out.csv", encoding="utf-8") as file:
            self.assertEqual(sum(1 for _ in file), rows + 1)
        return usage.ru_maxrss

    def test_memory_does_not_grow_with_rows(self) -> None:
        few = self.peak_memory_of_batch(20_000)
        many = self.peak_memory_of_batch(200_000)
        self.assertGreater((self.folder / "cases.csv").stat().st_size, 8 << 20)
        self.assertLess(many - few, 4 << 10)


class Tiles(Case):
    GEMM: ClassVar = ["tiles", "gemm", "4096", "4096", "4096", "--gpu", "h200-sxm"]

    def test_the_best_tile_predicts_alike(self) -> None:
        for space in ["triton", "cutlass"]:
            answer = json.loads(self.succeed(*self.GEMM, "--space", space, "--top", "3", "--json"))
            self.assertEqual(len(answer["tiles"]), 3)
            best = answer["tiles"][0]
            self.assertEqual(best["gap"], 0)
            self.assertIn(best["limiter"], LIMITERS)
            chosen = [f"--{name.replace('_', '-')}={value}" for name, value in best["parameters"].items()]
            alone = json.loads(self.succeed("predict", *self.GEMM[1:], *chosen, "--json"))
            self.assertEqual(alone["time_us"], best["time_us"])
            self.assertEqual(alone["limiter"], best["limiter"])

    def test_the_command_that_it_suggests_works(self) -> None:
        text = self.succeed(*self.GEMM, "--dtype", "fp16", "--set", "gpu.l2.capacity=+1%")
        line = next(line for line in text.splitlines() if line.startswith("why"))
        self.assertIn("tensor", self.succeed(*line.split()[2:]))

    def test_a_list_of_tiles(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "tiles.json"
        path.write_text('[{"cta_tile": "128x256x64", "stages": 4}, {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64}]')
        answer = json.loads(self.succeed(*self.GEMM, "--space", str(path), "--json"))
        self.assertEqual([tile["rank"] for tile in answer["tiles"]], [1, 2])
        path.write_text('[{"cta_tile": "128x256x64", "stagez": 4}]')
        self.fail_with(2, ["tile 0", "stagez", "stages"], *self.GEMM, "--space", str(path))

    def test_near_duplicates_are_folded(self) -> None:
        flat = ["tiles", "gemm", "64", "8192", "4096", "--gpu", "h200-sxm", "--top", "4"]
        folded, each = (json.loads(self.succeed(*flat, *more, "--json"))["tiles"] for more in ([], ["--unfold"]))
        self.assertEqual([tile["rank"] for tile in folded], [1, 2, 3, 4])
        self.assertTrue(folded[0]["alike"])
        self.assertEqual(folded[0]["time_us"], each[0]["time_us"])
        self.assertIn("alike", self.succeed(*flat))
        self.assertNotIn("alike", self.succeed(*flat, "--unfold"))

    def test_why_the_first(self) -> None:
        text = self.succeed(*self.GEMM, "--top", "3", "--explain")
        lines = text[text.index("why the first") :].splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]], ["2", "bounds", "3", "bounds"])
        answer = json.loads(self.succeed(*self.GEMM, "--top", "3", "--explain", "--json"))
        for comparison, tile in zip(answer["comparisons"], answer["tiles"][1:]):
            sums = [sum(share["us"][side] for share in comparison["shares"]) for side in (0, 1)]
            self.assertAlmostEqual(sums[0], answer["tiles"][0]["time_us"], places=6)
            self.assertAlmostEqual(sums[1], tile["time_us"], places=6)
        self.assertNotIn("comparisons", json.loads(self.succeed(*self.GEMM, "--top", "3", "--json")))

    def test_a_list_of_problems_as_cutlass_has_it(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "problems.json"
        good = {"m": 4096, "n": 2048, "k": 1024, "layout": "tnn", "dtype_a": "f16", "dtype_b": "f16", "dtype_d": "f16"}
        path.write_text(json.dumps([good, {**good, "beta": 1.0}, {**good, "layout": "ttn", "dtype_acc": "f32"}]))
        at = ["tiles", "gemm", "--problems", str(path), "--gpu", "h200-sxm", "--space", "cutlass", "--top", "2"]
        result = run(*at, "--json")
        self.assertEqual(result.returncode, 3)
        first, second, third = json.loads(result.stdout)["problems"]
        alone = "tiles gemm 4096 2048 1024 --dtype fp16 --gpu h200-sxm --space cutlass --top 2 --json".split()
        self.assertEqual(first["tiles"], json.loads(self.succeed(*alone))["tiles"])
        self.assertEqual(second["error"]["parameter"], "problem 1 beta")
        self.assertEqual(third["tiles"], json.loads(self.succeed(*alone, "--b-major", "n"))["tiles"])
        self.assertIn(b"refused: problem 1 beta: got '1.0', expected 0", run(*at).stdout)
        path.write_text(json.dumps([good]))
        self.assertEqual(json.loads(self.succeed(*at, "--json"))["problems"], [first])
        self.fail_with(2, ["dtype", "--problems"], *at, "--dtype", "bf16")
        self.fail_with(2, ["problems", "nowhere.json"], *[w if w != str(path) else "nowhere.json" for w in at])

    def test_wrong_usage(self) -> None:
        self.fail_with(2, ["space", "trytn", "triton"], *self.GEMM, "--space", "trytn")
        self.fail_with(2, ["top", "0", "or all"], *self.GEMM, "--top", "0")
        self.fail_with(2, ["stages"], *self.GEMM, "--stages", "3")
        self.fail_with(2, ["copy", "gemm"], "tiles", "copy", "4096", "--gpu", "h200-sxm")
        self.fail_with(1, ["gemm size", "GB"], "tiles", "gemm", *["1000000"] * 3, "--gpu", "h200-sxm")


class Timelines(Case):
    KERNEL: ClassVar = ["predict", "kernel", str(ROOT / "examples" / "kernels" / "saxpy.kernel"), "--gpu", "h200-sxm"]
    def test_a_description_predicts_as_its_operator(self) -> None:
        operators = {
            "gemm": ["1024", "1024", "1024"],
            "softmax_backward": ["1000", "1000", "--dtype", "fp32"],
            "sort": ["64", "512"],
            "attention": ["--batch", "2", "--sq", "512", "--sk", "512", "--heads", "8", "--head-dim", "64"],
        }
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "steps.kernel")
            for operator, sizes in operators.items():
                answer = json.loads(self.succeed("predict", operator, *sizes, "--gpu", "h200", "--json", "--description", file))
                again = json.loads(self.succeed("predict", "kernel", file, "--gpu", "h200", "--json"))
                self.assertEqual(again["time_us"], answer["time_us"], operator)
                self.assertEqual(again["counters"], answer["counters"], operator)
                self.assertEqual([k["name"] for k in again["kernels"]], [k["name"] for k in answer["kernels"]])
            changed = Path(file).read_text().replace("program\n", "program\nmemset bytes=1048576\n", 1)
            Path(file).write_text(changed)
            self.assertGreater(json.loads(self.succeed("predict", "kernel", file, "--gpu", "h200", "--json"))["time_us"], again["time_us"])
            missing = str(Path(folder) / "missing" / "x.kernel")
            self.fail_with(2, ["description", missing, "folder"], *GEMM, "--description", missing)
            self.fail_with(2, ["description", "path of a file"], *GEMM, "--description", "-")
            self.assertEqual(os.listdir(folder), ["steps.kernel"])

    SIMULATED: ClassVar = [*GEMM, "--engine", "simulation"]

    def test_a_timeline_is_a_trace_and_the_same_twice(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for command in [self.SIMULATED, [*self.KERNEL, "--engine", "simulation"]]:
                first, second = Path(folder) / "first.json", Path(folder) / "second.json"
                answer = json.loads(self.succeed(*command, "--json", "--timeline", str(first)))
                self.succeed(*command, "--timeline", str(second))
                self.assertEqual(first.read_bytes(), second.read_bytes())
                trace = json.loads(first.read_text())
                kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
                self.assertEqual(len(kernels), 1)
                self.assertLessEqual({"grid", "block", "registers per thread", "shared memory"}, set(kernels[0]["args"]))
                self.assertAlmostEqual(trace["warptime"]["time_us"], answer["time_us"], places=6)
                self.assertIn("whole", trace["warptime"]["steps"][-1])
            self.assertEqual(sorted(os.listdir(folder)), ["first.json", "second.json"])

    def test_a_timeline_needs_the_simulation_and_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "trace.json")
            self.fail_with(2, ["timeline", path, "--engine simulation"], *GEMM, "--timeline", path)
            self.assertEqual(os.listdir(folder), [])
            missing = str(Path(folder) / "missing" / "trace.json")
            self.fail_with(2, ["timeline", missing, "folder"], *self.SIMULATED, "--timeline", missing)
            self.fail_with(2, ["timeline", "not a folder"], *self.SIMULATED, "--timeline", folder)
            self.fail_with(2, ["timeline", "path of a file"], *self.SIMULATED, "--timeline", "-")


if __name__ == "__main__":
    main()
