// Distributions side by side: a box from the second to the fourth of five numbers with a line at the third, whiskers to the first and
// the last.
"use strict";
const boxes = (data, { axis, digits, escaped, ink, told, tooltip }) => {
  const ROW = 48;
  const least = Math.min(...data.rows.map((row) => row[1][0])), most = Math.max(...data.rows.map((row) => row[1][4]));
  const option = (isLogarithmic) => () => ({
    animation: false, aria: { enabled: false }, color: ink().colors,
    grid: { left: 12, right: 24, top: 16, bottom: 44, containLabel: true },
    xAxis: axis({ type: isLogarithmic ? "log" : "value", min: isLogarithmic ? least * 0.9 : 0, max: isLogarithmic ? most * 1.1 : undefined, name: data.unit.name, nameLocation: "middle", nameGap: 26, axisLabel: { color: ink().text, hideOverlap: true, formatter: (value) => digits(value / data.unit.multiple) } }),
    yAxis: axis({ type: "category", data: data.rows.map((row) => row[0]), inverse: true, axisLabel: { color: ink().text, width: 110, overflow: "truncate" } }),
    tooltip: { ...tooltip(({ dataIndex }) => [escaped(data.rows[dataIndex][0]), ...data.names.map((name, at) => `${name}: <b>${escaped(told(data.rows[dataIndex][1][at], data.unit))}</b>`)].join("<br>")), trigger: "item" },
    series: [{ type: "boxplot", boxWidth: [10, 26], itemStyle: { color: ink().heat[0], borderColor: ink().colors[0], borderWidth: 2 }, data: data.rows.map((row) => row[1]) }],
  });
  const choices = least > 0 && most / least > 10 ? { linear: option(false), logarithmic: option(true) } : {};
  return { height: 72 + ROW * data.rows.length, choices, option: option(false), names: [], points: data.rows.length };
};
