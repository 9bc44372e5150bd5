// others.js: sections of the report for what other commands have measured (compare --with FILE).
'use strict';

const others = JSON.parse(document.getElementById('others-data').textContent);
const canPlot = typeof Chart !== 'undefined';
const words = (key) => key.replace(/_us_per_request$/, ' per request').replace(/_us$/, '').replace(/_/g, ' ');
const showFor = (key) => /_us(_|$)/.test(key) ? format.time : /rate|fraction/.test(key) ? format.percent
  : /per_s$|^(waiting|closed|wrong|served)/.test(key) ? format.count : format.number;

function plainTable(heads, rows) {
  return element('div', {class: 'scroll'}, element('table', {class: 'figures'},
    element('thead', {}, element('tr', {}, ...heads.map((h) => element('th', {}, h)))),
    element('tbody', {}, ...rows.map(([first, ...rest]) =>
      element('tr', {}, element('th', {scope: 'row'}, first), ...rest.map((cell) => element('td', {}, cell ?? '–')))))));
}
const folded = (title, ...content) => element('details', {}, element('summary', {}, title), ...content);
const sentences = (list) => list.filter(Boolean).map((s) => element('p', {class: 'verdict minor'}, ...rich(s)));

// Lines over an axis with named places; whiskers where there are ranges. series: [{label, colour, dash, points: [[place, y, range]]}].
function drawCurves(canvas, series, spec) {
  canvas.parentElement.style.height = '340px';
  const datasets = series.map((s, i) => ({
    label: s.label, showLine: true, borderColor: s.colour(), backgroundColor: s.colour(), borderWidth: 1.75, borderDash: s.dash || [],
    pointStyle: pointStyles[i % pointStyles.length], pointRadius: 4, pointHoverRadius: 6,
    data: s.points.filter(([, y]) => y > 0).map(([place, y, range]) => ({x: spec.places.indexOf(place), y, range: range || [y, y]})),
  }));
  const all = datasets.flatMap((set) => set.data.flatMap((p) => [p.y, ...p.range])).filter((v) => v > 0);
  const low = Math.min(...all) / 1.3, high = Math.max(...all) * 1.3;
  const options = commonOptions();
  options.scales = {
    x: {...axis({autoSkip: false, callback: (v) => spec.name(spec.places[v])}), type: 'linear', min: -0.3, max: spec.places.length - 0.7,
      afterBuildTicks: (scale) => { scale.ticks = spec.places.map((_, value) => ({value})); },
      title: {display: true, text: spec.axis, color: cssValue('--soft')}},
    y: {...axis({autoSkip: false, callback: (v) => spec.tick(v)}), type: 'logarithmic', min: low, max: high,
      afterBuildTicks: (scale) => { scale.ticks = niceTicks(low, high); }},
  };
  options.plugins.legend = {display: true, position: 'bottom', labels: {color: cssValue('--ink'), usePointStyle: true, boxHeight: 7}};
  options.interaction = {mode: 'nearest', intersect: false};
  options.plugins.tooltip.callbacks = {
    title: (items) => items.length ? `${items[0].dataset.label}, ${spec.name(spec.places[items[0].raw.x])}` : '',
    label: (item) => [spec.show(item.raw.y), ...(item.raw.range[0] < item.raw.range[1] ? [`rounds: ${spec.show(item.raw.range[0])} to ${spec.show(item.raw.range[1])}`] : [])],
  };
  return new Chart(canvas, {type: 'scatter', data: {datasets}, options, plugins: [pointWhiskers]});
}

// A plot of its own rows, or of series.
function plotOf(title, unit, name, draw) {
  const figure = plot(title, unit, 'own', name, draw);
  figure.querySelector('canvas').hasOwnRows = true;
  return figure;
}
const barsOf = (title, unit, name, rows, key, show) => plotOf(title, unit, name, (canvas) =>
  drawBars(canvas, rows.filter((row) => row[key] != null), {key, show, tick: (v) => show(v).replace(/\.0+(?= )/, ''), leaders: []}));
const plotsIn = (...plots) => canPlot && plots.some(Boolean) ? element('div', {class: 'plots'}, ...plots.filter(Boolean)) : null;

// ---- One function for each command: what stands below its heading ----------------------------------------------------

const namesOf = {
  contention: (row) => `${row.peer === 'asio-shared' ? 'one io_context' : 'an io_context each'}, ${row.loops} thread${row.loops === 1 ? '' : 's'}`,
  allocators: (row) => `${row.model} ${row.allocator}`,
  accept: (row) => row.peer ? labelOf(row) : `${row.model} ${row.accept}`,
  peers: (row) => row.peer ? labelOf(row) : [row.model, row.engine, row.handler === 'coroutine' ? 'coroutine' : ''].join(' ').trim(),
};

function summarySection(doc, name) {
  const rows = doc.summary.map((row) => ({...row, label: (namesOf[doc.command] || labelOf)(row)}));
  const parts = [];
  for (const workload of [...new Set(rows.map((row) => row.workload))]) {
    const here = rows.filter((row) => row.workload === workload);
    const has = (key) => here.some((row) => row[key] != null);
    parts.push(element('h3', {class: 'workload'}, workload), ...sentences((doc.verdicts || []).filter((v) => v.workload === workload).map((v) => v.sentence)), plotsIn(
      has('requests_per_s') && barsOf('Throughput', 'requests per second · higher is better', `${name}-${workload}-t`, here, 'requests_per_s', format.count),
      has('server_cpu_us_per_request') && barsOf('Server CPU per request', 'all its threads · lower is better', `${name}-${workload}-c`, here, 'server_cpu_us_per_request', format.time)),
      folded('All figures', figuresTable(here)));
  }
  return parts;
}

function sweepSection(doc, name) {
  const key = {connections: 'connections', size: 'message_bytes', pipeline: 'pipeline', 'handler-us': 'handler_us'}[doc.settings.axis];
  const placeOf = (row) => key ? row[key] : Math.max(row.loops || 0, parseInt(row.workers) || 0);
  const figure = doc.settings.axis === 'size' ? 'mb_per_s' : 'requests_per_s';
  const places = [...new Set(doc.summary.map(placeOf))].sort((a, b) => a - b);
  const series = [...new Map(doc.summary.map((row) => [labelOf(row), row])).values()].map((first) => ({
    label: labelOf(first), colour: () => colourOf(first),
    points: doc.summary.filter((row) => labelOf(row) === labelOf(first)).map((row) => [placeOf(row), row[figure], rangeOf(row, figure)])}));
  if (doc.published && doc.settings.axis === 'connections')
    series.push({label: 'published', colour: () => cssValue('--peer'), dash: [4, 4], points: doc.published.map((p) => [p.connections, p.requests_per_s])});
  const unit = figure === 'mb_per_s' ? 'MB/s' : 'requests/s';
  return [...sentences((doc.verdicts || []).map((v) => v.sentence || v)), plotsIn(plotOf(unit, `over ${doc.settings.axis}, log scale`, name, (canvas) =>
    drawCurves(canvas, series, {places, axis: doc.settings.axis, name: (p) => format.count(p), show: format.number, tick: (v) => format.count(v)}))),
    folded('All figures', plainTable([doc.settings.axis, ...series.map((s) => s.label)], places.map((p) => [format.count(p), ...series.map((s) => {
      const point = s.points.find(([place]) => place === p);
      return point && point[1] != null ? format.number(point[1]) : null;
    })])))];
}

function studySection(doc) {
  const keys = [...new Set(doc.study.flatMap((s) => Object.keys(s.figures)))].filter((k) => doc.study.some((s) => s.figures[k]));
  const parts = [plainTable(['for a request, unless it says otherwise', ...doc.study.map((s) => `${s.server}, ${s.workload}`), 'source'], keys.map((k) => [words(k),
    ...doc.study.map((s) => s.figures[k] && showFor(k)(s.figures[k].median)), (doc.study.find((s) => s.figures[k]) || {figures: {}}).figures[k].source])),
    plainTable(['last-level cache', ...doc.study.map((s) => s.server), 'source'], ['references', 'misses'].map((k) => [`${k}, a request`,
      ...doc.study.map((s) => s.caches.length && s.caches[0].requests ? format.number(s.caches[0][k] / s.caches[0].requests) : null), doc.study[0].cache_source]))];
  for (const s of doc.study.filter((s) => s.functions.length))
    parts.push(folded(`Hottest functions of ${s.server}`, plainTable(['function', 'share', ''], s.functions.map((f) => [f.symbol, format.percent(f.share), f.in_kernel ? 'kernel' : f.object]))));
  return [...parts, ...sentences(doc.not_measured.map((line) => `Not measured: ${line}`))];
}

function memlatSection(doc, name) {
  const rows = doc.results.map((r) => ({label: r.name, peer: r.name, rounds: r.rounds.length, ns: r.median_ns, range: {ns: [r.min_ns, r.max_ns]}}));
  return [plotsIn(barsOf('Latency', 'a load, or a cache line on its way to another CPU', name, rows, 'ns', (v) => `${significant(v)} ns`)),
    folded('All figures', plainTable(['', 'working set', 'median', 'rounds'], doc.results.map((r) => [r.name, r.bytes && format.memory(r.bytes), `${significant(r.median_ns)} ns`,
      `${significant(r.min_ns)} to ${significant(r.max_ns)}`]))), ...sentences((doc.not_known || []).map((line) => `Not known: ${line}.`))];
}

function forecastSection(doc, name) {
  const parts = [element('p', {class: 'verdict warning'}, 'A forecast, not a measurement: what a simulation makes of costs that were measured on this machine.')];
  const e = doc.errors && doc.errors.held_out.requests_per_s;
  for (const [which, j] of Object.entries(e || {}))
    if (j) parts.push(...sentences([`Held-out runs, ${which}: ${j.within} of ${j.runs} throughputs within ${format.percent(j.bound)}; median error ${format.percent(j.median)}, worst ${format.percent(j.worst)}.`]));
  const plots = [...new Set(doc.forecast.map((row) => row.handler_us))].map((handler) => {
    const rows = doc.forecast.filter((row) => row.handler_us === handler), places = [...new Set(rows.map((row) => row.cores))];
    const series = modelNames.map((model) => ({label: model, colour: () => colourOf({model}), points: rows.filter((row) => row.model === model).map((row) => [row.cores, row.requests_per_s])}));
    return plotOf(handler ? `A handler of ${format.time(handler)}` : 'Echo', `forecast: requests/s of ${format.count(rows[0].connections)} connections, log scale`, `${name}-${handler}`, (canvas) =>
      drawCurves(canvas, series, {places, axis: 'cores', name: String, show: (v) => `forecast ${format.count(v)}`, tick: (v) => format.count(v)}));
  });
  parts.push(plotsIn(...plots));
  for (const shape of doc.shapes || []) parts.push(element('p', {class: 'verdict minor'}, element('b', {}, shape.title), `: forecast ${shape.conclusion}. Published: ${shape.published}.`));
  return [...parts, folded('Held-out runs', plainTable(['run', 'measured', 'simulated', 'error', 'p99 error', 'CPU error'], doc.held_out.map((r) => [
    `${r.model} ${r.workload}, ${r.connections} connections${r.cpus_shared ? ', CPUs shared' : ''}`, r.requests_per_s && format.count(r.requests_per_s),
    r.simulated_requests_per_s && format.count(r.simulated_requests_per_s), ...['error', 'p99_error', 'cpu_error'].map((k) => r[k] == null ? null : format.percent(r[k]))])))];
}

function stressSection(doc) {
  return [plainTable(['scenario', 'server', '', 'demanded'], doc.results.map((r) => [r.scenario, element('code', {}, r.model || r.server), r.failure ? `FAILED: ${r.failure}` : r.passed ? 'passed' : 'FAILED',
    element('span', {class: 'wraps'}, Object.entries(r.demands).map(([k, d]) => `${words(k)} ${significant(r.figures[k])} (${d.demand}${d.met ? '' : ': not met'})`).join('; '))]))];
}

const about = {
  sweep: ['One thing varies', sweepSection], study: ['What a server under load did to the machine', studySection],
  contention: ['Threads that share an io_context', summarySection], memlat: ['Latency of memory', memlatSection],
  allocators: ['Memory allocators', summarySection], accept: ['Short connections', summarySection], peers: ['Beside other libraries', summarySection],
  forecast: ['What more cores would do: a forecast', forecastSection], stress: ['Under stress', stressSection],
};

function fillOthers() {
  const links = [];
  others.forEach((doc, i) => {
    const [title, fill] = about[doc.command], id = `o-${doc.command}-${i}`;
    const environment = doc.environment || {};
    const scenarios = doc.command === 'stress' ? [...new Set(doc.results.map((r) => r.scenario))] : [];
    const of = doc.command === 'sweep' ? doc.settings.axis : scenarios.length === 1 ? scenarios[0] : null;
    const heading = of ? `${title}: ${of}` : title;
    byId('others').append(element('section', {id}, element('h2', {}, heading),
      element('p', {class: 'facts'}, [`quintet-bench ${doc.command}`, environment.cpu_model, environment.cores && `${environment.cores} cores`,
        (environment.date || '').slice(0, 16).replace('T', ' ')].filter(Boolean).join(' · ')),
      ...fill(doc, id).filter(Boolean), doc.noise ? element('p', {class: 'note'}, ...rich(doc.noise)) : null));
    links.push(element('a', {href: `#${id}`}, heading));
  });
  if (links.length) byId('contents').append(element('a', {href: '#workloads'}, 'The five models'), ...links, element('a', {href: '#reading'}, 'How to read this'));
  byId('contents').hidden = links.length === 0;
}
