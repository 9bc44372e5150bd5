// report.js: fills the page from the JSON it carries.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const summary = data.summary || [];
const hidden = new Set();
let charts = [];

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child != null));
  return made;
}
const byId = (id) => document.getElementById(id);
const baseName = (workload) => workload.split(':')[0];
const argument = (workload, fallback) => (workload.split(':')[1] || fallback).replace(/us$/, ' µs').replace(/ms$/, ' ms');
const rowsOf = (workload) => summary.filter((row) => row.workload === workload).sort((a, b) => rowOrder(a) - rowOrder(b));
const rowOrder = (row) => row.peer ? 10 + ['epoll', 'blocking'].indexOf(row.peer) : modelNames.indexOf(row.model);
const verdictOf = (workload) => (data.verdicts || []).find((v) => v.workload === workload) || {level: []};

// Names of models in a sentence stand out as code.
function rich(sentence) {
  return (sentence || '').replace(/(\d) us\b/g, '$1 µs').replace(/(\d) (?=(%|µs|ns|ms|s|times)(\W|$))/g, '$1\u00a0').split(/\b([a-z]+(?:_[a-z]+)+)\b/)
    .map((part, i) => i % 2 ? element('code', {}, part) : part);
}

const handlers = {
  cheap: ['cheap', 'microseconds: a look-up, a proxy, an echo'],
  computing: ['computing', 'busy: parsing, compressing, scoring'],
  blocking: ['blocking', 'waiting: for a database, a file, a lock'],
};

const descriptions = {
  echo: () => 'The cheapest handler there is: it sends back what it got. What is measured is the I/O itself.',
  latency: () => 'One connection, one small request at a time: the time of a single round trip.',
  large: () => 'Echo of big messages: what copying and sending costs.',
  pipeline: () => 'Many requests in flight on each connection: what batching brings.',
  many: () => 'Thousands of connections, one small request in flight on each.',
  short: () => 'Connect, one request, close: what accepting costs.',
  cpu: (w) => `The handler computes for ${argument(w, '200 µs')} a request. Whoever uses every core wins.`,
  blocking: (w) => `The handler sleeps for ${argument(w, '2 ms')} a request, as if it asked a database. Whoever has most threads wins.`,
  mixed: () => 'One request in ten computes for 5 ms, the others are echoed. Do the cheap ones have to wait for the expensive ones?',
  heartbeat: () => 'The mixed load on the data port, and every 10 ms a heartbeat on the priority port. Does it stay steady under load?',
};

function fillAdvice() {
  for (const item of data.advice || []) {
    const [name, hint] = handlers[item.handler] || [item.handler, ''];
    const number = modelNames.indexOf(item.model) + 1;
    const card = element('div', {class: 'card', style: number ? `--tint: var(--m${number})` : ''},
      element('div', {class: 'question'}, `… ${name}`, element('span', {}, hint)),
      element('div', {class: item.model ? 'answer' : 'answer open'}, item.model || (item.workload ? 'Too noisy to tell' : 'Not measured')),
      item.model && item.as_good.length ? element('p', {class: 'or'}, ...rich(`or ${item.as_good.join(' or ')}`), ', as good within the noise') : null,
      element('p', {}, ...rich(item.reason)));
    if (item.workload) card.append(element('p', {}, element('a', {href: `#w-${item.workload}`}, `Measured with ${item.workload}`)));
    byId('advice').append(card);
  }
}

function fillHead() {
  const environment = data.environment || {};
  byId('kicker').textContent = ['comparison of threading models', environment.cpu_model, environment.cores && `${environment.cores} cores`,
    (environment.date || '').slice(0, 16).replace('T', ' ')].filter(Boolean).join(' · ');
  byId('noise').append(...rich(data.noise));
  byId('version').textContent = data.quintet || '';
  const failures = (data.results || []).filter((run) => run.error);
  const wrong = (data.results || []).reduce((sum, run) => sum + (run.failed || 0), 0);
  const problems = [];
  if (data.settings && data.settings.interrupted) problems.push('The comparison was interrupted; it shows what was measured until then.');
  if (failures.length) problems.push(`${failures.length} of ${data.results.length} runs failed; their reasons are in the tables.`);
  if (wrong) problems.push(`${format.count(wrong)} requests were not answered right.`);
  byId('problems').hidden = problems.length === 0;
  byId('problems').textContent = problems.join(' ');
}

function fillLegend() {
  const known = [...new Map(summary.map((row) => [labelOf(row), row])).values()].sort((a, b) => rowOrder(a) - rowOrder(b));
  for (const row of known) {
    const button = element('button', {type: 'button', 'aria-pressed': 'true', title: 'Show or hide in every plot'},
      element('i', {class: 'dot', style: `--tint: var(${colourNameOf(row)})`}), labelOf(row));
    button.addEventListener('click', () => {
      const name = labelOf(row);
      if (!hidden.delete(name)) hidden.add(name);
      button.setAttribute('aria-pressed', String(!hidden.has(name)));
      drawAll();
    });
    byId('legend').append(button);
  }
  document.querySelectorAll('[data-model]').forEach((tr, i) => tr.style.setProperty('--tint', `var(--m${i + 1})`));
}

const time = format.time, count = format.count;
const columns = [
  ['requests/s', 'requests_per_s', count], ['MB/s', 'mb_per_s', format.number], ['p50', 'p50_us', time], ['p90', 'p90_us', time],
  ['p99', 'p99_us', time], ['p99.9', 'p999_us', time], ['max', 'max_us', time], ['CPU', 'server_cpu_us_per_request', time],
  ['user', 'server_user_us_per_request', time],
  ['syscalls', 'syscalls_per_request', format.number], ['futex', 'futex_per_request', format.number],
  ['switches', 'context_switches_per_request', format.number], ['threads', 'server_threads', count], ['memory', 'server_rss_bytes', format.memory],
  ['per connection', 'bytes_per_connection', count], ['beat p50', 'heartbeat_p50_us', time], ['beat p99', 'heartbeat_p99_us', time],
  ['beat max', 'heartbeat_max_us', time],
];

function figuresTable(rows) {
  const used = columns.filter(([, key]) => rows.some((row) => row[key] != null));
  const table = element('table', {class: 'figures'}, element('thead', {}, element('tr', {}, element('th'),
    ...used.flatMap(([title, key]) => key === 'requests_per_s' ? [element('th', {}, title), element('th', {}, 'spread')] : [element('th', {}, title)]))));
  const body = element('tbody');
  for (const row of rows) {
    const tr = element('tr', {}, element('th', {scope: 'row'}, element('i', {class: 'dot', style: `--tint: var(${colourNameOf(row)})`}),
      element('code', {}, labelOf(row))));
    for (const [, key, show] of used) {
      tr.append(element('td', {}, row[key] == null ? '–' : show(row[key])));
      if (key === 'requests_per_s') tr.append(element('td', {}, element('small', {}, row[key] == null ? '–' : format.percent(row.spread[key]))));
    }
    body.append(tr);
    const flaws = [];
    if (row.failed_rounds) flaws.push(`${row.failed_rounds} of ${row.failed_rounds + row.rounds} runs failed: ${row.error || 'no figures'}`);
    if (row.failed) flaws.push(`${count(row.failed)} requests not answered right`);
    if (row.client_cpu_fraction > 0.95) flaws.push('the client was the bottleneck: the server could do more');
    if (flaws.length) body.append(element('tr', {}, element('td', {class: 'flaw', colspan: String(used.length + 2)}, flaws.join('; '))));
  }
  table.append(body);
  return element('div', {class: 'scroll'}, table);
}

function plot(title, unit, kind, workload, draw) {
  const canvas = element('canvas', {role: 'img', 'aria-label': `${title} of ${workload}; the same figures are in the table below`, 'data-plot': `${workload} ${kind}`});
  canvas.draw = draw;
  return element('figure', {}, element('figcaption', {}, element('h3', {}, title), element('small', {}, unit)), element('div', {class: 'canvas'}, canvas));
}

function plotsOf(workload, rows) {
  const has = (key) => rows.some((row) => row[key] != null);
  const leaders = verdictOf(workload).fastest || [];
  const bars = (spec) => (canvas, shown) => drawBars(canvas, shown, {leaders, ...spec});
  const compact = new Intl.NumberFormat('en', {notation: 'compact'});
  const plots = [];
  if (has('heartbeat_p99_us')) {
    plots.push(plot('Heartbeat', 'reply time on the priority port, log scale · lower is better', 'heartbeat', workload, (canvas, shown) =>
      drawPercentiles(canvas, shown, {points: [['heartbeat_p50_us', 'p50'], ['heartbeat_p99_us', 'p99'], ['heartbeat_max_us', 'max']]})));
  }
  if (has('requests_per_s')) {
    plots.push(plot('Throughput', 'requests per second · higher is better', 'throughput', workload,
      bars({key: 'requests_per_s', show: count, tick: (v) => compact.format(v)})));
  }
  if (has('p50_us')) {
    plots.push(plot('Latency', 'reply time by percentile, log scale · lower is better', 'latency', workload, (canvas, shown) =>
      drawPercentiles(canvas, shown, {points: [['p50_us', 'p50'], ['p90_us', 'p90'], ['p99_us', 'p99'], ['p999_us', 'p99.9']]})));
  }
  if (has('server_cpu_us_per_request')) {
    const split = rows.some((row) => row.server_user_us_per_request != null);
    const user = {name: 'user', alpha: 1, value: (row) => row.server_user_us_per_request};
    const kernel = {name: 'kernel', alpha: 0.45,
      value: (row) => row.server_user_us_per_request == null ? null : Math.max(0, row.server_cpu_us_per_request - row.server_user_us_per_request)};
    // Too few clock ticks to tell user from kernel.
    const unsplit = {name: 'not split', alpha: 0.7, value: (row) => row.server_user_us_per_request == null ? row.server_cpu_us_per_request : null};
    plots.push(plot('Server CPU per request', split ? 'user (strong) and kernel (pale) · lower is better' : 'all its threads · lower is better', 'cpu',
      workload, bars({leaders: verdictOf(workload).frugal || [], key: 'server_cpu_us_per_request', show: time, tick: (v) => time(v).replace(/\.0+(?= )/, ''), parts: split ? [user, kernel, unsplit] : null})));
  }
  return plots;
}

function fillWorkloads() {
  for (const workload of [...new Set(summary.map((row) => row.workload))]) {
    const rows = rowsOf(workload), first = rows[0], verdict = verdictOf(workload);
    const facts = [first.connections && `${count(first.connections)} connection${first.connections > 1 ? 's' : ''} × ${count(first.message_bytes)} B`,
      first.pipeline > 1 && `${first.pipeline} requests in flight on each`, first.server_cpus && `server on CPU ${first.server_cpus}, client on CPU ${first.client_cpus}`,
      first.loops && `${first.loops} loop${first.loops > 1 ? 's' : ''}`, first.workers && `${first.workers.replace('..', ' to ')} workers`,
      first.offload && first.offload !== 'automatic' && `offload ${first.offload}`].filter(Boolean).join(' · ');
    const plots = typeof Chart === 'undefined' ? [] : plotsOf(workload, rows);
    const describe = descriptions[baseName(workload)];
    byId('workloads').append(element('section', {class: 'workload', id: `w-${workload}`},
      element('h2', {}, workload), element('p', {class: 'sub'}, describe ? describe(workload) : ''),
      element('p', {class: 'facts'}, facts), element('p', {class: 'verdict'}, ...rich(verdict.sentence)),
      verdict.also ? element('p', {class: 'verdict minor'}, ...rich(verdict.also)) : null,
      verdict.caution ? element('p', {class: 'verdict minor warning'}, verdict.caution) : null,
      plots.length ? element('div', {class: plots.length === 4 ? 'plots four' : 'plots'}, ...plots) : null,
      element('details', plots.length ? {} : {open: ''}, element('summary', {}, 'All figures (medians; CPU, system calls and switches per request)'), figuresTable(rows))));
  }
}

function fillPeers() {
  const ratios = data.peer_ratios || [];
  byId('peers').hidden = ratios.length === 0;
  const body = element('tbody');
  for (const r of ratios) {
    body.append(element('tr', {}, element('th', {scope: 'row'}, r.workload), element('td', {}, element('code', {}, r.model)),
      element('td', {}, `hand-written ${r.peer}`), element('td', {}, element('b', {}, r.median.toFixed(2))), element('td', {}, `${r.min.toFixed(2)} to ${r.max.toFixed(2)}`)));
  }
  byId('ratios').append(element('thead', {}, element('tr', {}, ...['Workload', 'Ours', 'Beside', 'Ratio', 'Rounds from, to'].map((t) => element('th', {}, t)))), body);
}

function fillEnvironment() {
  const titles = {cpu_model: 'CPU', cores: 'Cores', kernel: 'Kernel', os: 'System', compiler: 'Compiler', flags: 'Flags', boost: 'Boost', allocator: 'Allocator',
    load_average_before: 'Load average before', steal_percent: 'Time stolen by the host', date: 'Date', hypervisor: 'Hypervisor', memory_bytes: 'Memory',
    rounds: 'Rounds', duration_s: 'Measured time of a run', warm_up_s: 'Warm-up of a run', seed: 'Seed of the order'};
  const text = (key, value) => value == null ? 'not known' : Array.isArray(value) ? value.join(', ') : key === 'memory_bytes' ? significant(value / 2 ** 30) + ' GiB'
    : key === 'steal_percent' ? `${value} %` : /_s$/.test(key) ? `${value} s` : String(value);
  for (const [key, value] of [...Object.entries(data.environment || {}), ...Object.entries(data.settings || {})]) {
    if (!titles[key]) continue;
    byId('environment').append(element('div', {}, element('dt', {}, titles[key]), element('dd', {}, text(key, value) || '–')));
  }
}

function drawAll() {
  charts.forEach((chart) => chart.destroy());
  charts = [];
  const canvases = [...document.querySelectorAll('canvas[data-plot]')];
  for (const canvas of canvases) {
    const workload = canvas.dataset.plot.split(' ')[0];
    const rows = canvas.hasOwnRows ? [] : rowsOf(workload).filter((row) => !hidden.has(labelOf(row)));
    charts.push(canvas.draw(canvas, rows));
    canvas.dataset.drawn = String(hasDrawn(canvas));
  }
  document.documentElement.dataset.plots = `${canvases.filter((c) => c.dataset.drawn === 'true').length} of ${canvases.length}`;
}

window.addEventListener('error', (event) => { document.documentElement.dataset.error = event.message; });
fillHead();
fillAdvice();
fillLegend();
fillWorkloads();
fillOthers();
fillPeers();
fillEnvironment();
byId('download').addEventListener('click', (event) => {
  event.currentTarget.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 1)], {type: 'application/json'}));
});
if (typeof Chart === 'undefined') {
  byId('no-plots').hidden = false;
  byId('legend').hidden = true;
} else {
  Chart.defaults.font.family = cssValue('--sans');
  drawAll();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
}
document.documentElement.dataset.ready = 'true';
