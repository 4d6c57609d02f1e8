"""The documentation site without Quarto: pandoc, one Lua filter, one template, Pagefind and MathJax, no network.

Run from the top of the repository:

    python -m website            the site in _docs/; exit code 1 if anything is wrong with a page
    python -m website --check    the same in a temporary folder, and README.md must be up to date
    python -m website --readme   write README.md from nbs/index.ipynb
    python -m website --mathjax  only fill nbs/mathjax/, which a build with Quarto needs too

Navigation, title, bibliography and MathJax's place come from _quarto.yml, so that Quarto makes the same site.
`cells` turns notebooks into Markdown, `render` Markdown into pages, `links` checks the pages.
"""
