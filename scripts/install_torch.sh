#!/usr/bin/env bash
# Installs PyTorch into a virtual environment for the tests of captures: the wheel without NVIDIA's libraries.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: scripts/install_torch.sh VENV
# Downloads 0.5 GB once; does nothing where the version is there already. Stand-ins take the place of the libraries
# that only a GPU needs (scripts/stub_libraries.py).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1/bin/python
wanted=2.11.0

if [ "$("$python" -c 'from importlib.metadata import version; print(version("torch"))' 2>/dev/null)" != "$wanted" ]; then
    "$python" -m pip install --quiet --disable-pip-version-check filelock==3.20.0 typing-extensions==4.15.0 sympy==1.14.0 \
        networkx==3.5 jinja2==3.1.6 fsspec==2025.9.0
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps "torch==$wanted"
    "$python" scripts/stub_libraries.py "$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch/lib"
fi
"$python" -W ignore -c 'import torch; torch.empty(1)'
