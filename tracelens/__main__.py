"""``python -m tracelens`` is ``tracelens``."""

from tracelens.cli import main

if __name__ == "__main__":  # the processes of a batch import this module, and must not run it
    main()
