#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# plots_drawn_test.sh BUILD_DIR: opens a report in a real browser and checks that every plot has been drawn.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
bench=$build/benchmarks/quintet-bench

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "skipped: chromium is not installed; apt-get install chromium"
  exit 77
fi
if ! [ -x "$bench" ]; then
  echo "skipped: $bench has not been built; configure with -DQUINTET_BENCHMARKS=ON"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
others=()
for file in "$here"/canned_others/*.json; do others+=(--with "$file"); done
"$bench" compare --from "$here/canned_results.json" "${others[@]}" --html "$work/report.html" > "$work/table.txt"
grep -q 'single_reactor' "$work/table.txt"

timeout 90 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$work/profile" --window-size=1280,2400 \
  --virtual-time-budget=5000 --dump-dom "file://$work/report.html" > "$work/dom.html" 2> "$work/browser.log" || {
    echo "the browser failed:"; tail -5 "$work/browser.log"; exit 1; }

page=$(grep -o '<html[^>]*>' "$work/dom.html" | head -1)
echo "$page"
case $page in
  *data-error=*) echo "a script of the page failed"; exit 1 ;;
esac
case $page in
  *'data-ready="true"'*) ;;
  *) echo "the page's script did not come to its end"; exit 1 ;;
esac
if grep -q 'without Chart.js' <(grep -o '<p class="note" id="no-plots">.*' "$work/dom.html"); then
  echo "skipped: quintet-bench was built without Chart.js; apt-get install libjs-chart.js, and build anew"
  exit 77
fi
drawn=$(grep -o '<canvas[^>]*data-drawn="true"' "$work/dom.html" | wc -l)
all=$(grep -o '<canvas[^>]*>' "$work/dom.html" | wc -l)
# echo, cpu: three plots each; heartbeat: four. allocators: four; forecast: two; memlat and sweep: one each.
if [ "$all" -ne 18 ] || [ "$drawn" -ne "$all" ]; then
  echo "$drawn of $all plots have drawn; 18 were expected"
  exit 1
fi
for section in allocators forecast memlat stress study sweep; do
  grep -q "<section id=\"o-$section-" "$work/dom.html" || { echo "no section of $section"; exit 1; }
done
echo "all $all plots have drawn"
