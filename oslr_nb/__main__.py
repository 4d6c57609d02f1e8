"""The command `oslr`, as `python -m oslr_nb`."""
from .cli import app

if __name__ == "__main__":
    app()
