# Tests of `warptime check`: baselines, regressions with their causes, formats, programs, wrong arguments.
# SPDX-License-Identifier: Apache-2.0
"""Run as `check_test.py PATH_OF_WARPTIME`. The standard library only; one test compiles a program with nvcc."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from cli_case import Case, main, run

ROOT = Path(__file__).resolve().parents[2]
HEADER = "op,file,m,n,k,_case\n"
CASES = HEADER + "kernel,saxpy.kernel,,,,\nkernel,matmul.kernel,,,,matmul\ngemm,,4096,4096,4096,qkv\n"
SOURCE = """
#include <cuda_runtime.h>
__global__ void scale(float* x, float a) { x[blockIdx.x * blockDim.x + threadIdx.x] *= a; }
__global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += x[blockIdx.x * blockDim.x + threadIdx.x STRIDE]; }
int main() {
    float* x = nullptr;
    cudaMalloc(&x, 8 << 20);
    for (int i = 0; i < 3; ++i) scale<<<4096, 256>>>(x, 2.0f);
    twice<<<4096, 256>>>(x);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""


class Checks(Case):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        for name, source in (("saxpy", "saxpy"), ("matmul", "shared_matmul")):
            text = (ROOT / "examples" / "kernels" / f"{source}.kernel").read_text()
            (self.folder / f"{name}.kernel").write_text(text)
        (self.folder / "cases.csv").write_text(CASES)

    def check(self, action: str, *more: str, code: int = 0, gpu: str = "h200-sxm") -> str:
        result = run(
            "check", action, "--baseline", "times.json", "--gpu", gpu, "cases.csv", *more, cwd=str(self.folder)
        )
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout.decode()

    def compare(self, *more: str, code: int = 0) -> dict[str, Any]:
        compared: dict[str, Any] = json.loads(self.check("compare", "--format", "json", *more, code=code))
        return {"counts": compared["counts"], **{case["case"]: case for case in compared["cases"]}}

    def change(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def test_unchanged_kernels_are_the_same(self) -> None:
        self.check("record")
        baseline = json.loads((self.folder / "times.json").read_text())
        self.assertEqual([case["case"] for case in baseline["cases"]], ["kernel file=saxpy.kernel", "matmul", "qkv"])
        alone = json.loads(self.succeed("predict", "gemm", "4096", "4096", "4096", "--gpu", "h200-sxm", "--json"))
        self.assertEqual(baseline["cases"][2]["time_us"], alone["time_us"])
        self.assertEqual(baseline["cases"][2]["numbers"]["instructions"], alone["counters"]["smsp__inst_executed.sum"])
        self.assertTrue(self.check("compare").startswith("3 cases: 3 same\n"))
        again = self.folder / "again.json"
        run("check", "record", "--baseline", "again.json", "--gpu", "h200", "cases.csv", cwd=str(self.folder))
        self.assertEqual(again.read_bytes(), (self.folder / "times.json").read_bytes())

    def test_a_slower_kernel_is_named_with_its_cause(self) -> None:
        self.check("record")
        self.change("matmul.kernel", "registers=40", "registers=160")
        self.change("matmul.kernel", "// The inner loop", "// A comment changes the input and no time.")
        found = self.compare(code=3)
        self.assertEqual(found["counts"]["regressed"], 1)
        slow = found["matmul"]
        self.assertEqual((slow["verdict"], slow["same_input"]), ("regressed", False))
        causes = {change["what"]: (change["before"], change["after"]) for change in slow["changes"]}
        self.assertEqual(causes["registers"], ("40", "160"))
        self.assertEqual(causes["warps_per_sm"], ("48", "8"))
        self.assertIn("limiter", causes)
        self.assertNotIn("instructions", causes)
        self.assertAlmostEqual(slow["ratio"], slow["after"]["time_us"] / slow["before"]["time_us"])
        text = self.check("compare", code=3)
        self.assertIn("regressed matmul\n", text)
        self.assertIn("registers +300.0 % (40 -> 160)", text)

    def test_a_difference_within_the_noise_is_told_and_passes(self) -> None:
        self.check("record")
        # 7 % more work: above the threshold, and a tenth of the recorded pairs err by more.
        self.change("matmul.kernel", "loop trips={64}", "loop trips={70}")
        self.assertEqual(self.compare()["matmul"]["verdict"], "slower")
        self.assertEqual(self.compare("--threshold", "20%")["matmul"]["verdict"], "same")
        self.assertEqual(self.compare("--noise", "0%", code=3)["matmul"]["verdict"], "regressed")
        self.assertEqual(self.compare("--noise", "0", "--threshold", "0.2")["matmul"]["verdict"], "same")

    def test_new_missing_and_failed_cases(self) -> None:
        self.check("record")
        self.change("cases.csv", "4096,4096,4096,qkv", "8192,4096,4096,up")
        found = self.compare()
        self.assertEqual((found["up"]["verdict"], found["qkv"]["verdict"]), ("new", "missing"))
        (self.folder / "saxpy.kernel").unlink()
        found = self.compare(code=3)
        failed = found["kernel file=saxpy.kernel"]
        self.assertEqual(failed["verdict"], "failed")
        self.assertIn("saxpy.kernel", failed["after"]["error"])
        message = run("check", "record", "--baseline", "other.json", "--gpu", "h200", "cases.csv", cwd=str(self.folder))
        self.assertEqual(message.returncode, 3)
        self.assertIn(b"1 of 3 cases have no time; the first: kernel file=saxpy.kernel", message.stderr)

    def test_formats(self) -> None:
        self.check("record")
        self.change("matmul.kernel", "registers=40", "registers=160")
        suite = ElementTree.fromstring(self.check("compare", "--format", "junit", code=3))
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("3", "1", "0"))
        failure = suite.find("testcase/failure")
        assert failure is not None and failure.text is not None
        self.assertIn("registers", failure.text)
        markdown = self.check("compare", "--format", "markdown", "-o", "report.md", code=3)
        self.assertEqual(markdown, "")
        self.assertIn("| **regressed** | `matmul` |", (self.folder / "report.md").read_text())
        self.assertEqual(json.loads(self.check("compare", "--json", code=3))["schema"], "warptime.check/1")

    def test_a_baseline_of_something_else_is_refused_with_both_named(self) -> None:
        self.check("record")
        at = ["check", "compare", "--baseline", str(self.folder / "times.json"), str(self.folder / "cases.csv")]
        self.fail_with(2, ["gpu", "'h100-sxm'", "'h200-sxm'", "times.json"], *at, "--gpu", "h100-sxm")
        self.fail_with(2, ["conditions", "cache=warm", "cache=flushed"], *at, "--gpu", "h200", "--cache", "warm")
        self.fail_with(2, ["engine", "'simulation'", "'analytical'"], *at, "--gpu", "h200", "--engine", "simulation")
        self.fail_with(2, ["settings", "gpu.l2.capacity=2x"], *at, "--gpu", "h200", "--set", "gpu.l2.capacity=2x")
        self.change("times.json", '"version": "', '"version": "9.')
        version = json.loads((self.folder / "times.json").read_text())["version"].removeprefix("9.")
        self.assertTrue(version.startswith(self.succeed("--version").split()[1] + "+"))
        self.fail_with(2, ["version", f"'{version}'", f"'9.{version}'"], *at, "--gpu", "h200")

    def test_each_wrong_argument_names_parameter_value_and_form(self) -> None:
        self.check("record")
        baseline = ["--baseline", str(self.folder / "times.json")]
        cases = str(self.folder / "cases.csv")
        compare = ["check", "compare", *baseline, cases, "--gpu", "h200"]
        wrong: list[tuple[list[str], list[str]]] = [
            (["check"], ["action", "record, compare"]),
            (["check", "recrod"], ["action", "'recrod'", "nearest: 'record'"]),
            (["check", "record", cases, "--gpu", "h200"], ["baseline", "the file to write"]),
            (["check", "compare", *baseline, "--gpu", "h200"], ["cases", "a CSV file"]),
            (["check", "compare", *baseline, "/none.csv", "--gpu", "h200"], ["cases", "'/none.csv'", "can be read"]),
            (["check", "compare", "--baseline", "/none.json", cases, "--gpu", "h200"], ["baseline", "'/none.json'", "check record"]),
            (["check", "compare", "--baseline", cases, cases, "--gpu", "h200"], ["baseline", "cases.csv", "JSON"]),
            ([*compare, "--threshold", "five"], ["threshold", "'five'", "5% or 0.05"]),
            ([*compare, "--threshold", "-1%"], ["threshold", "'-1%'", "5% or 0.05"]),
            ([*compare, "--noise", "2x"], ["noise", "'2x'", "5% or 0.05"]),
            ([*compare, "--format", "html"], ["format", "'html'", "text, json, markdown, junit"]),
            ([*compare, "--engine", "sim"], ["engine", "'sim'"]),
            (compare[:-2], ["gpu", "--gpu with a sheet id", "column gpu"]),
            ([*compare[:-1], "h20"], ["gpu", "'h20'", "nearest: 'h200-sxm'"]),
            ([*compare, "-o", "/none/report"], ["output", "'/none/report'", "can be written"]),
        ]  # fmt: skip
        for arguments, parts in wrong:
            with self.subTest(arguments=arguments):
                self.fail_with(2, parts, *arguments)
        for text, parts in [
            ("op,m,n,k\ngemm,1,1,1\ngemm,1,1,1\n", ["line 3", "gemm m=1 n=1 k=1", "each case once", "_case"]),
            ("op,commnad\nprogram,x\n", ["commnad", "command"]),
            ("op,command\nprogram,\n", ["line 2 command", "command line of a CUDA program"]),
            ("op,command\ncopy,./x\n", ["line 2 command", "'./x'", "op program"]),
            ("op,n,command\nprogram,3,./x\n", ["line 2 n", "'3'", "nothing for a program"]),
            ("op,command\nprogram,'x\n", ["command", "a closing '"]),
        ]:
            (self.folder / "wrong.csv").write_text(text)
            with self.subTest(text=text):
                self.fail_with(2, parts, "check", "record", "--baseline", str(self.folder / "b.json"),
                               str(self.folder / "wrong.csv"), "--gpu", "h200")  # fmt: skip

    def test_launches_of_a_program(self) -> None:
        nvcc = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
        if nvcc is None:
            raise unittest.SkipTest("no nvcc: this test compiles a CUDA program")
        if b"__asan_init" in Path(os.environ["WARPTIME_PROGRAM"]).read_bytes():
            # The build without sanitizers runs this test.
            raise unittest.SkipTest("the loader cannot put a sanitizer's library before a program without it")

        def compile_with(stride: str) -> None:
            (self.folder / "p.cu").write_text(SOURCE.replace("STRIDE", stride))
            subprocess.run([nvcc, "-arch=sm_90a", "-o", "p", "p.cu"], cwd=self.folder, check=True, timeout=300)

        compile_with("+ 0")
        (self.folder / "cases.csv").write_text("op,command,_case\nprogram,./p 'an argument',mine\n")
        self.check("record")
        baseline = json.loads((self.folder / "times.json").read_text())
        found = {case["case"]: case["launches"] for case in baseline["cases"]}
        launch = "<<<4096x1x1, 256x1x1>>>"
        self.assertEqual(found, {f"mine: scale {launch}": 3, f"mine: twice {launch}": 1})
        self.assertEqual(self.compare()["counts"]["same"], 2)
        compile_with("* 32 % (1 << 20)")
        slow = self.compare("--noise", "5%", code=3)[f"mine: twice {launch}"]
        self.assertEqual((slow["verdict"], slow["same_input"]), ("regressed", False))
        self.assertIn("l2_sectors", [change["what"] for change in slow["changes"]])
        (self.folder / "cases.csv").write_text("op,command,_case\nprogram,./none,mine\n")
        self.assertIn("can be started", self.compare(code=3)["mine"]["after"]["error"])


if __name__ == "__main__":
    main()
