// Things by when they began. What went wrong has a cross.
"use strict";
const scatter = (data, { axis, digits, escaped, ink, timeAxis, told, tooltip }) => {
  const CROSS = "path://M0,1 L1,0 L5,4 L9,0 L10,1 L6,5 L10,9 L9,10 L5,6 L1,10 L0,9 L4,5 Z";
  const troubles = data.kinds.filter((kind) => kind.is_trouble);
  const marks = (kind, place) => (kind.is_trouble ? { symbol: CROSS, symbolSize: 9, symbolRotate: 45 * troubles.indexOf(kind), color: ink().bad } : { symbol: ["circle", "emptyRect", "emptyTriangle"][place % 3], symbolSize: 5, color: ink().colors[place % 4] });
  const option = (isLog) => (hidden) => ({
    animation: false, aria: { enabled: false }, grid: { left: 64, right: 24, top: 40, bottom: 56 },
    xAxis: timeAxis(data.range, true),
    yAxis: axis({ type: isLog ? "log" : "value", min: isLog ? undefined : 0, name: data.unit.name, axisLabel: { color: ink().text, formatter: (value) => digits(value / data.unit.multiple) } }),
    tooltip: { ...tooltip(({ seriesName, value }) => `${escaped(seriesName)}: began at ${digits(value[0])} s, took <b>${escaped(told(value[1], data.unit))}</b>`), trigger: "item" },
    legend: { show: false, selected: Object.fromEntries(data.kinds.map((kind) => [kind.label, !hidden.has(kind.label)])) },
    dataZoom: [{ type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false }],
    toolbox: { itemSize: 0, showTitle: false, feature: { dataZoom: { yAxisIndex: false } } },
    series: data.kinds.map((kind, place) => { const { color, ...mark } = marks(kind, place); return { type: "scatter", name: kind.label, data: kind.points, itemStyle: { color, opacity: 0.75 }, z: kind.is_trouble ? 4 : 2, ...mark }; }),
  });
  const statistics = (from, to) => {
    const parts = data.kinds.map((kind) => {
      const inside = kind.points.filter(([at]) => at >= from && at <= to).map((point) => point[1]).sort((one, other) => one - other);
      if (inside.length === 0) return `${kind.label}: none`;
      return `${kind.label}: ${digits(inside.length)}, ${told(inside[0], data.unit)} to ${told(inside[inside.length - 1], data.unit)}`;
    });
    return `${digits(from)} s to ${digits(to)} s: ${parts.join("; ")}`;
  };
  const choices = { linear: option(false), logarithmic: option(true) };
  return { height: 330, choices, option: option(false), names: data.kinds.map((kind) => kind.label), swatches: (place) => { const kind = data.kinds[place]; return [kind.is_trouble ? "✕" : ["●", "□", "△"][place % 3], marks(kind, place).color]; }, points: data.kinds[0].points.length, statistics, range: data.range };
};
