"""What each process of a test runs under torchrun: ``train_program.py FOLDER``; rank 0 writes what came out.

FOLDER has ``parts`` and ``tasks.json``, a list of trainings. Where a task names an epoch to die at, process 1 kills
itself then, in the first attempt.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dfnets.distributed import fit_row_blocks, processes
from dfnets.training.loop import Trainer


def main() -> None:
    folder = Path(sys.argv[1])
    with processes() as (rank, _):
        for number, task in enumerate(json.loads((folder / "tasks.json").read_text())):
            dies = task.pop("dies_at", None)

            seen: list[int] = []

            def after_epoch(trainer: Trainer, dies: int | None = dies, seen: list[int] = seen) -> None:
                seen.append(trainer.epoch)
                first_attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT") == "0"
                if trainer.epoch == dies and first_attempt and rank == 1:
                    os.kill(os.getpid(), signal.SIGKILL)

            result = fit_row_blocks(
                task.pop("model"), folder / "parts", progress=False, after_epoch=after_epoch, **task
            )
            assert result.shift is not None
            found = result.predict(rule="final")
            whole = result.shift.gather(np.ascontiguousarray(found.per_replica.transpose(1, 0, 2)))
            weights: dict[str, Any] = {name: tensor.numpy() for name, tensor in result.trained("final").weights.items()}
            result.save(folder / f"model-{number}", rule="final")
            if rank == 0:
                table = result.history.arrays()["table"]
                np.savez(folder / f"out-{number}.npz", history=table, predictions=whole, first_epoch=seen[0], **weights)


if __name__ == "__main__":
    main()
    # Seldom, a thread of torch aborts the interpreter when it ends, and all work is done by then.
    sys.stdout.flush()
    os._exit(0)
