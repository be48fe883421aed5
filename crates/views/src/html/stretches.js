// What became of several things over time: a row for each, a bar for each stretch, a diamond for each instant. Those of one kind are
// one series, so that a kind can be left out; what each is stands in words where there is room, and in its tip.
"use strict";
const stretches = (data, { axis, digits, escaped, ink, timeAxis, tooltip }) => {
  const MOST_WORDS = 12, ROW = 60;
  const isInstant = ([, start, end]) => start === end;
  const hasRoom = data.stretches.filter(isInstant).length <= MOST_WORDS;
  // What a row is of stands above it, so that the axis of time lies below that of the other charts; instants of one row are told in
  // turns on two lines below it, so that neighbours can be read.
  const drawn = data.stretches.map((stretch, place) => [...stretch, place % 2]);
  const item = (params, api) => {
    const [row, start, end, kind, , side] = drawn.filter((it) => it[3] === params.seriesIndex)[params.dataIndex];
    const [left, middle] = api.coord([start, row]), [right] = api.coord([end, row]);
    const { x, y, width, height } = params.coordSys, fill = api.visual("color");
    const words = (at, top, align) => ({ type: "text", style: { text: data.kinds[kind], x: at, y: top, fill: ink().text, align, verticalAlign: "middle", fontSize: 11 } });
    if (start === end) {
      if (left < x || left > x + width) return undefined;
      const points = [[left, middle - 7], [left + 6, middle], [left, middle + 7], [left - 6, middle]];
      const mark = { type: "polygon", shape: { points }, style: { fill, stroke: ink().paper, lineWidth: 1 } };
      return { type: "group", children: hasRoom ? [mark, words(Math.max(left, x + 10), side ? middle + 29 : middle + 16, "center")] : [mark] };
    }
    const shape = echarts.graphic.clipRectByRect({ x: left, y: middle - 9, width: Math.max(2, right - left), height: 18 }, { x, y, width, height });
    return shape && { type: "rect", shape, style: { fill, opacity: 0.75 } };
  };
  const time = (seconds) => `${digits(seconds)} s`;
  const told = ([row, start, end, kind, note]) => {
    const when = start === end ? time(start) : `${time(start)} to ${time(end)}, ${time(end - start)}`;
    return [`${escaped(data.rows[row])}: <b>${escaped(data.kinds[kind])}</b>`, when, escaped(note)].filter((line) => line !== "").join("<br>");
  };
  const of = (kind) => drawn.filter((stretch) => stretch[3] === kind);
  const option = (hidden) => ({
    animation: false, aria: { enabled: false }, color: ink().colors,
    grid: { left: 64, right: 24, top: 12, bottom: 56 },
    xAxis: timeAxis(data.range, true),
    yAxis: axis({ type: "category", data: data.rows, inverse: true, axisTick: { show: false }, axisLabel: { color: ink().text, inside: true, align: "left", verticalAlign: "bottom", padding: [0, 0, 12, 0] }, splitLine: { show: true, lineStyle: { color: ink().line } } }),
    dataZoom: [{ type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, moveOnMouseMove: false }],
    toolbox: { itemSize: 0, showTitle: false, feature: { dataZoom: { yAxisIndex: false } } },
    tooltip: { ...tooltip(({ seriesIndex, dataIndex }) => told(of(seriesIndex)[dataIndex])), trigger: "item" },
    legend: { show: false, selected: Object.fromEntries(data.kinds.map((kind) => [kind, !hidden.has(kind)])) },
    series: data.kinds.map((name, kind) => ({ type: "custom", name, renderItem: item, encode: { x: [0, 1], y: 2 }, clip: true, data: of(kind).map(([row, start, end]) => [start, end, row]) })),
  });
  const statistics = (from, to) => {
    const parts = data.kinds.map((name, kind) => {
      const inside = of(kind).filter(([, start, end]) => end >= from && start <= to);
      const length = inside.reduce((sum, [, start, end]) => sum + Math.min(end, to) - Math.max(start, from), 0);
      return `${name}: ${inside.length}${length > 0 ? `, ${time(length)} in all` : ""}`;
    });
    return `${time(from)} to ${time(to)}: ${parts.join("; ")}`;
  };
  return { height: 68 + ROW * data.rows.length, option, names: data.kinds, points: of(0).length, statistics, range: data.range };
};
