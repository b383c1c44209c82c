// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// Page faults: the timeline, the page map and the code that faulted.
"use strict";

// A log stands for any number of faults; so many are drawn.
const MOST_FAULTS = 4000000;

// The log's lines, with the repetitions unfolded, in one column for each field.
function unfolded(timeline) {
   const { kinds, pages, maps, instructions, threads, by, codes, repeats } = timeline;
   const all = repeats.reduce((sum, [, times]) => sum + Number(times), kinds.length);
   const size = Math.min(all, MOST_FAULTS);
   const out = {
      size,
      all,
      line: new Uint32Array(size),
      page: new Float64Array(size),
      instructions: new Float64Array(size),
   };
   let [at, next, clock] = [0, 0, 0];
   for (let line = 0; line < kinds.length && at < size; line++) {
      clock += Number(instructions[line]);
      let [page, now] = [pages[line], clock];
      out.line[at] = line;
      out.page[at] = page;
      out.instructions[at++] = now;
      for (; next < repeats.length && repeats[next][0] === line; next++) {
         const [, times, pageStep, instructionStep] = repeats[next];
         for (let turn = 0; turn < times && at < size; turn++) {
            page += pageStep;
            now += instructionStep;
            out.line[at] = line;
            out.page[at] = page;
            out.instructions[at++] = now;
         }
      }
   }
   out.kinds = (place) => timeline.kindNames[kinds[out.line[place]]];
   out.map = (place) => maps[out.line[place]];
   out.code = (place) => codes[out.line[place]];
   out.thread = (place) => threads[out.line[place]];
   out.by = (place) => timeline.calls[by[out.line[place]]];
   return out;
}

class Faults {
   constructor(host, log) {
      this.log = log;
      this.faults = unfolded(log.timeline);
      this.view = 1;
      // By address, so that neighbours in memory are neighbours in plots.
      this.natives = log.maps.map((map) => BigInt(map.native));
      this.select = make("select", {}, ...log.views.map((view, place) =>
         make("option", { value: place, selected: place === this.view }, `${view}: ${VIEWS[view] ?? ""}`),
      ));
      this.select.addEventListener("change", () => {
         this.view = Number(this.select.value);
         this.showView();
      });
      host.append(make("div", { className: "controls" }, make("label", {}, "View ", this.select)));
      host.append(facts([["Log", log.file], ["Program", log.command]]));
      host.append(more("What was counted as a fault", log.facts.filter(([key]) => key !== "cmd").map(([key, value]) => [key, key === "pid" ? value : digits(value)])));
      if (log.assumptions.length > 0) host.append(assumptions(log.assumptions));
      this.sums = make("div");
      host.append(this.sums);
      if (this.faults.size < this.faults.all) {
         host.append(make("p", {}, `The plots and the page map show the first ${formatted(this.faults.size)} of ` +
            `${formatted(this.faults.all)} faults; the tables count all.`));
      }
      this.kindTable = new Table(this.sums, `Kinds of faults of ${log.file}`, Object.keys(log.kinds).length);
      if (log.phases.length > 0) this.phases(host);
      if (this.faults.size > 0) this.plots(host);
      host.append(make("h3", {}, "Page map"), make("p", { className: "faint" },
         "Each bar is a mapping from its first page to its last, coloured where it faulted. Hover for the pages."));
      this.mapTable = new Table(host, `Mappings of ${log.file}`, log.maps.length);
      host.append(make("h3", {}, "Code that faulted"));
      this.codeTable = new Table(host, `Code of ${log.file}`, log.codes.length);
      this.showView();
   }

   letter(place) {
      const letter = this.faults.kinds(place)[this.view];
      return letter === "-" ? "" : letter;
   }

   // What a log says of one fault.
   say(place) {
      const { log, faults } = this;
      const map = log.maps[faults.map(place)];
      const code = log.codes[faults.code(place)];
      const address = this.natives[faults.map(place)] + BigInt(faults.page[place]) * BigInt(log.pageSize);
      const letters = faults.kinds(place);
      const kinds = log.views.map((view, at) => {
         const letter = letters[at];
         if (letter === "-") return `${view} none`;
         const major = letter === letter.toLowerCase() ? "" : ", major";
         return `${view} ${log.kinds[letter.toLowerCase()]}${major}`;
      });
      const lines = [
         `fault ${formatted(place + 1)} after ${formatted(faults.instructions[place])} instructions`,
         kinds.join("; "),
         `page 0x${address.toString(16)}: page ${formatted(faults.page[place])} of ${name(map)}`,
         `by ${text(code.function)} (${text(code.place)}), thread ${faults.thread(place)}`,
      ];
      if (faults.by(place)) lines.push(`in ${faults.by(place)}`);
      return lines;
   }

   phases(host) {
      const { log } = this;
      host.append(make("h3", {}, "Phases"));
      new Table(host, `Phases of ${log.file}`, log.phases.length).show([
         { title: "Phase", text: (row) => log.phases[row].name, wide: 14 },
         ...log.views.map((view, at) => ({
            title: view,
            hint: VIEWS[view],
            count: (row) => exact(log.phases[row].faults[at]),
            whole: exact(log.totals[view]?.faults ?? 0),
         })),
      ]);
   }

   plots(host) {
      const { faults, log } = this;
      const last = faults.instructions[faults.size - 1] || 1;
      const x = { title: "instructions since the first fault", min: 0, max: last };
      host.append(make("h3", {}, "Faults over time"));
      this.growth = new Plot(host, {
         title: "Faults over time",
         low: true,
         marks: log.marks,
         x,
         y: { title: "faults so far" },
         curves: (from, to, width) => this.growthCurves(from, to, width),
         say: (point) => [`${formatted(point.y)} faults so far`, ...this.say(point.place)],
      });
      this.rank = this.ranks();
      host.append(make("h3", {}, "Where they are"));
      this.places = new Plot(host, {
         title: "Where the faults are",
         marks: log.marks,
         x,
         y: {
            title: "pages in order of address",
            tick: (value) => this.mappingAt(value),
         },
         curves: (from, to, width, height) => this.placeCurves(from, to, width, height),
         say: (point) => {
            const more = point.more ? [`and ${formatted(point.more)} more faults at this spot`] : [];
            return [...this.say(point.place), ...more];
         },
      });
   }

   growthCurves(from, to, width) {
      const { faults, log } = this;
      const places = thinned(faults.instructions, from, to, width);
      return log.views.map((view, at) => {
         if (this.sofar === undefined) this.sofar = [];
         if (this.sofar[at] === undefined) {
            const sums = (this.sofar[at] = new Uint32Array(faults.size));
            let sum = 0;
            for (let place = 0; place < faults.size; place++) {
               if (faults.kinds(place)[at] !== "-") sum++;
               sums[place] = sum;
            }
         }
         const points = places.map((place) => ({ x: faults.instructions[place], y: this.sofar[at][place], place }));
         return { label: view, colour: `c${at}`, line: true, stepped: true, points };
      });
   }

   // Each page's place among those that faulted, by address: empty stretches take no room.
   ranks() {
      const { faults, log } = this;
      const order = log.maps.map((_, map) => map).sort((a, b) => (this.natives[a] < this.natives[b] ? -1 : 1));
      const start = [];
      let sum = 1; // a large page may begin before its map
      for (const map of order) {
         start[map] = sum;
         sum += log.maps[map].pages + 1;
      }
      const keys = new Float64Array(faults.size);
      for (let place = 0; place < faults.size; place++) keys[place] = start[faults.map(place)] + faults.page[place];
      const sorted = keys.slice().sort();
      let pages = 0;
      for (let at = 0; at < sorted.length; at++) {
         if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[pages++] = sorted[at];
      }
      const distinct = sorted.subarray(0, pages);
      this.begins = order
         .map((map) => ({ map, rank: between(distinct, start[map] - 1, Infinity)[0] }))
         .filter((begin, at, all) => begin.rank < (all[at + 1]?.rank ?? pages));
      const rank = new Uint32Array(faults.size);
      for (let place = 0; place < faults.size; place++) rank[place] = between(distinct, keys[place], Infinity)[0];
      return rank;
   }

   mappingAt(rank) {
      if (!Number.isInteger(rank)) return "";
      const begin = this.begins.findLast((each) => each.rank <= rank);
      const label = begin === undefined ? "" : text(this.log.maps[begin.map].name).replace(/^.*\//, "");
      return label.length > 22 ? `${label.slice(0, 21)}…` : label;
   }

   // One point for each spot of two pixels; it says how many faults it stands for.
   placeCurves(from, to, width, height) {
      const { faults, log, rank } = this;
      const [first, end] = between(faults.instructions, from, to);
      const highest = rank.reduce((most, each) => Math.max(most, each), 1);
      const [across, down] = [width / 2 / (to - from || 1), height / 2 / highest];
      const letters = Object.keys(log.kinds);
      const curves = letters.map((letter, at) => ({
         label: log.kinds[letter],
         colour: `c${at}`,
         points: [],
         spots: new Map(),
      }));
      for (let place = first; place < end; place++) {
         const letter = this.letter(place);
         if (letter === "") continue;
         const curve = curves[letters.indexOf(letter.toLowerCase())];
         const column = Math.floor((faults.instructions[place] - from) * across);
         const spot = column * 65536 + Math.floor(rank[place] * down);
         const known = curve.spots.get(spot);
         if (known !== undefined) {
            known.more++;
            continue;
         }
         const point = { x: faults.instructions[place], y: rank[place], place, more: 0 };
         curve.spots.set(spot, point);
         curve.points.push(point);
      }
      return curves.filter((curve) => curve.points.length > 0);
   }

   showView() {
      const { log, view } = this;
      const totals = log.totals[log.views[view]];
      const letters = Object.keys(log.kinds);
      this.kindTable.show(
         [
            { title: "Kind", text: (row) => log.kinds[letters[row]] },
            ...log.views.map((each) => ({
               title: each,
               hint: VIEWS[each],
               count: (row) => exact(log.totals[each]?.kinds[row] ?? 0),
               whole: exact(log.totals[each]?.faults ?? 0),
            })),
         ],
         log.views[view],
      );
      this.kindTable.found.textContent =
         `${formatted(exact(totals?.faults ?? 0))} faults in the view ${log.views[view]}, ` +
         `${formatted(exact(totals?.major ?? 0))} of them major`;
      const bars = this.touched();
      const counts = (rows) => [
         { title: "Faults", hint: "in the chosen view", count: (row) => exact(rows[row].faults[view]), whole: exact(totals?.faults ?? 0) },
         { title: "Major", hint: "read from the disk", count: (row) => exact(rows[row].major[view]) },
      ];
      const use = log.knowsUse
         ? [
              { title: "Present", hint: "pages that are there at the end, view warm", count: (row) => exact(log.maps[row].there) },
              { title: "Used", hint: "bytes of them that the program used", count: (row) => exact(log.maps[row].used) },
           ]
         : [];
      this.mapTable.show(
         [
            { title: "Mapping", text: (row) => text(log.maps[row].name), brief: (path) => lastParts(path, 1), wide: 14 },
            ...counts(log.maps),
            { title: "Page map", hint: "sorted by the share of the pages that faulted", wide: 14, count: (row) => bars[row].length / log.maps[row].pages, draw: (row, cell) => this.bar(row, bars[row], cell) },
            { title: "Rights", text: (row) => log.maps[row].protection, wide: 4 },
            { title: "What", text: (row) => log.maps[row].what, wide: 6 },
            { title: "Address", hint: "without Valgrind and without randomisation", text: (row) => log.maps[row].native.padStart(18), wide: 9 },
            { title: "Pages", count: (row) => log.maps[row].pages },
            ...use,
         ],
         "Faults",
      );
      this.codeTable.show(
         [
            { title: "Function", text: (row) => text(log.codes[row].function), wide: 16 },
            ...counts(log.codes),
            { title: "Line", text: (row) => text(log.codes[row].place), brief: (path) => lastParts(path, 2), wide: 16 },
            { title: "Object", text: (row) => text(log.codes[row].object), brief: (path) => lastParts(path, 1), wide: 12 },
         ],
         "Faults",
      );
      this.places?.refresh();
   }

   // The faults of each mapping in the chosen view.
   touched() {
      const bars = this.log.maps.map(() => []);
      for (let place = 0; place < this.faults.size; place++) {
         if (this.letter(place) !== "") bars[this.faults.map(place)].push(place);
      }
      return bars;
   }

   bar(row, places, cell) {
      const { faults, log } = this;
      const columns = Math.min(240, log.maps[row].pages);
      const width = columns;
      const canvas = make("canvas", { width, height: 1 });
      canvas.style.imageRendering = "pixelated";
      const pen = canvas.getContext("2d");
      pen.fillStyle = colour("raised");
      pen.fillRect(0, 0, width, 1);
      const letters = Object.keys(log.kinds);
      const column = (place) =>
         Math.max(0, Math.min(columns - 1, Math.floor((faults.page[place] * columns) / log.maps[row].pages)));
      const sums = Array.from({ length: columns }, () => new Map());
      for (const place of places) {
         const letter = this.letter(place).toLowerCase();
         const sum = sums[column(place)];
         sum.set(letter, (sum.get(letter) ?? 0) + 1);
      }
      sums.forEach((sum, at) => {
         const [most] = [...sum].sort(([, a], [, b]) => b - a);
         if (most === undefined) return;
         pen.fillStyle = colour(`c${letters.indexOf(most[0])}`);
         pen.fillRect(at, 0, 1, 1);
      });
      canvas.addEventListener("mousemove", (event) => {
         const box = canvas.getBoundingClientRect();
         const at = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)));
         const { pages } = log.maps[row];
         const first = Math.ceil((at * pages) / columns);
         const last = Math.ceil(((at + 1) * pages) / columns) - 1;
         const what = [...sums[at]].map(([letter, sum]) => `${formatted(sum)} ${log.kinds[letter]}`);
         const where = first === last ? `page ${formatted(first)}` : `pages ${formatted(first)} to ${formatted(last)}`;
         canvas.title = `${where} of ${formatted(pages)}: ${what.join(", ") || "no fault"}`;
      });
      cell.append(canvas);
   }
}

const VIEWS = {
   "4k": "the first touch of every page",
   warm: "all files in the page cache",
   cold: "nothing in the page cache",
};

function name(map) {
   return `${text(map.name)} ${map.protection}`;
}
