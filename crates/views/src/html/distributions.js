// A distribution: percentiles, each nine as far from the next; or how many took how long.
"use strict";
const distribution = (data, { axis, dash, dashes, digits, escaped, ink, titled, told, tooltip }) => {
  const RANGES = 48;
  const total = (shape) => shape.buckets.reduce((sum, bucket) => sum + bucket[1], 0);
  const curve = (shape) => {
    const all = total(shape);
    let below = 0;
    const points = shape.buckets.map(([upper, count]) => {
      const point = [-Math.log10(1 - below / all), Math.min(upper, shape.max_ns ?? upper)];
      below += count;
      return point;
    });
    return points.concat([[Math.log10(all), points[points.length - 1][1]]]);
  };
  const percent = (nines) => `${(100 * (1 - 10 ** -nines)).toFixed(Math.max(0, Math.ceil(nines) - 2)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")} %`;
  const ranges = (linear) => {
    const least = Math.min(...data.shapes.map((shape) => Math.max(1, shape.min_ns ?? shape.buckets[0][0])));
    const most = Math.max(...data.shapes.map((shape) => shape.buckets[shape.buckets.length - 1][0]));
    const edge = (at) => (linear ? least + ((most - least) * at) / RANGES : least * (most / least) ** (at / RANGES));
    return Array.from({ length: RANGES + 1 }, (_, at) => edge(at));
  };
  const counted = (shape, edges) => {
    const counts = edges.slice(1).map(() => 0);
    let at = 0;
    for (const [upper, count] of shape.buckets) {
      while (at < counts.length - 1 && upper > edges[at + 1]) at += 1;
      counts[at] += count;
    }
    return counts;
  };
  const legend = (hidden) => ({ show: false, selected: Object.fromEntries(data.shapes.map((shape) => [shape.label, !hidden.has(shape.label)])) });
  const common = { animation: false, aria: { enabled: data.shapes.length > 1, label: { enabled: false }, decal: { show: true } }, grid: { left: 64, right: 24, top: 40, bottom: 56 } };
  const series = (shape, place) => ({ name: shape.label, lineStyle: { type: dashes[dash(place)], width: 2 } });
  const percentiles = (log, hidden) => ({
    ...common, color: ink().colors, legend: legend(hidden),
    xAxis: axis({ type: "value", min: 0, axisLabel: { color: ink().text, formatter: percent }, interval: 1, minorTick: { show: false }, ...titled("share of samples that took less", 28) }),
    yAxis: axis({ type: log ? "log" : "value", name: data.unit.name, axisLabel: { color: ink().text, formatter: (value) => digits(value / data.unit.multiple) } }),
    tooltip: tooltip((points) => [`${percent(points[0].value[0])} took less`, ...points.map((point) => `${escaped(point.seriesName)}: <b>${escaped(told(point.value[1], data.unit))}</b>`)].join("<br>")),
    series: data.shapes.map((shape, place) => ({ ...series(shape, place), type: "line", step: "end", showSymbol: false, data: curve(shape) })),
  });
  const histogram = (linear, hidden) => {
    const edges = ranges(linear);
    return {
      ...common, color: ink().colors, legend: legend(hidden),
      xAxis: axis({ type: "category", data: edges.slice(1).map((edge) => told(edge, data.unit)), axisLabel: { color: ink().text, hideOverlap: true }, ...titled("how long it took", 28) }),
      yAxis: axis({ type: "value", name: "samples" }),
      tooltip: tooltip((points) => [`${told(edges[points[0].dataIndex], data.unit)} to ${told(edges[points[0].dataIndex + 1], data.unit)}`, ...points.map((point) => `${escaped(point.seriesName)}: <b>${digits(point.value)}</b>`)].join("<br>")),
      series: data.shapes.map((shape, place) => ({ ...series(shape, place), type: "bar", data: counted(shape, edges) })),
    };
  };
  const choices = {
    percentiles: (hidden) => percentiles(false, hidden), "percentiles, logarithmic": (hidden) => percentiles(true, hidden),
    histogram: (hidden) => histogram(false, hidden), "histogram, linear": (hidden) => histogram(true, hidden),
  };
  return { height: 330, choices, option: choices.percentiles, names: data.shapes.map((shape) => shape.label), points: curve(data.shapes[0]).length };
};
