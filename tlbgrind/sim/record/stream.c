/* The stream of a recording. See stream.h. */

#include "sim/record/stream.h"

#include "sim/record/map_events.h"
#include "sim/record/numbers.h"
#include "sim/tlb/key.h"

/* --- Sums --- */

/* FNV-1a, of the bytes of heads one by one, and of the others in eights as far as there are. */
#define SUM_BEGIN UINT64_C(0xCBF29CE484222325)

static uint64_t add_to_sum(uint64_t sum, uint64_t what)
{
   return (sum ^ what) * UINT64_C(0x100000001B3);
}

static uint64_t sum_of(uint64_t sum, const uint8_t *bytes, size_t n)
{
   size_t i = 0;
   for (; n - i >= 8; i += 8) {
      sum = add_to_sum(sum, tlb_eight_bytes(bytes + i));
      sum ^= sum >> 32;
   }
   for (; i < n; i++)
      sum = add_to_sum(sum, bytes[i]);
   return sum;
}

/* --- Numbers --- */

static uint64_t unfolded(uint64_t from, uint64_t f)
{
   return from + (f >> 1 ^ (0 - (f & 1)));
}

/* --- Writing --- */

static void put(tlb_stream_writer *w, const uint8_t *bytes, size_t n)
{
   w->sum = sum_of(w->sum, bytes, n);
   w->put(w->opaque, bytes, n);
}

static void put_head(tlb_stream_writer *w, const uint8_t *bytes, size_t n)
{
   for (size_t i = 0; i < n; i++)
      w->sum = add_to_sum(w->sum, bytes[i]);
   w->put(w->opaque, bytes, n);
}

static void begin_block(tlb_stream_writer *w)
{
   w->n = 0;
   w->n_moves = w->n_page = w->n_line = 0;
   w->page_before[0] = w->page_before[1] = 0;
   w->line_before = 0;
}

void tlb_stream_begin(tlb_stream_writer *w, tlb_stream_put *put_bytes, void *opaque)
{
   w->put = put_bytes;
   w->opaque = opaque;
   w->sum = SUM_BEGIN;
   w->n_records = 0;
   w->has_moves = false;
   begin_block(w);
}

bool tlb_stream_move(tlb_stream_writer *w, tlb_move move, uint64_t n)
{
   enum { MOST_BYTES = 10 };
   if (w->n_moves + MOST_BYTES > TLB_BLOCK_MOVES)
      return false;
   w->n_moves = (size_t)(tlb_put_number(w->move + w->n_moves, tlb_move_number(move, n)) - w->move);
   return true;
}

static uint8_t *append(uint8_t *to, const uint8_t *from, size_t n)
{
   for (size_t i = 0; i < n; i++)
      to[i] = from[i];
   return to + n;
}

void tlb_stream_flush(tlb_stream_writer *w, uint64_t instructions)
{
   uint8_t head[1 + 5 * 10];
   if (w->n == 0 && w->n_moves == 0)
      return;
   uint8_t *at = w->bytes + TLB_BLOCK_RECORDS + w->n_page;
   if (w->n < TLB_BLOCK_RECORDS)
      at = append(w->bytes + w->n, w->bytes + TLB_BLOCK_RECORDS, w->n_page);
   at = append(at, w->line, w->n_line);
   uint8_t *end = head;
   *end++ = w->has_moves ? TLB_BLOCK_OF_CALLS : TLB_BLOCK_OF_RECORDS;
   end = tlb_put_number(end, w->n);
   end = tlb_put_number(end, w->n_page);
   end = tlb_put_number(end, w->n_line);
   if (w->has_moves)
      end = tlb_put_number(end, w->n_moves);
   end = tlb_put_number(end, instructions);
   put_head(w, head, (size_t)(end - head));
   put(w, w->bytes, (size_t)(at - w->bytes));
   if (w->has_moves)
      put(w, w->move, w->n_moves);
   w->n_records += w->n;
   begin_block(w);
}

void tlb_stream_text(tlb_stream_writer *w, const char *text, size_t n)
{
   uint8_t head[1 + 10];
   uint8_t *end = head;
   if (n == 0)
      return;
   *end++ = TLB_BLOCK_OF_TEXT;
   end = tlb_put_number(end, n);
   put_head(w, head, (size_t)(end - head));
   put(w, (const uint8_t *)text, n);
}

void tlb_stream_mark(tlb_stream_writer *w, tlb_mark mark, uint64_t instructions, const char *text,
                     size_t n)
{
   uint8_t head[1 + 3 * 10];
   uint8_t *end = head;
   *end++ = TLB_BLOCK_MARK;
   end = tlb_put_number(end, mark);
   end = tlb_put_number(end, instructions);
   end = tlb_put_number(end, n);
   put_head(w, head, (size_t)(end - head));
   put(w, (const uint8_t *)text, n);
}

void tlb_stream_event(tlb_stream_writer *w, const tlb_map_event *e)
{
   uint8_t head[1 + 10], bytes[TLB_EVENT_BYTES];
   const size_t n = tlb_event_put(e, bytes);
   uint8_t *end = head;
   *end++ = TLB_BLOCK_OF_EVENT;
   end = tlb_put_number(end, n);
   put_head(w, head, (size_t)(end - head));
   put(w, bytes, n);
}

static void put_point(tlb_stream_writer *w, tlb_point point, uint64_t first, uint64_t last)
{
   uint8_t head[1 + 3 * 10];
   uint8_t *end = head;
   *end++ = TLB_BLOCK_POINT;
   end = tlb_put_number(end, point);
   end = tlb_put_number(end, first);
   end = tlb_put_number(end, last - first);
   put_head(w, head, (size_t)(end - head));
}

void tlb_stream_point(tlb_stream_writer *w, tlb_point point, uint64_t first, uint64_t last)
{
   for (; last - first >= TLB_POINT_PAGES; first += TLB_POINT_PAGES)
      put_point(w, point, first, first + TLB_POINT_PAGES - 1);
   put_point(w, point, first, last);
}

void tlb_stream_flush_point(tlb_stream_writer *w, const tlb_flush_point *f)
{
   const uint64_t number[] = { TLB_POINT_FLUSH, f->line, f->start, f->end - f->start, f->bytes };
   uint8_t head[1 + 5 * 10];
   uint8_t *end = head;
   *end++ = TLB_BLOCK_POINT;
   for (unsigned i = 0; i < sizeof number / sizeof *number; i++)
      end = tlb_put_number(end, number[i]);
   put_head(w, head, (size_t)(end - head));
}

void tlb_stream_end(tlb_stream_writer *w)
{
   uint8_t bytes[1 + 10 + 8];
   uint8_t *end = bytes;
   *end++ = TLB_BLOCK_END;
   end = tlb_put_number(end, w->n_records);
   put_head(w, bytes, (size_t)(end - bytes));
   const uint64_t sum = w->sum;
   for (unsigned i = 0; i < 8; i++)
      bytes[i] = (uint8_t)(sum >> 8 * i);
   put(w, bytes, 8);
}

/* --- Reading --- */

void tlb_stream_open(tlb_stream_reader *r, tlb_stream_get *get, void *opaque)
{
   r->get = get;
   r->opaque = opaque;
   r->sum = SUM_BEGIN;
   r->n_records = r->instructions = 0;
   r->n = 0;
   r->damage = NULL;
}

static bool get(tlb_stream_reader *r, uint8_t *bytes, size_t n)
{
   const size_t got = r->get(r->opaque, bytes, n);
   r->sum = sum_of(r->sum, bytes, got);
   return got == n;
}

static tlb_stream_found damaged(tlb_stream_reader *r, const char *what)
{
   r->damage = what;
   r->n = 0;
   return TLB_READ_DAMAGED;
}

/* From the file. *is_cut: it ends before the number does. */
static bool get_number(tlb_stream_reader *r, uint64_t *n, bool *is_cut)
{
   uint8_t byte;
   *n = 0;
   for (unsigned shift = 0; shift < 64; shift += 7) {
      if (!get(r, &byte, 1)) {
         *is_cut = true;
         return false;
      }
      if (shift == 63 && byte > 1)
         return false;
      *n |= (uint64_t)(byte & 0x7f) << shift;
      if (byte < 0x80)
         return true;
   }
   return false;
}

/* Whether there can be such a record. */
static bool is_sound(uint8_t what)
{
   const unsigned user = what & TLB_RECORD_USER;
   const bool is_use = (what & TLB_RECORD_USE) != 0;
   const bool is_good = is_use | ((what & TLB_RECORD_MODIFIES) == 0) | (user == 1);
   const uint8_t of_prefetch = TLB_RECORD_PREFETCH | TLB_RECORD_PRESENT | TLB_RECORD_UNCOUNTED;
   return user == TLB_RECORD_PREFETCH ? (what & ~of_prefetch) == 0
                                      : (what <= TLB_RECORD_BITS) & is_good;
}

/* tlb_number_at(), of any length, and moves *at behind it. False: there is none before `end`. */
static inline __attribute__((always_inline))
bool take(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
   unsigned bytes;
   *number = tlb_number_at(*at, &bytes);
   *at += bytes;
   return __builtin_expect(bytes != 0, 1) ? *at <= end : tlb_take_number(at, end, number);
}

/* The kinds and pages. Whether a record is a use cannot be foreseen: that is no branch.
   *n_referred: how many are references, whose numbers are in r->referred then. */
static bool take_pages(tlb_stream_reader *r, unsigned n, const uint8_t *page, const uint8_t *end,
                       unsigned *n_referred)
{
   uint64_t code = 0, data = 0; /* what differences are taken from */
   unsigned referred = 0;
   for (unsigned i = 0; i < n; i++) {
      const uint8_t what = r->bytes[i];
      uint64_t number;
      if (!is_sound(what) || !take(&page, end, &number))
         return false;
      const bool is_code = (what & TLB_RECORD_USER) == 0;
      const uint64_t at = unfolded(is_code ? code : data, number);
      code = is_code ? at : code;
      data = is_code ? data : at;
      if (at >> TLB_KEY_PAGE_BITS != 0)
         return false;
      r->record[i] = (tlb_record){ .what = what, .line = 0, .page = at };
      r->referred[referred] = (uint16_t)i;
      referred += (what & TLB_RECORD_USE) == 0;
   }
   *n_referred = referred;
   return page == end;
}

static bool take_lines(tlb_stream_reader *r, unsigned n, const uint8_t *line, const uint8_t *end)
{
   uint64_t number, last = 0;
   for (unsigned i = 0; i < n; i++) {
      if (!take(&line, end, &number))
         return false;
      last = unfolded(last, number);
      if (last == 0 || last > TLB_RECORD_MAX_LINES)
         return false;
      r->record[r->referred[i]].line = (uint32_t)last;
   }
   return line == end;
}

static bool take_records(tlb_stream_reader *r, unsigned n, size_t pages, size_t lines)
{
   const uint8_t *const page = r->bytes + n, *const line = page + pages;
   return take_pages(r, n, page, line, &r->n_referred)
          && take_lines(r, r->n_referred, line, line + lines);
}

/* Whether there can be such moves, and as many ends of moves as references. */
static bool check_moves(tlb_stream_reader *r, size_t n)
{
   static const uint32_t most[TLB_N_MOVES] = {
      [TLB_MOVE_STACK] = TLB_MOST_STACKS, [TLB_MOVE_POP] = TLB_MOST_FRAMES,
      [TLB_MOVE_PUSH] = TLB_MOST_ARCS, [TLB_MOVE_RETURN] = TLB_MOST_ARCS
   };
   const uint8_t *at = r->move, *const end = r->move + n;
   unsigned ends = 0;
   while (at < end) {
      uint64_t number;
      if (!tlb_take_number(&at, end, &number))
         return false;
      const tlb_move move = tlb_move_of(number);
      const uint64_t count = tlb_move_count(number);
      ends += number == 0;
      if (count > most[move] || (count == 0 && move != TLB_MOVE_PUSH && number != 0))
         return false;
   }
   r->n_moves = n;
   return ends == r->n_referred;
}

static tlb_stream_found read_records(tlb_stream_reader *r, bool has_moves)
{
   uint64_t n, pages, lines, moves = 0, instructions;
   bool is_cut = false;
   if (!get_number(r, &n, &is_cut) || !get_number(r, &pages, &is_cut)
       || !get_number(r, &lines, &is_cut) || (has_moves && !get_number(r, &moves, &is_cut))
       || !get_number(r, &instructions, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "a block's head is no head");
   if ((n == 0 && moves == 0) || n > TLB_BLOCK_RECORDS || pages < n || pages > n * 10
       || lines > n * 5 || moves > TLB_BLOCK_MOVES + TLB_BLOCK_RECORDS
       || instructions < r->instructions)
      return damaged(r, "a block's head is no head");
   if (!get(r, r->bytes, (size_t)(n + pages + lines)))
      return TLB_READ_CUT;
   if (!take_records(r, (unsigned)n, (size_t)pages, (size_t)lines))
      return damaged(r, "a block has what no run has");
   r->n_moves = 0;
   if (has_moves && !get(r, r->move, (size_t)moves))
      return TLB_READ_CUT;
   if (has_moves && !check_moves(r, (size_t)moves))
      return damaged(r, "a block has moves of call stacks that can not be");
   r->n = (unsigned)n;
   r->n_records += n;
   r->instructions = instructions;
   return TLB_READ_RECORDS;
}

static tlb_stream_found read_text(tlb_stream_reader *r)
{
   uint64_t n;
   bool is_cut = false;
   if (!get_number(r, &n, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "a text's length is no number");
   if (n == 0 || n > TLB_BLOCK_TEXT)
      return damaged(r, "a text's length is too large");
   if (!get(r, (uint8_t *)r->text, (size_t)n))
      return TLB_READ_CUT;
   r->n = (unsigned)n;
   return TLB_READ_TEXT;
}

static tlb_stream_found read_mark(tlb_stream_reader *r)
{
   uint64_t mark, instructions, n;
   bool is_cut = false;
   if (!get_number(r, &mark, &is_cut) || !get_number(r, &instructions, &is_cut)
       || !get_number(r, &n, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "a mark has no number");
   if (mark >= TLB_N_MARKS || instructions < r->instructions || n > TLB_MARK_TEXT)
      return damaged(r, "a mark is of no known kind");
   if (!get(r, (uint8_t *)r->text, (size_t)n))
      return TLB_READ_CUT;
   r->mark = (tlb_mark)mark;
   r->instructions = instructions;
   r->n = (unsigned)n;
   return TLB_READ_MARK;
}

static tlb_stream_found read_event(tlb_stream_reader *r)
{
   uint64_t n;
   bool is_cut = false;
   if (!get_number(r, &n, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "an event's length is no number");
   if (n == 0 || n > TLB_EVENT_BYTES)
      return damaged(r, "an event's length is too large");
   if (!get(r, r->bytes, (size_t)n))
      return TLB_READ_CUT;
   if (!tlb_event_take(r->bytes, (size_t)n, &r->event, &r->mapping, r->text))
      return damaged(r, "an event is of a kind that no run has");
   return TLB_READ_EVENT;
}

static tlb_stream_found read_flush_point(tlb_stream_reader *r)
{
   uint64_t line, start, length, bytes;
   bool is_cut = false;
   if (!get_number(r, &line, &is_cut) || !get_number(r, &start, &is_cut)
       || !get_number(r, &length, &is_cut) || !get_number(r, &bytes, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "a flush has no number");
   if (line > TLB_RECORD_MAX_LINES || start >> 63 != 0 || length >> 63 != 0 || bytes >> 63 != 0)
      return damaged(r, "a flush is of what no program has");
   r->point = TLB_POINT_FLUSH;
   r->flush = (tlb_flush_point){ (uint32_t)line, start, start + length, bytes };
   return TLB_READ_POINT;
}

static tlb_stream_found read_point(tlb_stream_reader *r)
{
   uint64_t point, first, more;
   bool is_cut = false;
   if (!get_number(r, &point, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "a point has no number");
   if (point == TLB_POINT_FLUSH)
      return read_flush_point(r);
   if (!get_number(r, &first, &is_cut) || !get_number(r, &more, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "a point has no number");
   if (point >= TLB_N_POINTS || more >= TLB_POINT_PAGES || (first + more) >> TLB_KEY_PAGE_BITS != 0
       || first >> TLB_KEY_PAGE_BITS != 0)
      return damaged(r, "a point is of no known kind");
   r->point = (tlb_point)point;
   r->first = first;
   r->last = first + more;
   return TLB_READ_POINT;
}

static tlb_stream_found read_end(tlb_stream_reader *r)
{
   uint64_t n;
   uint8_t bytes[8];
   bool is_cut = false;
   if (!get_number(r, &n, &is_cut))
      return is_cut ? TLB_READ_CUT : damaged(r, "the end is no end");
   const uint64_t sum = r->sum;
   uint64_t stored = 0;
   if (!get(r, bytes, sizeof bytes))
      return TLB_READ_CUT;
   for (unsigned i = 0; i < 8; i++)
      stored |= (uint64_t)bytes[i] << 8 * i;
   if (n != r->n_records || stored != sum)
      return damaged(r, "the checksum is another: the file has been changed");
   if (r->get(r->opaque, bytes, 1) != 0)
      return damaged(r, "something stands behind the end");
   return TLB_READ_END;
}

tlb_stream_found tlb_stream_read(tlb_stream_reader *r)
{
   uint8_t kind;
   r->n = 0;
   if (!get(r, &kind, 1))
      return TLB_READ_CUT;
   switch (kind) {
   case TLB_BLOCK_OF_RECORDS: return read_records(r, false);
   case TLB_BLOCK_OF_CALLS: return read_records(r, true);
   case TLB_BLOCK_OF_TEXT: return read_text(r);
   case TLB_BLOCK_MARK: return read_mark(r);
   case TLB_BLOCK_OF_EVENT: return read_event(r);
   case TLB_BLOCK_POINT: return read_point(r);
   case TLB_BLOCK_END: return read_end(r);
   default: return damaged(r, "a block is of no known kind");
   }
}

bool tlb_stream_take_move(const tlb_stream_reader *r, const uint8_t **at, uint64_t *number)
{
   return tlb_take_number(at, r->move + r->n_moves, number);
}
