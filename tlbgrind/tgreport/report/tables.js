// Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
// Tables that can be sorted and searched. Only the rows in view are in the document, so that
// 50,000 rows cost what 40 do.
"use strict";

const ROW = 24; // pixels, as in report.css
const PRINTED = 40; // rows of each table
const ALWAYS = 2; // columns that are shown on the narrowest screen
const LEAST_NAME = 8; // rem
const grouped = new Intl.NumberFormat("en-US");
const fraction = new Intl.NumberFormat("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });

function formatted(count) {
   return grouped.format(count);
}

// An element with properties and children. Texts become text nodes: nothing of the data is HTML.
function make(name, properties, ...children) {
   const element = Object.assign(document.createElement(name), properties);
   element.append(...children);
   return element;
}

// Counts beyond 2^53 come as text.
function exact(count) {
   return typeof count === "string" ? BigInt(count) : count;
}

function total(counts) {
   if (counts.every((count) => typeof count === "number")) {
      const sum = counts.reduce((a, b) => a + b, 0);
      if (sum <= Number.MAX_SAFE_INTEGER) return sum;
   }
   return counts.reduce((a, b) => a + BigInt(b), 0n);
}

function percent(count, whole) {
   return (100 * Number(count)) / Number(whole);
}

// A column is {title, hint, wide} and one of
//   text(row): a name, and `brief(text)` where it is shown shorter, or
//   count(row): a number, with `whole`, of which its share is shown, `show(value)`, and `sortAs(row)`
//   if that is another number, or
//   draw(row, cell): anything, with count(row) to sort by.
// Columns stand in the order of what they tell: those that do not fit are left out until they are
// asked for. `press(row)` is called for a row that is clicked.
class Table {
   constructor(host, title, rows) {
      this.title = title;
      this.rows = rows;
      this.words = [];
      this.printing = false;
      this.search = make("input", { type: "search", placeholder: "Search", ariaLabel: `Search ${title}` });
      this.search.addEventListener("input", () => this.find());
      this.found = make("span", { className: "faint" });
      this.found.setAttribute("aria-live", "polite");
      this.search.hidden = rows <= 12;
      this.every = make("button", { type: "button", hidden: true });
      this.every.addEventListener("click", () => {
         this.isWide = !this.isWide;
         this.layOut();
      });
      this.isWide = false;
      this.controls = make("div", { className: "controls" }, this.search, this.found, this.every);
      this.head = make("thead");
      this.widths = make("colgroup");
      this.body = make("tbody");
      this.table = make("table", {}, this.widths, this.head, this.body);
      this.table.setAttribute("aria-label", title);
      this.window = make("div", { className: "window", tabIndex: 0 }, this.table);
      this.window.setAttribute("role", "region");
      this.window.setAttribute("aria-label", title);
      this.window.addEventListener("scroll", () => this.render());
      host.append(this.controls, this.window);
      Table.all.push(this);
   }

   // `sortBy`: the title of the column that the rows are sorted by until another is chosen; without
   // it they stay in the order of the data.
   show(columns, sortBy, descending = true) {
      this.all = columns;
      this.by = columns.find((column) => column.title === sortBy);
      this.descending = descending;
      this.texts = undefined;
      this.allWidths = columns.map((column) => this.width(column));
      this.layOut();
      this.find();
   }

   // How many columns fit; a name and what is behind it always do, the name cut off.
   fitting(room) {
      let sum = 0;
      let fit = 0;
      for (const width of this.allWidths) {
         sum += width;
         if (fit >= ALWAYS && sum > room) break;
         fit++;
      }
      return fit;
   }

   layOut() {
      if (this.all === undefined) return;
      const room = this.window.clientWidth / parseFloat(getComputedStyle(document.documentElement).fontSize);
      const fit = this.fitting(room || Infinity);
      const beyond = this.all.length - fit;
      this.columns = this.isWide ? this.all : this.all.slice(0, fit);
      this.every.hidden = beyond === 0;
      this.every.textContent = this.isWide ? "Columns that fit" : `${beyond} more ${beyond === 1 ? "column" : "columns"}`;
      const widths = this.allWidths.slice(0, this.columns.length);
      const sum = () => widths.reduce((all, width) => all + width);
      if (!this.isWide && sum() > room) widths[0] = Math.max(LEAST_NAME, widths[0] + room - sum());
      this.table.style.minWidth = this.isWide ? `${sum()}rem` : "";
      this.widths.replaceChildren(
         ...widths.map((width) => {
            const col = make("col");
            col.style.width = `${(100 * width) / sum()}%`;
            return col;
         }),
      );
      this.heads = this.columns.map((column) => this.heading(column));
      this.head.replaceChildren(make("tr", {}, ...this.heads));
      if (this.order !== undefined) {
         this.mark();
         this.render(true);
      }
   }

   // In rem. Of numbers, and of the heading above them, nothing is cut off.
   width(column) {
      const heading = 0.62 * column.title.length + 2.4;
      if (column.text || column.draw) return Math.max(column.wide ?? 14, heading);
      // No share is longer than the whole, which saves looking at each.
      let longest = column.whole ?? 0;
      for (let row = 0; row < this.rows && column.whole === undefined; row++) {
         const count = column.count(row);
         if (count > longest) longest = count;
      }
      const digits = (column.show ? column.show(longest) : formatted(longest)).length;
      return Math.max(heading, 0.6 * digits + 1.6);
   }

   heading(column) {
      const button = make("button", { type: "button", title: column.hint ?? column.title }, column.title);
      button.addEventListener("click", () => {
         this.descending = this.by === column ? !this.descending : column.text === undefined;
         this.by = column;
         this.sort();
      });
      const head = make("th", { className: column.text ? "text" : "", scope: "col" }, button);
      return head;
   }

   find() {
      const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length > 0 && this.texts === undefined) {
         const named = this.all.filter((column) => column.text);
         this.texts = Array.from({ length: this.rows }, (_, row) =>
            named.map((column) => column.text(row)).join("\n").toLowerCase(),
         );
      }
      const rows = [];
      for (let row = 0; row < this.rows; row++) {
         if (words.every((word) => this.texts[row].includes(word))) rows.push(row);
      }
      this.order = rows;
      this.found.textContent =
         words.length > 0
            ? `${formatted(rows.length)} of ${formatted(this.rows)} rows`
            : `${formatted(this.rows)} ${this.rows === 1 ? "row" : "rows"}`;
      this.sort();
   }

   sort() {
      const { by, descending } = this;
      const turn = descending ? -1 : 1;
      if (by === undefined) {
         this.order.sort((a, b) => a - b);
      } else if (by.text) {
         const texts = new Map(this.order.map((row) => [row, by.text(row)]));
         this.order.sort((a, b) => {
            const [one, other] = [texts.get(a), texts.get(b)];
            return one < other ? -turn : one > other ? turn : a - b;
         });
      } else {
         // As numbers where they are exact so; the others, which are few, are compared as they are.
         const keys = new Float64Array(this.rows);
         const count = by.sortAs ?? by.count;
         let most = 0;
         for (const row of this.order) {
            keys[row] = Number(count(row));
            most = Number.isInteger(keys[row]) && keys[row] >= 0 ? Math.max(most, keys[row]) : Infinity;
         }
         if ((most + 1) * this.rows <= Number.MAX_SAFE_INTEGER) {
            this.sortPacked(keys, most);
         } else this.order.sort((a, b) => {
            if (keys[a] !== keys[b]) return keys[a] < keys[b] ? -turn : turn;
            if (keys[a] > Number.MAX_SAFE_INTEGER) {
               const [one, other] = [count(a), count(b)];
               if (one !== other) return one < other ? -turn : turn;
            }
            return a - b;
         });
      }
      this.mark();
      this.table.setAttribute("aria-rowcount", this.order.length + 1);
      this.window.scrollTop = 0;
      this.render(true);
   }

   mark() {
      this.columns.forEach((column, place) => {
         const way = column !== this.by ? "none" : this.descending ? "descending" : "ascending";
         this.heads[place].setAttribute("aria-sort", way);
      });
   }

   // Count and row in one number, which the browser sorts many times as fast as with a comparison.
   sortPacked(keys, most) {
      const { order, rows, descending } = this;
      const packed = new Float64Array(order.length);
      order.forEach((row, place) => {
         packed[place] = (descending ? most - keys[row] : keys[row]) * rows + row;
      });
      packed.sort();
      packed.forEach((number, place) => (order[place] = number % rows));
   }

   render(anew = false) {
      const height = this.printing ? PRINTED * ROW : Math.max(this.window.clientHeight, 20 * ROW);
      let first = this.printing ? 0 : Math.max(0, Math.floor(this.window.scrollTop / ROW) - 10);
      first = Math.min(first, this.order.length);
      const last = Math.min(this.order.length, first + Math.ceil(height / ROW) + (this.printing ? 0 : 20));
      if (!anew && first === this.first && last === this.last) return;
      [this.first, this.last] = [first, last];
      const rows = [];
      for (let place = first; place < last; place++) rows.push(this.row(this.order[place], place));
      const below = this.printing ? 0 : this.order.length - last;
      this.body.replaceChildren(this.spacer(first), ...rows, this.spacer(below));
      if (this.printing && last < this.order.length) {
         const left = `and ${formatted(this.order.length - last)} more rows`;
         const cell = make("td", { className: "text", colSpan: this.columns.length }, left);
         this.body.append(make("tr", {}, cell));
      }
   }

   spacer(rows) {
      const cell = make("td", { colSpan: this.columns.length });
      cell.style.height = `${rows * ROW}px`;
      const row = make("tr", { className: "spacer", hidden: rows === 0 }, cell);
      row.setAttribute("aria-hidden", "true");
      return row;
   }

   row(row, place) {
      const line = make("tr");
      line.setAttribute("aria-rowindex", place + 2);
      line.addEventListener("click", () => this.press?.(row));
      for (const column of this.columns) {
         const cell = make("td", { className: column.text ? "text" : "" });
         line.append(cell);
         if (column.draw) {
            column.draw(row, cell);
         } else if (column.text) {
            const text = column.text(row);
            cell.textContent = column.brief ? column.brief(text) : text;
            cell.title = text;
         } else {
            const count = column.count(row);
            cell.textContent = column.show ? column.show(count) : formatted(count);
            if (column.whole && count) {
               const share = percent(count, column.whole);
               cell.title = `${share.toFixed(2)}% of ${formatted(column.whole)}`;
               cell.style.backgroundImage =
                  `linear-gradient(to left, var(--share) ${share}%, transparent ${share}%)`;
            }
         }
      }
      return line;
   }

   print(printing) {
      this.printing = printing;
      this.render(true);
   }
}
Table.all = [];
window.addEventListener("resize", () => Table.all.forEach((table) => table.layOut()));
