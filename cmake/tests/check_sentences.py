#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_sentences [--list]: sentences of README.md, RELEASE_NOTES.md and doc/ can be read once: few have more than 25 words.

Counts the prose: paragraphs and items of lists, without headings, tables and code in blocks. Of all sentences at most SHARE may be
longer than MOST words. The pages that teach (TEACHING) have none. --list prints every long sentence."""
import fnmatch
import pathlib
import re
import sys

MOST = 25
SHARE = 0.03
TEACHING = ('README.md', 'RELEASE_NOTES.md', 'doc/README.md', 'doc/tutorial.md', 'doc/tutorial/*', 'doc/installing.md', 'doc/choosing.md',
            'doc/models.md', 'doc/handlers.md', 'doc/coroutines.md', 'doc/connections.md', 'doc/limits.md', 'doc/errors.md', 'doc/tls.md', 'doc/releasing.md')
NO_PROSE = re.compile(r'^```.*?^```[^\n]*|<!--.*?-->|^(?:#|\|)[^\n]*', re.MULTILINE | re.DOTALL)
ITEM = re.compile(r'^(?:[-*]|\d+\.)\s+')
LINK = re.compile(r'\[([^\]]*)\]\([^)]*\)')
CODE = re.compile(r'`[^`]*`')
END = re.compile(r'(?<=[.!?])[)*_"]*\s+(?=\S)')


def paragraphs(text):
    """Yields each paragraph or item of a list, with the number of its first line."""
    text = NO_PROSE.sub(lambda found: '\n' * found.group().count('\n'), text)
    lines, begin = [], 0
    for number, line in enumerate([*text.split('\n'), ''], 1):
        line = line.strip()
        if lines and (not line or ITEM.match(line)):
            yield begin, ' '.join(lines)
            lines = []
        if line:
            begin = begin if lines else number
            lines.append(ITEM.sub('', line, count=1) if not lines else line)


def sentences(text):
    """Yields each sentence with the number of its paragraph's first line. Marks within code end no sentence."""
    for number, paragraph in paragraphs(text):
        plain = CODE.sub(lambda found: re.sub(r'[.!?]', '_', found.group()), LINK.sub(r'\1', paragraph))
        for sentence in END.split(plain):
            yield number, sentence


def length(sentence):
    return sum(1 for word in sentence.split() if re.search(r'\w', word))


def long_sentences(pages):
    """Returns the number of all sentences, and (page, line, words, sentence) of each long one."""
    count, found = 0, []
    for name, text in sorted(pages.items()):
        for number, sentence in sentences(text):
            count += 1
            if (words := length(sentence)) > MOST:
                found.append((name, number, words, sentence))
    return count, found


def complaints(pages, share=SHARE):
    count, found = long_sentences(pages)
    for name, number, words, sentence in found:
        if any(fnmatch.fnmatch(name, page) for page in TEACHING):
            yield f'{name}:{number}: {words} words in a sentence of a page that teaches; {MOST} are allowed: {sentence[:60]}...'
    if len(found) > share * count:
        yield (f'doc/: {len(found)} of {count} sentences have more than {MOST} words; {share:.1%} are allowed '
               '(check_sentences.py --list)')


def main():
    root = pathlib.Path()
    files = [root / 'README.md', root / 'RELEASE_NOTES.md', *root.glob('doc/**/*.md')]
    pages = {path.as_posix(): path.read_text(encoding='utf-8') for path in files}
    if '--list' in sys.argv:
        count, found = long_sentences(pages)
        print(*(f'{name}:{number}: {words}: {sentence}' for name, number, words, sentence in found), sep='\n')
        print(f'{len(found)} of {count} sentences, {len(found) / count:.2%}')
        return 0
    found = list(complaints(pages))
    print(*found, sep='\n', file=sys.stderr, end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
