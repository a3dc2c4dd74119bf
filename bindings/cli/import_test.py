# Tests of `warptime import`: traces and tables of Nsight Compute, refusals, retargets. Standard library only.
# SPDX-License-Identifier: Apache-2.0
"""Run as `import_test.py PATH_OF_WARPTIME`."""

import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from cli_case import Case, main

ROOT = Path(__file__).resolve().parents[2]
H100 = "NVIDIA H100 80GB HBM3"
RAW = """==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","smsp__inst_executed.sum"
"","","","","","us","Mbyte","Mbyte","inst"
"0","1","copy(float *)","(256, 1, 1)","(1024, 1, 1)","50.0","67.108864","67.108864","1,000,000"
"1","1","spin(int)","(32, 1, 1)","(1, 1, 1)","9.5","0","0","100"
"""
DETAILS = """"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"
"0","copy(float *)","(256, 1, 1)","(1024, 1, 1)","Duration","ns","50,000"
"0","copy(float *)","(256, 1, 1)","(1024, 1, 1)","dram__bytes_read.sum","byte","67108864"
"0","copy(float *)","(256, 1, 1)","(1024, 1, 1)","dram__bytes_write.sum","byte","67108864"
"""


def event(category: str, name: str, start: float, us: float, **arguments: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": us, "args": arguments}


def call(
    number: int, name: str, *tensors: tuple[list[int], list[int], str], texts: list[str] | None = None
) -> dict[str, Any]:
    dims, strides, types = ([tensor[i] for tensor in tensors] for i in range(3))
    named = {
        "Input Dims": dims,
        "Input Strides": strides,
        "Input type": types,
        "Concrete Inputs": texts or [""] * len(dims),
    }
    return event("cpu_op", name, number, 1.0, **{"External id": number, **named})


def kernel(name: str, start: float, us: float, **arguments: Any) -> dict[str, Any]:
    return event("kernel", name, start, us, grid=[64, 2, 1], block=[128, 1, 1], stream=7, **arguments)


BF16 = "c10::BFloat16"
EVENTS = [
    call(1, "aten::mm", ([2048, 4096], [4096, 1], BF16), ([4096, 1024], [1, 4096], BF16)),
    kernel("nvjet", 10.0, 50.0, **{"External id": 1}),
    # The call is known by the correlation of the launch alone.
    call(2, "aten::gelu", ([2048, 1024], [1024, 1], BF16)),
    event("cuda_runtime", "cudaLaunchKernel", 2, 1, correlation=77, **{"External id": 2}),
    kernel("gelu", 70.0, 5.0, correlation=77),
    kernel("mystery", 80.0, 20.0, correlation=78),
]


class Imports(Case):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name: str, content: str | bytes) -> str:
        path = Path(self.folder.name) / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def trace(self, events: list[dict[str, Any]], board: str = H100) -> str:
        return json.dumps({"deviceProperties": [{"id": 0, "name": board}], "traceEvents": events})

    def imported(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.succeed("import", *arguments, "--json"))
        return found

    def test_calls_become_operators(self) -> None:
        found = self.imported(self.file("t.json", self.trace(EVENTS)))
        self.assertEqual((found["schema"], found["gpu"], found["board"]), ("warptime.import/1", "h100-sxm", H100))
        self.assertEqual((found["measured_us"], found["span_us"], found["busy_us"]), (75.0, 90.0, 75.0))
        rows = {row["call"]: row for row in found["rows"]}
        gemm = ["gemm", "2048", "1024", "4096", "--gpu", "h100-sxm", "--cache", "cold", "--json"]
        alone = json.loads(self.succeed("predict", *gemm))
        self.assertAlmostEqual(rows["aten::mm"]["predicted"]["time_us"], alone["time_us"], places=6)
        self.assertEqual(rows["aten::gelu"]["work"], "gelu dtype=bf16 n=2097152")
        self.assertEqual(rows[""]["by"], "unknown")
        self.assertAlmostEqual(found["coverage"], 55.0 / 75.0)
        # The largest excess comes first.
        self.assertEqual(found["rows"][0]["call"], "aten::mm")

    def test_what_calls_before_left_in_l2(self) -> None:
        # Nothing is dirty before the first call. It writes 1 GiB, more than L2 holds.
        long = ([512 * 2**20], [1], BF16)
        small = ([4 * 2**20], [1], BF16)
        events = [call(1, "aten::silu", long), kernel("a", 10, 900.0, **{"External id": 1}),
                  call(2, "aten::silu", small), kernel("b", 1000, 9.0, **{"External id": 2})]  # fmt: skip
        path = self.file("t.json", self.trace(events))
        times = {}
        for name, options in (("chain", []), ("cold", ["--cache", "cold"]), ("flushed", ["--cache", "flushed"])):
            rows = self.imported(path, *options)["rows"]
            times[name] = {row["kernel"]: row["predicted"]["time_us"] for row in rows}
        self.assertEqual(times["chain"]["a"], times["cold"]["a"])
        self.assertLess(times["cold"]["b"], times["chain"]["b"])
        self.assertEqual(times["chain"]["b"], times["flushed"]["b"])

    def test_a_repeated_call_is_one_row(self) -> None:
        again = [
            call(9, "aten::gelu", ([2048, 1024], [1024, 1], BF16)),
            kernel("gelu", 200.0, 7.0, **{"External id": 9}),
        ]
        rows = self.imported(self.file("t.json", self.trace(EVENTS + again)))["rows"]
        row = next(row for row in rows if row["call"] == "aten::gelu")
        self.assertEqual((row["count"], row["measured_us"]), (2, 12.0))

    def test_gzip_of_every_kind(self) -> None:
        plain = self.trace(EVENTS)
        expected = self.imported(self.file("t.json", plain))
        noise = random.Random(1)
        long = json.loads(plain) | {"noise": "".join(noise.choice("abcdefgh") for _ in range(200_000))}
        texts = {f"level{level}": gzip.compress(plain.encode(), level) for level in (0, 1, 9)}
        texts["long"] = gzip.compress(json.dumps(long).encode())
        texts["parts"] = gzip.compress(plain.encode()[:100]) + gzip.compress(plain.encode()[100:])
        for name, data in texts.items():
            self.assertEqual(self.imported(self.file(f"{name}.json.gz", data)), expected, name)

    def test_damaged_files(self) -> None:
        plain = self.trace(EVENTS)
        packed = gzip.compress(plain.encode())
        self.fail_with(1, ["t.json", "breaks at byte", "truncated"], "import", self.file("t.json", plain[:500]))
        self.fail_with(1, ["t.gz", "byte 200", "truncated"], "import", self.file("t.gz", packed[:200]))
        wrong = packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
        self.fail_with(1, ["checksum"], "import", self.file("wrong.gz", wrong))
        self.fail_with(1, ["JSON"], "import", self.file("bad.json", "{]" + plain))
        self.fail_with(1, ["traceEvents"], "import", self.file("other.json", '{"a": 1}'))
        self.fail_with(1, ["an empty file"], "import", self.file("empty.json", " \n"))
        self.fail_with(
            1, ["no kernel", "ProfilerActivity.CUDA"], "import", self.file("cpu.json", self.trace(EVENTS[:1]))
        )
        self.fail_with(2, ["trace", "nowhere.json"], "import", "nowhere.json")

    def test_other_vendors_are_refused_by_name(self) -> None:
        hip = [event("cuda_runtime", "hipLaunchKernel", 1, 1), *EVENTS]
        self.fail_with(1, ["AMD ROCm", "hipLaunchKernel"], "import", self.file("a.json", self.trace(hip)))
        self.fail_with(
            1, ["AMD ROCm", "MI300X"], "import", self.file("b.json", self.trace(EVENTS, "AMD Instinct MI300X"))
        )
        xpu = [event("xpu_runtime", "urEnqueueKernelLaunch", 1, 1)]
        self.fail_with(1, ["Intel XPU"], "import", self.file("c.json", self.trace(xpu)))

    def test_an_unknown_board_needs_a_gpu(self) -> None:
        path = self.file("t.json", self.trace(EVENTS, "NVIDIA X900"))
        self.fail_with(2, ["gpu", "NVIDIA X900", "--gpu"], "import", path)
        self.assertEqual(self.imported(path, "--gpu", "a100-sxm-80gb")["gpu"], "a100-sxm-80gb")

    def test_retarget_to_the_same_gpu_changes_nothing(self) -> None:
        found = self.imported(self.file("t.json", self.trace(EVENTS)), "--retarget", "h100-sxm")
        self.assertAlmostEqual(found["retargeted"]["time_us"], found["measured_us"])
        for row in found["rows"]:
            self.assertAlmostEqual(row["retargeted"]["time_us"], row["measured_us"])

    def test_retarget_scales_by_two_predictions(self) -> None:
        found = self.imported(self.file("t.json", self.trace(EVENTS)), "--retarget", "b200", "--cache", "flushed")
        row = next(row for row in found["rows"] if row["call"] == "aten::gelu")
        here, there = (
            json.loads(self.succeed("predict", "gelu", "2097152", "--gpu", gpu, "--json"))["time_us"]
            for gpu in ("h100-sxm", "b200")
        )
        self.assertAlmostEqual(row["retargeted"]["time_us"], 5.0 * there / here, places=6)

    def test_tables_of_nsight_compute(self) -> None:
        for name, text in (("raw.csv", RAW), ("details.csv", DETAILS)):
            found = self.imported(self.file(name, text), "--gpu", "h100-sxm", "--retarget", "h200-sxm")
            row = next(row for row in found["rows"] if row["kernel"] == "copy(float *)")
            self.assertEqual((row["by"], row["measured_us"]), ("counted", 50.0))
            # 128 MiB at 3352 GB/s, and the same work by the ratio of the two bandwidths.
            self.assertAlmostEqual(row["predicted"]["time_us"], 134.217728e6 / 3.352e12 * 1e6, delta=0.3)
            self.assertAlmostEqual(row["retargeted"]["time_us"], 50.0 * 3.352 / 4.8, delta=0.5)
            self.assertIsNone(found["span_us"])

    def test_tables_without_columns(self) -> None:
        short = self.file("short.csv", 'ID,Kernel Name,Grid Size\n1,k,"(1, 1, 1)"\n')
        self.fail_with(1, ["gpu__time_duration.sum"], "import", short, "--gpu", "h200-sxm")
        self.fail_with(1, ["columns"], "import", self.file("text.csv", "hello\n"), "--gpu", "h200-sxm")
        cut = self.file("cut.csv", RAW[: RAW.index('"9.5"')] + '"9.5"\n')
        self.fail_with(1, ["fields"], "import", cut, "--gpu", "h200-sxm")

    def test_recorded_traces(self) -> None:
        # Two steps of an H100; the known share and the ratio are those that these traces gave when they were recorded.
        for name, calls in (("convnext-384-forward-64x14", 21), ("moe-2048-decode-64x1024", 93)):
            found = self.imported(str(ROOT / "examples" / "traces" / f"{name}.json.gz"))
            self.assertEqual((found["gpu"], found["calls"]), ("h100-sxm", calls))
            self.assertGreater(found["coverage"], 0.97)
            ratio = found["predicted"]["time_us"] / found["predicted_of_us"]
            self.assertTrue(0.8 < ratio < 1.25, f"{name}: {ratio}")
            self.assertAlmostEqual(sum(row["measured_us"] for row in found["rows"]), found["measured_us"], places=6)

    def test_all_rows_are_shown(self) -> None:
        path = self.file("t.json", self.trace(EVENTS))
        self.assertIn("2 more kinds", self.succeed("import", path, "--top", "1"))
        self.assertIn("mystery", self.succeed("import", path, "--top", "0"))

    def test_calls_as_a_step(self) -> None:
        step = json.loads(self.succeed("import", self.file("t.json", self.trace(EVENTS)), "--step-file", "-"))
        self.assertEqual(step["schema"], "warptime-step-1")
        self.assertEqual([row["op"] for row in step["rows"]], ["gemm", "gelu", "unknown"])
        self.assertEqual(step["rows"][0]["k"], "4096")


if __name__ == "__main__":
    main()
