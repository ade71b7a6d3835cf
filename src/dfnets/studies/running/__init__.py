"""Running: groups become rows of a store, by several processes that may be stopped at any moment."""

from dfnets.studies.running.processes import run

__all__ = ["run"]
