// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The choice of a machine and of what is counted, which holds for the whole page.
"use strict";

const MEASURES = { Wcyc: "miss cycles", walks: "page walks", L1tm: "L1 TLB misses", Ir: "instructions" };
const ALL = -1; // in place of a machine: all, side by side

const choice = {
   machines: [],
   machine: 0,
   measure: "",
   followers: [],

   begin() {
      this.machines = data.machines.length > 0 ? data.machines : (data.data[0]?.machines ?? []);
      const [first] = this.machines;
      if (first === undefined) return;
      const measures = Object.keys(MEASURES).filter((event) => this.machines.some((each) => has(each, event)));
      this.measure = measures.includes(first.sort) ? first.sort : (measures[0] ?? first.sort);
      const machine = make("select", { id: "machine" }, ...this.machines.map(({ name }, value) => make("option", { value }, name)));
      if (this.machines.length > 1) machine.append(make("option", { value: ALL }, "all, side by side"));
      const measure = make("select", { id: "measure" }, ...measures.map((value) => make("option", { value }, MEASURES[value])));
      measure.value = this.measure;
      machine.addEventListener("change", () => this.choose(Number(machine.value), this.measure));
      measure.addEventListener("change", () => this.choose(this.machine, measure.value));
      const host = document.getElementById("choice");
      if (this.machines.length > 1) host.append(make("label", {}, "Machine ", machine));
      if (measures.length > 1) host.append(make("label", {}, "Sort by ", measure));
   },

   choose(machine, measure) {
      [this.machine, this.measure] = [machine, measure];
      const select = document.getElementById("machine");
      if (select) select.value = machine;
      for (const follow of this.followers) follow();
   },

   // Calls it now, and whenever another choice is made.
   follow(show) {
      this.followers.push(show);
      show();
   },

   // The chosen one, or the first of all.
   one() {
      return this.machines[Math.max(this.machine, 0)];
   },

   // Files write names of machines in two ways.
   among(machines) {
      const plain = (name) => name.replace(/\W/g, "_");
      const wanted = plain(this.one()?.name ?? "");
      return Math.max(0, machines.findIndex((each) => plain(each.name) === wanted));
   },

   // What is counted on a machine that lacks the chosen measure.
   measureOf(machine) {
      return has(machine, this.measure) ? this.measure : machine.sort;
   },
};
