"""The command line; see the package's docstring."""

import argparse
import sys
import tempfile
from pathlib import Path

import website
from website import numbers, quarto
from website.render import Site, processed, provide_mathjax


def main() -> int:
    parser = argparse.ArgumentParser(prog="website", description=website.__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("_docs"), help="folder of the site")
    for name in ("check", "readme", "mathjax", "quarto", "check-output", "numbers"): parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    made = any((args.out / name).exists() for name in ("site.css", "site_libs"))
    if args.out.exists() and not made and (not args.out.is_dir() or any(args.out.iterdir())):
        parser.error(f"--out {args.out}: it must be a site, which is made anew, or a folder that is empty or not there")
    if args.numbers:
        for name in numbers.renew(Path("nbs"), write=not args.check): print(f"{'not up to date' if args.check else 'renewed'}: {name}")
        for problem in (found := numbers.problems(Path("nbs"))): print(problem, file=sys.stderr)
        return 1 if found else 0
    provide_mathjax(Path("nbs/mathjax"))
    if args.mathjax: return 0
    file, picture, proc = Path("README.md"), Path("nbs/front.svg"), processed()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(proc, Path(folder, "site") if args.check else args.out, Path("nbs"))
        if args.readme:
            file.write_text(site.readme(), encoding="utf-8")
            picture.write_bytes(site.picture())
        else:
            if args.quarto: quarto.build(site)
            elif args.check_output: site.problems += quarto.check_output(site)
            else: site.build()
            there = (file.read_text(encoding="utf-8"), picture.read_bytes()) if args.check else ()
            if args.check and not site.problems and there != (site.readme(), site.picture()):
                site.problems.append("README.md or its picture is not what nbs/index.ipynb makes: run python -m website --readme")
            print(f"{len(site.pages)} pages, {len(site.problems)} problems{'' if args.check else f' in {args.out}'}")
    for problem in site.problems: print(problem, file=sys.stderr)
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())
