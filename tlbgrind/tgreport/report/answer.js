// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The first screen: the share of time, what to do, what costs most, and the faults of the start.
"use strict";

const MOST_BARS = 6;
const TOP = 3;

function card(title, of = "") {
   return make("div", { className: "card" }, make("h3", {}, title, make("span", { className: "of" }, of)));
}

// The rows that cost most on the chosen machine: [row, count, whole].
function costliest(plan, rows = () => true) {
   const machines = plan.machines ?? data.machines;
   const at = choice.among(machines);
   const event = choice.measureOf(machines[at]);
   const count = counter(plan, at, machines[at], event);
   const whole = amount(machines[at], event, machines[at].totals);
   const best = [];
   for (let row = 0; row < plan.rows; row++) {
      const value = count(row);
      if (!value || !rows(row) || (best.length === TOP && value <= best[TOP - 1][1])) continue;
      best.push([row, value, whole]);
      best.sort(([, one], [, other]) => (one < other ? 1 : one > other ? -1 : 0));
      best.length = Math.min(best.length, TOP);
   }
   return best;
}

function ranked(plan, rows, name, detail) {
   const machine = choice.one();
   const event = choice.measureOf(machine);
   const found = costliest(plan, rows).map(([row, value, whole]) => {
      const share = percent(value, whole);
      const bar = make("div", { className: "bar" }, make("div"));
      bar.firstChild.style.width = `${share}%`;
      const time = timeOf(machine, event, value, whole);
      const said = `${shortPercent(share)}${time ? `, ${time.startsWith("<") ? `less than ${time.slice(1)}` : `at most ${time}`} of the time` : ""}`;
      const { main: title, all } = name(row);
      return make(
         "li",
         { title: all },
         make("div", { className: "name" }, title),
         make("div", { className: "amount" }, bar, make("span", {}, said)),
         make("div", { className: "detail" }, detail(row) || "\u00a0"),
      );
   });
   if (found.length === 0) return make("p", { className: "faint" }, "None.");
   return make("ol", { className: "top" }, ...found);
}

function topFunctions(functions, lines) {
   const [name, home, object] = functions.fields.map(({ values }) => values.texts);
   const [file, line, isOf, source] = lines.fields.map(({ values }) => values);
   const at = choice.among(data.machines);
   const cost = counter(lines, at, data.machines[at], choice.measureOf(data.machines[at]));
   const hottest = (row) => {
      const wanted = text(name[row]);
      // A line has its function's name only: of several of one name it is of that whose source it is in.
      const isShared = name.some((other, at) => at !== row && text(other) === wanted);
      let best = -1;
      for (let each = 0; each < lines.rows; each++) {
         const known = text(isOf.texts[each]);
         if (known !== wanted && !known.startsWith(`${wanted} and `)) continue;
         if (isShared && text(file.texts[each]) !== text(home[row])) continue;
         if (best < 0 || cost(each) > cost(best)) best = each;
      }
      if (best < 0 || !(line.numbers?.[best] > 0)) return text(object[row]);
      return `${lastParts(text(file.texts[best]), 1)}:${line.numbers[best]}  ${text(source.texts[best])}`;
   };
   // Code without a name is that of its object, as in the flame graph.
   const called = (row) => (text(name[row]) === "???" ? `(${text(object[row]).split("/").at(-1)})` : text(name[row]));
   return ranked(functions, undefined, (row) => ({ main: called(row), all: called(row) }), hottest);
}

function topData(plan) {
   const values = Object.fromEntries(plan.fields.map((field) => [field.title, field.values]));
   const label = (row) => text(values.Data.texts[row]);
   const size = (row) => {
      const bytes = values.Bytes.numbers?.[row] ?? 0;
      const pages = values.Pages.numbers?.[row] ?? 0;
      return [bytes && sized(bytes), pages && `${formatted(pages)} ${pages === 1 ? "page" : "pages"} touched`].filter(Boolean).join(", ");
   };
   return ranked(plan, (row) => label(row) !== "(instructions)", (row) => ({ main: label(row).replace(/\/\S*\//g, ""), all: label(row) }), size);
}

function sized(bytes) {
   const power = Math.min(4, Math.floor(Math.log2(bytes) / 10));
   return power > 0 ? `${(bytes / 1024 ** power).toFixed(1)} ${"KMGT"[power - 1]}iB` : `${formatted(bytes)} bytes`;
}

function topObjects(plan) {
   const path = (row) => text(plan.fields[0].values.texts[row]);
   return ranked(plan, undefined, (row) => ({ main: path(row).split("/").at(-1), all: path(row) }), (row) =>
      /\/ld[-.][^/]*$/.test(path(row)) ? "the dynamic linker" : path(row));
}

// ---------------------------------------------------------------- share of time

function scaleEnd(most) {
   return [1, 2, 5, 10, 20, 50, 100].find((end) => most <= end) ?? 100;
}

function showShares(host) {
   const { machines } = data;
   const shown = machines.slice(0, MOST_BARS);
   const end = scaleEnd(Math.max(1, ...shown.map(({ share }) => share.high ?? 0)));
   const first = thousandth(machines[0], "walks");
   const rows = shown.map((machine, place) => {
      const { low, high, words } = machine.share;
      const bar = make("div", { className: "range" });
      if (high !== null) {
         const [sure, maybe] = [make("div", { className: "sure" }), make("div", { className: "maybe" })];
         sure.style.width = `${(100 * low) / end}%`;
         maybe.style.width = `${(100 * (high - low)) / end}%`;
         bar.append(sure, maybe);
      }
      const ratio = first && machines.length > 1 ? fraction.format(thousandth(machine, "walks") / first) : "";
      const row = make("button", { type: "button", className: "machine", title: `${machine.name}: choose it for the whole page` },
         make("span", { className: "name" }, machine.name), bar, make("span", { className: "words" }, words), make("span", { className: "ratio" }, ratio));
      row.addEventListener("click", () => choice.choose(place, choice.measure));
      return row;
   });
   choice.followers.push(() => rows.forEach((row, place) => row.classList.toggle("chosen", place === choice.machine)));
   rows[Math.max(0, choice.machine)]?.classList.add("chosen");
   const many = machines.length > 1;
   const axis = make("div", { className: "machine axis" }, make("span", {}, ""), make("div", { className: "ticks" }, make("span", {}, "0"), make("span", {}, `${end}%`)),
      make("span", {}, ""), make("span", { className: "ratio" }, many && first ? "ratio" : ""));
   host.append(axis, ...rows);
   if (machines.length > shown.length) {
      host.append(make("p", {}, make("a", { href: "#machines" }, `and ${machines.length - shown.length} more ${machines.length === shown.length + 1 ? "machine" : "machines"}`)));
   }
   const bases = [...new Set(shown.map(({ share }) => share.basis).filter(Boolean))].map((basis) => basis.replace(/(\d)\.\.(\d)/, "$1 to $2"));
   const notes = ["Estimated", bases.length > 0 && ` (${bases.join("; ")})`, ": full colour at least, pale at most."];
   if (shown.some(({ share }) => share.words.startsWith("~"))) notes.push(" ~: what a miss costs is assumed.");
   if (many && first) notes.push(` Ratio: page walks, to those of ${machines[0].name}.`);
   host.append(make("p", { className: "note" }, notes.filter(Boolean).join("")));
}

// ---------------------------------------------------------------- what to do

function showVerdicts(host) {
   const list = make("div", { className: "verdicts" });
   host.append(list);
   choice.follow(() => {
      const verdicts = data.verdicts[Math.max(0, choice.machine)] ?? [];
      list.replaceChildren(
         ...verdicts.flatMap(({ what, how, commands }) => [
            make("p", { className: "what" }, what),
            ...how.filter(Boolean).map((line) => make("p", { className: "how" }, line)),
            ...commands.map((line) => make("code", { className: "command", title: line }, line)),
         ]),
      );
   });
}

// ---------------------------------------------------------------- faults of the start

function showStart(host, log) {
   const view = log.views.indexOf("warm");
   const cold = log.totals.cold;
   const warm = log.totals.warm;
   const all = exact(warm?.faults ?? 0);
   const figure = (count, words) => make("div", { className: "figure" }, make("b", {}, count), make("span", {}, words));
   const figures = [figure(formatted(all), "page faults, files in the page cache")];
   if (log.start) {
      const before = exact(log.start.faults[view]);
      const share = Number(all) ? ` (${shortPercent(percent(before, all))})` : "";
      figures.unshift(figure(formatted(before) + share, "at start-up, before the program's own code"));
   }
   if (cold) figures.push(figure(formatted(exact(cold.major)), "wait for the disk if no file is in the cache"));
   const most = log.maps.map((map, place) => [Number(map.faults[view]), place]).sort(([a], [b]) => b - a)[0];
   if (most?.[0]) figures.push(figure(formatted(most[0]), `in ${text(log.maps[most[1]].name).split("/").at(-1)} ${log.maps[most[1]].protection}, the most of one mapping`));
   host.append(make("div", { className: "figures" }, ...figures));
   if (log.verdict) host.append(make("p", { className: "note" }, log.verdict));
}

// ---------------------------------------------------------------- all of it

function headline(machine) {
   const { high, words } = machine.share;
   if (high === null) {
      const rate = fraction.format(thousandth(machine, "walks"));
      return ["On ", make("b", {}, machine.name), ` there are ${rate} page walks per 1000 instructions; the share of time is unknown.`];
   }
   return ["TLB misses take ", make("b", {}, words), " of the time on ", make("b", {}, machine.name), " (estimate)."];
}

function notRecorded(option) {
   return make("p", { className: "faint" }, "Not recorded: run with ", make("code", {}, option), ".");
}

function showAnswer() {
   const host = section("Answer");
   host.classList.add("answer");
   const commands = new Set();
   for (const each of [...data.machines, ...data.faults, ...data.reaches, ...data.entries, ...data.timelines]) commands.add(each.command);
   for (const command of commands) host.append(make("p", { className: "program" }, make("code", {}, command)));
   if (commands.size > 1) host.append(make("p", { className: "note" }, "These files are of different command lines: their counts differ for that reason, too."));
   const { machines } = data;
   const planOf = (title) => [...data.tables, ...data.data].find((plan) => plan.title.startsWith(title));
   if (machines.length > 0) {
      const line = make("p", { className: "headline" });
      host.append(line);
      choice.follow(() => line.replaceChildren(...headline(choice.one())));
      const [shares, todo] = [card(`Share of time by machine`), card("What to do")];
      host.append(make("div", { className: "cards two" }, shares, todo));
      showShares(shares);
      showVerdicts(todo);
      const of = (plan, make) => (plan === undefined ? () => notRecorded("--data=yes") : () => make(plan));
      const lists = [
         ["Functions that cost most", () => topFunctions(planOf("Functions"), planOf("Lines"))],
         ["Data that costs most", of(planOf("Data"), topData)],
         ["Libraries, and the program", () => topObjects(planOf("Objects"))],
      ].map(([title, list]) => [card(title), list]);
      host.append(make("div", { className: "cards three" }, ...lists.map(([box]) => box)));
      choice.follow(() => {
         for (const [box, list] of lists) {
            while (box.children.length > 1) box.lastChild.remove();
            box.querySelector(".of").textContent = `: share of ${MEASURES[choice.measure] ?? choice.measure}`;
            box.append(list());
         }
      });
   }
   const start = card("Page faults");
   if (data.faults.length > 0) showStart(start, data.faults[0]);
   else start.append(notRecorded("--faults=yes"));
   if (machines.length > 0 || data.faults.length > 0) host.append(start);
}
