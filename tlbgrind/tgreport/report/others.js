// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// Reach, order of first use, advice and mappings: sections of one table or curve.
"use strict";

function showReach(host, reach) {
   // Between two corners of a curve the count stays.
   const sizes = Array.from({ length: 11 }, (_, place) => 8 << place);
   const at = (curve, entries) => curve.findLast((point) => point.x <= entries).misses;
   host.append(facts([["File", reach.file], ["Program", reach.command]]));
   host.append(more("What the misses are of", reach.facts.filter(([key]) => !["cmd", "pid"].includes(key)).map(([key, value]) => [key, digits(value)])));
   const curves = reach.curves.map((curve) => curve.map(([entries, misses]) => ({ x: entries, y: Number(misses), misses: exact(misses) })));
   new Plot(host, {
      title: "Misses by number of entries",
      x: { title: "entries of a fully associative LRU TLB", log: true, min: 8, max: 8192, ticks: sizes, tick: formatted },
      y: { title: "misses", log: true },
      curves: (from, to) =>
         reach.columns.map((label, place) => {
            const all = curves[place].filter((point) => point.y > 0);
            const inside = all.filter((point) => point.x >= from && point.x <= to);
            return { label, colour: `c${place}`, line: true, points: inside };
         }),
      say: (point, curve) => [`${formatted(point.x)} entries, pages of ${curve.label.slice(2)}: ${formatted(point.misses)} misses`],
   });
   new Table(host, `Misses of ${reach.file}`, sizes.length).show(
      [
         { title: "Entries", count: (row) => sizes[row] },
         ...reach.columns.map((title, place) => ({
            title,
            hint: `${title[0] === "I" ? "instruction" : "data"} misses with pages of ${title.slice(2)}`,
            count: (row) => at(curves[place], sizes[row]),
         })),
      ],
      "Entries",
      false,
   );
}

function showEntries(host, entries) {
   const { functions, objects } = entries;
   host.append(facts([["File", entries.file], ["Program", entries.command]]));
   if (entries.omitted > 0) {
      host.append(make("p", {}, `The first ${formatted(functions.names.length)} functions; ${formatted(entries.omitted)} later ones are left out.`));
   }
   const when = functions.when.map(Number);
   const writes = entries.writes.map(([at]) => Number(at));
   const bytes = [];
   entries.writes.reduce((sum, [, length], place) => (bytes[place] = sum + length), 0);
   const last = Math.max(when.at(-1) ?? 0, writes.at(-1) ?? 0, 1);
   new Plot(host, {
      title: "Functions entered so far",
      low: true,
      x: { title: "instructions", min: 0, max: last },
      y: { title: "so far" },
      curves: (from, to, width) => {
         const entered = thinned(when, from, to, width).map((place) => ({ x: when[place], y: place + 1, place }));
         const written = thinned(writes, from, to, width).map((place) => ({ x: writes[place], y: Math.ceil(bytes[place] / 4096), bytes: bytes[place] }));
         const curves = [{ label: "functions entered", colour: "c0", line: true, stepped: true, points: entered }];
         if (writes.length > 0) curves.push({ label: "data written, in units of 4096 bytes", colour: "c1", line: true, stepped: true, points: written });
         return curves;
      },
      say: (point) =>
         point.place === undefined
            ? [`${formatted(point.bytes)} bytes of data written after ${formatted(point.x)} instructions`]
            : [`${formatted(point.y)} functions entered after ${formatted(point.x)} instructions`, `the last: ${text(functions.names[point.place])}`],
   });
   host.append(make("h3", {}, "Objects"));
   new Table(host, `Objects of ${entries.file}`, objects.length).show(
      [
         { title: "Object", text: (row) => text(objects[row].name), wide: 24 },
         { title: "Functions", hint: "functions that were entered", count: (row) => objects[row].functions },
         { title: "Code", hint: "bytes of code that were executed", count: (row) => exact(objects[row].executed) },
         { title: "Written", hint: "bytes of static data that were written", count: (row) => exact(objects[row].written) },
      ],
      "Code",
   );
   host.append(make("h3", {}, "Functions in the order of their first use"));
   new Table(host, `Functions of ${entries.file}`, functions.names.length).show(
      [
         { title: "Function", text: (row) => text(functions.names[row]), wide: 16 },
         { title: "First use", hint: "instructions executed before it", count: (row) => exact(functions.when[row]) },
         { title: "Object", text: (row) => text(objects[functions.objects[row]].name), wide: 20 },
         { title: "Offset", hint: "in the object's file", count: (row) => Number(functions.offsets[row]), show: (offset) => `0x${offset.toString(16)}` },
         { title: "Size", hint: "in bytes; 0: not known", count: (row) => exact(functions.sizes[row]) },
         { title: "Executed", hint: "bytes of it", count: (row) => exact(functions.executed[row]) },
      ],
      "First use",
      false,
   );
}

// Columns of rows that are objects, by the names of their members.
function columnsOf(rows) {
   const number = (title, key, hint, whole) => ({ title, hint, whole, count: (row) => exact(rows[row][key]) });
   const name = (title, key, wide) => ({ title, text: (row) => rows[row][key], wide });
   return [number, name];
}

// What tg_annotate --advice says: which memory saves what in larger pages.
function showAdvice() {
   const host = section("Advice");
   for (const { machine, walks, misses, faults, rows, verdicts } of data.advice) {
      const title = `Larger pages on ${machine}`;
      host.append(make("h3", {}, title), make("pre", { className: "advice" }, verdicts.join("\n")));
      const [number, name] = columnsOf(rows);
      new Table(host, title, rows.length).show(
         [
            name("Memory", "memory", 8),
            name("Pays", "pays", 6),
            name("Pages", "pages", 4),
            number("Walks saved", "walks_saved", "page walks of the program that this memory alone saves", exact(walks)),
            number("L1 saved", "misses_saved", "misses of the first level", exact(misses)),
            number("Faults saved", "faults_saved", "page faults at first touches: one for each page", exact(faults)),
            number("KiB backed", "backed", "in such pages at the peak of all memory"),
            number("KiB unused", "unused", "of these that are never touched"),
            name("Which", "which", 16),
            name("How", "how", 30),
         ],
         "Walks saved",
      );
   }
}

// What misses cost at most, as the tables of code have it.
function costs(totals, rows, number) {
   return [
      { title: "Of time", hint: "of the program's time, at most: an estimate", count: (row) => rows[row].time, show: shortPercent },
      number("Wcyc", "cycles", "cycles of misses at most, an estimate", exact(totals.cycles)),
   ];
}

// What tg_annotate --mappings says: references by mapping, and what lies outside of large pages.
function showMappings() {
   const host = section("Mappings");
   for (const { machine, large, totals, rows } of data.mappings) {
      const hasCosts = totals.cycles !== null;
      const title = `Mappings on ${machine}, and aligned pages of ${large}`;
      host.append(make("h3", {}, title));
      const [number, name] = columnsOf(rows);
      new Table(host, title, rows.length).show(
         [
            name("Mapped", "mapped", 14),
            ...(hasCosts ? costs(totals, rows, number) : []),
            number("Walks", "walks", "page walks", exact(totals.walks)),
            name("To win", "win", 24),
            name("Address", "address", 10),
            name("Mode", "mode", 4),
            number("KiB", "kib"),
            name("Pages", "pages", 8),
            number("References", "references", "", exact(totals.references)),
            number("L1 misses", "misses", "misses of the first level", exact(totals.misses)),
            number("KiB before", "kib_begin", `before its first whole page of ${large}`),
            number("Walks before", "walks_begin", "", exact(totals.walks)),
            number("KiB in", "kib_inside", `in whole pages of ${large}`),
            number("Walks in", "walks_inside", "", exact(totals.walks)),
            number("KiB behind", "kib_end", `behind its last whole page of ${large}`),
            number("Walks behind", "walks_end", "", exact(totals.walks)),
         ],
         hasCosts ? "Wcyc" : "Walks",
      );
   }
}
