// Figures over time: a panel for each unit, one axis of time for all.
"use strict";
const overTime = (data, { axis, dash, dashes, digits, escaped, ink, told, tooltip }) => {
  // Counts of stretches of time: a bar over each, on those of other kinds that are shown. Kinds differ by how their bars are filled and bordered.
  const FILLS = [{ fillOpacity: 0.85 }, { fillOpacity: 0.15 }, { fillOpacity: 0.15, lineDash: [5, 3] }, { fillOpacity: 0.4, lineDash: [2, 2] }];
  const step = (line) => (line.points.length > 1 ? line.points[1][0] - line.points[0][0] : 1);
  const bar = (fill) => (params, api) => {
    const [left, top] = api.coord([api.value(0), api.value(4)]);
    const [right, bottom] = api.coord([api.value(2), api.value(3)]);
    const { x, y, width, height } = params.coordSys;
    const shape = echarts.graphic.clipRectByRect({ x: left + 1, y: top, width: Math.max(1, right - left - 2), height: bottom - top }, { x, y, width, height });
    return shape && api.value(1) > 0 && { type: "rect", shape, style: { fill: api.visual("color"), stroke: api.visual("color"), lineWidth: 1.5, ...fill } };
  };
  const stacked = (line, bases) => {
    const end = (place) => (place + 1 < line.points.length ? line.points[place + 1][0] : line.points[place][0] + step(line));
    const data = line.points.map(([at, value], place) => {
      const base = bases.get(at) ?? 0;
      bases.set(at, base + (value ?? 0));
      return [at, value, end(place), base, base + (value ?? 0)];
    });
    return { type: "custom", name: line.label, xAxisIndex: line.at, yAxisIndex: line.at, renderItem: bar(FILLS[line.kind % FILLS.length]), encode: { x: [0, 2], y: [3, 4] }, data, clip: true };
  };

  const HEIGHT = 200, GAP = 60, TOP = 40;
  const lines = data.panels.flatMap((panel, at) => panel.lines.map((line, kind) => ({ ...line, at, kind, unit: panel.unit })));
  const counts = lines.filter((line) => line.is_stacked);
  const last = Math.max(...lines.flatMap((line) => line.points.map((point) => point[0] + (line.is_stacked ? step(line) : 0))));
  const first = Math.min(...lines.flatMap((line) => line.points.map((point) => point[0])));
  // An axis of seconds begins with a whole one.
  const begin = Math.floor(first);
  const option = (hidden, bases = new Map()) => ({
    animation: false, aria: { enabled: false }, color: ink().colors,
    grid: data.panels.map((_, at) => ({ left: 64, right: 16, top: TOP + at * (HEIGHT + GAP), height: HEIGHT })),
    xAxis: data.panels.map((_, at) => axis({ type: "value", gridIndex: at, min: begin, max: Math.max(last, begin + 0.001), axisLabel: { color: ink().text, hideOverlap: true, formatter: (seconds) => `${digits(seconds)} s` } })),
    yAxis: data.panels.map((panel, at) => axis({ type: "value", gridIndex: at, min: 0, name: panel.unit.name, axisLabel: { color: ink().text, formatter: (value) => digits(value / panel.unit.multiple) } })),
    axisPointer: { link: [{ xAxisIndex: "all" }], label: { show: false } },
    dataZoom: [{ type: "inside", xAxisIndex: data.panels.map((_, at) => at), filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false }],
    toolbox: { itemSize: 0, showTitle: false, feature: { dataZoom: { yAxisIndex: false } } },
    tooltip: tooltip((points) => [`${digits(points[0].value[0])} s`, ...points.map((point) => `${escaped(point.seriesName)}: <b>${escaped(told(point.value[1], lines[point.seriesIndex].unit))}</b>`)].join("<br>")),
    legend: { show: false, selected: Object.fromEntries(lines.map((line) => [line.label, !hidden.has(line.label)])) },
    series: lines.map((line, place) => (line.is_stacked ? stacked(line, hidden.has(line.label) ? new Map() : (bases.get(line.at) ?? bases.set(line.at, new Map()).get(line.at))) : {
      type: "line", name: line.label, xAxisIndex: line.at, yAxisIndex: line.at, data: line.points, connectNulls: false, sampling: "minmax",
      showSymbol: line.points.length < 40, symbol: ["circle", "rect", "triangle", "diamond"][place % 4], symbolSize: 6,
      lineStyle: { type: dashes[dash(place)], width: 2 }, areaStyle: line.is_area ? { opacity: 0.12 } : undefined,
    })),
  });
  const statistics = (from, to) => {
    const parts = lines.map((line) => {
      const inside = line.points.filter(([at, value]) => at >= from && at <= to && value != null).map((point) => point[1]);
      if (inside.length === 0) return `${line.label}: nothing`;
      const mean = inside.reduce((sum, value) => sum + value, 0) / inside.length;
      return `${line.label}: ${inside.length} intervals, mean ${told(mean, line.unit)}, ${told(Math.min(...inside), line.unit)} to ${told(Math.max(...inside), line.unit)}`;
    });
    return `${digits(from)} s to ${digits(to)} s: ${parts.join("; ")}`;
  };
  return { height: TOP + data.panels.length * (HEIGHT + GAP), option, is_stacked: counts.length > 1, names: lines.map((line) => line.label), points: lines[0].points.length, statistics, range: [begin, last] };
};
