#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_specification_test: what check_specification says of small tables and projects."""
import pathlib
import tempfile
import unittest
import unittest.mock

import check_specification

FILES = {
    'base/a.hpp': '',
    'base/tests/a_test.cpp': 'BOOST_AUTO_TEST_CASE(plain) {}\nBOOST_AUTO_TEST_SUITE(outer)\nBOOST_AUTO_TEST_SUITE(inner)\n'
                             'BOOST_DATA_TEST_CASE(deep,\n  data) {}\nBOOST_AUTO_TEST_SUITE_END()\n'
                             'BOOST_FIXTURE_TEST_CASE(shallow, f) {}\nBOOST_AUTO_TEST_SUITE_END()\n',
    'net/tests/b_test.cpp': '  BOOST_TEST(true);\nQUINTET_ENGINE_TEST(on_each) {}\n',
    'net/tests/support/c_test.cpp': 'BOOST_AUTO_TEST_CASE(helper) {}\n',
    'threadmodels/tests/many/one.cpp': 'QUINTET_SCENARIO(first) {}\n',
    'threadmodels/tests/many/two.cpp': 'BOOST_AUTO_TEST_CASE_TEMPLATE(second, T, all) {}\n',
    'benchmarks/peers/tests/d_test.cpp': 'BOOST_AUTO_TEST_CASE(peer) {}\n',
    'benchmarks/python/tests/test_e.py': 'def test_e(x: int) -> None:\n    pass\n',
    'benchmarks/tests/f_test.sh': '',
    'benchmarks/serve/serve_command.cpp': 'app.add_subcommand("serve", "text");\n',
    'benchmarks/serve/limits.cpp': 'add(app, "--pin-loops{all}");\n',
    'benchmarks/echo_command.cpp': 'app.add_subcommand("echo", "text");\n add(app, "--models-too");\n',
    'benchmarks/python/quintet_bench/main.py': 'COMMANDS = ("sweep",\n            "diff")\n',
    'benchmarks/python/quintet_bench/experiment.py': 'class Experiment:\n  def add_options(p):\n    add_runs(p)\n',
    'benchmarks/python/quintet_bench/measuring.py': 'def add_runs(p):\n  p.option("--rounds")\n  add_files(p)\n\n'
                                                    'def add_files(p):\n    p.option("--json")\n',
    'benchmarks/python/quintet_bench/commands/sweep.py': 'p.option("--values")\nadd_runs(p)\n',
    'benchmarks/python/quintet_bench/commands/diff.py': 'add_files(p)\n'}
HEAD = '| row | claim | status | source | proof | ours | published |\n| --- | --- | --- | --- | --- | --- | --- |\n'
GOOD = {'1.1': '| 1.1 | Far away | planned | | | | |',
        '1.2': '| 1.2 | It works | works | `base/a.hpp` | `base_a_test/plain` | | |',
        '2.1': '| 2.1 | Fast | works | `base/a.hpp` | `net_b_test/on_each` | 5 us (2026-11-25) | 9 us |',
        '2.2': '| 2.2 | Far | simulated: all | `base` | `benchmarks/tests/f_test.sh` | | |'}
PROOFS = {
    'base_a_test/plain': None, 'base_a_test/outer/inner/deep': None, 'base_a_test/outer/shallow': None,
    'base_a_test/deep': 'base_a_test has no case deep', 'base_a_test': 'base_a_test has no case ',
    'net_b_test/on_each': None, 'net_c_test/helper': 'there is no test program net_c_test',
    'threadmodels_many_test/first': None, 'threadmodels_many_test/second': None, 'peers_d_test/peer': None,
    'benchmarks/python/tests/test_e.py::test_e': None,
    'benchmarks/python/tests/test_e.py::test': 'benchmarks/python/tests/test_e.py has no test',
    'benchmarks/python/tests/test_f.py::test_e': 'there is no benchmarks/python/tests/test_f.py',
    'benchmarks/tests/f_test.sh': None, 'benchmarks/tests/g_test.sh': 'there is no benchmarks/tests/g_test.sh',
    'quintet-bench serve --pin-loops=idle': None, 'quintet-bench echo --models-too 2': None,
    'quintet-bench serve --pin 1': 'quintet-bench serve has no option --pin',
    'quintet-bench echo --models 2': 'quintet-bench echo has no option --models',
    'quintet-bench sweep size --values 1,2 --rounds 3 --json x': None, 'quintet-bench diff a b --json x': None,
    'quintet-bench diff --rounds 3': 'quintet-bench diff has no option --rounds',
    'quintet-bench fly': 'quintet-bench has no command fly', 'base/a.hpp': 'there is no test program base'}


class check_specification_test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in FILES.items():
            file = pathlib.Path(folder.name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.folder, self.known = folder.name, check_specification.project(folder.name)
        small = unittest.mock.patch.multiple(check_specification, ROWS=list(GOOD), PLANNED=['1.1'], SIMULATED=['2.2'],
                                             WITH_FIGURE=['1.1', '2.1'])
        small.start()
        self.addCleanup(small.stop)

    def page(self, notes='', **changed):
        rows = GOOD | {name.replace('_', '.')[1:]: text for name, text in changed.items()}
        return ''.join(f'## {work}\n\n{HEAD}' + ''.join(f'{text}\n' for row, text in rows.items() if row[0] == work)
                       + f'\n{notes}\n' for work in '12')

    def complains(self, expected, **changed):
        found = list(check_specification.complaints(self.page(**changed), self.known))
        self.assertEqual([text.partition(': row ')[2] or text for text in found], expected)

    def change(self, row, old, new, *expected):
        self.complains([f'{row}{text}' for text in expected], **{f'r{row.replace(".", "_")}': GOOD[row].replace(old, new)})

    def test_proofs(self):
        for proof, expected in PROOFS.items():
            self.assertEqual(self.known.about_proof(proof), expected, proof)

    def test_rows(self):
        self.complains([])
        self.complains(['2.1 is missing'], r2_1='')
        self.complains(['1.2: is in line 6 already'], r1_1=f'{GOOD["1.1"]}\n{GOOD["1.2"]}')
        self.complains(['1.9: is unknown'], r1_1=f'{GOOD["1.1"]}\n{GOOD["1.2"].replace("1.2", "1.9")}')
        self.complains(['1.2: is in table 2'], r1_2='', r2_1=f'{GOOD["1.2"]}\n{GOOD["2.1"]}')
        self.complains(['1.2: has 6 cells, not 7', '1.2 is missing'], r1_2=GOOD['1.2'][:-2])

    def test_cells(self):
        self.change('1.2', 'It works', '', ', claim: must have 1 to 12 words')
        self.change('1.2', 'It works', 'a ' * 13, ', claim: must have 1 to 12 words')
        self.change('1.2', '`base/a.hpp`', '`base/b.hpp`', ', source: there is no base/b.hpp')
        self.change('1.2', '`base/a.hpp`', 'base/a.hpp', ', source: must name 1 to 2 files')
        self.change('1.2', '`base_a_test/plain`', '`base_a_test/fancy`', ', proof: base_a_test has no case fancy')
        self.change('1.2', '`base_a_test/plain`', '', ', proof: must name 1 to 3 tests or commands')
        self.change('1.2', '`base_a_test/plain`', '`base_a_test/plain` ' * 4, ', proof: must name 1 to 3 tests or commands')
        self.change('2.1', '5 us (2026-11-25)', '', ', ours: is empty')
        self.change('2.1', '5 us (2026-11-25)', '5 us', ', ours: has no date')
        self.change('2.1', '5 us', '`quintet-bench fly`', ', ours: quintet-bench has no command fly')
        self.complains(['doc/specification.md: a note: net_b_test has no case off'] * 2, notes='See `net_b_test/off`, `x`.')

    def test_statuses(self):
        for status in ('planned', 'simulated: all', 'simulated', 'partly', 'perhaps', ''):
            self.change('1.2', '| works', f'| {status}', f', status: "{status}" is not allowed')
        self.change('2.2', 'simulated: all', 'partly: half')
        self.change('1.2', '| works', '| partly: half')
        self.change('2.2', 'simulated: all', 'partly: ', ', status: "partly:" is not allowed')
        self.change('1.1', '| planned', '| works', ', source: must name 1 to 2 files',
                    ', proof: must name 1 to 3 tests or commands', ', ours: is empty')

    def test_what_is_left_to_measure(self):
        page = pathlib.Path(self.folder, check_specification.PAGE)
        page.parent.mkdir()
        top = '2 rows work, 0 partly, 1 are simulated\n\n'
        page.write_text(top + self.page(r2_1=GOOD['2.1'].replace('5 us (2026-11-25)', 'TO MEASURE: `quintet-bench serve`')))
        with unittest.mock.patch('sys.stderr'), unittest.mock.patch('sys.stdout') as told:
            self.assertEqual(check_specification.main([self.folder]), 1)
            told.write.assert_not_called()
            self.assertEqual(check_specification.main(['--draft', self.folder]), 0)
            self.assertIn('row 2.1, ours: TO MEASURE', told.write.call_args_list[0].args[0])
        page.write_text(top + self.page())
        self.assertEqual(check_specification.main([self.folder]), 0)
        page.write_text(top.replace('0 partly', '1 partly') + self.page())
        with unittest.mock.patch('sys.stderr') as told:
            self.assertEqual(check_specification.main([self.folder]), 1)
        self.assertIn('must say: 2 rows work, 0 partly', ''.join(call.args[0] for call in told.write.call_args_list))


if __name__ == '__main__':
    unittest.main()
