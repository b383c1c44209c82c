// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// What sections are made of: the page's data, headings, facts, and counts of machines.
"use strict";

let data; // report.js unpacks it
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

function assumptions(lines) {
   const list = make("ul", {}, ...lines.map((line) => make("li", {}, line)));
   return make("details", {}, make("summary", {}, `${lines.length} assumed, not known`), list);
}

function digits(text) {
   return /^\d+$/.test(text) ? formatted(BigInt(text)) : text;
}

function has(machine, event) {
   return machine.events.some((each) => each.name === event);
}

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

// Of a path the last parts say most; hovering shows it whole.
function lastParts(path, parts) {
   return path.startsWith("/") || path.startsWith(".") ? path.split("/").slice(-parts).join("/") : path;
}
