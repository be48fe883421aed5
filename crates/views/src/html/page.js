// Lays the page's charts out by ECharts. The numbers come from the page and are shown as they are; computed is nothing but the
// statistics of a range that the reader selects, and the ranges of a histogram.
"use strict";
(() => {
  const BORDERS = ["solid", "dashed", "dotted", "double"];
  const DASHES = ["solid", [8, 3], [2, 3], [10, 3, 2, 3]];
  // Four colors come again with other dashes each time.
  const dash = (line) => (line + Math.floor(line / 4)) % 4;
  const COLORS = { light: ["#1763a6", "#b3470b", "#3d7a22", "#8a3a94"], dark: ["#6cb4f5", "#ff9d5c", "#8fd06f", "#dc97e5"] };
  // From few to many: each stands out from its paper.
  const HEAT = { light: ["#c9dcef", "#6ba3d6", "#1763a6", "#0a2d52"], dark: ["#24425f", "#2f7fd1", "#7fc0fa", "#eaf5ff"] };
  const RANGES = 48;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;

  const ink = () => {
    const dark = darkness.matches && !printing;
    return { text: dark ? "#e4e8ec" : "#1c2126", line: dark ? "#3a434c" : "#d5dbe1", paper: dark ? "#1e242a" : "#ffffff", page: dark ? "#15191d" : "#ffffff", bad: dark ? "#ff8a8f" : "#a3111c", colors: COLORS[dark ? "dark" : "light"], heat: HEAT[dark ? "dark" : "light"] };
  };
  const digits = (number) => {
    const size = Math.abs(number);
    const fraction = size === 0 || size >= 1000 ? 0 : Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(size))));
    return number.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: fraction });
  };
  const told = (value, unit) => (value == null ? "–" : `${digits(value / unit.multiple)} ${unit.name}`.trim());
  const escaped = (text) => echarts.format.encodeHTML(text);
  const axis = (more) => ({ axisLabel: { color: ink().text }, nameTextStyle: { color: ink().text, align: "left" }, splitLine: { lineStyle: { color: ink().line } }, ...more });
  const tooltip = (formatter) => ({
    trigger: "axis", confine: true, backgroundColor: ink().paper, borderColor: ink().line, textStyle: { color: ink().text }, formatter,
  });
  const button = (parent, text, pressed, kind) => {
    const made = parent.appendChild(document.createElement("button"));
    made.type = "button";
    made.append(text);
    if (pressed != null) made.setAttribute("aria-pressed", String(pressed));
    if (kind) made.className = kind;
    return made;
  };

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

  // Figures over time: a panel for each unit, one axis of time for all.
  const time = (data) => {
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
        lineStyle: { type: DASHES[dash(place)], width: 2 }, areaStyle: line.is_area ? { opacity: 0.12 } : undefined,
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

  // A distribution: percentiles, each nine as far from the next; or how many took how long.
  const distribution = (data) => {
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
    const common = { animation: false, aria: { enabled: data.shapes.length > 1, label: { enabled: false }, decal: { show: true } }, grid: { left: 64, right: 24, top: 40, bottom: 48 } };
    const series = (shape, place) => ({ name: shape.label, lineStyle: { type: DASHES[dash(place)], width: 2 } });
    const percentiles = (log, hidden) => ({
      ...common, color: ink().colors, legend: legend(hidden),
      xAxis: axis({ type: "value", min: 0, axisLabel: { color: ink().text, formatter: percent } , interval: 1, minorTick: { show: false } }),
      yAxis: axis({ type: log ? "log" : "value", name: data.unit.name, axisLabel: { color: ink().text, formatter: (value) => digits(value / data.unit.multiple) } }),
      tooltip: tooltip((points) => [`${percent(points[0].value[0])} took less`, ...points.map((point) => `${escaped(point.seriesName)}: <b>${escaped(told(point.value[1], data.unit))}</b>`)].join("<br>")),
      series: data.shapes.map((shape, place) => ({ ...series(shape, place), type: "line", step: "end", showSymbol: false, data: curve(shape) })),
    });
    const histogram = (linear, hidden) => {
      const edges = ranges(linear);
      return {
        ...common, color: ink().colors, legend: legend(hidden),
        xAxis: axis({ type: "category", data: edges.slice(1).map((edge) => told(edge, data.unit)), axisLabel: { color: ink().text, hideOverlap: true } }),
        yAxis: axis({ type: "value", name: "samples" }),
        tooltip: tooltip((points) => [`${told(edges[points[0].dataIndex], data.unit)} to ${told(edges[points[0].dataIndex + 1], data.unit)}`, ...points.map((point) => `${escaped(point.seriesName)}: <b>${digits(point.value)}</b>`)].join("<br>")),
        series: data.shapes.map((shape, place) => ({ ...series(shape, place), type: "bar", data: counted(shape, edges) })),
      };
    };
    const choices = {
      percentiles: (hidden) => percentiles(false, hidden), "percentiles, logarithmic": (hidden) => percentiles(true, hidden),
      histogram: (hidden) => histogram(false, hidden), "histogram, linear": (hidden) => histogram(true, hidden),
    };
    return { height: 320, choices, option: choices.percentiles, names: data.shapes.map((shape) => shape.label), points: curve(data.shapes[0]).length };
  };

  // Distributions over time: a field for each range of durations in each stretch of time, as dark as there were many. The axis of
  // durations counts ranges, two for each doubling.
  const heat = (data) => {
    const cells = (map) => map.columns.flatMap(([start, end, first, counts]) => counts.flatMap((count, at) => (count > 0 ? [[start, end, first + at, first + at + 1, count, Math.log10(count)]] : [])));
    const drawn = data.maps.map((map) => ({ label: map.label, cells: cells(map), columns: map.columns }));
    const all = drawn.flatMap((map) => map.cells);
    const most = all.reduce((most, cell) => Math.max(most, cell[4]), 1);
    const columns = data.maps.flatMap((map) => map.columns);
    const begin = Math.floor(Math.min(...columns.map((column) => column[0]))), last = Math.max(...columns.map((column) => column[1]));
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
        grid: { left: 64, right: 24, top: 40, bottom: 72 },
        xAxis: axis({ type: "value", min: begin, max: Math.max(last, begin + 0.001), axisLabel: { color: ink().text, hideOverlap: true, formatter: (seconds) => `${digits(seconds)} s` } }),
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
    return { height: 360, renderer: "canvas", choices, option: option(drawn[0]), names: [], get points() { return current.cells.length; }, statistics, range: [begin, last] };
  };

  // Amounts of many things side by side: a bar from nothing to the least of each, and one from there to the most where neighbours share
  // it. Those that are marked bear a triangle: their bars may be too low to be seen.
  const bars = (data) => {
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
        {
          type: "bar", name: "least", stack: "bar", data: data.bars.map((bar) => bar[2]), barCategoryGap: data.bars.length > WIDE ? "10%" : "30%",
          markLine: { symbol: "none", silent: true, animation: false, data: data.levels.map(([label, value], place) => ({ name: label, yAxis: value, lineStyle: { type: DASHES[1 + (place % 3)], color: ink().text, width: 1.5 }, label: { formatter: `${label}: ${told(value, data.unit)}`, position: place % 2 ? "insideStartTop" : "insideEndTop", color: ink().text, backgroundColor: ink().page, padding: [2, 4], borderRadius: 3 } })) },
        },
        { type: "bar", name: "most", stack: "bar", data: data.bars.map((bar) => bar[3] - bar[2]), itemStyle: { opacity: 0.45 } },
        { type: "scatter", name: data.mark, data: marked, symbol: "triangle", symbolRotate: 180, symbolSize: 10, symbolOffset: [0, -8], itemStyle: { color: ink().bad }, z: 5, tooltip: { show: false } },
      ],
    });
    return { height: 320, option, names: [], points: data.bars.length };
  };

  // Things by when they began. What went wrong has a cross.
  const CROSS = "path://M0,1 L1,0 L5,4 L9,0 L10,1 L6,5 L10,9 L9,10 L5,6 L1,10 L0,9 L4,5 Z";
  const scatter = (data) => {
    const all = data.kinds.flatMap((kind) => kind.points);
    const begin = Math.floor(all.reduce((least, point) => Math.min(least, point[0]), Infinity)), last = all.reduce((most, point) => Math.max(most, point[0]), begin + 0.001);
    const troubles = data.kinds.filter((kind) => kind.is_trouble);
    const marks = (kind, place) => (kind.is_trouble ? { symbol: CROSS, symbolSize: 9, symbolRotate: 45 * troubles.indexOf(kind), color: ink().bad } : { symbol: ["circle", "emptyRect", "emptyTriangle"][place % 3], symbolSize: 5, color: ink().colors[place % 4] });
    const option = (isLog) => (hidden) => ({
      animation: false, aria: { enabled: false }, grid: { left: 64, right: 24, top: 40, bottom: 48 },
      xAxis: axis({ type: "value", min: begin, max: last, axisLabel: { color: ink().text, hideOverlap: true, formatter: (seconds) => `${digits(seconds)} s` } }),
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
    return { height: 320, choices, option: option(false), names: data.kinds.map((kind) => kind.label), swatches: (place) => { const kind = data.kinds[place]; return [kind.is_trouble ? "✕" : ["●", "□", "△"][place % 3], marks(kind, place).color]; }, points: data.kinds[0].points.length, statistics, range: [begin, last] };
  };

  const estimates = (data, tools) => estimatesChart(tools, data.estimates);

  const tools = { axis, dash, dashes: DASHES, digits, escaped, ink, told, tooltip };
  const shown = charts.map((data, number) => {
    const laid = { time, distribution, heat, stretches, boxes, estimates, bars, scatter }[data.kind](data, tools);
    const at = document.getElementById(`chart-${number}`);
    const controls = document.getElementById(`controls-${number}`);
    const selected = document.getElementById(`selected-${number}`);
    const hidden = new Set();
    let option = laid.option;
    at.style.height = `${laid.height}px`;
    const chart = echarts.init(at, null, { renderer: laid.renderer ?? "svg" });
    const draw = () => chart.setOption(option(hidden), { replaceMerge: ["series", "xAxis", "yAxis"] });
    draw();
    let begin = () => {};

    const choices = Object.entries(laid.choices ?? {}).map(([name, made], place) => {
      const choice = button(controls, name, place === 0, "choice");
      choice.addEventListener("click", () => {
        choices.forEach((other) => other.setAttribute("aria-pressed", String(other === choice)));
        option = made;
        chart.clear();
        draw();
        begin();
      });
      return choice;
    });
    if (laid.names.length > 1) {
      laid.names.forEach((name, line) => {
        const toggle = button(controls, name, true);
        const swatch = toggle.insertBefore(document.createElement("span"), toggle.firstChild);
        if (laid.swatches) {
          const [mark, color] = laid.swatches(line);
          swatch.className = "mark";
          swatch.style.color = color;
          swatch.dataset.mark = mark;
        } else {
          swatch.className = "swatch";
          swatch.style.borderTop = `3px ${BORDERS[dash(line)]} ${ink().colors[line % 4]}`;
        }
        toggle.addEventListener("click", () => {
          if (!hidden.delete(name)) hidden.add(name);
          toggle.setAttribute("aria-pressed", String(!hidden.has(name)));
          chart.dispatchAction({ type: "legendToggleSelect", name });
          if (laid.is_stacked) draw();
        });
      });
    }
    if (laid.statistics) {
      const [first, last] = laid.range;
      const reset = button(controls, "whole time");
      const zoom = (from, to) => chart.dispatchAction({ type: "dataZoom", startValue: from, endValue: to });
      const tell = () => {
        const { startValue, endValue } = chart.getOption().dataZoom[0];
        const isWhole = startValue <= first && endValue >= last;
        selected.textContent = isWhole ? "Drag over a part of the chart to see it alone, with its statistics." : laid.statistics(startValue, endValue);
      };
      reset.addEventListener("click", () => zoom(first, last));
      chart.on("datazoom", tell);
      begin = () => {
        chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
        tell();
      };
      begin();
      at.addEventListener("keydown", (event) => {
        const { startValue, endValue } = chart.getOption().dataZoom[0];
        const width = endValue - startValue, middle = (startValue + endValue) / 2;
        const closer = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
        if (closer) zoom(Math.max(first, middle - (width * closer) / 2), Math.min(last, middle + (width * closer) / 2));
        else if (event.key === "Escape") zoom(first, last);
      });
    }
    // A point at a time by keys.
    let place = -1;
    at.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      place = Math.min(laid.points - 1, Math.max(0, place + step));
      chart.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: place });
      event.preventDefault();
    });
    return { chart, draw };
  });

  // The command line to the clipboard; where a browser gives none, it is selected for the reader to copy.
  document.querySelectorAll(".command").forEach((command) => {
    const copy = button(command.parentElement, "copy");
    command.after(copy);
    copy.addEventListener("click", () => {
      getSelection().selectAllChildren(command);
      const done = () => { copy.textContent = "copied"; };
      if (navigator.clipboard) navigator.clipboard.writeText(command.textContent).then(done, () => {});
    });
  });

  const resize = () => shown.forEach(({ chart }) => chart.resize());
  const redraw = () => shown.forEach(({ draw }) => draw());
  addEventListener("resize", resize);
  darkness.addEventListener("change", redraw);
  addEventListener("beforeprint", () => { printing = true; redraw(); shown.forEach(({ chart }) => chart.resize({ width: 660 })); });
  addEventListener("afterprint", () => { printing = false; redraw(); shown.forEach(({ chart }) => chart.resize({ width: "auto" })); });
  document.documentElement.dataset.state = "drawn";
})();
