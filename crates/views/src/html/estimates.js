// Numbers with their intervals at places beside one another: a point each, and an upright line from one end of its interval to the other.
"use strict";
const estimates = (data, { axis, dash, dashes, digits, escaped, ink, told, tooltip }) => {
  const HEIGHT = 260;
  const of = data.estimates, { places, lines, unit } = of;
  // Points of several lines at one place stand beside one another.
  const apart = (line) => (lines.length > 1 ? (line - (lines.length - 1) / 2) * Math.min(0.012, 0.3 / places.length / lines.length) : 0);
  const x = (place, line) => places[place][1] + apart(line);
  const name = (share) => places.reduce((best, place) => (Math.abs(place[1] - share) < Math.abs(best[1] - share) ? place : best))[0];
  const bar = (params, api) => {
    const [low, high] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
    const style = { stroke: api.visual("color"), lineWidth: 1.5, fill: "none" };
    const across = (y) => ({ type: "line", shape: { x1: low[0] - 5, y1: y, x2: low[0] + 5, y2: y }, style });
    return { type: "group", children: [{ type: "line", shape: { x1: low[0], y1: low[1], x2: high[0], y2: high[1] }, style }, across(low[1]), across(high[1])] };
  };
  const bars = (line) => line.points.filter((point) => point[2]).map(([place, , [low, high]]) => [x(place, lines.indexOf(line)), low, high]);
  const about = ({ data: [, value, low, high, place], seriesName }) =>
    `${escaped(of.axis ? `${of.axis} ${places[place][0]}` : places[place][0])}<br>${lines.length > 1 ? `${escaped(seriesName)}: ` : ""}<b>${escaped(told(value, unit))}</b>${low == null ? "" : `<br>95 %: ${escaped(told(low, unit))} to ${escaped(told(high, unit))}`}`;
  const option = (hidden) => ({
    animation: false, aria: { enabled: false }, color: ink().colors,
    grid: { left: 64, right: 24, top: 40, bottom: of.axis ? 48 : 32 },
    xAxis: axis({ type: "value", min: 0, max: 1, name: of.axis, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: ink().text, align: "center" }, splitLine: { show: false }, axisTick: { show: true, customValues: places.map((place) => place[1]) }, axisLabel: { color: ink().text, hideOverlap: true, customValues: places.map((place) => place[1]), formatter: name } }),
    yAxis: axis({ type: "value", min: of.range[0] < 0 ? null : 0, name: unit.name, axisLabel: { color: ink().text, formatter: (value) => digits(value / unit.multiple) } }),
    tooltip: { ...tooltip(about), trigger: "item" },
    legend: { show: false, selected: Object.fromEntries(lines.map((line) => [line.label, !hidden.has(line.label)])) },
    series: lines.flatMap((line, at) => {
      const own = { name: line.label, color: ink().colors[at % 4], itemStyle: { color: ink().colors[at % 4] } };
      const points = line.points.map(([place, value, ends]) => [x(place, at), value, ends?.[0], ends?.[1], place]);
      return [
        { ...own, type: "line", data: points, encode: { x: 0, y: 1 }, symbol: "circle", symbolSize: 8, lineStyle: { width: line.is_joined ? 2 : 0, type: dashes[dash(at)] }, markLine: at === 0 && of.range[0] < 0 ? { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: ink().text, type: "solid" }, data: [{ yAxis: 0 }] } : undefined },
        { ...own, type: "custom", renderItem: bar, encode: { x: 0, y: [1, 2] }, data: bars(line), silent: true },
      ];
    }),
  });
  return { height: HEIGHT, option, names: lines.map((line) => line.label), points: lines[0]?.points.length ?? 0 };
};
