"""The documentation site: pandoc, one Lua filter, one template, Pagefind and MathJax, no network; or Quarto where it is installed.

Run from the top of the repository:

    python -m website            the site in _docs/; exit code 1 if anything is wrong with a page
    python -m website --check    the same in a temporary folder, and README.md must be up to date
    python -m website --quarto   the same notebooks through Quarto; exit code 1 for warnings too
    python -m website --check-output   only check the site that Quarto made
    python -m website --readme   write README.md from nbs/index.ipynb
    python -m website --numbers  put numbers, citations and references in the notebooks right (--check: only say what is wrong)
    python -m website --mathjax  only fill nbs/mathjax/, which a build with Quarto needs too
    python -m website.book FILE  the chapters as one PDF, with typst (make pdf)
    python -m website.sizes SITE TABLE   how long the pages are in Chromium (make sizes)

Navigation, title, bibliography and MathJax's place come from _quarto.yml, so that Quarto makes the same site.
`numbers` keeps the numbers that stand in the notebooks, `rich` turns their plain form into fences and labels,
`procs` prepares them for both renderers, `reference` adds the pages made from docstrings, `cells` turns them into Markdown,
`render` Markdown into pages, `search` makes the index, `links` checks the pages.
"""
