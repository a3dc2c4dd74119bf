# Tests of `record` without a GPU: a stand-in for nvidia-smi, a compiler that copies probes written as Python scripts.
# SPDX-License-Identifier: Apache-2.0
"""Run as `record_test.py PATH_OF_WARPTIME`."""

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = ""

# Prints what the test has put into the folder $STATE; `refuses` lists fields that this driver does not know.
NVIDIA_SMI = r"""#!/bin/sh
case "$*" in *"-q -d PERFORMANCE"*) cat "$STATE/report" 2>/dev/null; exit ;; esac
for word in "$@"; do case "$word" in --query-gpu=*) fields=${word#--query-gpu=} ;; esac; done
for field in $(echo "$fields" | tr ',' ' '); do
    if grep -q "^$field$" "$STATE/refuses" 2>/dev/null || [ ! -e "$STATE/$field" ]; then
        echo "Field \"$field\" is not a valid field to query."; exit 2
    fi
done
line=
for field in $(echo "$fields" | tr ',' ' '); do line="$line${line:+, }$(cat "$STATE/$field")"; done
echo "$line"
"""

# Copies the probe, which is a Python script here; says no to the one that tries CUPTI.
NVCC = r"""#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in -o) shift; out=$1 ;; *.cu) source=$1 ;; -gencode=*) echo "$1" >> "$STATE/targets" ;; esac
    shift
done
echo "$source" >> "$STATE/compiled"
case "$source" in */try_cupti.cu) exit 1 ;; esac
if grep -q "syntax error" "$source"; then echo "$source(1): error: expected a ;" >&2; exit 1; fi
{ echo "#!PYTHON"; cat "$source"; } > "$out" && chmod +x "$out"
"""

# What the probes of a test have in common, as harness.cuh is for real ones.
HARNESS = r"""
import os, sys, time
start = time.time()
skip = set()
if os.path.exists(os.environ.get("WARPTIME_SKIP", "")):
    skip = set(open(os.environ["WARPTIME_SKIP"]).read().split("\n"))
def wanted(op, params, cache="warm", duty="isolated"):
    if f"{op},{params},{cache},{duty},random" in skip:
        return False
    if time.time() - start > float(os.environ["WARPTIME_PROBE_SECONDS"]):
        print("out of time: cases are left", file=sys.stderr)
        return False
    with open(os.environ["STATE"] + "/measured", "a") as log:
        log.write(f"{op} {params} {cache}\n")
    return True
def row(op, params, quantity, value, unit, cache="warm", duty="isolated"):
    e = os.environ
    print(f"SUITE,{op},{params},cuda,{e['WARPTIME_GPU']},{cache},{duty},random,{quantity},{value},{unit},7,{value},0.01,"
          f'clock64,"a, b",{e["WARPTIME_SM_CLOCK"]},{e["WARPTIME_MEM_CLOCK"]},,{e["WARPTIME_DRIVER"]},13.0,,NVIDIA H200,'
          "2026-01-31", end="\r\n", flush=True)
"""

FIVE_CASES = """
for n in range(5):
    if wanted("chase", f"n={n}"):
        time.sleep(0.05)
        row("chase", f"n={n}", "region_cycles", 100 + n, "cycle")
        row("chase", f"n={n}", "bytes_per_s", 1e9 * (n + 1), "B/s")
"""


# A recorder of library operators that uses the writer of the real ones; every run has time for two cases.
LIBRARY = """
import argparse, pathlib, sys
sys.path.insert(0, "RECORDERS")
from recorder_rows import COLUMNS, RowWriter, say_cases_are_left
p = argparse.ArgumentParser()
for name, kind in {"output": pathlib.Path, "resume": pathlib.Path, "budget": float, "gpu": str}.items():
    p.add_argument("--" + name, required=True, type=kind)
o = p.parse_args()
writer = RowWriter(o.output / "library.csv", o.resume)
written = 0
for n in (1024, 2048, 4096):
    row = dict.fromkeys(COLUMNS, "") | {
        "suite": "library", "op": "copy", "params": f"dtype=bf16 n={n}", "implementation": "torch", "gpu": o.gpu,
        "cache": "flushed", "duty": "isolated", "data": "random", "quantity": "kernel_us", "value": n / 100,
        "unit": "us", "samples": "7", "minimum": "1", "spread": "0", "steps": "one, two", "date": "2026-01-31",
    }
    if writer.has(row):
        continue
    if written == 2:
        say_cases_are_left()
        break
    writer.write(row)
    written += 1
writer.close()
"""
RECORDERS = Path(__file__).resolve().parents[2] / "validate" / "recorders"


class RecordTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.state = self.root / "state"
        self.output = self.root / "rows"
        for part in ["state", "bin", "validate/record", "validate/microbench", "validate/recorders"]:
            (self.root / part).mkdir(parents=True)
        self.program("nvidia-smi", NVIDIA_SMI)
        self.program("nvcc", NVCC.replace("PYTHON", sys.executable))
        answers = {"name": "NVIDIA H200", "driver_version": "580.1", "clocks.sm": "1980", "clocks.mem": "3201"}
        answers["clocks_event_reasons.active"] = "0x0000000000000001"
        for name, value in answers.items():
            self.say(name, value)
        (self.root / "validate/record/suites.toml").write_text(
            '[[suite]]\nname = "microbench_first"\n'
            '[[suite]]\nname = "library"\nneeds = ["torch"]\ncommand = ["python3", "validate/recorders/library.py"]\n'
        )
        self.probe("first", FIVE_CASES)
        # The module is looked for, not imported: an empty one is enough.
        (self.root / "modules").mkdir()
        (self.root / "modules/torch.py").write_text("")
        self.environment = {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
            "STATE": str(self.state),
            "PYTHONPATH": str(self.root / "modules"),
            "TMPDIR": str(self.root),
        }
        (self.root / "validate/recorders/library.py").write_text(LIBRARY.replace("RECORDERS", str(RECORDERS)))

    def program(self, name: str, text: str) -> None:
        path = self.root / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def say(self, field: str, value: str) -> None:
        (self.state / field).write_text(value + "\n")

    def probe(self, name: str, text: str) -> None:
        harness = HARNESS.replace("SUITE", f"microbench_{name}")
        (self.root / f"validate/microbench/{name}.cu").write_text(harness + text)

    def command(self, *arguments: str) -> list[str]:
        return [PROGRAM, "record", "--sources", str(self.root), "--output", str(self.output), *arguments]

    def record(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        result = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, env=self.environment, timeout=120, check=False
        )
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return result.stdout, result.stderr

    def rows(self, suite: str = "microbench_first") -> list[dict[str, str]]:
        path = self.output / f"{suite}.csv"
        if not path.exists():
            return []
        with path.open(newline="") as file:
            found = list(csv.DictReader(file))
        for row in found:
            self.assertNotIn(None, row.values(), "a row that was cut off")
        return found

    def measured(self) -> list[str]:
        path = self.state / "measured"
        return path.read_text().splitlines() if path.exists() else []

    def parameters(self) -> list[str]:
        return [row["params"] for row in self.rows() if row["quantity"] == "region_cycles"]

    def test_rows_carry_the_machine_they_were_taken_on(self) -> None:
        text, progress = self.record("--suite", "microbench")
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(5)])
        row = self.rows()[0]
        told = [row[name] for name in ["gpu", "driver", "sm_clock_mhz", "mem_clock_mhz", "steps"]]
        self.assertEqual(told, ["h200-sxm", "580.1", "1980", "3201", "a, b"])
        self.assertIn("complete", text)
        self.assertIn("compiled microbench_first (1/1)", progress)
        self.assertIn("code=sm_90a", (self.state / "targets").read_text())

    def test_probes_and_recorders_by_name_group_and_json(self) -> None:
        self.probe("second", FIVE_CASES)
        answer = json.loads(self.record("--json")[0])
        names = [suite["suite"] for suite in answer["suites"]]
        self.assertEqual(names, ["microbench_first", "microbench_second", "library"])
        self.assertEqual([suite["added"] for suite in answer["suites"]], [10, 10, 3])
        listed = json.loads(self.record("--list", "--json")[0])["suites"]
        self.assertEqual([suite["suite"] for suite in listed], names)
        self.assertEqual(listed[2]["needs"], ["torch"])
        self.probe("first_of_all", FIVE_CASES)
        for given, count in [("microbench_first", 1), ("microbench", 3), ("lib", 0), ("library,microbench_second", 2)]:
            found = self.record("--list", "--json", "--suite", given, code=0 if count else 1)[0]
            self.assertEqual(len(json.loads(found).get("suites", [])), count)

    def test_a_second_run_repeats_nothing_and_a_finished_suite_is_not_started(self) -> None:
        self.record("--suite", "all")
        before = (self.output / "microbench_first.csv").read_bytes()
        measured = self.measured()
        self.record("--suite", "all")
        self.assertEqual((self.output / "microbench_first.csv").read_bytes(), before)
        self.assertEqual(self.measured(), measured)
        # A probe that has grown is started, and skips the cases that are there.
        self.probe("first", FIVE_CASES.replace("range(5)", "range(7)"))
        self.record("--suite", "all")
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(7)])
        self.assertEqual(self.measured()[len(measured) :], ["chase n=5 warm", "chase n=6 warm"])
        self.assertTrue((self.output / "microbench_first.csv").read_bytes().startswith(before))

    def test_rows_of_a_resumed_folder_are_not_repeated(self) -> None:
        self.record("--suite", "microbench_first")
        earlier = self.root / "earlier" / "h200-sxm"
        earlier.mkdir(parents=True)
        (self.output / "microbench_first.csv").rename(earlier / "microbench.csv")
        (self.output / "finished.txt").unlink()
        self.probe("first", FIVE_CASES.replace("range(5)", "range(6)"))
        self.record("--suite", "microbench_first", "--resume", str(earlier.parent))
        self.assertEqual(self.parameters(), ["n=5"])

    def test_the_output_is_the_resumed_folder_unless_it_is_named(self) -> None:
        self.output.mkdir()
        command = [PROGRAM, "record", "--sources", str(self.root), "--suite", "microbench"]
        subprocess.run([*command, "--resume", str(self.output)], env=self.environment, check=True, capture_output=True)
        self.assertEqual(len(self.rows()), 10)

    def test_it_stops_in_time_and_goes_on_later(self) -> None:
        self.probe("first", FIVE_CASES.replace("0.05", "1.2"))
        begun = time.monotonic()
        text, _ = self.record("--suite", "microbench", "--budget", "9s")
        self.assertLess(time.monotonic() - begun, 12)
        self.assertIn("cases left", text)
        early = len(self.parameters())
        self.assertIn(early, range(1, 5))
        text, _ = self.record("--suite", "microbench", "--budget", "60s")
        self.assertIn("complete", text)
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(5)])
        self.assertEqual(len(self.measured()), 5)

    def test_a_case_that_was_cut_off_is_measured_again(self) -> None:
        hangs = 'if wanted("chase", "n=5"):\n    row("chase", "n=5", "region_cycles", 1, "cycle")\n'
        self.probe("first", FIVE_CASES + hangs + "if len(skip) < 2:\n    time.sleep(600)\n")
        text, _ = self.record("--suite", "microbench", "--budget", "8s")
        self.assertIn("cases left", text)
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(5)])
        self.record("--suite", "microbench")
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(6)])

    def test_a_kill_in_the_middle_loses_nothing_that_was_kept(self) -> None:
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how=how):
                self.output = self.root / f"rows-{how}"
                self.probe("first", FIVE_CASES.replace("range(5)", "range(40)").replace("0.05", "0.2"))
                command = self.command("--suite", "microbench")
                started = subprocess.Popen(
                    command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
                )
                while not self.rows():
                    time.sleep(0.1)
                started.send_signal(how)
                text, _ = started.communicate(timeout=30)
                kept = self.parameters()
                self.assertGreater(len(kept), 0)
                self.assertLess(len(kept), 40)
                if how == signal.SIGTERM:
                    self.assertEqual(started.returncode, 3)
                    self.assertIn("cases left", text)
                self.assertEqual(list(self.output.glob("*.new")), [])
                self.record("--suite", "microbench")
                self.assertEqual(self.parameters(), [f"n={n}" for n in range(40)])

    def test_a_probe_that_fails_its_check_costs_only_what_is_left_of_it(self) -> None:
        self.probe("first", FIVE_CASES + 'print("wrong result: chase n=5", file=sys.stderr)\nsys.exit(2)\n')
        self.probe("second", FIVE_CASES)
        text, _ = self.record("--suite", "microbench", code=3)
        self.assertIn("failed: ended with 2: wrong result: chase n=5", text)
        self.assertEqual(len(self.rows("microbench_second")), 10)
        # Whether the last case was printed whole cannot be told, so it is not kept.
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(4)])

    def test_a_probe_that_does_not_compile_or_prints_nonsense(self) -> None:
        self.probe("second", "syntax error\n")
        self.probe("third", 'print("hello")\n' + FIVE_CASES)
        text, _ = self.record("--suite", "microbench", code=3)
        self.assertIn("does not compile: " + str(self.root / "validate/microbench/second.cu") + "(1): error", text)
        self.assertIn("failed: printed what is no row", text)
        self.assertEqual(len(self.rows()), 10)
        self.assertEqual(len(self.rows("microbench_third")), 10)

    def test_rows_are_refused_while_the_clocks_are_held_down(self) -> None:
        both = 'row("chase", "n=9", "region_cycles", 1, "cycle", duty="sustained")\n'
        self.probe("first", FIVE_CASES + both)
        self.say("clocks_event_reasons.active", "0x0000000000000004")
        text, progress = self.record("--suite", "microbench", code=3)
        self.assertIn("SW power cap", text)
        self.assertIn("rows refused", progress)
        self.assertEqual(self.parameters(), ["n=9"])  # sustained work is measured under the power limit
        refused = (self.output / "microbench_first.refused").read_text()
        self.assertEqual(refused.count("SW power cap: microbench_first,chase"), 10)
        self.say("clocks_event_reasons.active", "0x0000000000000048")
        self.assertIn("HW slowdown, HW thermal slowdown", self.record("--suite", "microbench", code=1)[0])
        self.say("clocks_event_reasons.active", "0x0000000000000001")
        self.record("--suite", "microbench")
        self.assertEqual(sorted(self.parameters()), ["n=0", "n=1", "n=2", "n=3", "n=4", "n=9"])

    def test_a_slowdown_between_two_readings_shows_in_the_counters(self) -> None:
        counter = "clocks_event_reasons_counters."
        for name in ["sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"]:
            self.say(counter + name, "0")
        grow = f'open(os.environ["STATE"] + "/{counter}hw_thermal_slowdown", "w").write("250")\n'
        self.probe("first", FIVE_CASES + grow)
        self.assertIn("HW thermal slowdown", self.record("--suite", "microbench", code=1)[0])
        self.assertEqual(self.rows(), [])

    def test_the_counters_of_a_driver_that_only_reports_them(self) -> None:
        flags = "    Clocks Event Reasons\n        HW Thermal Slowdown   : Not Active\n"
        counters = "    Counters\n        SW Power Capping : 0 us\n        HW Power Braking : 7 us\n"
        self.say("report", flags + counters)
        self.record("--suite", "microbench")
        self.assertEqual(len(self.rows()), 10)
        grow = 'path = os.environ["STATE"] + "/report"\ntext = open(path).read()\n'
        self.probe(
            "first",
            FIVE_CASES.replace("range(5)", "range(6)") + grow + 'open(path, "w").write(text.replace("7", "9"))\n',
        )
        self.assertIn("HW power brake slowdown", self.record("--suite", "microbench", code=1)[0])
        self.assertEqual(len(self.rows()), 10)

    def test_drivers_that_know_the_older_name_or_none(self) -> None:
        (self.state / "clocks_event_reasons.active").unlink()
        self.say("clocks_throttle_reasons.active", "0x0000000000000080")
        self.assertIn("HW power brake slowdown", self.record("--suite", "microbench", code=1)[0])
        (self.state / "clocks_throttle_reasons.active").unlink()
        self.assertIn("tells no reasons", self.record("--suite", "microbench")[1])
        self.assertEqual(len(self.rows()), 10)

    def test_compiled_probes_are_kept_until_their_text_changes(self) -> None:
        kept = ["--suite", "microbench", "--probes", str(self.root / "probes")]
        self.record(*kept)
        self.output = self.root / "again"
        self.record(*kept)
        self.probe("first", FIVE_CASES + "# changed\n")
        self.record(*kept)
        compiled = (self.state / "compiled").read_text().splitlines()
        self.assertEqual(sum(line.endswith("first.cu") for line in compiled), 2)

    def test_what_is_missing_is_named(self) -> None:
        def fails(part: str, *arguments: str, code: int = 1) -> None:
            self.assertIn(part, self.record(*arguments, code=code)[1])

        fails("nearest: 'microbench_first'", "--suite", "microbench_frist")
        fails("a time of at least 1 s", "--budget", "0s", code=2)
        fails("a time of at least 1 s", "--budget", "ten", code=2)
        fails("--resume: got", "--resume", str(self.root / "nowhere"))
        fails("gpu: got 'h900'", "--gpu", "h900")
        (self.root / "modules/torch.py").unlink()
        self.environment["PYTHONPATH"] = ""
        blocked = self.root / "bin" / "python3"
        blocked.write_text("#!/bin/sh\nexit 1\n")
        blocked.chmod(0o755)
        fails("python3 on PATH with the module torch", "--suite", "library")
        text, _ = self.record("--suite", "all")
        self.assertIn("left out: needs python3", text)
        blocked.unlink()
        self.say("name", "NVIDIA X900")
        fails('add hw/gpus/<id>.toml with board = "NVIDIA X900"', "--suite", "microbench")
        self.record("--suite", "microbench", "--gpu", "h200-sxm")
        (self.state / "name").unlink()
        fails("a machine with an NVIDIA GPU and its driver", "--suite", "microbench")
        (self.root / "bin/nvidia-smi").unlink()
        fails("no nvidia-smi on PATH", "--suite", "microbench")
        fails("got 'microbench_frist'", "--suite", "microbench_frist")

    def test_no_toolkit(self) -> None:
        (self.root / "bin/nvcc").unlink()
        tools = self.root / "tools"
        tools.mkdir()
        for name in ["python3", "sh", "cat", "grep", "tr", "env"]:
            found = subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip()
            (tools / name).symlink_to(found)
        self.environment["PATH"] = f"{self.root}/bin:{tools}"
        if Path("/usr/local/cuda/bin/nvcc").exists():
            # A toolkit in its usual place is found without PATH; it then refuses probes that are Python.
            self.assertIn("does not compile", self.record("--suite", "microbench", code=1)[0])
        else:
            self.assertIn("nvcc on PATH", self.record("--suite", "microbench", code=1)[1])
        text, _ = self.record("--suite", "library")
        self.assertIn("complete", text)

    def test_a_full_disk_loses_nothing_and_says_where(self) -> None:
        self.record("--suite", "microbench")
        before = (self.output / "microbench_first.csv").read_bytes()
        self.probe("first", FIVE_CASES.replace("range(5)", "range(60)").replace("0.05", "0"))

        def small_files() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

        result = subprocess.run(
            self.command("--suite", "microbench"),
            capture_output=True, text=True, env=self.environment, preexec_fn=small_files, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            f"file: got '{self.output}/microbench_first.csv', expected a place that can be written", result.stderr
        )
        self.assertEqual((self.output / "microbench_first.csv").read_bytes(), before)
        self.assertEqual(list(self.output.glob("*.new")), [])
        self.record("--suite", "microbench")
        self.assertEqual(self.parameters(), [f"n={n}" for n in range(60)])

    def test_a_place_that_cannot_be_written_is_named_before_anything_is_measured(self) -> None:
        self.output = Path("/dev/null/rows")
        self.assertIn("--output: got '/dev/null/rows'", self.record("--suite", "microbench", code=1)[1])
        self.assertEqual(self.measured(), [])

    def test_a_file_that_is_not_understood_is_not_written_over(self) -> None:
        self.output.mkdir()
        (self.output / "microbench_first.csv").write_text("suite,op\nmicrobench_first,chase\n")
        self.assertIn("microbench_first.csv", self.record("--suite", "microbench", code=1)[1])
        self.assertEqual((self.output / "microbench_first.csv").read_text(), "suite,op\nmicrobench_first,chase\n")

    def test_the_recorders_of_the_repository_know_their_suites(self) -> None:
        root = RECORDERS.parents[1]
        listed = subprocess.run(
            [PROGRAM, "record", "--list", "--json", "--sources", str(root)], capture_output=True, text=True, check=True
        )
        commands = [suite for suite in json.loads(listed.stdout)["suites"] if suite["by"].startswith("python3")]
        self.assertGreater(len(commands), 10)
        for suite in commands:
            with self.subTest(suite=suite["suite"]):
                script = suite["by"].split()[1:]
                cases = subprocess.run(
                    [sys.executable, *script, "--dry-run"], cwd=root, capture_output=True, text=True, check=True
                ).stdout.splitlines()
                self.assertGreater(len(cases), 0)
                self.assertLessEqual({case.split(",")[0] for case in cases}, set(suite["rows"]))

    def test_live_validation_scores_what_it_has_just_recorded(self) -> None:
        def live(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
            command = [PROGRAM, "validate", "--live", "--sources", str(self.root), *arguments]
            result = subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False)
            self.assertEqual(result.returncode, code, result.stderr)
            return result

        text = live("--suite", "library", "--budget", "60s").stdout
        self.assertIn("library", text)
        self.assertEqual(list(self.root.glob("warptime-*")), [])  # the temporary folder is gone
        board = json.loads(live("--suite", "library", "--data", str(self.output), "--json").stdout)
        self.assertEqual([suite["suite"] for suite in board["suites"]], ["library"])
        self.assertEqual(len(self.rows("library")), 3)
        self.assertIn("a suite that runs here", live("--suite", "library", "--budget", "1s", code=1).stderr)
        for option in ["--check", "--tighten", "--recorded"]:
            live(option, code=2)
        (self.root / "bin/nvidia-smi").unlink()
        self.assertIn("no nvidia-smi on PATH", live(code=1).stderr)


    def test_live_validation_measures_again_what_the_folder_knows(self) -> None:
        other = self.output / "t4" / "other.csv"
        command = [PROGRAM, "validate", "--live", "--sources", str(self.root), "--data", str(self.output), "--json"]
        for known in (False, True):
            result = subprocess.run(
                [*command, "--suite", "library"], capture_output=True, text=True, env=self.environment, check=False
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            board = json.loads(result.stdout)
            self.assertEqual([(s["gpu"], s["suite"]) for s in board["suites"]], [("h200-sxm", "library")], known)
            self.assertIn("library: 2 new rows", result.stderr)
            self.assertEqual(len(self.rows("library")), 3)
            # Rows of another GPU and of another suite lie beside them the second time.
            other.parent.mkdir(exist_ok=True)
            text = (self.output / "library.csv").read_text()
            other.write_text(text.replace("h200-sxm", "t4"))
            (self.output / "more.csv").write_text(text.replace("library,copy", "more,copy"))


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
