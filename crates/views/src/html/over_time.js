// Figures over time: a panel for each unit, one axis of time for all. A place of a line is where it is drawn, how much, and from when
// until when that is of; where it is drawn at one of those, it prolongs the line to there and is no value of its own.
"use strict";
const overTime = (data, { axis, dash, dashes, digits, escaped, ink, timeAxis, told, tooltip }) => {
  // Counts of stretches of time: a bar over each, on those of other kinds that are shown. Kinds differ by how their bars are filled and bordered.
  const FILLS = [{ fillOpacity: 0.85 }, { fillOpacity: 0.15 }, { fillOpacity: 0.15, lineDash: [5, 3] }, { fillOpacity: 0.4, lineDash: [2, 2] }];
  const bar = (fill) => (params, api) => {
    const [left, top] = api.coord([api.value(2), api.value(5)]);
    const [right, bottom] = api.coord([api.value(3), api.value(4)]);
    const { x, y, width, height } = params.coordSys;
    const shape = echarts.graphic.clipRectByRect({ x: left + 1, y: top, width: Math.max(1, right - left - 2), height: bottom - top }, { x, y, width, height });
    return shape && api.value(1) > 0 && { type: "rect", shape, style: { fill: api.visual("color"), stroke: api.visual("color"), lineWidth: 1.5, ...fill } };
  };
  const stacked = (line, bases) => {
    const data = line.points.map(([at, value, start, end]) => {
      const base = bases.get(start) ?? 0;
      bases.set(start, base + (value ?? 0));
      return [at, value, start, end, base, base + (value ?? 0)];
    });
    return { type: "custom", name: line.label, xAxisIndex: line.at, yAxisIndex: line.at, renderItem: bar(FILLS[line.kind % FILLS.length]), encode: { x: 0, y: [4, 5] }, data, clip: true };
  };

  // When each measurement began, through all panels; its name stands above the first, as far as there is room until the next.
  const phase = (isNamed) => (params, api) => {
    const [left] = api.coord([api.value(0), 0]), [right] = api.coord([api.value(1), 0]);
    const { x, y, width, height } = params.coordSys;
    if (right <= x || left >= x + width) return undefined;
    const from = Math.max(left, x), room = Math.min(right, x + width) - from - 8;
    const line = { type: "line", shape: { x1: left, y1: y - (isNamed ? 16 : 0), x2: left, y2: y + height }, style: { stroke: ink().text, lineWidth: 1, lineDash: [3, 3], opacity: 0.6 } };
    const words = { type: "text", style: { text: data.phases[params.dataIndex][1], x: from + 4, y: y - 14, fill: ink().text, fontSize: 11, width: Math.max(0, room), overflow: "truncate" } };
    return { type: "group", children: [...(left >= x ? [line] : []), ...(isNamed && room > 24 ? [words] : [])] };
  };
  const phases = () => (data.phases.length === 0 ? [] : data.panels.map((_, at) => ({
    type: "custom", name: "phases", xAxisIndex: at, yAxisIndex: at, renderItem: phase(at === 0), encode: { x: 0, y: 2 }, silent: true, tooltip: { show: false },
    data: data.phases.map(([start], place) => [start, data.phases[place + 1]?.[0] ?? data.range[1], 0]),
  })));

  // Names of measurements stand below the unit of the first panel.
  const HEIGHT = 200, GAP = 60, NAMES = data.phases.length > 0 ? 18 : 0, TOP = 40 + NAMES;
  const isEdge = ([at, , start, end]) => end > start && (at === start || at === end);
  const lines = data.panels.flatMap((panel, at) => panel.lines.map((line, kind) => ({ ...line, at, kind, unit: panel.unit })));
  const counts = lines.filter((line) => line.is_stacked);
  const values = (line) => line.points.filter((point) => !isEdge(point));
  const when = ([, , start, end]) => (end > start ? `${digits(start)} s to ${digits(end)} s` : `${digits(start)} s`);
  const option = (hidden, bases = new Map()) => ({
    animation: false, aria: { enabled: false }, color: ink().colors,
    grid: data.panels.map((_, at) => ({ left: 64, right: 24, top: TOP + at * (HEIGHT + GAP), height: HEIGHT })),
    xAxis: data.panels.map((_, at) => timeAxis(data.range, at === data.panels.length - 1, { gridIndex: at })),
    yAxis: data.panels.map((panel, at) => axis({ type: "value", gridIndex: at, min: 0, name: panel.unit.name || "number", nameGap: 15 + (at === 0 ? NAMES : 0), axisLabel: { color: ink().text, formatter: (value) => digits(value / panel.unit.multiple) } })),
    axisPointer: { link: [{ xAxisIndex: "all" }], label: { show: false } },
    dataZoom: [{ type: "inside", xAxisIndex: data.panels.map((_, at) => at), filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false }],
    toolbox: { itemSize: 0, showTitle: false, feature: { dataZoom: { yAxisIndex: false } } },
    tooltip: tooltip((all) => {
      // A measurement that begins is no value, nor is a gap.
      const points = all.filter((point) => point.seriesIndex < lines.length && point.value[1] != null);
      return points.length === 0 ? "" : [when(points[0].value), ...points.map((point) => `${escaped(point.seriesName)}: <b>${escaped(told(point.value[1], lines[point.seriesIndex].unit))}</b>`)].join("<br>");
    }),
    legend: { show: false, selected: Object.fromEntries(lines.map((line) => [line.label, !hidden.has(line.label)])) },
    series: [...lines.map((line, place) => (line.is_stacked ? stacked(line, hidden.has(line.label) ? new Map() : (bases.get(line.at) ?? bases.set(line.at, new Map()).get(line.at))) : {
      type: "line", name: line.label, xAxisIndex: line.at, yAxisIndex: line.at, encode: { x: 0, y: 1 }, connectNulls: false, sampling: "minmax",
      data: line.points.map((point) => (isEdge(point) ? { value: point, symbol: "none" } : point)), showSymbol: values(line).length < 40, symbol: ["circle", "rect", "triangle", "diamond"][place % 4], symbolSize: 6,
      lineStyle: { type: dashes[dash(place)], width: 2 }, areaStyle: line.is_area ? { opacity: 0.12 } : undefined,
    })), ...phases()],
  });
  const statistics = (from, to) => {
    const parts = lines.map((line) => {
      // An interval that is in it by a part is not: its value is of the rest as well.
      const inside = values(line).filter(([, value, start, end]) => start >= from && end <= to && value != null);
      const what = line.points.some(([, , start, end]) => end > start) ? "interval" : "point";
      if (inside.length === 0) return `${line.label}: no whole ${what}`;
      const amounts = inside.map((point) => point[1]);
      const mean = amounts.reduce((sum, value) => sum + value, 0) / amounts.length;
      return `${line.label}: ${amounts.length} ${what}${amounts.length > 1 ? "s" : ""}, mean ${told(mean, line.unit)}, ${told(amounts.reduce((least, value) => Math.min(least, value)), line.unit)} to ${told(amounts.reduce((most, value) => Math.max(most, value)), line.unit)}`;
    });
    return `${digits(from)} s to ${digits(to)} s: ${parts.join("; ")}`;
  };
  return { height: TOP + data.panels.length * (HEIGHT + GAP), option, is_stacked: counts.length > 1, names: lines.map((line) => line.label), places: lines[0].points.flatMap((point, place) => (isEdge(point) ? [] : [place])), points: values(lines[0]).length, statistics, range: data.range };
};
