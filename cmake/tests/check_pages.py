#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_pages: each page of doc/ says in its first three lines for whom it is, and is reached by links; all together are short.

A page begins with "# Title", an empty line, and a line "For READERS ...". A page has the length of its subject, README.md at most
110 lines, RELEASE_NOTES.md two pages of 50 lines. All together have at most WORDS words: a page that grows takes words from
another one.
Decisions are pages for contributors, as their list says, so they need no such line. Links from README.md lead to each page."""
import os
import pathlib
import re
import sys

START, LIST = 'README.md', 'doc/decisions/README.md'
LINES = {START: 110, 'RELEASE_NOTES.md': 100}
WORDS = 75_000
LINK = re.compile(r'\]\(([^)# ]+)[^)]*\)')
FENCED = re.compile(r'^```.*?^```', re.MULTILINE | re.DOTALL)


def is_decision(name):
    return name.startswith('doc/decisions/') and name != LIST


def targets(name, text):
    """Returns the pages to which a page links."""
    links = LINK.findall(FENCED.sub('', text))
    return {os.path.normpath(os.path.join(os.path.dirname(name), link)) for link in links if '://' not in link}


def reached(pages):
    """Returns the pages to which links from README.md lead, in any number of steps."""
    found, rest = set(), [START]
    while rest:
        name = rest.pop()
        if name in pages and name not in found:
            found.add(name)
            rest += targets(name, pages[name])
    return found


def complaints(pages, words=WORDS):
    found = reached(pages)
    count = sum(len(text.split()) for text in pages.values())
    if count > words:
        yield f'all pages: {count} words; shorten a page, {words} are allowed'
    for name, text in sorted(pages.items()):
        lines = text.splitlines()
        if len(lines) > LINES.get(name, len(lines)):
            yield f'{name}: {len(lines)} lines; {LINES[name]} are allowed'
        if name.startswith('doc/') and not is_decision(name) and not any(line.startswith('For ') for line in lines[:3]):
            yield f'{name}:3: must say for whom the page is: "For authors of handlers: what it tells them."'
        if name not in found:
            yield f'{name}: no link from {START} leads here'


def main():
    root = pathlib.Path()
    files = [*root.glob('*.md'), *root.glob('doc/**/*.md'), *root.glob('examples/*.md')]
    found = list(complaints({path.as_posix(): path.read_text(encoding='utf-8') for path in files}))
    print(*found, sep='\n', file=sys.stderr, end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
