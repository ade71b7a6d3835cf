"""``python -m dfnets.studies NAME... [setting=value...]``: `dfnets reproduce` without the packages of the command line.

Settings: quick=true workers=6 device=cuda store=studies.db minutes=10 retry=true datasets=cora,pubmed models=gcn,gat
"""

from __future__ import annotations

import json
import sys
from typing import Any

from dfnets.studies import chosen, groups_of
from dfnets.studies.run import run

STORE = "reports/studies.db"


def main(words: list[str]) -> None:
    names = [word for word in words if "=" not in word]
    given: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if equals:
            given[name] = text.split(",") if name in ("datasets", "models") else _value(text)
    selection = {name: given.pop(name) for name in ("quick", "datasets", "models") if name in given}
    run(groups_of(chosen(names), **selection), given.pop("store", STORE), **given)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


if __name__ == "__main__":
    main(sys.argv[1:])
