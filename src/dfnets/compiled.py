"""Numba's compiler, also where nothing can be kept of what it compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any) -> Any:
    """``numba.njit``, whose ``cache=True`` means: keep the machine code where there is a folder for it.

    Numba keeps it beside the source, or else in the user's cache folder, and refuses to compile at all where neither
    can be written (an installation that is read-only, a user without a home). Here such a process compiles again what
    it needs, which takes some seconds; ``NUMBA_CACHE_DIR`` names a folder that spares it that.
    """
    if function is None:
        return lambda decorated: njit(decorated, cache=cache, **options)
    try:
        return numba.njit(cache=cache, **options)(function)
    except RuntimeError:
        if not cache:
            raise
        return numba.njit(**options)(function)
