"""Random trials of what the package promises: thousands of bad files, bad command lines, kills and full disks.

``python -m fuzz`` runs every part and prints one line per part; see :mod:`fuzz.__main__`. A part is a module with a
function ``run(seed, scale) -> Report``: ``scale`` 1 is the full number of trials.
"""
