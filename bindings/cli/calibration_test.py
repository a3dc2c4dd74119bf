# Tests of what the program does with recorded rows: calibrate, validate, and files of rows and constants.
# SPDX-License-Identifier: Apache-2.0
"""Run as `calibration_test.py PATH_OF_WARPTIME`."""

import csv
import json
import os
import tempfile
import unittest
from pathlib import Path

from cli_case import Case, main, run

# Predictions of all recorded rows, and fits by them, take minutes each in a build with sanitizers.
slow = unittest.skipIf("WARPTIME_SANITIZED" in os.environ, "left out of a build with sanitizers")


class Calibration(Case):
    """From a small tree of sources with rows whose constants are known."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ["validate/record", "validate/calibrate", "validate/recorded/h200-sxm", "hw/calibrations"]:
            (self.root / part).mkdir(parents=True)
        (self.root / "validate/record/suites.toml").write_text("")
        (self.root / "validate/calibrate/plan.toml").write_text(
            '[[constant]]\nkey = "latency.dram"\nsuite = "microbench_x"\nquantity = "region_cycles"\n'
            '[[constant]]\nkey = "latency.l1"\nsuite = "microbench_y"\nquantity = "region_cycles"\n'
        )
        self.file = self.root / "hw/calibrations/h200-sxm.toml"
        self.file.write_text('[calibration]\ngpu = "h200-sxm"\n')
        columns = (
            "suite,op,params,implementation,gpu,cache,duty,data,quantity,value,unit,samples,minimum,spread,method,"
            "steps,sm_clock_mhz,mem_clock_mhz,kernel_clock_mhz,driver,cuda,library,board,date\n"
        )
        rows = [
            f"microbench_x,chase,n={n},cuda,h200-sxm,warm,isolated,random,region_cycles,700,cycle,7,700,0,clock64,,,,,"
            "580.1,13.0,,NVIDIA H200,2026-01-31\n"
            for n in range(20)
        ]
        (self.root / "validate/recorded/h200-sxm/x.csv").write_text(columns + "".join(rows))

    def calibrate(self, *arguments: str) -> str:
        return self.succeed("calibrate", "--gpu", "h200-sxm", "--sources", str(self.root), *arguments)

    def test_what_is_determined_is_written_and_what_is_not_is_marked(self) -> None:
        text = self.calibrate("--date", "2026-02-01")
        self.assertIn("latency.l1", text)
        self.assertIn("undetermined: no rows; kept: fitted", text)
        written = self.file.read_text()
        self.assertIn('dram = { value = "700 cycle"', written)
        self.assertIn('date = "2026-02-01"', written)
        self.assertIn("# undetermined latency.l1: no rows", written)
        self.calibrate("--date", "2026-02-01")
        self.assertEqual(self.file.read_text(), written)

    def test_dry_run_output_and_json(self) -> None:
        before = self.file.read_text()
        keys = {key["key"]: key for key in json.loads(self.calibrate("--dry-run", "--json"))["keys"]}
        self.assertEqual(keys["latency.dram"]["value"], 700)
        self.assertFalse(keys["latency.l1"]["determined"])
        self.calibrate("--output", str(self.root / "other.toml"))
        self.assertEqual(self.file.read_text(), before)
        self.assertIn("700 cycle", (self.root / "other.toml").read_text())

    @slow
    def test_parts_ad_hoc_fits_and_the_list_of_rows(self) -> None:
        def keys(*arguments: str) -> list[str]:
            found = self.succeed("calibrate", "--gpu", "h200-sxm", "--dry-run", "--json", *arguments)
            return [key["key"] for key in json.loads(found)["keys"]]

        bands = keys("--only", "bands")
        self.assertTrue(bands and all(key.startswith("band.") for key in bands), bands)
        self.assertNotIn("band.small", keys("--only", "constants"))
        fitted = keys("--keys", "launch.floor=0.3us..3us,dram.read_efficiency", "--suite", "copy_add")
        self.assertEqual(fitted, ["launch.floor", "dram.read_efficiency"])
        self.fail_with(2, ["only", "parts"], "calibrate", "--gpu", "h200-sxm", "--only", "parts")
        self.fail_with(2, ["suite"], "calibrate", "--gpu", "h200-sxm", "--keys", "launch.floor")
        listed = self.root / "rows.csv"
        self.succeed("calibrate", "--gpu", "h200-sxm", "--list", str(listed), "--suite", "copy_add")
        with listed.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 50)
        self.assertTrue(all(float(row["predicted_us"]) > 0 for row in rows))

    @slow
    def test_the_list_has_the_rows_that_a_constant_rests_on(self) -> None:
        listed = self.root / "evidence.csv"
        self.succeed("calibrate", "--gpu", "h200-sxm", "--list", str(listed), "--suite", "microbench_latency")
        with listed.open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["key"] == "latency.shared"]
        found = self.succeed("calibrate", "--gpu", "h200-sxm", "--dry-run", "--json", "--suite", "microbench_latency")
        key = next(key for key in json.loads(found)["keys"] if key["key"] == "latency.shared")
        self.assertEqual(len(rows), key["rows"])
        for row in rows:
            self.assertEqual(
                (row["suite"], row["op"], row["unit"]), ("microbench_latency", "chase_shared", key["unit"])
            )
            self.assertAlmostEqual(float(row["value"]), key["value"], delta=1e-4 * key["value"])
        values = sorted(float(row["row_value"]) for row in rows)
        self.assertAlmostEqual((values[len(values) // 2] + values[(len(values) - 1) // 2]) / 2, key["value"], places=3)

    @slow
    def test_rows_of_the_scoreboard(self) -> None:
        path = self.root / "scored.csv"
        score = ["validate", "--recorded", "--suite", "copy_add", "--rows", str(path)]

        def splits(*more: str) -> list[str]:
            result = run(*score, *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            # What bends a rule says so.
            self.assertEqual(b"no mechanism chosen by them" in result.stderr, "--held-out" in more)
            with path.open(newline="") as file:
                return [row["split"] for row in csv.DictReader(file)]

        seen = splits()
        self.assertEqual(set(seen), {"fit", "development"})
        everything = splits("--held-out")
        self.assertEqual([split for split in everything if split != "held-out"], seen)
        self.assertGreater(len(everything), len(seen))
        self.fail_with(2, ["rows", "--held-out"], *score[:-2], "--held-out")
        self.fail_with(1, ["/dev/null/x"], *score[:-1], "/dev/null/x")

    @slow
    def test_the_worst_cases_that_are_named(self) -> None:
        score = ["validate", "--recorded", "--suite", "gemm_bf16"]
        for wanted in ("0", "5"):
            told = self.succeed(*score, "--worst", wanted)
            self.assertEqual(sum("worst, fit" in line for line in told.splitlines()), int(wanted))
        self.fail_with(2, ["worst", "'few'"], *score, "--worst", "few")

    @slow
    def test_a_calibration_file_takes_the_place_of_the_embedded_one(self) -> None:
        score = ["validate", "--recorded", "--suite", "copy_add", "--json"]
        self.file.write_text('[calibration]\ngpu = "h200-sxm"\n[dram]\nread_efficiency = { value = 0.2 }\n')
        slower = json.loads(self.succeed(*score, "--calibration", str(self.file)))
        self.assertNotEqual(slower, json.loads(self.succeed(*score)))
        self.fail_with(2, ["calibration", "nowhere"], *score[:-1], "--calibration", "nowhere")

    def test_bad_input(self) -> None:
        at = ["calibrate", "--gpu", "h200-sxm", "--sources", str(self.root)]
        self.fail_with(1, ["--suite", "microbench_x"], *at, "--suite", "microbench_z")
        self.fail_with(1, ["--plan", "nowhere"], *at, "--plan", "nowhere")
        self.fail_with(1, ["--sources", "nowhere"], *at[:3], "--sources", "nowhere")
        self.fail_with(2, ["gpu"], "calibrate")
        self.fail_with(1, ["/dev/null/x"], *at, "--output", "/dev/null/x")
        self.fail_with(1, ["no constant of a10 is determined", "warptime record"], "calibrate", "--gpu", "a10", *at[3:])
        (self.root / "validate/calibrate/plan.toml").write_text("[[constant]]\nkey = 'latency.drum'\n")
        self.fail_with(1, ["latency.dram"], *at)


class OwnTable(Case):
    """A table of measured times instead of recorded rows, here predicted ones of a changed GPU."""

    TRUTH = {"dram.row_efficiency": 0.7, "clock.tensor_base": 0.75}

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.table, self.sheet = Path(folder.name) / "rows.csv", Path(folder.name) / "mine.toml"
        sizes = [(m, n, k) for m in (1, 16, 2048, 4096) for n in (8192, 16384) for k in (8192, 12288)]
        cases = "op,m,n,k,dtype\n" + "".join(f"gemm,{m},{n},{k},bf16\n" for m, n, k in sizes)
        changes = [f"--set=gpu.{key}={value}" for key, value in self.TRUTH.items()]
        told = run("batch", "-", "--gpu", "l40s", *changes, text=cases)
        self.times = [float(row["time_us"]) for row in csv.DictReader(told.stdout.decode().splitlines())]
        self.rows = [f"{m},{n},{k},bf16,{time}\n" for (m, n, k), time in zip(sizes, self.times, strict=True)]
        self.table.write_text("m,n,k,dtype,time_us\n" + "".join(self.rows))
        self.calibrate = ["calibrate", "--gpu", "l40s", "--data", str(self.table)]

    @slow
    def test_what_the_table_determines_is_found_and_the_rest_left(self) -> None:
        result = run(*self.calibrate, "--json", "-o", str(self.sheet))
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        found = {key["key"]: key for key in told["determined"]}
        for key, value in self.TRUTH.items():
            self.assertAlmostEqual(found[key]["value"] / value, 1, delta=0.02)
        left = {key["key"]: key["why"] for key in told["not_determined"]}
        self.assertEqual(len(found) + len(left), 9)
        self.assertIn("launch.cold", left)  # microseconds beside milliseconds
        self.assertTrue(all(left.values()))
        self.assertLess(told["mean_log_error"], 0.01)
        self.assertGreater(told["mean_log_error_before"], 0.1)
        self.assertIn("fitted to 16 rows of rows.csv", self.sheet.read_text())
        # The sheet gives the times of the table.
        scored = run("validate", "--data", str(self.table), "--gpu", str(self.sheet), "--json")
        self.assertLess(json.loads(scored.stdout)["all"]["mape"], 0.01)

    def test_keys_can_be_named(self) -> None:
        result = run(*self.calibrate, "--json", "--dry-run", "--keys", "launch.memcpy=0.3us..3us")
        told = json.loads(result.stdout)
        self.assertEqual(told["not_determined"], [{"key": "launch.memcpy", "why": "the times do not depend on it"}])
        self.assertEqual((told["determined"], result.returncode), ([], 1))

    def test_what_cannot_be_fitted_is_refused_and_nothing_is_written(self) -> None:
        output = ["-o", str(self.sheet)]
        self.fail_with(2, ["output", "--dry-run"], *self.calibrate)
        self.fail_with(2, ["suite", "no such option with --data TABLE.csv"], *self.calibrate, "--suite", "copy_add")
        self.table.write_text("m,n,k,dtype,time_us\n" + "".join(self.rows[:4]))
        result = run(*self.calibrate, *output)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"4 rows are too few", result.stdout)
        self.assertIn(b"4 rows of", result.stderr)
        in_ms = "".join(f"{row.rsplit(',', 1)[0]},{time / 1000}\n"
                        for row, time in zip(self.rows, self.times, strict=True))  # fmt: skip
        self.table.write_text("m,n,k,dtype,time_us\n" + in_ms)
        self.fail_with(2, ["time_us", "in ms?"], *self.calibrate, *output)
        self.assertFalse(self.sheet.exists())


if __name__ == "__main__":
    main()
