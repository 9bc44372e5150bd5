#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""cpp_outline_test: what the checks that are written in Python say of small pieces of C++."""
import os
import pathlib
import tempfile
import unittest

import check_classes
import check_functions
import check_homes
import check_surface
import cpp_outline

HARD = r'''
// SPDX: a comment { with a brace, and a "quote
#include <string>
#define BRACES {{{ \
  }
namespace quintet::detail {
template <class T, std::size_t N = (3 > 2 ? 1 : 0)>
  requires std::invocable<T&> && (sizeof(T) < 64) && requires(T t) { t.run(); }
class [[nodiscard]] alignas(64) hard final : public base<T, std::pair<int, int>>, private other {
 public:
  hard() = default;
  hard(const hard&) = delete;
  explicit(N > 1) hard(T t, std::function<void(int)> f = [](int x) { return x; }) noexcept(noexcept(T(t)))
      : base<T>{t}, text_{"}"}, f_(std::move(f)) {
    if (t && f_) run([&] { return t ? 1 : 2; });
  }
  ~hard();
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  bool operator()(bytes in) const;
  bool operator<(const hard& other) const { return n_ < other.n_; }
  hard& operator=(hard&&) noexcept = default;
  explicit operator bool() const;
  template <class U> requires (sizeof(U) > 1)
  auto size(U&& u) -> decltype(u.size()) { return u.size() + '}' + 1'000'000; }
  static int count();
  virtual void pure() = 0;
  friend bool operator==(const hard&, const hard&) = default;
  friend void show(const hard& h) { print(h); }
  enum class state : unsigned char { open, closed };
  class nested;
  struct inner {
    int width() const { return 3; }
    bool wide = false;
  };

 private:
  void (*hook_)(int) = nullptr;
  std::function<bool(int, int)> f_;
  std::string text_{"{{{"}, raw_ = R"x({"a": }")x";
  std::array<int, 3> numbers_ = {1, 2, 3};
  bool open_ = false, closed_{true};
  bool* pointer_ = nullptr;
  mutable bool cached_;
  std::atomic<bool> asked_{false};
  unsigned one_ : 1 = 0;
  unsigned two_ : 2;
  static constexpr bool always = true;
  struct {
    bool within_a_struct_without_a_name;
  } part_;
#ifdef A
  void first_branch() {
#else
  void second_branch(int) {
#endif
  }
};
struct hard_to_see *declared(int n);
}  // namespace quintet::detail
template <class T>
hard<T>::hard::~hard() try {
  while (one && two || three) {}
} catch (...) {
}
int outer::inner::width() const { return for_each([](auto&& x) { return x; }); }
'''


def made(body):
    return cpp_outline.outline('class made {\n' + body + '\n};\n').classes[0]


class outline_test(unittest.TestCase):
    def test_counts_what_is_declared_in_a_class(self):
        found = {c.full_name(): c for c in cpp_outline.outline(HARD).classes}
        self.assertEqual(sorted(found), ['hard', 'hard::inner'])
        self.assertEqual([f.name for f in found['hard'].functions],
                         ['hard', '~hard', 'is_open', 'operator()', 'operator<', 'operator bool', 'size', 'count',
                          'pure', 'first_branch'])
        self.assertEqual(found['hard'].flags, 6)
        self.assertEqual((len(found['hard::inner'].functions), found['hard::inner'].flags), (1, 1))

    def test_knows_the_functions_that_are_defined(self):
        found = {f.full_name(): f for f in cpp_outline.outline(HARD).functions if f.defined}
        self.assertEqual(found['hard::hard'].complexity, 4)  # if, &&, ?
        self.assertEqual(found['hard::hard'].lines(), 4)
        destructor = next(f for f in found.values() if f.scopes == ['hard', 'hard'])
        self.assertEqual((destructor.name, destructor.complexity, destructor.lines()), ('~hard', 5, 5))
        self.assertEqual(found['outer::inner::width'].complexity, 1)
        self.assertIn('show', found)

    def test_gives_up_where_braces_do_not_match(self):
        for text in ('class a { void f() { };', 'void f() { if (x) ] }', 'struct a {} '):
            with self.assertRaises(cpp_outline.not_understood):
                cpp_outline.outline(text)


class checks_test(unittest.TestCase):
    def test_a_class_that_is_too_large(self):
        def complaints(functions, flags, waived=None):
            text = ''.join(f'void f{n}();\n' for n in range(functions)) + ''.join(f'bool b{n};\n' for n in range(flags))
            return list(check_classes.complaints([('a.hpp', made(text))], waived or {}))
        self.assertEqual(complaints(60, 12), [])
        self.assertEqual(complaints(61, 0), ['a.hpp:1: made declares 61 member functions; a class has at most 60'])
        self.assertEqual(complaints(0, 13), ['a.hpp:1: made has 13 flags; a class has at most 12'])
        self.assertEqual(complaints(61, 0, {'made': (61, 12)}), [])
        self.assertEqual(len(complaints(62, 0, {'made': (61, 12)})), 1)
        self.assertIn('remove its waiver', complaints(60, 0, {'made': (61, 12)})[0])

    def test_a_function_that_is_too_large(self):
        def complaints(text):
            found = [('a.cpp', f) for f in cpp_outline.outline(text).functions]
            return list(check_functions.complaints(found, {}))
        self.assertEqual(complaints('void f() {\n' + ';\n' * 38 + '}\n'), [])
        self.assertEqual(complaints('void f() {\n' + ';\n' * 39 + '}\n'),
                         ['a.cpp:1: f has 41 lines; a function has at most 40'])
        self.assertEqual(complaints('void f() {' + 'if (a) b();' * 14 + '}'), [])
        self.assertEqual(complaints('void f() {' + 'if (a) b();' * 15 + '}'),
                         ['a.cpp:1: f has a cyclomatic complexity of 16; a function has at most 15'])
        many = 'void f() {' + 'if (a) b();' * 12 + '}\n'
        self.assertEqual(complaints(many * 5), [])
        self.assertEqual(len(complaints(many * 6)), 1)

    def test_a_function_away_from_its_class(self):
        header = '// foo: all of it.\n#pragma once\nclass foo { void f(); class in { void g(); }; };\n'

        def complaints(files, waived=()):
            named = [(pathlib.PurePath(name), text) for name, text in {'n/foo.hpp': header, **files}.items()]
            return list(check_homes.homes(named, waived).complaints())
        define = 'void foo::f() {}\nvoid foo::in::g() {}\n'
        self.assertEqual(complaints({'n/foo.cpp': define, 'n/foo_more.cpp': define}), [])
        self.assertEqual(len(complaints({'n/bar.cpp': define})), 2)
        self.assertEqual(len(complaints({'m/foo.cpp': define})), 2)
        self.assertEqual(complaints({'n/bar.cpp': define}, [('foo', 'n/bar.cpp')]), [])
        self.assertIn('there is no third', complaints({'n/foo_a.cpp': define, 'n/foo_b.cpp': define})[0])
        self.assertIn('remove it', complaints({}, [('foo', 'n/bar.cpp')])[0])
        large = 'class bar {' + 'void f();' * 13 + '};'
        self.assertEqual(len(complaints({'n/other.hpp': '// other: things.\n#pragma once\n' + large})), 1)
        self.assertEqual(complaints({'n/other.hpp': '// other: bar, and more.\n#pragma once\n' + large}), [])

    def test_a_public_header_that_is_not_listed(self):
        files = {'base/a.hpp': '#include "work/b.hpp"\nclass a {};\n', 'base/work/b.hpp': 'enum class b {};\n',
                 'base/work/c.hpp': '', 'net/d.hpp': '#include "../base/a.hpp"\n'}
        row = '| [{0}](../{0}) | what for | {1} |\n'
        listed = row.format('base/a.hpp', '`a`, `b`')

        def complaints(text):
            pathlib.Path('doc/reference.md').write_text(text)
            return list(check_surface.complaints_about_the_list())
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as work:
            os.chdir(work)
            try:
                os.mkdir('doc')
                for path, text in files.items():
                    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
                    pathlib.Path(path).write_text(text)
                self.assertEqual(complaints(listed + row.format('net/d.hpp', '')), [])
                self.assertIn('net/d.hpp:1: is in a root', complaints(listed)[0])
                everything = listed + row.format('net/d.hpp', '')
                self.assertIn('not in a root', complaints(everything + row.format('net/e.hpp', ''))[0])
                self.assertIn('declares c', complaints(listed + row.format('net/d.hpp', '`c`'))[0])
                self.assertEqual(check_surface.closure(check_surface.public_headers()),
                                 {'base/a.hpp', 'base/work/b.hpp', 'net/d.hpp'})
            finally:
                os.chdir(before)


if __name__ == '__main__':
    unittest.main()
