#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_system_calls_test: what check_system_calls says of small sources."""
import unittest

import check_system_calls

IGNORED = ['::close(fd);', '(void)::close(fd);', '(void)!::write(fd, &one, 8);', 'if (fd >= 0) ::close(fd);',
           'if (const int n = f(); n != 0)\n  (void)::close(n);', 'for (int fd : all) ::close(fd);',
           'if (a) b(); else ::close(fd);', 'case 1: ::close(fd);', '{ ::close(fd); }', '// ::open()\n::close(fd);',
           'io_uring_submit(&r);', 'if (f(a, "(;")) ::close(fd);', 'int x = ::open(p, 0); ::close(x);']
USED = ['return ::close(fd);', 'const int n = ::close(fd);', 'if (::close(fd) != 0) f();', 'f(::close(fd));',
        'a_type(::dup(fd));', 'x = y && ::close(fd) == 0;', 'while (::read(fd, b, n) > 0) {}', 'std::close(fd);',
        'quintet::close(fd);', 'auto n = a ? ::read(1, b, c) : ::write(1, b, c);', '// ::close(fd);', '"; ::close(fd);"',
        'if (const int e = io_uring_queue_init(8, &r, 0)) f();', 'for (; ::read(fd, b, 1) > 0;) {}',
        'for (const int fd : {1, 2})\n  if (::close(fd) != 0) f();']


class Calls(unittest.TestCase):
    def results(self, text):
        return [used for _, _, used in check_system_calls.calls('void g() {' + text + '}')]

    def test_ignored(self):
        for text in IGNORED:
            with self.subTest(text):
                self.assertIn(False, self.results(text))

    def test_used(self):
        for text in USED:
            with self.subTest(text):
                self.assertNotIn(False, self.results(text))

    def test_complaints(self):
        files = [('a.cpp', 'void g() {\n::close(fd);\n}')]
        self.assertIn('a.cpp:2: ', next(check_system_calls.complaints(files, {})))
        self.assertEqual(list(check_system_calls.complaints(files, {('a.cpp', 'close'): (1, 'why')})), [])
        self.assertIn('which ignores 1', next(check_system_calls.complaints(files, {('a.cpp', 'close'): (2, 'why')})))

    def test_untried(self):
        def said(test, reasons):
            files = [('net/a.cpp', 'void g() {\nreturn ::bind(fd) + ::bind(other);\n}')]
            return list(check_system_calls.untried(files, [test], reasons))
        self.assertIn('no test refuses bind()', said('"net/a.cpp: bind"', {})[0])
        self.assertEqual(said('"net/a.cpp: bind"', {('net/a.cpp', 'bind'): (1, 'why')}), [])
        self.assertEqual(said('"net/a.cpp: bind, net/a.cpp: bind"', {}), [])
        self.assertIn('which has 2', said('', {('net/a.cpp', 'bind'): (3, 'why')})[0])
        self.assertIn('is not there', said('net/b.cpp: bind', {('net/a.cpp', 'bind'): (2, 'why')})[0])


if __name__ == '__main__':
    unittest.main()
