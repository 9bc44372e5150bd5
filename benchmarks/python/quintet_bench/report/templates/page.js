// SPDX-License-Identifier: BSL-1.0
// The page is complete without this. It shows a bar's figures at once, also where there is no pointer, and saves the data.
'use strict';
const tip = document.body.appendChild(document.createElement('div'));
tip.className = 'tip';
for (const mark of document.querySelectorAll('.bars li[title]')) {
  mark.dataset.tip = mark.title;  // the browser's own would come a second later
  mark.removeAttribute('title');
}
document.addEventListener('pointerover', (event) => {
  const mark = event.target.closest('[data-tip]');
  tip.textContent = mark ? mark.dataset.tip : '';
  const left = Math.min(event.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.transform = `translate(${Math.max(8, left)}px, ${event.pageY + 16}px)`;
});
const link = document.getElementById('download'), data = document.getElementById('data').textContent;
link.href = URL.createObjectURL(new Blob([data], {type: 'application/json'}));
link.hidden = false;
