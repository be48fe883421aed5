// Amounts of many things side by side: a bar from nothing to the least of each, and one from there to the most where neighbours share
// it. Those that are marked bear a triangle: their bars may be too low to be seen.
"use strict";
const bars = (data, { axis, dashes, digits, escaped, ink, told, tooltip }) => {
  const WIDE = 40;
  const name = (at) => data.bars[at][0];
  const amount = ([, count, least, most]) => (count > 1 ? `${told(least, data.unit)} to ${told(most, data.unit)}` : told(most, data.unit));
  const marked = data.bars.flatMap((bar, at) => (bar[4] ? [[at, bar[3]]] : []));
  const option = () => ({
    animation: false, aria: { enabled: false }, color: ink().colors, grid: { left: 64, right: 24, top: 40, bottom: 56 },
    xAxis: axis({ type: "category", data: data.bars.map((bar) => bar[0]), axisLabel: { color: ink().text, hideOverlap: true, formatter: (label) => (data.bars.length <= WIDE ? label : "") } }),
    yAxis: axis({ type: "value", min: 0, name: data.unit.name, max: (range) => Math.max(range.max, ...data.levels.map((level) => level[1])) * 1.05, axisLabel: { color: ink().text, showMaxLabel: false, formatter: (value) => digits(value / data.unit.multiple) } }),
    tooltip: tooltip((points) => { const bar = data.bars[points[0].dataIndex]; return `${escaped(name(points[0].dataIndex))}: <b>${escaped(amount(bar))}</b>${bar[4] ? ` (${escaped(data.mark)})` : ""}`; }),
    series: [
      // What the levels are stands above the chart: a name across the bars would hide them.
      {
        type: "bar", name: "least", stack: "bar", data: data.bars.map((bar) => bar[2]), barCategoryGap: data.bars.length > WIDE ? "10%" : "30%",
        markLine: { symbol: "none", silent: true, animation: false, data: data.levels.map(([label, value], place) => ({ name: label, yAxis: value, lineStyle: { type: dashes[1 + (place % 3)], color: ink().text, width: 1.5 }, label: { show: false } })) },
      },
      { type: "bar", name: "most", stack: "bar", data: data.bars.map((bar) => bar[3] - bar[2]), itemStyle: { opacity: 0.45 } },
      { type: "scatter", name: data.mark, data: marked, symbol: "triangle", symbolRotate: 180, symbolSize: 10, symbolOffset: [0, -8], itemStyle: { color: ink().bad }, z: 5, tooltip: { show: false } },
    ],
  });
  return { height: 320, option, names: [], levels: data.levels.map(([label, value], place) => [`${label}: ${told(value, data.unit)}`, 1 + (place % 3)]), points: data.bars.length };
};
