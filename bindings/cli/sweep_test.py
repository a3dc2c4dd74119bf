# Tests of `warptime sweep`: rows, files that are continued after a kill, wrong arguments. Standard library only.
# SPDX-License-Identifier: Apache-2.0
"""Run as `sweep_test.py PATH_OF_WARPTIME`."""

import csv
import io
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from cli_case import Case, main, program, run

ROOT = Path(__file__).resolve().parents[2]
SIZES = ["--m", "128:1024:128", "--n", "512,4096", "--k", "16:4096:x16"]
SWEEP = ["sweep", "gemm", *SIZES, "--gpu", "h200-sxm,a100-sxm-80gb"]
TILE = ["--implementation", "triton", "--cta-tile", "128x128x64", "--stages", "3", "--warps", "8"]


class Rows(Case):
    def test_rows_are_those_of_batch(self) -> None:
        changes = ["--cache", "flushed,warm", "--dtype", "bf16,fp16"]
        text = self.succeed(*SWEEP, *changes)
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 2 * 2 * 2 * 8 * 2 * 3)
        self.assertEqual([rows[2 * i]["k"] for i in range(3)], ["16", "256", "4096"])
        self.assertEqual(rows[0]["gpu"], "h200-sxm")
        # A sweep is an input of batch, whose answers are the same.
        self.assertEqual(run("batch", "-", text=text).stdout.decode(), text)

    def test_threads_change_nothing(self) -> None:
        one = self.succeed(*SWEEP, *TILE, "--threads", "1")
        self.assertEqual(self.succeed(*SWEEP, *TILE, "--threads", "5"), one)
        self.assertEqual(self.succeed(*SWEEP, *TILE), one)

    def test_numbers_of_the_gpu(self) -> None:
        text = self.succeed("sweep", "copy", "67108864", "--gpu", "h200", "--set", "gpu.dram.bandwidth=1x:4x:x2")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["gpu.dram.bandwidth"] for row in rows], ["1x", "2x", "4x"])
        times = [float(row["time_us"]) for row in rows]
        self.assertEqual(times, sorted(times, reverse=True))
        for row in rows:
            alone = json.loads(self.succeed("predict", "copy", "67108864", "--gpu", "h200", "--json", "--set",
                                            "gpu.dram.bandwidth=" + row["gpu.dram.bandwidth"]))  # fmt: skip
            self.assertEqual(float(row["time_us"]), alone["time_us"])
            self.assertEqual(row["status"], alone["status"])

    def test_kernel_files_and_both_engines(self) -> None:
        file = str(ROOT / "examples" / "kernels" / "saxpy.kernel")
        text = self.succeed("sweep", "kernel", file, "--gpu", "h200", "--engine", "analytical,simulation")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["engine"] for row in rows], ["analytical", "simulation"])
        self.assertAlmostEqual(float(rows[0]["time_us"]) / float(rows[1]["time_us"]), 1, delta=0.2)

    def test_json(self) -> None:
        rows = json.loads(self.succeed(*SWEEP, "--json"))
        self.assertEqual(len(rows), 96)
        self.assertEqual(list(rows[0])[:5], ["op", "gpu", "m", "n", "k"])
        self.assertEqual(rows[0]["error"], None)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows.csv")
            summary = json.loads(self.succeed(*SWEEP, "-o", path, "--json"))
            self.assertEqual(summary, {"schema": "warptime.sweep/1", "output": path, "points": 96, "rows": 96,
                                       "resumed": 0, "failed": 0})  # fmt: skip

    def test_rows_that_fail(self) -> None:
        result = run(*SWEEP, *TILE[:4], "--stages", "3,2000000", "--warps", "8")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stderr.decode(), "warptime: 96 of 192 rows failed; their column error says why\n")
        rows = list(csv.DictReader(io.StringIO(result.stdout.decode())))
        self.assertEqual({bool(row["error"]) for row in rows if row["stages"] == "3"}, {False})
        self.assertEqual({bool(row["error"]) for row in rows if row["stages"] != "3"}, {True})

    def test_progress(self) -> None:
        result = run(*SWEEP, "--progress")
        self.assertEqual(result.returncode, 0)
        self.assertIn("sweep: 96 of 96 rows (100 %)", result.stderr.decode())


class Resuming(Case):
    def test_a_killed_sweep_loses_no_finished_row(self) -> None:
        sweep = ["sweep", "gemm", "--m", "1:1000:1", "--n", "8:1600:8", "--k", "512", *TILE, "--gpu", "h200"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            begun = 0
            kills = 0
            while kills < 5:
                resume = ["--resume"] if path.exists() else []
                child = subprocess.Popen([program(), *sweep, "-o", str(path), "--threads", "2", *resume])
                try:
                    while child.poll() is None and (not path.exists() or path.stat().st_size < begun + 2_000_000):
                        time.sleep(0.002)
                finally:
                    child.send_signal(signal.SIGKILL)
                    child.wait()
                if child.returncode == 0:
                    break  # done before the kill
                kills += 1
                begun = path.stat().st_size
                if kills == 2:  # as a full disk leaves it
                    os.truncate(path, begun - 7)
            self.assertGreaterEqual(kills, 2)
            lines_before = path.read_bytes().count(b"\n") - 1
            summary = json.loads(self.succeed(*sweep, "-o", str(path), "--resume", "--json"))
            self.assertEqual(summary["resumed"], lines_before)
            self.assertEqual((summary["points"], summary["rows"]), (200_000, 200_000))
            whole = Path(folder) / "whole.csv"
            self.succeed(*sweep, "-o", str(whole))
            self.assertEqual(path.read_bytes(), whole.read_bytes())

    def test_rows_of_another_model_are_refused_with_both_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            self.succeed(*SWEEP, "-o", str(path))
            lines = path.read_text().splitlines(keepends=True)[:20]
            cells = lines[-1].split(",")
            place = lines[0].split(",").index("time_us")
            right, cells[place] = cells[place], "9.25"
            path.write_text("".join(lines[:-1]) + ",".join(cells))
            parts = ["output", "rows of this model", "row 19", f",{right},", ",9.25,"]
            self.fail_with(2, parts, *SWEEP, "-o", str(path), "--resume")
            path.write_text("".join(lines))
            self.succeed(*SWEEP, "-o", str(path), "--resume")

    def test_an_interrupted_sweep_says_how_to_go_on(self) -> None:
        sweep = ["sweep", "gemm", "--m", "1:20000:1", "--n", "8:1600:8", "--k", "512", "--gpu", "h200"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            child = subprocess.Popen([program(), *sweep, "-o", str(path)], stderr=subprocess.PIPE)
            while not path.exists() or path.stat().st_size < 100_000:
                time.sleep(0.002)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate()
            self.assertEqual(child.returncode, 3)
            self.assertRegex(said.decode(), r"^warptime: interrupted after \d+ of 4000000 rows; --resume goes on\n$")
            self.assertTrue(path.read_bytes().endswith(b"\n"))


class WrongArguments(Case):
    def test_each_names_parameter_value_and_form(self) -> None:
        rest = ["--n", "64", "--k", "64", "--gpu", "h200"]
        m = ["sweep", "gemm", "--m"]
        wrong: list[tuple[list[str], list[str]]] = [
            ([*m, "1:8", *rest], ["gemm m", "'1:8'", "START:STOP:STEP", "START:STOP:xFACTOR"]),
            ([*m, "8:1:1", *rest], ["gemm m", "'8:1:1'", "a step below 0"]),
            ([*m, "1:8:x1", *rest], ["gemm m", "'1:8:x1'", "a factor above 1"]),
            ([*m, "64,,128", *rest], ["gemm m", "'64,,128'", "separated by commas"]),
            ([*m, "64,x", *rest], ["gemm m", "'x'", "a whole number"]),
            ([*m, "1:1e12:1", *rest], ["gemm m", "'1:1e12:1'", "at most 10000000 values"]),
            (["sweep", "gemm", *rest], ["gemm m", "values: "]),
            ([*m, "64", *rest, "--dtype", "bf16,bf17"], ["gemm dtype", "'bf17'", "nearest: 'bf16'"]),
            ([*m, "64", *rest, "--cache", "warm,hot"], ["cache", "'hot'", "cold, flushed, warm"]),
            ([*m, "64", *rest, "--stages", "3,4"], ["gemm stages", "'3'", "nothing without a cta_tile"]),
            ([*m, "64", *rest, "--stagse", "3,4"], ["option", "'--stagse'", "nearest: '--stages'"]),
            ([*m, "64", *rest, "--set", "gpu.l2.capacty=1x,2x"], ["'l2.capacty'", "nearest: 'l2.capacity'"]),
            ([*m, "64", *rest, "--set", "kernel.stages=3"], ["set", "'kernel.stages=3'", "as an option"]),
            ([*m, "64", *rest, "--set", "gpu.l2.capacity"], ["set", "gpu.KEY=VALUES"]),
            ([*m, "64", "--n", "64", "--k", "64"], ["gpu", "--gpu with a sheet id"]),
            ([*m, "64", "--n", "64", "--k", "64", "--gpu", "h200,h20"], ["gpu", "'h20'", "nearest: 'h200-sxm'"]),
            ([*m, "64", *rest, "--engine", "analytical,sim"], ["engine", "'sim'", "simulation"]),
            ([*m, "64", *rest, "--threads", "0"], ["threads", "'0'", "a whole number from 1 to 1024"]),
            ([*m, "64", *rest, "-o", "/none/rows.csv"], ["output", "'/none/rows.csv'", "can be written"]),
            ([*m, "1:1999999:1", "--n", "1:1999999:1", *rest[2:]], ["sweep", "points", "shorter"]),
        ]
        for arguments, parts in wrong:
            with self.subTest(arguments=arguments):
                self.fail_with(2, parts, *arguments)
        self.fail_with(2, ["operator", "'gem'", "nearest: 'gemm'"], "sweep", "gem")
        result = run(*m, "64", *rest, "--resume")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"rows of an earlier run", result.stderr)

    def test_a_file_that_is_something_else_stays(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            path.write_text("notes\n")
            at = ["-o", str(path)]
            self.fail_with(2, ["output", str(path), "does not exist yet, or --resume"], *SWEEP, *at)
            self.fail_with(2, ["output", str(path), "rows of this sweep"], *SWEEP, *at, "--resume")
            self.assertEqual(path.read_text(), "notes\n")
            path.unlink()
            self.succeed(*SWEEP, *at)
            other = [word.replace("128:1024:128", "128:2048:128") for word in SWEEP]
            self.fail_with(2, ["output", "whose row 49 begins with gemm,h200-sxm,1152,"], *other[:-2],
                           "--gpu", "h200-sxm", *at, "--resume")  # fmt: skip


if __name__ == "__main__":
    main()
