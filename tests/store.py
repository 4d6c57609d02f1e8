"""The rows of some pages in the stored ledger, without those of all others: `make store PAGE=nbs/own/02_parameter_free.ipynb`."""

import sys
from pathlib import Path

import oslr_nb
from oslr_nb.core.base.storage import write_whole
from oslr_nb.ledger.claims import Ledger, claim_ids, verify


def main(pages: list[str]) -> int:
    "Check the claims of the pages; write their rows if all are as expected, without rows of claims that are gone."
    fresh = verify(*(page.removeprefix("nbs/").removeprefix("papers/").removesuffix(".ipynb") for page in pages))
    print(f"{fresh}\n{fresh.explained()}")
    rows = {r.id: r for r in [*Ledger.stored(), *fresh]}
    if fresh.ok: write_whole(Path(oslr_nb.__file__).with_name("claims.json"), Ledger(rows[i] for i in claim_ids([]) if i in rows).to_json())
    return not fresh.ok


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
