// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The page: its sections from the data that it holds, and its keys.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const sections = [];

function text(place) {
   return data.strings[place];
}

function section(title) {
   const heading = make("h2", { id: title.toLowerCase().replace(/\W+/g, "-"), tabIndex: -1 }, title);
   const host = make("section", {}, heading);
   main.append(host);
   document.getElementById("sections").append(make("a", { href: `#${heading.id}` }, title));
   sections.push(heading);
   return host;
}

function facts(pairs) {
   return make(
      "dl",
      { className: "facts" },
      ...pairs.filter(([, value]) => value).flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, value)]),
   );
}

// What is of interest now and then.
function more(title, pairs) {
   return make("details", {}, make("summary", {}, title), facts(pairs));
}

function digits(text) {
   return /^\d+$/.test(text) ? formatted(BigInt(text)) : text;
}

// Of more machines, as those of --advice, assumptions are folded.
const FEW_MACHINES = 4;

function assumptions(lines, open) {
   const list = make("ul", {}, ...lines.map((line) => make("li", {}, line)));
   return make("details", { open }, make("summary", {}, `${lines.length} assumed, not known`), list);
}

// ---------------------------------------------------------------- machines

// Recorded counts that add up to an event.
function amount(machine, event, counts) {
   const { parts } = machine.events.find((each) => each.name === event);
   return total(parts.map((part) => counts[part]));
}

function thousandth(machine, event) {
   if (!has(machine, event) || !has(machine, "Ir")) return 0;
   const instructions = Number(amount(machine, "Ir", machine.totals));
   return instructions ? (1000 * Number(amount(machine, event, machine.totals))) / instructions : 0;
}

function has(machine, event) {
   return machine.events.some((each) => each.name === event);
}

function showSummary() {
   const host = section("Summary");
   const commands = new Set();
   for (const each of [...data.machines, ...data.faults, ...data.reaches, ...data.entries, ...data.timelines]) commands.add(each.command);
   host.append(facts([...commands].map((command) => ["Program", command])));
   for (const machine of data.machines) {
      host.append(make("h3", {}, machine.name));
      const { facts: known, file, pid, creator } = machine;
      host.append(facts([["Out-file", file]]));
      host.append(more("Arrays and how they were counted", [["Process", pid], ["Written by", creator], ...known]));
      if (machine.assumptions.length > 0) host.append(assumptions(machine.assumptions, data.machines.length <= FEW_MACHINES));
   }
   for (const read of [...data.faults, ...data.reaches, ...data.entries, ...data.timelines]) {
      if (data.machines.length === 0) host.append(facts([["File", read.file]]));
   }
}

// What fits beside the rates.
const MOST = ["walks", "L1tm", "ILtm", "DLtm", "Ir", "Wcyc"];

// "4.42%..8.47%" of what the out-file says of it.
const share = (machine) => machine.facts.find(([name]) => name === "Share of time")?.[1].split(" ")[0];

function showMachines() {
   const { machines } = data;
   const host = section("Machines");
   const named = (names) => [...new Set(machines.flatMap(names))];
   const events = named((machine) => machine.events.map((event) => event.name));
   const shown = named((machine) => machine.shown).filter((event) => MOST.includes(event));
   const meaning = (event) => machines.map((m) => m.events.find((e) => e.name === event)?.meaning).find(Boolean);
   const rates = ["L1tm", "walks"].filter((event) => events.includes(event) && events.includes("Ir"));
   const first = rates.includes("walks") ? thousandth(machines[0], "walks") : 0;
   const commands = new Set(machines.map((machine) => machine.command));
   if (commands.size > 1) {
      host.append(make("p", {}, "These out-files are of different command lines: their counts differ for that reason, too."));
   }
   if (machines.some((machine) => machine.assumptions.length > 0)) {
      host.append(make("p", {}, "A machine with a star is simulated with assumptions (see the summary), " +
         "which can make a difference between two machines alone."));
   }
   const table = new Table(host, "Machines", machines.length);
   const every = make("input", { type: "checkbox" });
   const show = () => table.show(
      [
         { title: "Machine", text: (row) => machines[row].name + (machines[row].assumptions.length ? " *" : ""), wide: 14 },
         ...(commands.size > 1 ? [{ title: "Program", text: (row) => machines[row].command, wide: 14 }] : []),
         ...rates.map((event) => ({
            title: `${event}/1000`,
            hint: `${meaning(event)}, per 1000 instructions`,
            count: (row) => thousandth(machines[row], event),
            show: (rate) => fraction.format(rate),
         })),
         ...(first && machines.length > 1
            ? [
                 {
                    title: "Ratio",
                    hint: "of walks per 1000 instructions, to those of the first machine",
                    count: (row) => thousandth(machines[row], "walks") / first,
                    show: (ratio) => fraction.format(ratio),
                 },
              ]
            : []),
         ...(machines.some(share)
            ? [
                 {
                    title: "Share of time",
                    hint: "of misses: an estimate (see the facts of each machine)",
                    text: (row) => share(machines[row]) ?? "",
                    wide: 14,
                 },
              ]
            : []),
         ...(every.checked ? events : shown).map((event) => ({
            title: event,
            hint: meaning(event),
            count: (row) => (has(machines[row], event) ? amount(machines[row], event, machines[row].totals) : -1),
            show: (count) => (count === -1 ? "" : formatted(count)),
         })),
      ],
   );
   every.addEventListener("change", show);
   table.controls.append(make("label", {}, every, "all events"));
   show();
   if (rates.length > 0) showRates(host, rates, meaning);
}

function showRates(host, rates, meaning) {
   const { machines } = data;
   const box = make("div", { className: "plot low" });
   const canvas = make("canvas");
   canvas.setAttribute("role", "img");
   canvas.setAttribute("aria-label", "Misses per 1000 instructions of each machine, as in the table above");
   box.style.height = `${4.5 + rates.length * 1.2 * machines.length}rem`;
   box.append(canvas);
   host.append(make("h3", {}, "Misses per 1000 instructions"), box);
   const chart = new Chart(canvas, {
      type: "bar",
      data: {
         labels: machines.map((machine) => machine.name),
         datasets: rates.map((event) => ({
            label: meaning(event) ?? event,
            data: machines.map((machine) => thousandth(machine, event)),
         })),
      },
      options: {
         indexAxis: "y",
         maintainAspectRatio: false,
         scales: { x: { title: { display: true, text: "per 1000 instructions" }, ticks: {}, grid: {} }, y: { title: {}, ticks: {}, grid: {} } },
         plugins: { tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${fraction.format(item.raw)}` } }, legend: { labels: {} } },
      },
   });
   const bars = {
      paint: () => {
         chart.data.datasets.forEach((set, place) => {
            set.backgroundColor = colour(`c${place}`);
         });
         for (const scale of Object.values(chart.options.scales)) {
            scale.ticks.color = scale.title.color = colour("text");
            scale.grid.color = colour("line");
         }
         chart.options.plugins.legend.labels.color = colour("text");
         chart.update();
      },
      print: (printing) => {
         bars.paint();
         if (printing) chart.resize(1000, box.clientHeight);
         else chart.resize();
      },
   };
   bars.paint();
   Plot.all.push(bars);
}

// ---------------------------------------------------------------- code

// Of a path the last parts say most; hovering shows it whole.
const PATHS = { "Source file": 2, Object: 1 };

function lastParts(path, parts) {
   return path.startsWith("/") || path.startsWith(".") ? path.split("/").slice(-parts).join("/") : path;
}

// A table of functions, lines, files or objects: one machine's events, or one event of each.
class Costs {
   constructor(plan) {
      this.plan = plan;
      const machines = (this.machines = plan.machines ?? data.machines);
      const host = section(plan.title);
      if (plan.omitted > 0) {
         host.append(make("p", {}, `The ${formatted(plan.rows)} rows with the most misses; ` +
            `${formatted(plan.omitted)} others are left out. tg_annotate prints them all.`));
      }
      this.table = new Table(host, plan.title, plan.rows);
      this.choice = make("select", {}, ...machines.map((machine, place) => make("option", { value: `m${place}` }, machine.name)));
      if (machines.length > 1) {
         const common = machines[0].events.filter((event) => machines.every((machine) => has(machine, event.name)));
         this.choice.append(...common.map((event) => make("option", { value: `e${event.name}` }, `${event.name} of each machine`)));
      }
      this.every = make("input", { type: "checkbox" });
      this.table.controls.append(make("label", {}, "Show ", this.choice), make("label", {}, this.every, "all events"));
      for (const control of [this.choice, this.every]) control.addEventListener("change", () => this.show());
      this.show();
   }

   show() {
      const chosen = this.choice.value;
      const one = this.machines[Number(chosen.slice(1))];
      this.every.disabled = chosen.startsWith("e");
      const fields = this.plan.fields.map(({ title, values }) =>
         values.numbers
            ? { title, count: (row) => values.numbers[row], ...(title === "Line" && { show: (line) => (line ? String(line) : "?") }) }
            : {
                 title,
                 text: (row) => text(values.texts[row]),
                 brief: PATHS[title] && ((path) => lastParts(path, PATHS[title])),
                 wide: { Function: 20, Data: 26, Phase: 12, Object: 12 }[title] ?? 16,
              },
      );
      const lead = fields.splice(0, this.plan.lead ?? fields.length);
      const rest = fields;
      if (chosen.startsWith("e")) {
         const event = chosen.slice(1);
         const counts = this.machines.map((machine, place) => this.count(machine, place, event, machine.name));
         this.table.show([...lead, ...counts, ...rest], counts[0].title);
      } else {
         const shown = this.every.checked ? one.events.map((event) => event.name) : one.shown;
         const counts = shown.map((event) => this.count(one, this.machines.indexOf(one), event, event));
         this.table.show([...lead, ...counts, ...rest], one.sort);
      }
   }

   count(machine, place, event, title) {
      const { parts, meaning } = machine.events.find((each) => each.name === event);
      const columns = parts.map((part) => data.columns[this.plan.counts[place][part]]);
      const count = columns.length === 1
         ? (row) => exact(columns[0][row])
         : (row) => total(columns.map((column) => column[row]));
      return { title, hint: title === event ? meaning || event : `${meaning}: ${machine.name}`, count, whole: amount(machine, event, machine.totals) };
   }
}

// ---------------------------------------------------------------- reach, entries

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
         { title: "First use", hint: "instructions executed before it", count: (row) => exact(functions.when[row]) },
         { title: "Function", text: (row) => text(functions.names[row]), wide: 20 },
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
            name("Pages", "pages", 4),
            name("Pays", "pays", 7),
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

// What tg_annotate --mappings says: references by mapping, and what lies outside of large pages.
function showMappings() {
   const host = section("Mappings");
   for (const { machine, large, totals, rows } of data.mappings) {
      const title = `Mappings on ${machine}, and aligned pages of ${large}`;
      host.append(make("h3", {}, title));
      const [number, name] = columnsOf(rows);
      new Table(host, title, rows.length).show(
         [
            name("Address", "address", 10),
            name("Mapped", "mapped", 16),
            name("Mode", "mode", 4),
            number("KiB", "kib"),
            name("Pages", "pages", 8),
            number("References", "references", "", exact(totals.references)),
            number("L1 misses", "misses", "misses of the first level", exact(totals.misses)),
            number("Walks", "walks", "page walks", exact(totals.walks)),
            number("KiB before", "kib_begin", `before its first whole page of ${large}`),
            number("Walks before", "walks_begin", "", exact(totals.walks)),
            number("KiB in", "kib_inside", `in whole pages of ${large}`),
            number("Walks in", "walks_inside", "", exact(totals.walks)),
            number("KiB behind", "kib_end", `behind its last whole page of ${large}`),
            number("Walks behind", "walks_end", "", exact(totals.walks)),
            name("To win", "win", 30),
         ],
         "Walks",
      );
   }
}

// ---------------------------------------------------------------- the page

function setTheme(theme) {
   document.documentElement.dataset.theme = theme;
   document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
}

function turnTheme() {
   setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
   for (const plot of Plot.all) plot.paint();
   for (const table of Table.all) table.render(true);
}

function turnKeys() {
   const keys = document.getElementById("keys");
   keys.hidden = !keys.hidden;
   document.getElementById("help").setAttribute("aria-expanded", String(!keys.hidden));
}

function goSection(step) {
   const top = sections.findLastIndex((heading) => heading.getBoundingClientRect().top < 100);
   const heading = sections[Math.min(sections.length - 1, Math.max(0, top + step))];
   heading.scrollIntoView();
   heading.focus({ preventScroll: true });
}

function searchInView() {
   const tables = Table.all.filter((table) => !table.search.hidden);
   const inView = tables.find((table) => table.window.getBoundingClientRect().bottom > 120);
   (inView ?? tables[0])?.search.focus();
}

function listen() {
   document.getElementById("theme").addEventListener("click", turnTheme);
   document.getElementById("help").addEventListener("click", turnKeys);
   const keys = { d: turnTheme, "?": turnKeys, "/": searchInView, n: () => goSection(1), p: () => goSection(-1) };
   document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select")) return;
      if (keys[event.key] === undefined) return;
      event.preventDefault();
      keys[event.key]();
   });
   let screen;
   window.addEventListener("beforeprint", () => {
      screen = document.documentElement.dataset.theme;
      setTheme("light");
      for (const each of [...Table.all, ...Plot.all]) each.print(true);
   });
   window.addEventListener("afterprint", () => {
      setTheme(screen);
      for (const each of [...Table.all, ...Plot.all]) each.print(false);
   });
}

setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
showSummary();
if (data.advice.length > 0) showAdvice();
if (data.machines.length > 0) showMachines();
for (const plan of data.tables) new Costs(plan);
if (data.mappings.length > 0) showMappings();
if (data.calls.flames.length > 0) {
   const host = section("Flame graph");
   for (const flame of data.calls.flames) new Flame(host, flame);
}
for (const plan of [...data.calls.tables, ...data.data]) new Costs(plan);
if (data.timelines.length > 0) {
   const host = section("Over time");
   for (const timeline of data.timelines) showTimeline(host.appendChild(make("div")), timeline);
}
if (data.faults.length > 0) {
   const host = section("Page faults");
   for (const log of data.faults) new Faults(host.appendChild(make("div")), log);
}
if (data.reaches.length > 0) {
   const host = section("Reach");
   for (const reach of data.reaches) showReach(host.appendChild(make("div")), reach);
}
if (data.entries.length > 0) {
   const host = section("Order of first use");
   for (const entries of data.entries) showEntries(host.appendChild(make("div")), entries);
}
listen();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
