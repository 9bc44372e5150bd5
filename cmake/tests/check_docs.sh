#!/usr/bin/env bash
# check_docs <compiler> <include directory>: in README.md, RELEASE_NOTES.md, doc/ and others, every piece of C++ compiles, every
# link and path has a target, every errc and variable of the environment is explained, and quotations from files are exact.
# shellcheck disable=SC2016
set -euo pipefail
compiler=$1 include=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
documents=(README.md RELEASE_NOTES.md CHANGELOG.md SECURITY.md examples/README.md)
while IFS= read -r file; do documents+=("$file"); done < <(find doc -name '*.md' | sort)

# A piece with an #include is a file of its own. The other pieces of a document share one namespace; all documents share
# one file, after this prelude. A piece after <!-- part of: PATH --> must be consecutive lines of that file, which the
# build compiles. All pieces of the tutorial are such parts.
cat > "$work/prelude.hpp" << 'END'
#include <quintet/base/framing/checked.hpp>
#include <quintet/net/asio.hpp>
#include <quintet/net/child_process.hpp>
#include <quintet/net/connection.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
END
printf '#include "%s"\n' "$work/prelude.hpp" > "$work/pieces.cpp"
number=0
for document in "${documents[@]}"; do
  awk -v number=$((number += 1)) -v prefix="$work/${document//\//-}" -v document="$document" -v pieces="$work/pieces.cpp" '
    function write_piece(  file) {
      if (text ~ /#include/) {
        file = prefix "-" start ".cpp"
      } else {
        file = pieces
        if (!begun++) print "namespace pieces_" number " {" >> file
      }
      printf "#line %d \"%s\"\n%s", start, document, text >> file
    }
    function complain(why) {print document ":" start ": " why > "/dev/stderr"; wrong = 1}
    function check_part(  line, content) {
      content = "\n"
      while ((getline line < part) > 0) content = content line "\n"
      close(part)
      if (!index(content, "\n" text)) complain("the piece from this line on is not a part of " part)
    }
    /^<!-- part of: .* -->$/ {part = $4; next}
    /^```cpp$/ {inside = 1; text = ""; start = NR + 1; next}
    /^```/ && inside {
      inside = 0
      if (part == "" && document ~ /^doc\/tutorial/) complain("a piece of the tutorial is a part of a program")
      if (part != "") check_part(); else write_piece()
      part = ""
      next
    }
    inside {text = text $0 "\n"}
    END {if (begun) print "}" >> pieces; exit wrong}' "$document" || failed=1
done
# Most of a piece's time goes into headers of Asio and the standard library, which are compiled once.
options=(-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -DBOOST_ASIO_NO_DEPRECATED -I"$include")
printf '#include <boost/asio.hpp>\n#include <algorithm>\n#include <chrono>\n#include <functional>\n#include <map>\n#include <string>\n' \
  > "$work/foreign.hpp"
"$compiler" "${options[@]}" -x c++-header "$work/foreign.hpp" -o "$work/foreign.hpp.gch"
export compiler include work
find "$work" -name '*.cpp' -print0 | sort -z | xargs -0 -P 2 -I{} bash -c \
  '"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -DBOOST_ASIO_NO_DEPRECATED -I"$include" -include "$work/foreign.hpp" -fsyntax-only "$1"' \
  _ {} || failed=1

# The piece after <!-- quoted: PATH --> must equal the end of that file.
while IFS=: read -r document line path; do
  piece=$(awk -v from="$line" 'NR > from && /^```/ {if (inside++) exit; next} inside' "$document")
  [[ $piece == "$(tail -n "$(wc -l <<< "$piece")" "$path")" ]] ||
    { echo "$document:$line: the piece after this line is not the end of $path" >&2; failed=1; }
done < <(grep -HnE '^<!-- quoted: .* -->$' "${documents[@]}" | sed -E 's/^([^:]+):([0-9]+):<!-- quoted: (.*) -->$/\1:\2:\3/')

# Every reason must have a row in doc/errors.md with the text that a log shows.
while IFS=$'\t' read -r reason text; do
  grep -qF "| \`$reason\` | $text |" doc/errors.md || { echo "doc/errors.md: no row of errc::$reason with its text" >&2; failed=1; }
done < <(sed -nE 's/^    \{errc::([a-z_0-9]+), "(.*)"\},$/\1\t\2/p' base/error.cpp)

# Every variable of the environment that the library reads must have a row in doc/embedding.md.
for variable in $(grep -rhoE '"(QUINTET|LISTEN)_[A-Z_]+"' base net threadmodels bus --include='*.cpp' --exclude-dir=tests | sort -u | tr -d '"'); do
  grep -q "^| .*\`$variable\`" doc/embedding.md || { echo "doc/embedding.md: nothing about $variable" >&2; failed=1; }
done

# Every path of a source or program that a document names must exist; * and a name without its suffix are allowed.
while IFS=: read -r document line path; do
  case $path in
    build/*/examples/*_test) source=examples/tests/${path##*/examples_}* ;;
    build/*/examples/*) source=examples/${path##*/} ;;
    build/*/benchmarks/quintet-bench) source=benchmarks/main.cpp ;;
    build/*/net/*_test) source=net/tests/$(sed -E 's/.*net_(.*)_test$/\1/' <<< "$path") ;;
    *) source=$path ;;
  esac
  compgen -G "$source" > /dev/null || compgen -G "$source.*" > /dev/null ||
    { [[ $path == build/*/examples/* ]] && compgen -G "examples/tutorial/${path##*/}*" > /dev/null; } ||
    { echo "$document:$line: there is no $path" >&2; failed=1; }
done < <(grep -noP '(?<![\w/.<>-])((base|net|threadmodels|bus|examples|benchmarks|scripts|cmake|doc|fuzz)|build/\w+/(examples|benchmarks|net))/[\w./*-]*\w(?![\w<])' \
  -H "${documents[@]}")

# anchors <file>: prints the anchors that GitHub makes from the headings.
anchors() {
  sed -nE '/^```/,/^```/d; s/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for document in "${documents[@]}"; do
  while IFS= read -r link; do
    path=${link%%#*} anchor=''
    [[ $link != *#* ]] || anchor=${link#*#}
    target=$document
    [[ -z $path ]] || target=$(dirname "$document")/$path
    if [[ ! -e $target ]]; then
      echo "$document: $link leads nowhere" >&2
      failed=1
    elif [[ $anchor ]] && ! anchors "$target" | grep -xF -- "$anchor" > /dev/null; then
      echo "$document: $link: no such heading in $target" >&2
      failed=1
    fi
  done < <(sed -E '/^```/,/^```/d' "$document" | grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(//; s/\)$//' | grep -vE '^https?:')
done
exit $failed
