// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The flame graph: who calls whom, each as wide as its share of the counts, the first at the top.
"use strict";

const FRAME = 18; // pixels, as in report.css
const NARROWEST = 0.0008; // of the width; what is narrower is not drawn

class Flame {
   constructor(host, flame) {
      this.flame = flame;
      this.choice = make("select", {}, ...flame.trees.map(({ event, meaning }, place) =>
         make("option", { value: place }, meaning ? `${event}: ${meaning}` : event),
      ));
      this.choice.addEventListener("change", () => this.show());
      const all = make("button", { type: "button" }, "All of it");
      all.addEventListener("click", () => this.zoom(-1));
      this.box = make("div", { className: "flame", tabIndex: 0 });
      this.box.setAttribute("role", "group");
      this.box.setAttribute("aria-label", `Flame graph of ${flame.machine}: arrow keys go from function to function`);
      this.said = make("div", { className: "said" });
      this.said.setAttribute("aria-live", "polite");
      host.append(
         make("h3", {}, flame.machine),
         make("div", { className: "controls" }, make("label", {}, "Count ", this.choice), all),
         this.box,
         this.said,
      );
      this.box.addEventListener("click", (event) => this.zoom(Number(event.target.dataset.place ?? -1)));
      this.box.addEventListener("mouseover", (event) => this.tell(Number(event.target.dataset.place ?? -1)));
      this.box.addEventListener("keydown", (event) => this.key(event));
      Flame.all.push(this);
      this.show();
   }

   // Places each function: its caller, and where it begins, as a share of all counts.
   show() {
      const tree = (this.tree = this.flame.trees[Number(this.choice.value)]);
      const { depths } = tree;
      this.counts = tree.counts.map(Number);
      this.whole = Number(tree.whole);
      this.parent = new Int32Array(depths.length);
      this.from = new Float64Array(depths.length);
      const way = []; // the last function at each depth
      const next = [0]; // where the next one at each depth begins
      this.deepest = 0;
      depths.forEach((depth, place) => {
         way[depth] = place;
         this.parent[place] = depth > 0 ? way[depth - 1] : -1;
         this.from[place] = next[depth];
         next[depth] += this.counts[place];
         next[depth + 1] = this.from[place];
         this.deepest = Math.max(this.deepest, depth);
      });
      this.zoom(-1);
   }

   // What is drawn is as wide as one function; -1: as all.
   zoom(place) {
      this.focus = place;
      this.active = place;
      this.draw();
      this.tell(place);
   }

   draw() {
      const { counts, from, parent, focus, tree } = this;
      const [left, width] = focus < 0 ? [0, this.whole] : [from[focus], counts[focus]];
      const above = new Set();
      for (let place = focus; place >= 0; place = parent[place]) above.add(place);
      const shown = [];
      let deepest = 0;
      for (let place = 0; place < counts.length; place++) {
         const isAbove = above.has(place);
         const begin = Math.max(0, (from[place] - left) / width);
         const end = Math.min(1, (from[place] + counts[place] - left) / width);
         if (!isAbove && (end - begin < NARROWEST || begin >= 1)) continue;
         deepest = Math.max(deepest, tree.depths[place]);
         shown.push(this.frame(place, begin, end, isAbove && place !== focus));
      }
      this.box.style.height = `${(deepest + 1) * FRAME + 2}px`;
      this.box.replaceChildren(...shown);
      this.mark();
   }

   frame(place, begin, end, isAbove) {
      const { tree } = this;
      const frame = make("div", { title: this.words(place) }, end - begin > 0.012 ? text(tree.names[place]) : "");
      frame.dataset.place = place;
      frame.classList.toggle("above", isAbove);
      frame.classList.toggle("narrow", end - begin <= 0.012);
      Object.assign(frame.style, {
         top: `${tree.depths[place] * FRAME}px`,
         left: `${100 * begin}%`,
         width: `${100 * (end - begin)}%`,
         // Functions of one object have one colour.
         background: `color-mix(in srgb, var(--c${tree.objects[place] % 6}) 30%, var(--back))`,
      });
      return frame;
   }

   words(place) {
      const { tree, whole } = this;
      const share = whole ? percent(this.counts[place], whole).toFixed(2) : "0.00";
      const how = tree.shared[place] ? " (in proportion to its callers' calls)" : "";
      return `${text(tree.names[place])}: ${formatted(exact(tree.counts[place]))} ${tree.event}, ` +
         `${share}% of ${formatted(exact(tree.whole))}${how}; in ${text(tree.objects[place])}`;
   }

   tell(place) {
      this.said.textContent = place < 0 ? "" : this.words(place);
   }

   mark() {
      this.box.querySelector(".active")?.classList.remove("active");
      this.box.querySelector(`[data-place="${this.active}"]`)?.classList.add("active");
   }

   // Places that are drawn, with one caller, in their order.
   siblings(parent) {
      return [...this.box.children].map((frame) => Number(frame.dataset.place)).filter((place) => this.parent[place] === parent);
   }

   key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const step = (by) => {
         const all = this.siblings(this.active < 0 ? -1 : this.parent[this.active]);
         return all[Math.min(all.length - 1, Math.max(0, all.indexOf(this.active) + by))] ?? -1;
      };
      const turns = {
         ArrowDown: () => this.siblings(this.active)[0] ?? this.active,
         ArrowUp: () => (this.active < 0 ? -1 : this.parent[this.active]),
         ArrowRight: () => step(1),
         ArrowLeft: () => step(-1),
      };
      if (event.key === "Enter") this.zoom(this.active);
      else if (event.key === "0" || event.key === "Escape") this.zoom(-1);
      else if (turns[event.key]) {
         this.active = turns[event.key]();
         this.mark();
         this.tell(this.active);
      } else return;
      event.preventDefault();
   }
}
Flame.all = [];
