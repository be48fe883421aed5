// Distributions over time: a field for each range of durations in each stretch of time, as dark as there were many. The axis of
// durations counts ranges, two for each doubling.
"use strict";
const heat = (data, { axis, digits, escaped, ink, timeAxis, told, tooltip }) => {
  const cells = (map) => map.columns.flatMap(([start, end, first, counts]) => counts.flatMap((count, at) => (count > 0 ? [[start, end, first + at, first + at + 1, count, Math.log10(count)]] : [])));
  const drawn = data.maps.map((map) => ({ label: map.label, cells: cells(map), columns: map.columns }));
  const all = drawn.flatMap((map) => map.cells);
  const most = all.reduce((most, cell) => Math.max(most, cell[4]), 1);
  const ranges = data.edges.length - 1;
  const duration = (range) => told(data.edges[range], data.unit);
  let current = drawn[0];
  const cell = (params, api) => {
    const [left, top] = api.coord([api.value(0), api.value(3)]);
    const [right, bottom] = api.coord([api.value(1), api.value(2)]);
    const { x, y, width, height } = params.coordSys;
    // Neighbours touch, also where pixels are split.
    const shape = echarts.graphic.clipRectByRect({ x: left, y: top, width: Math.max(1, right - left + 0.5), height: bottom - top + 0.5 }, { x, y, width, height });
    return shape && { type: "rect", shape, style: { fill: api.visual("color") } };
  };
  const option = (map) => () => {
    current = map;
    return {
      animation: false, aria: { enabled: false },
      grid: { left: 64, right: 24, top: 40, bottom: 92 },
      xAxis: timeAxis(data.range, true),
      yAxis: axis({ type: "value", name: data.unit.name, min: 0, max: ranges, interval: Math.ceil(ranges / 10), axisLabel: { color: ink().text, formatter: (range) => (Number.isInteger(range) ? digits(data.edges[range] / data.unit.multiple) : "") } }),
      dataZoom: [{ type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false }],
      toolbox: { itemSize: 0, showTitle: false, feature: { dataZoom: { yAxisIndex: false } } },
      visualMap: { type: "continuous", dimension: 5, min: 0, max: Math.log10(Math.max(most, 2)), inRange: { color: ink().heat }, orient: "horizontal", left: 60, bottom: 0, itemWidth: 12, itemHeight: 120, text: [`${digits(most)} samples`, "1"], textStyle: { color: ink().text }, hoverLink: false },
      tooltip: { ...tooltip(({ value }) => [`${digits(value[0])} s to ${digits(value[1])} s`, `${escaped(duration(value[2]))} to ${escaped(duration(value[3]))}`, `<b>${digits(value[4])}</b> samples`].join("<br>")), trigger: "item" },
      series: [{ type: "custom", name: map.label, renderItem: cell, encode: { x: [0, 1], y: [2, 3] }, data: map.cells, clip: true }],
    };
  };
  const statistics = (from, to) => {
    const inside = current.columns.filter(([start, end]) => start >= from && end <= to);
    const held = current.cells.filter(([start, end]) => start >= from && end <= to);
    const what = held.length === 0 ? "nothing" : `${digits(held.reduce((sum, one) => sum + one[4], 0))} samples in ${inside.length} columns, ${duration(held.reduce((least, one) => Math.min(least, one[2]), ranges))} to ${duration(held.reduce((most, one) => Math.max(most, one[3]), 0))}`;
    return `${digits(from)} s to ${digits(to)} s: ${current.label}: ${what}`;
  };
  const choices = drawn.length > 1 ? Object.fromEntries(drawn.map((map) => [map.label, option(map)])) : {};
  return { height: 380, renderer: "canvas", choices, option: option(drawn[0]), names: [], about: drawn.length > 1 ? "" : drawn[0].label, get points() { return current.cells.length; }, statistics, range: data.range };
};
