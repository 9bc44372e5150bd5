#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""documentation_checks_test: what check_commands, check_errors, check_pages, check_sentences and check_threads
find missing or wrong in small pages."""
import pathlib
import tempfile
import unittest

import check_commands
import check_errors
import check_pages
import check_sentences
import check_threads

ERRORS = '''## Exceptions
| exception | from | when |
|---|---|---|
| `config_error` | [size](../base/size.hpp) | 0 |
| `std::logic_error`, `std::bad_alloc` | `run()` | again |

## A log
| event | severity | when |
|---|---|---|
| `cannot accept` | error | |
| the `backlog is cut` to so many | warning | |
'''
LOG = '''
void report(const log_hook& hook, const log_event& event) noexcept;
void f() {
  report(log_, {severity::error, "cannot accept", reason});
  report(log_,
         {severity::warning, "backlog is cut to " + std::to_string(most)});
}
'''


class errors(unittest.TestCase):
    def complains(self, expected, files, page=ERRORS):
        found = list(check_errors.complaints({'net/log.cpp': LOG, **files}, page))
        self.assertEqual(len(found), len(expected), found)
        for part, complaint in zip(expected, found):
            self.assertIn(part, complaint)

    def test_a_complete_page(self):
        self.complains([], {'base/size.cpp': 'throw config_error("0");', 'net/a.cpp': 'throw std::bad_alloc();'})

    def test_a_type_that_is_not_listed(self):
        self.complains(['net/a.cpp: throws std::range_error'], {'net/a.cpp': 'throw std::range_error("x");'})
        self.complains(['throws boost::system::system_error'], {'net/a.cpp': 'throw_system_error(errno, "x");'})
        self.complains([], {'net/a.cpp': '// throw std::range_error("x");'})

    def test_a_mistake_of_the_program_needs_its_source(self):
        self.complains(['net/a.cpp: throws config_error'], {'net/a.cpp': 'throw config_error("x");'})
        self.complains(['throws config_error'], {'net/a.cpp': '#include "../options/require.hpp"\nrequire(ok, "x");'})
        self.complains([], {'net/a.cpp': 'require(ok, "x");'})  # another function of this name
        self.complains(['throws std::logic_error'], {'net/a.cpp': 'throw std::logic_error("x");'})

    def test_events(self):
        self.complains(['logs "something else"'], {'net/a.cpp': 'report(log, {severity::info, "something else"});'})
        self.complains(['another severity'], {'net/a.cpp': 'report(log, {severity::info, "cannot accept"});'})
        self.complains([], {'net/a.cpp': 'report_of_peer(log, {level, "cannot accept", why}, f);'})
        self.complains(['cannot find the text'], {'net/a.cpp': 'report(log, {severity::info, text(x)});'})

    def test_a_row_that_nothing_logs(self):
        self.complains(['doc/errors.md:12: no source logs this'], {}, ERRORS + '| `cannot sleep` | info | |\n')


class pages(unittest.TestCase):
    def complains(self, expected, files, words=1000):
        found = list(check_pages.complaints({'README.md': '[a](doc/a.md)\n', 'doc/a.md': '# A\n\nFor readers.\n', **files}, words))
        self.assertEqual(len(found), len(expected), found)
        for part, complaint in zip(expected, found):
            self.assertIn(part, complaint)

    def test_complete_pages(self):
        self.complains([], {})
        self.complains([], {'doc/a.md': '# A\n\nFor readers: [b](b/b.md#x).\n', 'doc/b/b.md': '# B\n\nFor readers.\n'})

    def test_a_page_for_nobody(self):
        self.complains(['doc/a.md:3'], {'doc/a.md': '# A\n\nIt waits.\n\nFor readers.\n'})
        self.complains([], {'doc/a.md': '# A\n\nFor readers: [1](decisions/1.md)\n', 'doc/decisions/1.md': '# 1\n\nIt waits.\n'})

    def test_lengths(self):
        self.complains([], {'doc/a.md': '# A\n\nFor readers.\n' + 'x\n' * 900})
        self.complains([], {'README.md': '[a](doc/a.md)\n' + 'x\n' * 109})
        self.complains(['111 lines'], {'README.md': '[a](doc/a.md)\n' + 'x\n' * 110})
        readme = '[a](doc/a.md) [notes](RELEASE_NOTES.md)\n'
        self.complains([], {'README.md': readme, 'RELEASE_NOTES.md': 'x\n' * 100})
        self.complains(['RELEASE_NOTES.md: 101 lines'], {'README.md': readme, 'RELEASE_NOTES.md': 'x\n' * 101})

    def test_the_words_of_all_pages(self):
        files = {'README.md': '[a](doc/a.md) [b](examples/b.md)\n', 'examples/b.md': 'It counts, too.\n'}
        self.complains([], files, words=9)
        self.complains(['9 words'], files, words=8)

    def test_a_page_that_no_link_reaches(self):
        self.complains(['doc/b.md: no link'], {'doc/b.md': '# B\n\nFor readers.\n'})
        self.complains(['doc/b.md: no link'], {'doc/a.md': '# A\n\nFor readers.\n```\n[b](b.md)\n```\n',
                                               'doc/b.md': '# B\n\nFor [a](a.md).\n'})


class sentences(unittest.TestCase):
    LONG = 'word ' * 25 + 'end.'

    def found(self, text):
        return [(number, words) for _, number, words, _ in check_sentences.long_sentences({'doc/a.md': text})[1]]

    def test_a_long_sentence(self):
        self.assertEqual(self.found('# A\n\nIt waits.\n' + 'word ' * 24 + 'end.\n'), [])
        self.assertEqual(self.found('# A\n\nIt waits.\n' + self.LONG + '\n'), [(3, 26)])
        self.assertEqual(self.found('word ' * 12 + '\n' + 'word ' * 13 + '\nend.\n'), [(1, 26)])

    def test_each_item_is_by_itself(self):
        half = 'word ' * 13 + '\n'
        self.assertEqual(self.found('- ' + half + '- ' + half + '1. ' + half + '\n' + half), [])
        self.assertEqual(self.found('- ' + half + '  ' + half), [(1, 26)])
        self.assertEqual(self.found(half + 'at least 1. ' + half), [])  # no item: it is in the middle of a line

    def test_what_is_no_prose(self):
        for text in ('# ' + self.LONG, '| ' + self.LONG + ' |', '```\n' + self.LONG + '\n```', '<!-- ' + self.LONG + '\n-->'):
            self.assertEqual(self.found(text + '\n'), [])

    def test_ends(self):
        half = 'word ' * 12
        self.assertEqual(self.found(half + '**end.** ' + half + '[end.](doc/a.md) `code` ' + half + '"end!" ' + half), [])
        self.assertEqual(self.found(half + '`a. b` and ' + half), [(1, 27)])
        self.assertEqual(self.found(half + '[one. two](a.md#b) ' + half + 'end'), [])

    def test_shares(self):
        def complains(name, short, share):
            return list(check_sentences.complaints({name: self.LONG + ' It waits.' * short}, share))
        self.assertEqual(complains('doc/a.md', 9, 0.1), [])
        self.assertIn('1 of 9 sentences', complains('doc/a.md', 8, 0.1)[0])
        self.assertIn('doc/tutorial/1_a.md:1: 26 words', complains('doc/tutorial/1_a.md', 9, 0.1)[0])



class tool:
    options = {'load': '"--size"', 'probe': ''}

    def about_command(self, words):
        wrong = [word for word in words[1:] if f'"{word}"' not in self.options[words[0]]]
        return f'no option {wrong[0]}' if wrong else None


class commands(unittest.TestCase):
    def complains(self, expected, page):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {'scripts/fuzz': '--seconds', 'examples/kv/main.cpp': '"--limit"', 'examples/common/a.cpp': '"--model"'}
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            found = list(check_commands.complaints({'doc/a.md': page}, root, tool()))
        self.assertEqual(len(found), len(expected), found)
        for part, complaint in zip(expected, found):
            self.assertIn(part, complaint)

    def test_spans(self):
        self.complains([], '`scripts/fuzz --seconds 5`, `quintet-bench load --size=8 --help`, `load --size 8`, `other --x`')
        self.complains(['doc/a.md:2: scripts/fuzz has no option --second'], 'a\n`scripts/fuzz\n--second 5`')
        self.complains(['no option --sizes', 'no option --x'], '`quintet-bench load --sizes 8` and `probe --x`')
        self.complains([], '`quintet-bench load`s option `--sizes`; `scripts/gone --x`')  # check_docs says that it is gone

    def test_blocks(self):
        self.complains([], '```console\n$ build/dev/examples/kv --model x --limit 1 & curl --gone\nkv: --gone\n```\n')
        self.complains(['doc/a.md:3: examples/kv has no option --most'], '```\nx\nbuild/dev/examples/kv --most 1\n```\n')
        self.complains(['examples/kv has no option --most'], '```sh\nexamples/kv --model x \\\n  --most 1\n```\n')
        self.complains([], '```cpp\n// scripts/fuzz --gone\n```\nscripts/fuzz --gone\n')


THREADS = '''## Who may call what
| function | tag | notes |
|---|---|---|
| `thing::run`, `stop` | `[any thread]` | |
| `thing`: `use(T)`, `size` | `[loop]` | |
| handler: `on_open` | one | |

## Lifetimes
| `thing::late` | `[loop]` | |
'''
CLASS = '''
class thing {
 public:
  explicit thing(int n);
  /// [any thread] Runs.
  void run();
  /// [any thread] Returns, or stops.
  /// Later.
  void stop() noexcept { done_ = true; }
  /// [loop] Uses.
  template <class T>
  T& use();
  /// [loop] Return two numbers.
  int size() const;
  int MORE() const;

  int untagged() const;

 private:
  /// [loop] Hides.
  void hide();
};
'''


class threads(unittest.TestCase):
    def complaints(self, text, header='net/thing.hpp', types=('thing',)):
        return list(check_threads.complaints([(header, text)], set(types), THREADS))

    def test_a_complete_table(self):
        self.assertEqual(self.complaints(CLASS.replace('MORE', 'size')), [])

    def test_a_function_that_is_missing(self):
        [found] = self.complaints(CLASS.replace('MORE', 'late'))
        self.assertIn('thing::late [loop] is not in the table', found)

    def test_another_tag(self):
        [found] = self.complaints(CLASS.replace('MORE', 'stop').replace('[any thread] Returns', '[baton] Returns', 1)
                                  .replace('int stop() const;', ''))
        self.assertIn('thing::stop is [baton] here', found)

    def test_types_that_are_not_public(self):
        self.assertEqual(self.complaints(CLASS.replace('MORE', 'late'), types=()), [])

    def test_hooks(self):
        option = 'struct o {\n  std::function<void()> on_open = {};\n  log_hook log = {};\n};\n'
        [found] = self.complaints(option, 'net/options/o.hpp')
        self.assertIn('the function log', found)
        [found] = self.complaints('///   on_open(connection&)\n///   on_end(connection&)\n', 'net/connection/handler.hpp')
        self.assertIn('the function on_end', found)


if __name__ == '__main__':
    unittest.main()
