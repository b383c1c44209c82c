// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// Plots, drawn by Chart.js: colours of the page, a closer look, and the keyboard.
"use strict";

Chart.defaults.animation = false;
Chart.defaults.font.family = "system-ui, 'DejaVu Sans', sans-serif";

function colour(name) {
   return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// 1,200,000 is "1.2M" at an axis.
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

// {title, low, type, x: {title, log, min, max, ticks}, y: {title, log, tick}, curves(from, to, pixels),
// say(point, curve), marks: [[x, name]]}. `curves` returns [{label, colour, line, points}] with the points between two
// values of x, thinned to what so many pixels show; `say` the lines of text for one point.
class Plot {
   constructor(host, plan) {
      this.plan = plan;
      this.from = plan.x.min;
      this.to = plan.x.max;
      this.canvas = make("canvas");
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", plan.title);
      this.brush = make("div", { className: "brush", hidden: true });
      this.box = make("div", { className: plan.low ? "plot low" : "plot", tabIndex: 0 }, this.canvas, this.brush);
      this.box.setAttribute("role", "group");
      this.box.setAttribute("aria-label", `${plan.title}: arrow keys go from point to point`);
      this.said = make("div", { className: "said" });
      this.said.setAttribute("aria-live", "polite");
      host.append(this.box, this.said);
      this.chart = new Chart(this.canvas, this.configuration());
      this.refresh();
      this.box.addEventListener("keydown", (event) => this.key(event));
      this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
      this.canvas.addEventListener("dblclick", () => this.look(plan.x.min, plan.x.max));
      Plot.all.push(this);
   }

   configuration() {
      const { plan } = this;
      const scale = (axis) => ({
         type: axis.log ? "logarithmic" : "linear",
         title: { display: true, text: axis.title },
         ticks: { callback: axis.tick ?? ((value) => short.format(value)), maxRotation: 0 },
         grid: {},
         ...(axis.ticks && { afterBuildTicks: (built) => (built.ticks = axis.ticks.map((value) => ({ value }))) }),
      });
      return {
         type: "scatter",
         data: { datasets: [] },
         plugins: [{ afterDraw: (chart) => this.drawMarks(chart) }],
         options: {
            parsing: false,
            normalized: true,
            maintainAspectRatio: false,
            interaction: { mode: "nearest", intersect: false, axis: "xy" },
            scales: { x: scale(plan.x), y: { ...scale(plan.y), beginAtZero: !plan.y.log } },
            plugins: {
               legend: { labels: { usePointStyle: true, boxHeight: 7 } },
               tooltip: {
                  displayColors: false,
                  callbacks: {
                     title: (items) => items.slice(0, 1).map((item) => item.dataset.label),
                     label: (item) => plan.say(item.raw, item.dataset),
                  },
               },
            },
         },
      };
   }

   refresh() {
      const { chart, plan } = this;
      const width = Math.max(300, chart.chartArea?.width || this.box.clientWidth);
      const height = Math.max(100, chart.chartArea?.height || this.box.clientHeight);
      chart.data.datasets = plan.curves(this.from, this.to, width, height).map((curve) => ({
         label: curve.label,
         data: curve.points,
         name: curve.colour,
         showLine: curve.line ?? false,
         stepped: curve.stepped ?? false,
         borderWidth: 2,
         pointStyle: "circle",
         pointRadius: curve.line ? 0 : 2,
         pointHoverRadius: 5,
         pointHitRadius: 6,
         pointBorderWidth: 0,
      }));
      chart.options.scales.x.min = this.from;
      chart.options.scales.x.max = this.to;
      this.active = undefined;
      this.paint();
   }

   paint() {
      const { chart } = this;
      const [text, line] = [colour("text"), colour("line")];
      for (const curve of chart.data.datasets) {
         curve.borderColor = curve.backgroundColor = curve.hoverBackgroundColor = colour(curve.name);
      }
      for (const scale of Object.values(chart.options.scales)) {
         scale.ticks.color = scale.title.color = text;
         scale.grid.color = line;
      }
      chart.options.plugins.legend.labels.color = text;
      const tooltip = chart.options.plugins.tooltip;
      tooltip.backgroundColor = colour("raised");
      tooltip.titleColor = tooltip.bodyColor = text;
      tooltip.borderColor = line;
      tooltip.borderWidth = 1;
      chart.update();
   }

   // A line where a phase begins, with its name where there is room.
   drawMarks(chart) {
      const { ctx: pen, chartArea: area, scales } = chart;
      let free = area.left;
      pen.save();
      pen.strokeStyle = pen.fillStyle = colour("faint");
      pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
      pen.setLineDash([4, 3]);
      for (const [at, name] of this.plan.marks ?? []) {
         const x = scales.x.getPixelForValue(Number(at));
         if (x < area.left || x > area.right) continue;
         pen.beginPath();
         pen.moveTo(x, area.top);
         pen.lineTo(x, area.bottom);
         pen.stroke();
         const label = name.length > 24 ? `${name.slice(0, 23)}…` : name;
         if (x < free || x + pen.measureText(label).width + 4 > area.right) continue;
         pen.fillText(label, x + 4, area.top + 11);
         free = x + pen.measureText(label).width + 10;
      }
      pen.restore();
   }

   look(from, to) {
      const { min, max } = this.plan.x;
      [this.from, this.to] = [Math.max(min, from), Math.min(max, to)];
      if (this.to > this.from) this.refresh();
   }

   zoom(factor) {
      const scale = this.chart.scales.x;
      const middle = (scale.left + scale.right) / 2;
      const half = ((scale.right - scale.left) / 2) * factor;
      this.look(scale.getValueForPixel(middle - half), scale.getValueForPixel(middle + half));
   }

   // The mouse draws over the stretch that is to be seen closer.
   drag(down) {
      const area = this.chart.chartArea;
      const place = (event) => {
         const x = event.clientX - this.canvas.getBoundingClientRect().left;
         return Math.min(area.right, Math.max(area.left, x));
      };
      const start = place(down);
      const move = (event) => {
         const [left, right] = [start, place(event)].sort((a, b) => a - b);
         const [top, height] = [area.top, area.bottom - area.top];
         this.brush.hidden = right - left < 5;
         Object.assign(this.brush.style, {
            left: `${left}px`,
            width: `${right - left}px`,
            top: `${top}px`,
            height: `${height}px`,
         });
      };
      const up = (event) => {
         window.removeEventListener("pointermove", move);
         const [left, right] = [start, place(event)].sort((a, b) => a - b);
         this.brush.hidden = true;
         const scale = this.chart.scales.x;
         if (right - left >= 5) this.look(scale.getValueForPixel(left), scale.getValueForPixel(right));
      };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", up, { once: true });
   }

   key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const far = event.shiftKey ? 10 : 1;
      const turns = {
         ArrowRight: () => this.step(far, 0),
         ArrowLeft: () => this.step(-far, 0),
         ArrowDown: () => this.step(0, 1),
         ArrowUp: () => this.step(0, -1),
         "+": () => this.zoom(0.5),
         "-": () => this.zoom(2),
         0: () => this.look(this.plan.x.min, this.plan.x.max),
      };
      const turn = turns[event.key];
      if (turn === undefined) return;
      event.preventDefault();
      turn();
   }

   step(points, curves) {
      const all = this.chart.data.datasets;
      const filled = all.map((curve, place) => place).filter((place) => all[place].data.length > 0);
      if (filled.length === 0) return;
      let at = filled.indexOf(this.active?.datasetIndex ?? -1);
      at = at < 0 ? 0 : (at + curves + filled.length) % filled.length;
      const datasetIndex = filled[at];
      const { data } = all[datasetIndex];
      const index = this.active === undefined ? 0 : Math.min(data.length - 1, Math.max(0, this.active.index + points));
      this.active = { datasetIndex, index };
      const { x, y } = this.chart.getDatasetMeta(datasetIndex).data[index];
      this.chart.setActiveElements([this.active]);
      this.chart.tooltip.setActiveElements([this.active], { x, y });
      this.chart.update();
      const curve = all[datasetIndex];
      this.said.textContent = `${curve.label}: ${this.plan.say(data[index], curve).join("; ")}`;
   }

   print(printing) {
      this.paint();
      if (printing) this.chart.resize(1000, this.plan.low ? 220 : 320);
      else this.chart.resize();
   }
}
Plot.all = [];

// Places of an ascending array that are between two values: the first, and the one behind the last.
function between(values, from, to) {
   const search = (wanted) => {
      let [low, high] = [0, values.length];
      while (low < high) {
         const middle = (low + high) >> 1;
         if (wanted(values[middle])) high = middle;
         else low = middle + 1;
      }
      return low;
   };
   return [search((value) => value >= from), search((value) => value > to)];
}

// Of the places between two values the first and the last of each pixel.
function thinned(values, from, to, pixels) {
   const [first, end] = between(values, from, to);
   const scale = pixels / (to - from || 1);
   const places = [];
   let [pixel, last] = [-1, -1];
   for (let place = first; place < end; place++) {
      const at = Math.floor((values[place] - from) * scale);
      if (at !== pixel) {
         if (last >= 0 && places.at(-1) !== last) places.push(last);
         places.push(place);
         pixel = at;
      }
      last = place;
   }
   if (last >= 0 && places.at(-1) !== last) places.push(last);
   return places;
}
