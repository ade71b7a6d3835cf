"""Running: groups become rows of a store, by several processes that may be stopped at any moment."""

from dfnets.studies.running.run import run

__all__ = ["run"]
