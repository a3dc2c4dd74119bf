"""Pages that `report` writes: whole or not at all, of what was asked. SPDX-License-Identifier: Apache-2.0"""

import json
import os
import pathlib
import tempfile

from cli_case import Case, main, run

GEMM = "report gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm".split()


class Report(Case):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name) / "page.html"

    def test_a_prediction(self) -> None:
        self.assertIn("one page", self.succeed(*GEMM, "-o", str(self.page)))
        text = self.page.read_text(encoding="utf-8")
        answer = json.loads(self.succeed("predict", *GEMM[1:], "--json"))
        self.assertIn(f"{answer['time_us']:.4g} us", text)
        for counter in answer["counters"]:
            self.assertIn(counter, text)
        self.assertNotIn("http", text)

    def test_json_tells_the_file(self) -> None:
        told = json.loads(self.succeed(*GEMM, "--json", "-o", str(self.page)))
        self.assertEqual(told["file"], str(self.page))
        self.assertEqual(told["bytes"], self.page.stat().st_size)

    def test_stdout_takes_the_page_alone(self) -> None:
        page = self.succeed(*GEMM, "-o", "-")
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))

    def test_what_if_and_simulation(self) -> None:
        page = self.succeed(*GEMM, "-o", "-", "--set", "gpu.l2.capacity=2x")
        self.assertIn("gpu.l2.capacity 2x", page)
        small = "report gemm 256 256 256 --gpu h200-sxm --engine simulation -o -".split()
        self.assertNotIn("What would help", self.succeed(*small))

    def test_the_scoreboard(self) -> None:
        self.succeed("report", "scoreboard", "--suite", "gemm_waves", "-o", str(self.page))
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual(text.count("<h3>"), 10)
        self.assertIn("Error against size", text)

    def test_wrong_usage(self) -> None:
        self.fail_with(2, ["output", "-o with the path"], *GEMM)
        self.fail_with(1, ["missing/page.html"], *GEMM, "-o", "missing/page.html")
        self.fail_with(1, ["gemm_wave", "gemm_waves"], "report", "scoreboard", "--suite", "gemm_wave", "-o", str(self.page))
        self.fail_with(2, ["-- and the command line"], "report", "run", "-o", str(self.page))
        self.assertFalse(self.page.exists())

    def test_a_program(self) -> None:
        result = run("report", "run", "-o", str(self.page), "--", "/bin/true")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(b"launched no kernel", result.stderr)
        self.assertIn("0 launches", self.page.read_text(encoding="utf-8"))

    def test_dashes_belong_to_programs_alone(self) -> None:
        result = run(*GEMM, "-o", os.devnull, "--", "program")
        self.assertEqual(result.returncode, 2, result.stderr)


if __name__ == "__main__":
    main()
