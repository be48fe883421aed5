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
  const titled = (name, nameGap) => ({ name, nameGap, nameLocation: "middle", nameTextStyle: { color: ink().text, align: "center" } });
  // The axis of time of the lowest panel of a chart has a title, others have none.
  const timeAxis = ([min, max], isLowest, more) => axis({ type: "value", min, max, axisLabel: { color: ink().text, hideOverlap: true, formatter: (seconds) => `${digits(seconds)} s` }, ...(isLowest ? titled("time since the start", 28) : {}), ...more });
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

  const tools = { axis, dash, dashes: DASHES, digits, escaped, ink, timeAxis, titled, told, tooltip };
  const shown = charts.map((data, number) => {
    const laid = { time: overTime, distribution, heat, stretches, boxes, estimates, bars, scatter }[data.kind](data, tools);
    const at = document.getElementById(`chart-${number}`);
    const controls = document.getElementById(`controls-${number}`);
    const selected = document.getElementById(`selected-${number}`);
    const hidden = new Set();
    let option = laid.option;
    at.style.height = `${laid.height}px`;
    const chart = echarts.init(at, null, { renderer: laid.renderer ?? "svg" });
    // Names bear the colors of their lines, which change with the paper.
    const swatches = [];
    const draw = () => {
      chart.setOption(option(hidden), { replaceMerge: ["series", "xAxis", "yAxis"] });
      swatches.forEach((paint) => paint());
    };
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
    const swatch = (parent, kind, paint) => {
      const made = parent.insertBefore(document.createElement("span"), parent.firstChild);
      made.className = kind;
      swatches.push(() => paint(made));
      paint(made);
    };
    const lineSwatch = (parent, line) => swatch(parent, laid.swatches ? "mark" : "swatch", (it) => {
      if (laid.swatches) [it.dataset.mark, it.style.color] = laid.swatches(line);
      else it.style.borderTop = `3px ${BORDERS[dash(line)]} ${ink().colors[line % 4]}`;
    });
    // What is drawn alone is named, too, and cannot be left out.
    const named = (text) => {
      const made = controls.appendChild(document.createElement("span"));
      made.className = "name";
      made.append(text);
      return made;
    };
    if (laid.about) named(laid.about);
    if (laid.names.length === 1 && laid.names[0] !== "") lineSwatch(named(laid.names[0]), 0);
    (laid.levels ?? []).forEach(([text, place]) => swatch(named(text), "swatch", (it) => { it.style.borderTop = `2px ${BORDERS[place]} ${ink().text}`; }));
    if (laid.names.length > 1) {
      laid.names.forEach((name, line) => {
        const toggle = button(controls, name, true);
        lineSwatch(toggle, line);
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
      const reset = button(controls, "whole time", null, "act");
      const zoom = (from, to) => chart.dispatchAction({ type: "dataZoom", startValue: from, endValue: to });
      const tell = () => {
        const { startValue, endValue } = chart.getOption().dataZoom[0];
        const isWhole = startValue <= first && endValue >= last;
        selected.classList.toggle("hint", isWhole);
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
      chart.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: laid.places?.[place] ?? place });
      event.preventDefault();
    });
    return { chart, draw };
  });

  // The command line to the clipboard; where a browser gives none, it is selected for the reader to copy.
  document.querySelectorAll(".command").forEach((command) => {
    const copy = button(command.parentElement, "copy", null, "act");
    command.after(copy);
    copy.addEventListener("click", () => {
      getSelection().selectAllChildren(command);
      const done = () => { copy.textContent = "copied"; };
      if (navigator.clipboard) navigator.clipboard.writeText(command.textContent).then(done, () => {});
    });
  });

  const redraw = () => shown.forEach(({ draw }) => draw());
  const PAPER_WIDTH = 660;
  const settings = document.querySelectorAll("details.settings");
  const print = (onPaper) => {
    printing = onPaper;
    shown.forEach(({ chart, draw }) => {
      chart.resize({ width: onPaper ? PAPER_WIDTH : "auto" });
      draw();
      // A print waits for no frame of an animation.
      chart.getZr().flush();
    });
    settings.forEach((details) => {
      if (onPaper) details.dataset.wasOpen = details.open;
      details.open = onPaper || details.dataset.wasOpen === "true";
    });
  };
  addEventListener("resize", () => { if (!printing) shown.forEach(({ chart }) => chart.resize()); });
  darkness.addEventListener("change", redraw);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  document.documentElement.dataset.state = "drawn";
})();
