#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# plots_drawn_test.sh [BUILD_DIR]: opens a report in a real browser, as wide as a phone and as a desk. Every mark must be in
# its figure, and show its figures.
set -eu
# shellcheck source=cmake/tests/needs.sh
. "$(dirname "$0")/../../../cmake/tests/needs.sh"
python=$(sed -n 's/^QUINTET_BENCH_PYTHON:FILEPATH=//p' "${1:-.}/CMakeCache.txt" 2> /dev/null || true)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
QUINTET_PYTHON=${python:-} needs_module jinja2 pytest
[ -n "$browser" ] || skip 'chromium is not installed; apt-get install chromium'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$0")"
PYTHONDONTWRITEBYTECODE=1 "${python:-/usr/bin/python3}" -c 'from test_report import *
print(comparison_page(made_up_document()))' > "$work/report.html"
cat >> "$work/report.html" << 'END'
<script>
const all = (what, within = document) => [...within.querySelectorAll(what)], wrong = [], must = (good, what) => good || wrong.push(what);
for (const figure of all('figure')) {
  const f = figure.getBoundingClientRect();
  must(all('.bars rect', figure).length, 'an empty figure');
  for (const mark of all('.bars rect', figure)) {
    const m = mark.getBoundingClientRect();
    must(m.width && m.left >= f.left && m.right <= f.right && m.top >= f.top && m.bottom <= f.bottom, mark.outerHTML);
  }
}
must(document.documentElement.scrollWidth <= innerWidth, 'the page is wider than the window');
all('.bars li')[0].dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
must(all('.tip')[0].textContent.includes('2 rounds'), 'a mark does not show its figures');
parent.postMessage(`${all('figure').length} figures at ${innerWidth}: ${wrong.join(' ') || 'good'}`, '*');
</script>
END
echo '<iframe width="390" height="900" src="report.html"></iframe><iframe width="1280" height="900" src="report.html"></iframe>
<script>onmessage = (event) => document.body.append("\n" + event.data + "\n")</script>' > "$work/both.html"
timeout 90 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$work/profile" --virtual-time-budget=5000 \
  --dump-dom "file://$work/both.html" > "$work/dom" 2> "$work/log" || { tail -5 "$work/log"; exit 1; }
grep 'figures at' "$work/dom" || { echo 'a script of the page failed'; exit 1; }
# echo, cpu: three; heartbeat: four.
[ "$(grep -cE '^10 figures at (390|1280): good$' "$work/dom")" -eq 2 ]
