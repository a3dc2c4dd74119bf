#!/usr/bin/env python3
"""Checks that the documentation names only paths that exist, and that README.md stays short.

Usage: scripts/check_docs.py

Read are all tracked Markdown files, and of every other tracked text file its references to Markdown files. A word in
back quotes is taken for a path when it has a slash and begins with a folder of the repository's root, or when it is a file
name with an ending of the repository's sources; of the latter some tracked file has to have that name. A word like
group.name is taken for a key of hw/keys.toml when the group is one. Links between files are followed too. Placeholders
(<id>, NAME, *, {...}) match anything.
"""
# SPDX-License-Identifier: Apache-2.0

import fnmatch
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README_LINES = 130
QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PAGE = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.md)\b")
PLACEHOLDER = re.compile(r"<[^>]*>|\{[^}]*\}|\b[A-Z]{2,}(?=_|\b)|\.\.\.")
ENDINGS = (".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".toml", ".md", ".csv", ".ipynb")
# Output of the program, files of other projects and what a user writes.
FOREIGN = re.compile(r"^(build|recorded|cases|predictions|sheet|out|main)\b|cuda_occupancy|cutlass|nvml\.h")


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def missing_path(word: str, files: list[str], folders: set[str], names: set[str], heads: set[str]) -> bool:
    """Whether the word looks like a path of the repository that does not exist."""
    word = word.rstrip("/").removesuffix(":")
    if FOREIGN.search(word) or not re.fullmatch(r"[\w./<>*{},+-]+", word):
        return False
    pattern = PLACEHOLDER.sub("*", word)
    if "/" in pattern:
        if pattern.split("/")[0] not in heads:
            return False
        if pattern in folders or pattern in files:
            return False
        return not any(fnmatch.fnmatch(path, pattern) for path in (*files, *folders))
    if pattern.endswith(ENDINGS) and not pattern.startswith("."):
        return not any(fnmatch.fnmatch(name, pattern) for name in names)
    return False


def missing_key(word: str, keys: set[str]) -> bool:
    """Whether the word names a key that hw/keys.toml does not declare."""
    word = word.removeprefix("gpu.").split("=")[0]
    if not re.fullmatch(r"[a-z0-9]+\.[a-z0-9_*]+", word) or word.endswith(ENDINGS):
        return False
    groups = {key.split(".")[0] for key in keys}
    return word.split(".")[0] in groups and not fnmatch.filter(keys, word)


def main() -> int:
    files = tracked()
    keys = {str(key["name"]) for key in tomllib.loads((ROOT / "hw/keys.toml").read_text(encoding="utf-8"))["key"]}
    folders = {str(parent) for name in files for parent in Path(name).parents}
    names = {Path(name).name for name in files}
    heads = {name.split("/")[0] for name in files if "/" in name}
    pages = [name for name in files if name.endswith(".md")]
    wrong: list[str] = []
    for page in pages:
        text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for word in QUOTED.findall(text):
            if missing_path(word, files, folders, names, heads):
                wrong.append(f"{page}: `{word}` does not exist")
            if missing_key(word, keys):
                wrong.append(f"{page}: `{word}` is no key of hw/keys.toml")
        for link in LINK.findall(text):
            if "://" not in link and not (ROOT / page).parent.joinpath(link).exists():
                wrong.append(f"{page}: link to '{link}', which does not exist")
    for name in files:
        if name.endswith((".md", ".csv", ".gz", ".picks")):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for word in PAGE.findall(text):
            beside = str(Path(name).parent / word)
            if "/" in word and word.split("/")[0] in heads and word not in files and beside not in files:
                wrong.append(f"{name}: '{word}' does not exist")
    lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > README_LINES:
        wrong.append(f"README.md: {lines} lines, expected at most {README_LINES}: the rest belongs to docs/")
    for line in wrong:
        print(f"check_docs: {line}", file=sys.stderr)
    print(f"check_docs: {len(pages)} pages, {len(wrong)} faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
