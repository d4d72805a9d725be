"""``python -m tracelens`` is ``tracelens``."""

from tracelens.cli import main

main()
