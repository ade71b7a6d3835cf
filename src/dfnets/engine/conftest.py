"""pytest collects docstring examples from every module here; the CUDA back end can be imported only beside Triton."""

from __future__ import annotations

import importlib.util

collect_ignore = [] if importlib.util.find_spec("triton") else ["cuda.py"]
