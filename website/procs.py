"""What nbdev does to a notebook's cells before they become a page; `settings.ini` names the function."""

import re

HIDDEN = {"export", "hide", "default_exp"}


def fold_checks(cell) -> None:
    """Leave out exported plumbing and hidden cells; fold cells that are exported without becoming public.

    Those are the claims and what only they need; a claim's cell becomes a target of links, `#claim-<id>`.
    """
    kinds = set(cell.directives_ or ())
    if kinds & HIDDEN: del cell["source"]
    elif "exporti" in kinds:
        found = re.search(r'@claim\([^@]*?\bid="([^"]+)"', cell.source)
        label, summary = (f"#| label: claim-{found[1]}\n", f"Check of {found[1]}") if found else ("", "Code behind the checks")
        cell.source = f'{label}#| code-fold: true\n#| code-summary: "{summary}"\n{cell.source}'
