"""``python -m dfnets`` is the command `dfnets`."""

from dfnets.cli import main

if __name__ == "__main__":
    main()
