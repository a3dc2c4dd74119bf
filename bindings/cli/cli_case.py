# How the tests of the program start it: exit codes, messages, the JSON of errors. Standard library only.
# SPDX-License-Identifier: Apache-2.0
"""A test that uses it runs as `NAME_test.py PATH_OF_WARPTIME` and ends with `main()`."""

import json
import os
import subprocess
import sys
import unittest


def program() -> str:
    """Where the program is; `main` has put it there."""
    return os.environ["WARPTIME_PROGRAM"]


def run(*arguments: str, text: str | bytes = b"", cwd: str | None = None) -> subprocess.CompletedProcess[bytes]:
    data = text.encode() if isinstance(text, str) else text
    return subprocess.run([program(), *arguments], input=data, capture_output=True, cwd=cwd, timeout=900, check=False)


class Case(unittest.TestCase):
    def succeed(self, *arguments: str) -> str:
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")
        return result.stdout.decode()

    def fail_with(self, code: int, parts: list[str], *arguments: str) -> None:
        """The one line on stderr holds every part, and --json tells the same."""
        result = run(*arguments)
        line = result.stderr.decode()
        self.assertEqual(result.returncode, code, line)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(line.startswith("warptime: "), line)
        self.assertEqual(line.count("\n"), 1, line)
        for part in parts:
            self.assertIn(part, line)
        as_json = run(*arguments, "--json")
        self.assertEqual(as_json.returncode, code)
        error = json.loads(as_json.stdout)["error"]
        self.assertEqual(list(error), ["parameter", "value", "expected", "message"])
        self.assertIn(error["message"], line)


def main() -> None:
    """Runs the tests of the calling file against the program that its first argument names."""
    os.environ["WARPTIME_PROGRAM"] = os.path.abspath(sys.argv.pop(1))
    unittest.main()
