// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The page: its sections from the data that it holds, and its keys.
"use strict";

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

function showAll() {
   choice.begin();
   showAnswer();
   const plans = new Map(data.tables.map((plan) => [plan.title, plan]));
   if (plans.has("Functions")) showFunctions(plans.get("Functions"), plans.get("Lines"));
   for (const plan of data.data) new Costs(plan);
   for (const title of ["Objects", "Source files", "Phases"]) if (plans.has(title)) new Costs(plans.get(title));
   if (data.advice.length > 0) showAdvice();
   if (data.mappings.length > 0) showMappings();
   if (data.calls.flames.length > 0) new Flame(section("Flame graph"), data.calls.flames);
   for (const plan of data.calls.tables) new Costs(plan);
   for (const [title, what, show] of [
      ["Over time", data.timelines, showTimeline],
      ["Page faults", data.faults, (host, log) => new Faults(host, log)],
      ["Reach", data.reaches, showReach],
      ["Order of first use", data.entries, showEntries],
   ]) {
      if (what.length === 0) continue;
      const host = section(title);
      for (const each of what) show(host.appendChild(make("div")), each);
   }
   if (data.machines.length > 0) showMachines();
   showFiles();
   listen();
   document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

function begin(found) {
   data = found;
   showAll();
}

// Much data is compressed, as base64.
async function unpacked(text) {
   const binary = atob(text);
   const bytes = new Uint8Array(binary.length);
   for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
   const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
   return new Response(stream).json();
}

setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const held = document.getElementById("data");
if (held.type === "application/json") {
   begin(JSON.parse(held.textContent));
} else if (window.DecompressionStream) {
   unpacked(held.textContent).then(begin);
} else {
   main.append(make("p", {}, "So large a page needs Chrome 80, Firefox 113, Safari 16.4 or a newer browser."));
}
