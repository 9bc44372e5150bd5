// plots.js: the plots of the report. Bars with whiskers for one figure per model, points with whiskers for percentiles.
'use strict';

const modelNames = ['thread_per_connection', 'single_reactor', 'reactor_pool', 'loop_per_thread', 'loop_per_thread_pool'];
const pointStyles = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot'];

const cssValue = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const byHand = ['epoll', 'epoll-edge', 'blocking'];
const labelOf = (row) => row.label || (byHand.includes(row.peer) ? `hand-written ${row.peer}` : row.peer || row.model);
const colourNameOf = (row) => row.peer ? '--peer' : `--m${modelNames.indexOf(row.model) + 1}`;
const colourOf = (row) => cssValue(colourNameOf(row)) || cssValue('--peer');

function significant(value) {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toPrecision(3)).toLocaleString('en', {minimumFractionDigits: Math.min(digits, 6), maximumFractionDigits: 6});
}
const format = {
  count: (v) => Math.round(v).toLocaleString('en'),
  time: (us) => us > 0 && us < 0.9995 ? significant(us * 1e3) + ' ns' : us >= 999500 ? significant(us / 1e6) + ' s' : us >= 999.5 ? significant(us / 1e3) + ' ms' : significant(us) + ' µs',
  number: significant,
  percent: (f) => (f !== 0 && Math.abs(f) < 0.0095 ? (f * 100).toFixed(1) : Math.round(f * 100)) + ' %',
  memory: (bytes) => significant(bytes / 1048576) + ' MiB',
};

const rangeOf = (row, key) => (row.range && row.range[key]) || [row[key], row[key]];
function rangeText(row, key, show) {
  const [low, high] = rangeOf(row, key);
  return row.rounds > 1 ? `${row.rounds} rounds: ${show(low)} to ${show(high)}` : 'one round';
}

// A whisker from low to high, along x or along y, at the given place across.
function whisker(ctx, along, low, high, across, cap) {
  if (!(high - low > 1) && !(low - high > 1)) return;
  const line = (a1, c1, a2, c2) => along === 'x' ? (ctx.moveTo(a1, c1), ctx.lineTo(a2, c2)) : (ctx.moveTo(c1, a1), ctx.lineTo(c2, a2));
  ctx.beginPath();
  line(low, across, high, across);
  line(low, across - cap, low, across + cap);
  line(high, across - cap, high, across + cap);
  ctx.stroke();
}

// Name and value above each bar, so that bars have the whole width also on a phone; whisker on the bar.
const barText = {
  id: 'barText',
  afterDatasetsDraw(chart, _, options) {
    const {ctx, chartArea} = chart;
    const {rows, key, show, leaders} = options;
    ctx.save();
    ctx.textBaseline = 'bottom';
    rows.forEach((row, i) => {
      const y = chart.scales.y.getPixelForValue(i) + 7;
      const leads = leaders.includes(labelOf(row));
      ctx.font = `${leads ? 650 : 400} 12px ${cssValue('--mono')}`;
      ctx.fillStyle = leads ? cssValue('--ink') : cssValue('--soft');
      ctx.textAlign = 'left';
      ctx.fillText(labelOf(row), chartArea.left, y - 9);
      ctx.font = `${leads ? 650 : 400} 12.5px ${cssValue('--sans')}`;
      ctx.textAlign = 'right';
      ctx.fillText(row[key] == null ? (row.rounds ? '–' : 'failed') : show(row[key]), chartArea.right, y - 9);
      if (row[key] == null) return;
      const [low, high] = rangeOf(row, key).map((v) => chart.scales.x.getPixelForValue(v));
      ctx.strokeStyle = cssValue('--whisker');
      ctx.lineWidth = 1.25;
      whisker(ctx, 'x', low, high, y, 4);
    });
    ctx.restore();
  },
};

const pointWhiskers = {
  id: 'pointWhiskers',
  beforeDatasetsDraw(chart) {
    const {ctx, scales} = chart;
    ctx.save();
    ctx.lineWidth = 1.5;
    for (const dataset of chart.data.datasets) {
      ctx.strokeStyle = dataset.borderColor;
      for (const point of dataset.data) {
        const [low, high] = point.range.map((v) => scales.y.getPixelForValue(v));
        whisker(ctx, 'y', low, high, scales.x.getPixelForValue(point.x), 3);
      }
    }
    ctx.restore();
  },
};

function commonOptions() {
  return {
    animation: false, responsive: true, maintainAspectRatio: false,
    plugins: {
      legend: {display: false},
      tooltip: {backgroundColor: cssValue('--ink'), titleColor: cssValue('--paper'), bodyColor: cssValue('--paper'), padding: 10,
        displayColors: false, titleFont: {family: cssValue('--mono'), size: 12}},
    },
  };
}
const axis = (extra) => ({
  grid: {color: cssValue('--line'), drawBorder: false, drawTicks: false}, border: {display: false},
  ticks: {color: cssValue('--soft'), font: {size: 11}, padding: 6, maxRotation: 0, ...extra},
});

// spec: {key, show, parts: [{key, name, alpha}], leaders}
function drawBars(canvas, rows, spec) {
  canvas.parentElement.style.height = `${rows.length * 42 + 26}px`;
  const parts = spec.parts || [{value: (row) => row[spec.key], alpha: 1}];
  const options = commonOptions();
  options.indexAxis = 'y';
  options.scales = {
    x: {...axis({maxTicksLimit: 5, callback: (v) => spec.tick(v)}), stacked: true, beginAtZero: true,
      suggestedMax: Math.max(...rows.map((row) => rangeOf(row, spec.key)[1] || 0))},
    y: {display: false, stacked: true, offset: true},
  };
  options.interaction = {mode: 'y', intersect: false};
  options.plugins.barText = {rows, ...spec};
  options.plugins.tooltip.filter = (_, index) => index === 0;
  options.plugins.tooltip.callbacks = {
    label: (item) => [`median ${spec.show(rows[item.dataIndex][spec.key])}`, rangeText(rows[item.dataIndex], spec.key, spec.show),
      ...parts.filter((p) => p.name && p.value(rows[item.dataIndex]) != null).map((p) => `${p.name} ${spec.show(p.value(rows[item.dataIndex]))}`)],
  };
  const datasets = parts.map((part) => ({
    data: rows.map((row) => part.value(row)), barThickness: 9,
    backgroundColor: rows.map((row) => `color-mix(in srgb, ${colourOf(row)} ${part.alpha * 100}%, ${cssValue('--paper')})`).map(resolved),
  }));
  // The bar sits below its text: move it down by the 7 pixels that barText counts on.
  const shift = {id: 'shift', beforeDatasetsDraw: (c) => { c.ctx.save(); c.ctx.translate(0, 7); },
    afterDatasetsDraw: (c) => c.ctx.restore()};
  return new Chart(canvas, {type: 'bar', data: {labels: rows.map(labelOf), datasets}, options, plugins: [shift, barText]});
}

// A colour that every canvas understands, also one of a browser without color-mix.
function resolved(colour) {
  const probe = document.createElement('i');
  probe.style.color = colour.match(/#[0-9a-f]+/i)[0];
  probe.style.color = colour;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  const mixed = found.match(/color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)/);
  return mixed ? `rgb(${mixed.slice(1, 4).map((v) => Math.round(v * 255)).join(',')})` : found;
}

// 1, 2, 5, 10 ... within the range, but only 1, 10, 100 where those are many.
function niceTicks(low, high) {
  const steps = high / low > 3000 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); ++decade) {
    for (const step of steps) ticks.push({value: step * 10 ** decade});
  }
  return ticks.filter(({value}) => value >= low && value <= high);
}

// spec: {points: [[key, label], ...]}; one line per row over the points, times on a logarithmic axis.
function drawPercentiles(canvas, rows, spec) {
  canvas.parentElement.style.height = `${Math.max(rows.length, 6) * 42 + 26}px`;
  const shown = rows.filter((row) => spec.points.some(([key]) => row[key] != null));
  const datasets = shown.map((row, i) => ({
    label: labelOf(row), row, showLine: true, borderColor: colourOf(row), backgroundColor: colourOf(row), borderWidth: 1.75,
    pointStyle: row.peer ? 'line' : pointStyles[modelNames.indexOf(row.model)] || 'circle', pointRadius: 4, pointHoverRadius: 6,
    borderDash: row.peer === 'epoll' ? [5, 3] : row.peer ? [1.5, 3] : [],
    data: spec.points.map(([key, name], k) => ({key, name, x: k + (i - (shown.length - 1) / 2) * 0.08, y: row[key], range: rangeOf(row, key)}))
      .filter((point) => point.y != null),
  }));
  const options = commonOptions();
  const everything = datasets.flatMap((set) => set.data.flatMap((point) => point.range)).filter((v) => v > 0);
  const low = Math.min(...everything) / 1.3, high = Math.max(...everything) * 1.3;
  options.scales = {
    x: {...axis({stepSize: 1, autoSkip: false, callback: (v) => (spec.points[v] || [])[1] || ''}), type: 'linear', min: -0.4, max: spec.points.length - 0.6,
      afterBuildTicks: (scale) => { scale.ticks = spec.points.map((_, value) => ({value})); }},
    y: {...axis({autoSkip: false, callback: (v) => format.time(v).replace(/\.0+(?= )/, '')}), type: 'logarithmic', min: low, max: high,
      afterBuildTicks: (scale) => { scale.ticks = niceTicks(low, high); }},
  };
  options.scales.x.grid.display = false;
  options.interaction = {mode: 'nearest', intersect: false};
  options.plugins.tooltip.callbacks = {
    title: (items) => items.length ? items[0].dataset.label : '',
    label: (item) => [`${item.raw.name}: ${format.time(item.raw.y)}`, rangeText(item.dataset.row, item.raw.key, format.time)],
  };
  return new Chart(canvas, {type: 'scatter', data: {datasets}, options, plugins: [pointWhiskers]});
}

// True when something more than one flat colour is on the canvas.
function hasDrawn(canvas) {
  const {width, height} = canvas;
  if (!width || !height) return false;
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
  const colours = new Set();
  let painted = 0;
  for (const pixel of pixels) {
    if (pixel === 0) continue;
    ++painted;
    if (colours.size < 16) colours.add(pixel);
  }
  return painted > 200 && colours.size > 3;
}
