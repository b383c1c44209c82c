// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// Tables of functions, lines, files, objects, data and calls, sorted by the page's choice.
"use strict";

// How wide names are, in rem, and which of a path's parts say most.
const WIDTHS = { Function: 15, Line: 10, Text: 20, Data: 18, "Data by line": 18, Phase: 12, Object: 12, Caller: 14 };
const PATHS = { "Source file": 2, Object: 1, "Line of code": 1 };

// Counts of one event in the rows of a plan.
function counter(plan, place, machine, event) {
   const { parts } = machine.events.find((each) => each.name === event);
   const columns = parts.map((part) => data.columns[plan.counts[place][part]]);
   return columns.length === 1
      ? (row) => exact(columns[0][row])
      : (row) => total(columns.map((column) => column[row]));
}

// What misses of so large a part take of the time at most; "" where that is not known.
function timeOf(machine, event, part, whole) {
   const known = machine.share?.high === null ? data.machines[choice.among(data.machines)] : machine;
   const high = known?.share?.high;
   if (event !== "Wcyc" || high === null || high === undefined || !Number(whole)) return "";
   return shortPercent((high * Number(part)) / Number(whole));
}

function shortPercent(share) {
   if (share === 0) return "0";
   return `${share >= 9.95 ? share.toFixed(0) : share >= 0.05 ? share.toFixed(1) : "<0.1"}%`;
}

class Costs {
   constructor(plan, host = section(plan.title)) {
      this.plan = plan;
      this.machines = plan.machines ?? data.machines;
      if (plan.omitted > 0) {
         host.append(make("p", { className: "faint" }, `The ${formatted(plan.rows)} rows that cost most; ` +
            `${formatted(plan.omitted)} others are left out. tg_annotate prints them all.`));
      }
      if (plan.newer?.length > 0) {
         host.append(make("p", { className: "faint" }, `Changed since the run, so that texts may be of other lines: ${plan.newer.join(", ")}`));
      }
      this.table = new Table(host, plan.title, plan.rows);
      choice.follow(() => this.show());
   }

   show() {
      const at = choice.among(this.machines);
      const machine = this.machines[at];
      const event = choice.measureOf(machine);
      const [first, ...fields] = this.fields();
      const isAll = choice.machine === ALL && this.machines.length > 1;
      const counts = isAll ? this.sideBySide(event) : this.costs(at, machine, event);
      const others = machine.shown.concat(machine.events.map((each) => each.name)).filter((name) => name !== event);
      const rest = isAll ? [] : [...new Set(others)].map((name) => this.count(at, machine, name, name));
      const [share, ...more] = counts;
      // A line's text comes before its counts: who reads it knows where he is.
      const near = fields.filter(({ title }) => title === "Text" || title === "Function called");
      const far = fields.filter((field) => !near.includes(field));
      this.table.show([first, share, ...near, ...more, ...far, ...rest], share.title);
   }

   fields() {
      const { fields } = this.plan;
      const byTitle = (title) => fields.find((field) => field.title === title)?.values;
      const [file, line, isOf] = ["Source file", "Line", "Function"].map(byTitle);
      if (file && line) {
         const place = (row) => `${text(file.texts[row])}:${line.numbers[row] || "?"}`;
         const numbers = {
            title: "Line",
            wide: WIDTHS.Line,
            text: place,
            brief: (path) => lastParts(path, 1),
         };
         const source = byTitle("Text");
         const named = { title: "Function", wide: WIDTHS.Function, text: (row) => text(isOf.texts[row]) };
         const said = { title: "Text", wide: WIDTHS.Text, text: (row) => text(source.texts[row]) };
         return source.texts.some((place) => text(place)) ? [numbers, said, named] : [numbers, named];
      }
      return fields.map(({ title, values }) =>
         values.numbers
            ? { title, count: (row) => values.numbers[row] }
            : {
                 title,
                 text: (row) => text(values.texts[row]),
                 brief: PATHS[title] && ((path) => lastParts(path, PATHS[title])),
                 wide: WIDTHS[title] ?? 12,
              },
      );
   }

   // Its share first, then the count, and what that is of the time.
   costs(at, machine, event) {
      const count = this.count(at, machine, event, MEASURES[event] ?? event);
      const part = (row) => (count.whole ? percent(count.count(row), count.whole) : 0);
      const share = {
         title: "Share",
         hint: `of ${formatted(count.whole)} ${count.title}`,
         count: part,
         whole: 100,
         show: shortPercent,
         sortAs: count.count,
      };
      if (!timeOf(machine, event, 1, 1)) return [share, count];
      const time = {
         title: "Of time",
         hint: "of the program's time, at most: an estimate",
         count: part,
         show: (value) => timeOf(machine, event, value, 100),
      };
      return [share, time, count];
   }

   sideBySide(event) {
      return this.machines
         .filter((machine) => has(machine, event))
         .map((machine) => this.count(this.machines.indexOf(machine), machine, event, machine.name));
   }

   count(at, machine, event, title) {
      const { meaning } = machine.events.find((each) => each.name === event);
      return { title, hint: `${meaning || event}: ${machine.name}`, count: counter(this.plan, at, machine, event), whole: amount(machine, event, machine.totals) };
   }
}

// Functions, and beside them the lines, of all of them or of one that is chosen.
function showFunctions(functions, lines) {
   const host = section("Functions and lines");
   host.append(make("p", { className: "faint" }, "Click a function to see its lines."));
   const [left, right] = [make("div"), make("div")];
   host.append(make("div", { className: "beside" }, left, right));
   left.append(make("h3", {}, "Functions"));
   right.append(make("h3", {}, "Lines"));
   const names = functions.fields[0].values.texts;
   const of = new Costs(functions, left);
   const { table } = new Costs(lines, right);
   of.table.press = (row) => {
      const name = text(names[row]);
      table.search.value = table.search.value === name ? "" : name;
      table.find();
   };
}
