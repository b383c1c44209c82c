// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The machines side by side, what was assumed of them, and the files of the page.
"use strict";

// What fits beside the rates.
const MOST = ["walks", "L1tm", "ILtm", "DLtm", "Ir", "Wcyc"];

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
   if (machines.some((machine) => machine.assumptions.length > 0)) {
      host.append(make("p", {}, "A machine with a star is simulated with assumptions (below), " +
         "which can make a difference between two machines alone."));
   }
   const table = new Table(host, "Machines", machines.length);
   const count = (event) => ({
      title: event,
      hint: meaning(event),
      count: (row) => (has(machines[row], event) ? amount(machines[row], event, machines[row].totals) : -1),
      show: (count) => (count === -1 ? "" : formatted(count)),
   });
   table.show([
      { title: "Machine", text: (row) => machines[row].name + (machines[row].assumptions.length ? " *" : ""), wide: 12 },
      { title: "share of time", hint: "of misses, estimated", text: (row) => machines[row].share.words, wide: 9 },
      ...rates.map((event) => ({
         title: event === "walks" ? "walks/1000" : "L1 misses/1000",
         hint: `${meaning(event)}, per 1000 instructions`,
         count: (row) => thousandth(machines[row], event),
         show: (rate) => fraction.format(rate),
      })),
      ...(first && machines.length > 1
         ? [
              {
                 title: "ratio",
                 hint: `of walks per 1000 instructions, to those of ${machines[0].name}`,
                 count: (row) => thousandth(machines[row], "walks") / first,
                 show: (ratio) => fraction.format(ratio),
              },
           ]
         : []),
      ...(commands.size > 1 ? [{ title: "Program", text: (row) => machines[row].command, wide: 14 }] : []),
      ...[...new Set([...shown, ...events])].map(count),
   ]);
   if (rates.length > 0) showRates(host, rates, meaning);
   host.append(make("h3", {}, "Arrays and assumptions"));
   for (const { name, facts: known, pid, creator, assumptions: assumed } of machines) {
      host.append(more(`${name}: arrays, and how they were counted`, [["Process", pid], ["Written by", creator], ...known]));
      if (assumed.length > 0) {
         const list = assumptions(assumed);
         list.firstChild.textContent = `${name}: ${list.firstChild.textContent}`;
         host.append(list);
      }
   }
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

function showFiles() {
   const host = section("Files");
   const logs = [...data.faults, ...data.reaches, ...data.entries, ...data.timelines];
   const files = [...data.machines.map(({ name, file }) => [name, file]), ...logs.map(({ file }) => ["", file])];
   for (const { title, file } of data.data) if (file && !files.some(([, known]) => known === file)) files.push([title, file]);
   host.append(make("ul", {}, ...files.map(([name, file]) => make("li", {}, make("code", {}, file), name ? ` ${name}` : ""))));
}
