// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// The flame graph: who calls whom, each as wide as its share of the counts, the first at the top.
"use strict";

const FRAME = 18; // pixels, as in report.css
const NARROWEST = 0.0008; // of the width; what is narrower is not drawn

const COLOURS = 5; // for the objects that cost most; all others share one more

class Flame {
   constructor(host, flames) {
      this.flames = flames;
      this.title = make("p", { className: "faint" });
      const all = make("button", { type: "button" }, "All of it");
      all.addEventListener("click", () => this.zoom(-1));
      this.box = make("div", { className: "flame", tabIndex: 0 });
      this.box.setAttribute("role", "group");
      this.said = make("div", { className: "said" });
      this.said.setAttribute("aria-live", "polite");
      this.legend = make("ul", { className: "legend" });
      host.append(this.title, make("div", { className: "controls" }, all, this.legend), this.box, this.said);
      this.box.addEventListener("click", (event) => this.zoom(Number(event.target.dataset.place ?? -1)));
      this.box.addEventListener("mouseover", (event) => this.tell(Number(event.target.dataset.place ?? -1)));
      this.box.addEventListener("keydown", (event) => this.key(event));
      Flame.all.push(this);
      choice.follow(() => this.show());
   }

   // The graph of the page's choice, or the nearest that there is.
   chosen() {
      const flame = this.flames[choice.among(this.flames.map(({ machine }) => ({ name: machine })))];
      const tree = flame.trees.find(({ event }) => event === choice.measure) ?? flame.trees[0];
      const what = MEASURES[tree.event] ?? tree.event;
      this.title.textContent = `Who calls whom, as wide as its ${what} with all that it calls, on ${flame.machine}. The first function is at the top.`;
      this.box.setAttribute("aria-label", `Flame graph of ${flame.machine}: arrow keys go from function to function`);
      return tree;
   }

   // Objects by what their functions cost themselves: the first have a colour each.
   paintObjects() {
      const { tree, counts, parent } = this;
      const own = counts.slice();
      parent.forEach((above, place) => {
         if (above >= 0) own[above] -= counts[place];
      });
      const sums = new Map();
      own.forEach((count, place) => sums.set(tree.objects[place], (sums.get(tree.objects[place]) ?? 0) + count));
      const ranked = [...sums].sort(([, one], [, other]) => other - one);
      this.colours = new Map(ranked.map(([object], place) => [object, Math.min(place, COLOURS)]));
      const first = ranked.slice(0, COLOURS);
      const rest = ranked.slice(COLOURS).reduce((sum, [, count]) => sum + count, 0);
      const item = (colour, name, count) => {
         const swatch = make("span", { className: "swatch" });
         swatch.style.background = this.shade(colour);
         return make("li", {}, swatch, `${name} ${shortPercent(this.whole ? percent(count, this.whole) : 0)}`);
      };
      this.legend.replaceChildren(...first.map(([object, count], place) => item(place, text(object).split("/").at(-1), count)));
      if (ranked.length > COLOURS) this.legend.append(item(COLOURS, `${ranked.length - COLOURS} others`, rest));
   }

   shade(colour) {
      return `color-mix(in srgb, var(--c${colour}) 30%, var(--back))`;
   }

   // Places each function: its caller, and where it begins, as a share of all counts.
   show() {
      const tree = (this.tree = this.chosen());
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
      this.paintObjects();
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
         background: this.shade(this.colours.get(tree.objects[place])),
      });
      return frame;
   }

   words(place) {
      const { tree, whole } = this;
      const share = whole ? percent(this.counts[place], whole).toFixed(2) : "0.00";
      const how = tree.shared[place] ? " (in proportion to its callers' calls)" : "";
      return `${text(tree.names[place])}: ${formatted(exact(tree.counts[place]))} ${MEASURES[tree.event] ?? tree.event}, ` +
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
