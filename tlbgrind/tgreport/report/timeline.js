// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// A run over its instructions: misses, page faults and pages in use.
"use strict";

function showTimeline(host, timeline) {
   const { columns, rows, machines, marks } = timeline;
   const steps = rows.map((row) => row.map(Number));
   const ends = [];
   steps.reduce((sum, row, place) => (ends[place] = sum + row[0]), 0);
   const x = { title: "instructions", min: 0, max: ends.at(-1) || 1 };
   const begin = (place) => (place > 0 ? ends[place - 1] : 0);
   const where = (place) => `instructions ${formatted(begin(place))} to ${formatted(ends[place])}`;

   // A stretch of the run has one height, from its begin to its end.
   const steppedCurve = (label, at, height) => (from, to) => {
      const points = steps.map((row, place) => ({ x: begin(place), y: height(row), place, at }));
      if (points.length > 0) points.push({ ...points.at(-1), x: ends.at(-1) });
      // One more on each side, so that the line comes from there.
      const first = Math.max(0, points.findLastIndex((point) => point.x <= from));
      const last = points.findIndex((point) => point.x >= to);
      return { label, line: true, stepped: true, points: points.slice(first, last < 0 ? undefined : last + 1) };
   };
   const plot = (title, unit, curves, say) => {
      host.append(make("h3", {}, title));
      new Plot(host, {
         title,
         low: true,
         x,
         y: { title: unit },
         marks,
         curves: (from, to) => curves.map((curve, place) => ({ ...curve(from, to), colour: `c${place % 6}` })),
         say: (point) => [...say(point), where(point.place)],
      });
   };
   const rate = (at) => (row) => (row[0] ? (1000 * row[at]) / row[0] : 0);
   const count = (point) => formatted(exact(rows[point.place][point.at]));

   host.append(facts([["File", timeline.file], ["Program", timeline.command]]));
   for (const [title, event] of [["Page walks over time", "walks"], ["First-level misses over time", "L1tm"]]) {
      const curves = machines.map((machine, place) => {
         const at = columns.indexOf(`${event} ${place + 1}`);
         return steppedCurve(machine, at, rate(at));
      });
      plot(title, "per 1000 instructions", curves, (point) => [
         `${count(point)} ${event}, ${fraction.format(point.y)} per 1000 instructions`,
      ]);
   }
   const pages = ["data pages", "code pages"].map((name) => {
      const at = columns.indexOf(name);
      return steppedCurve(name, at, (row) => row[at]);
   });
   plot("Working set", "pages in each stretch", pages, (point) => [`${count(point)} ${columns[point.at]} in use`]);
   if (columns.includes("PF")) {
      const at = columns.indexOf("PF");
      const faults = [steppedCurve("page faults", at, (row) => row[at])];
      plot("Page faults over time", "in each stretch", faults, (point) => [`${count(point)} page faults`]);
   }
}
