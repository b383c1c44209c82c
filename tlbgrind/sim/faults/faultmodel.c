/* The fault model: what page faults Linux would take. See faultmodel.h.

   Here are its life, what happens to the address space, and the touches. */

#include "sim/faults/faultmodel_parts.h"

static const tlb_fault_rules view_rules[TLB_N_VIEWS] = {
   [TLB_VIEW_4K] = { .plane = TLB_VIEW_4K },
   [TLB_VIEW_WARM] = { .plane = TLB_VIEW_WARM, .around = 1, .large = 1 },
   [TLB_VIEW_COLD] = { .plane = TLB_VIEW_COLD, .around = 1, .large = 1,
                       .cold = 1 },
};

/* --- Life --- */

void tlb_fault_init(tlb_fault_model *m, const tlb_fault_settings *settings,
                    const tlb_memory *memory)
{
   tlb_set_bytes((uint8_t *)m, 0, sizeof *m);
   m->settings = *settings;
   if (m->settings.kernel == NULL)
      m->settings.kernel = tlb_kernel_usual();
   m->memory = *memory;
   tlb_chunks_init(m);
   tlb_mappings_init(&m->maps, memory);
   tlb_mappings_init(&m->anon, memory);
}

void tlb_fault_free(tlb_fault_model *m)
{
   tlb_chunks_free(m);
   tlb_files_free(m);
   tlb_mappings_free(&m->maps);
   tlb_mappings_free(&m->anon);
}

void tlb_fault_zero(tlb_fault_model *m)
{
   tlb_set_bytes((uint8_t *)m->counts, 0, sizeof m->counts);
   tlb_set_bytes((uint8_t *)m->phase, 0, sizeof m->phase);
}

/* --- The address space --- */

static void clear_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                        size_t to, const void *opaque)
{
   (void)opaque;
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (tlb_chunk_has_plane(c, plane))
         tlb_set_bytes(tlb_chunk_plane(m, c, plane) + from, 0, to - from);
   }
}

/* Of several tables in a chunk, those go that no mapping has anything of. */
static void free_tables(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to)
{
   const unsigned shift = m->settings.page_shift;
   const uint64_t pages = tlb_table_pages(m), first = c->number << TLB_CHUNK_SHIFT;
   for (uint64_t page = (first + from) & ~(pages - 1); page < first + to; page += pages) {
      if (!tlb_mappings_overlap(&m->maps, page << shift, (page + pages) << shift)) {
         for (unsigned i = 0; i < sizeof c->tables / sizeof *c->tables; i++)
            c->tables[i] &= (uint16_t)~tlb_table_bit(m, page);
      }
   }
}

/* The same; page tables without any mapping go as well. */
static void unmap_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                        size_t to, const void *opaque)
{
   const uint64_t bytes = (uint64_t)TLB_CHUNK_PAGES << m->settings.page_shift;
   if (!tlb_mappings_overlap(&m->maps, c->number * bytes, (c->number + 1) * bytes)) {
      tlb_chunk_free(m, c);
      return;
   }
   clear_pages(m, c, from, to, opaque);
   if (tlb_table_pages(m) < TLB_CHUNK_PAGES)
      free_tables(m, c, from, to);
}

static void account(tlb_mapping *v)
{
   if ((v->prot & TLB_MAY_WRITE) != 0 && (v->flags & TLB_MAP_SHARED) == 0)
      v->flags |= TLB_MAP_ACCOUNTED;
}

void tlb_fault_map(tlb_fault_model *m, const tlb_mapping *mapping)
{
   tlb_mapping v = *mapping;
   account(&v);
   tlb_fault_unmap(m, v.start, v.end);
   tlb_mappings_add(&m->maps, &v);
   /* One that joins a mapping with pages of its own is a part of it, also when they are
      cut apart again. */
   const tlb_mapping *const joined = tlb_mappings_find(&m->maps, v.start);
   if (joined != NULL && tlb_mappings_overlap(&m->anon, joined->start, joined->end)) {
      const tlb_mapping all = { .start = joined->start, .end = joined->end };
      tlb_mappings_add(&m->anon, &all);
   }
}

void tlb_fault_unmap(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_mappings_remove(&m->maps, start, end);
   tlb_mappings_remove(&m->anon, start, end);
   tlb_chunk_each(m, tlb_page_of(m, start), tlb_page_of(m, end), unmap_pages,
                  NULL);
   tlb_forget_edges(m, tlb_page_of(m, start), tlb_page_of(m, end));
}

/* What becomes of the entries of pages that are there. */
typedef struct {
   uint8_t set, clear;
} pte_change;

static const pte_change write_protect = { .clear = TLB_PTE_WRITABLE };
static const pte_change make_writable = { .set = TLB_PTE_WRITABLE };

static void change_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                         const void *opaque)
{
   const pte_change *to_what = opaque;
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (!tlb_chunk_has_plane(c, plane))
         continue;
      uint8_t *pte = tlb_chunk_plane(m, c, plane);
      for (size_t i = from; i < to; i++) {
         if ((pte[i] & TLB_PTE_PRESENT) != 0)
            pte[i] = (uint8_t)((pte[i] & ~to_what->clear) | to_what->set);
      }
   }
}

int tlb_is_written_back(tlb_fault_model *m, const tlb_mapping *v, uint64_t device,
                        uint64_t inode)
{
   return tlb_is_file(v) && tlb_is_shared(v) && !tlb_fault_is_tmpfs(m, v)
          && (inode == 0 || (v->inode == inode && v->device == device));
}

void tlb_fault_written_back(tlb_fault_model *m, uint64_t start, uint64_t end,
                            uint64_t device, uint64_t inode)
{
   tlb_mapping v;
   for (uint64_t at = start; tlb_mappings_piece(&m->maps, at, end, &v); at = v.end) {
      if (tlb_is_written_back(m, &v, device, inode))
         tlb_chunk_each(m, tlb_page_of(m, v.start), tlb_page_of(m, v.end),
                        change_pages, &write_protect);
   }
}

typedef struct {
   tlb_fault_model *m;
   uint8_t prot;
} protection;

/* What the pages are is not touched by it: one that was writable is so again when the
   mapping is. But entries of hugetlbfs are made anew, as private memory has them before
   it is written: hugetlb_change_protection(). And those of tmpfs may be written at once:
   nothing has to note when they become dirty. */
static void change_protection(tlb_mapping *v, void *opaque)
{
   const protection *to = opaque;
   const uint64_t first = tlb_page_of(to->m, v->start);
   const uint64_t end = tlb_page_of(to->m, v->end);
   if (v->prot != to->prot && (v->flags & TLB_MAP_HUGETLB) != 0 && !tlb_is_shared(v))
      tlb_chunk_each(to->m, first, end, change_pages, &write_protect);
   if (tlb_is_shared(v) && (to->prot & ~v->prot & TLB_MAY_WRITE) != 0
       && tlb_fault_is_tmpfs(to->m, v))
      tlb_chunk_each(to->m, first, end, change_pages, &make_writable);
   v->prot = to->prot;
   account(v);
}

void tlb_fault_protect(tlb_fault_model *m, uint64_t start, uint64_t end,
                       unsigned prot)
{
   protection to = { m, (uint8_t)prot };
   tlb_mappings_change(&m->maps, start, end, change_protection, &to);
}

void tlb_fault_zap(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_chunk_each(m, tlb_page_of(m, start), tlb_page_of(m, end), clear_pages,
                  NULL);
   tlb_forget_edges(m, tlb_page_of(m, start), tlb_page_of(m, end));
}

static void drop_file_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                            const void *opaque)
{
   (void)opaque;
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (!tlb_chunk_has_plane(c, plane))
         continue;
      uint8_t *const pte = tlb_chunk_plane(m, c, plane);
      for (size_t i = from; i < to; i++)
         pte[i] = (pte[i] & TLB_PTE_OWNED) != 0 ? (uint8_t)(pte[i] & ~TLB_PTE_EDGE) : 0;
   }
}

void tlb_fault_page_out(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_mapping v;
   for (uint64_t at = start; tlb_mappings_piece(&m->maps, at, end, &v); at = v.end) {
      if (tlb_is_file(&v) && !tlb_fault_is_tmpfs(m, &v))
         tlb_chunk_each(m, tlb_page_of(m, v.start), tlb_page_of(m, v.end), drop_file_pages, NULL);
   }
   tlb_forget_edges(m, tlb_page_of(m, start), tlb_page_of(m, end));
}

int tlb_fault_empties_tables(const tlb_fault_model *m)
{
   /* Base pages of x86. */
   return m->settings.page_shift == 12;
}

/* The same; of the kernel's views, the table goes if all of its pages do. */
static void discard_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from, size_t to,
                          const void *opaque)
{
   clear_pages(m, c, from, to, opaque);
   if (from == 0 && to == TLB_CHUNK_PAGES && tlb_fault_empties_tables(m))
      tlb_set_bytes((uint8_t *)c->tables, 0, sizeof c->tables);
}

void tlb_fault_discard(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_chunk_each(m, tlb_page_of(m, start), tlb_page_of(m, end), discard_pages, NULL);
   tlb_forget_edges(m, tlb_page_of(m, start), tlb_page_of(m, end));
}

typedef struct {
   uint32_t set;
   uint32_t clear;
} flag_change;

static void change_flags(tlb_mapping *v, void *opaque)
{
   const flag_change *c = opaque;
   v->flags = (v->flags & ~c->clear) | c->set;
}

void tlb_fault_flag(tlb_fault_model *m, uint64_t start, uint64_t end,
                    unsigned set, unsigned clear)
{
   flag_change c = { set, clear };
   tlb_mappings_change(&m->maps, start, end, change_flags, &c);
}

/* Where the pages of a chunk move. */
typedef struct {
   uint64_t distance; /* pages, modulo 2^64 */
} page_move;

static void move_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                       size_t to, const void *opaque)
{
   const page_move *move = opaque;
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (!tlb_chunk_has_plane(c, plane))
         continue;
      uint8_t *s = tlb_chunk_plane(m, c, plane);
      for (size_t i = from; i < to; i++) {
         const uint64_t page = (c->number << TLB_CHUNK_SHIFT) + i;
         if (s[i] != 0)
            *tlb_pte_at(m, plane, page + move->distance) = s[i];
         s[i] = 0;
      }
   }
}

/* The mapping has a page of its own now, or had one before it was cut or
   joined. */
static void note_anon(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   const tlb_mapping v = { .start = start, .end = end };
   if (!tlb_mappings_overlap(&m->anon, start, end))
      tlb_mappings_add(&m->anon, &v);
}

/* The mappings of [from, from + length) again, at `to`. */
static void copy_maps(tlb_fault_model *m, uint64_t from, uint64_t to,
                      uint64_t length)
{
   uint64_t at = from;
   for (tlb_mapping v; tlb_mappings_piece(&m->maps, at, from + length, &v);) {
      const int is_anon = tlb_mappings_overlap(&m->anon, v.start, v.end);
      at = v.end;
      v.start += to - from;
      v.end += to - from;
      tlb_fault_map(m, &v);
      if (is_anon)
         note_anon(m, v.start, v.end);
   }
}

void tlb_fault_move(tlb_fault_model *m, uint64_t from, uint64_t to,
                    uint64_t length, int keep)
{
   const page_move move = { tlb_page_of(m, to) - tlb_page_of(m, from) };
   const uint64_t first = tlb_page_of(m, from);
   const uint64_t end = tlb_page_of(m, from + length);
   tlb_fault_unmap(m, to, to + length);
   copy_maps(m, from, to, length);
   /* Chunks come into being while the pages move: not through tlb_chunk_each(),
      which may go through all that there are. */
   for (uint64_t n = first >> TLB_CHUNK_SHIFT;
        n <= (end - 1) >> TLB_CHUNK_SHIFT; n++) {
      tlb_fault_chunk *c = tlb_chunk_find(m, n);
      if (c != NULL)
         tlb_chunk_within(m, c, first, end, move_pages, &move);
   }
   if (!keep)
      tlb_fault_unmap(m, from, from + length);
}

static void note_table(tlb_fault_model *m, const tlb_fault_rules *r,
                       uint64_t page)
{
   uint16_t *const tables = tlb_chunk_tables(tlb_chunk_need(m, page >> TLB_CHUNK_SHIFT), r->plane);
   if (tables != NULL)
      *tables |= tlb_table_bit(m, page);
}

/* --- Faults --- */

/* A touch of a page that is not there. */
static tlb_fault_kind fault_absent(tlb_fault_model *m, const tlb_fault_rules *r,
                                   const tlb_mapping *v, uint64_t page, tlb_touch touch,
                                   tlb_fault *out)
{
   const int writes = touch == TLB_TOUCH_WRITE;
   uint8_t *s;
   if (!tlb_is_file(v)) {
      const uint8_t how = writes ? TLB_PTE_PRIVATE
                                 : TLB_PTE_PRESENT | TLB_PTE_ZERO;
      const uint8_t real = writes ? how : TLB_PTE_PRESENT | TLB_PTE_OWNED;
      if (!tlb_fill_hugetlb(m, r, v, page, real, out)
          && !tlb_fill_huge(m, r, v, page, how, out)
          && !(writes && tlb_fill_folio(m, r, v, page, how, out))) {
         note_table(m, r, page);
         *tlb_pte_at(m, r->plane, page) = how;
      }
      if (writes)
         return TLB_FAULT_WRITE;
      return touch == TLB_TOUCH_FETCH ? TLB_FAULT_CODE : TLB_FAULT_ZERO;
   }
   tlb_fault_file *f = tlb_file_need(m, v->device, v->inode);
   const int around_first = !writes && tlb_fill_tries_around(m, r, v);
   if (around_first)
      tlb_fill_looks_around(m, r, v, page, f);
   tlb_file_have(m, r, v, f, tlb_file_page(m, v, page), around_first, out);
   if (!writes) {
      const int no_tracking = tlb_is_shared(v) && f->is_tmpfs
                              && (v->prot & TLB_MAY_WRITE) != 0;
      const uint8_t how = no_tracking ? TLB_PTE_SHARED : TLB_PTE_PRESENT;
      const int is_huge = tlb_fill_huge_file(m, r, v, page, f, how, out);
      if (!is_huge)
         note_table(m, r, page);
      if (!is_huge && !tlb_fill_hugetlb(m, r, v, page, how, out))
         tlb_fill_around(m, r, v, page, f, r->cold || f->is_tmpfs, how, out);
      s = tlb_pte_at(m, r->plane, page);
      if ((*s & TLB_PTE_PRESENT) == 0)
         *s = how;
      tlb_file_arrives(f);
      return touch == TLB_TOUCH_FETCH ? TLB_FAULT_CODE : TLB_FAULT_READ;
   }
   tlb_file_arrives(f);
   note_table(m, r, page);
   s = tlb_pte_at(m, r->plane, page);
   *s = tlb_is_shared(v) ? TLB_PTE_SHARED : TLB_PTE_PRIVATE;
   tlb_fill_hugetlb(m, r, v, page, *s, out);
   return TLB_FAULT_WRITE;
}

/* Whether a huge page is there, all of it (when a part has gone, it is small ones), and of `mask`
   its pages have the bits of `value`. */
static int is_huge(tlb_fault_model *m, unsigned plane, uint64_t first, uint64_t pages,
                   unsigned mask, unsigned value)
{
   uint64_t p = first;
   mask |= TLB_PTE_HUGE;
   value |= TLB_PTE_HUGE;
   while (p < first + pages && (tlb_pte(m, plane, p) & mask) == value)
      p++;
   return p == first + pages;
}

/* It becomes small pages, which are shared, or this process has it alone. */
static void write_to_shared(tlb_fault_model *m, const tlb_fault_rules *r, uint64_t first,
                            uint64_t pages, tlb_fault *out)
{
   out->breaks = m->is_still_shared == NULL || m->is_still_shared(m->opaque);
   if (out->breaks)
      note_table(m, r, first);
   for (uint64_t p = first; p < first + pages; p++) {
      uint8_t *const s = tlb_pte_at(m, r->plane, p);
      *s = (uint8_t)(out->breaks ? *s & ~TLB_PTE_HUGE : *s | TLB_PTE_WRITABLE);
   }
}

/* A write to a page that is present, but may not be written to. */
static tlb_fault_kind fault_protected(tlb_fault_model *m, const tlb_fault_rules *r,
                                      const tlb_mapping *v, uint64_t page, tlb_fault *out)
{
   uint8_t *s = tlb_pte_at(m, r->plane, page);
   if (tlb_is_shared(v)) {
      *s |= TLB_PTE_WRITABLE;
      return TLB_FAULT_DIRTY;
   }
   const uint8_t how = TLB_PTE_PRIVATE;
   const uint64_t pages = tlb_table_pages(m);
   const uint64_t first = page & ~(pages - 1);
   if (is_huge(m, r->plane, first, pages, TLB_PTE_ZERO, TLB_PTE_ZERO)) {
      for (uint64_t p = first; p < first + pages; p++)
         *tlb_pte_at(m, r->plane, p) = how | TLB_PTE_HUGE;
   } else if (is_huge(m, r->plane, first, pages, how, how & ~(unsigned)TLB_PTE_WRITABLE)) {
      /* It is shared since a fork. */
      write_to_shared(m, r, first, pages, out);
   } else if (!tlb_fill_hugetlb(m, r, v, page, how, out)) {
      *s = (uint8_t)((*s & TLB_PTE_EDGE) | how);
   }
   *tlb_pte_at(m, r->plane, page) |= how;
   return TLB_FAULT_COPY;
}

static tlb_fault_kind touch_plane(tlb_fault_model *m, const tlb_fault_rules *r,
                                  const tlb_mapping *v, uint64_t page,
                                  tlb_touch touch, tlb_fault *out)
{
   out->major = 0;
   out->breaks = 0;
   out->n_brought = 0;
   uint8_t s = tlb_pte(m, r->plane, page);
   out->came_late = (s & TLB_PTE_PRESENT) == 0 && tlb_fill_late(m, r, v, page, out);
   if (out->came_late)
      s = tlb_pte(m, r->plane, page);
   if ((s & TLB_PTE_PRESENT) == 0)
      out->kind = fault_absent(m, r, v, page, touch, out);
   else if (touch == TLB_TOUCH_WRITE && (s & TLB_PTE_WRITABLE) == 0)
      out->kind = fault_protected(m, r, v, page, out);
   else
      out->kind = TLB_NO_FAULT;
   return out->kind;
}

static tlb_fault_group group_of(const tlb_mapping *v)
{
   if (!tlb_is_file(v)
       || (v->flags & (TLB_MAP_NO_AROUND | TLB_MAP_FIXED_PHASE)) != 0)
      return TLB_GROUP_OTHER;
   return (v->flags & TLB_MAP_MAIN) != 0 ? TLB_GROUP_PROGRAM
                                         : TLB_GROUP_LIBRARIES;
}

/* What the touch would be if all lay 1 to 15 pages higher. */
static void touch_phases(tlb_fault_model *m, const tlb_mapping *v,
                         uint64_t page, tlb_touch touch, int is_fault,
                         int counts)
{
   const tlb_fault_group group = group_of(v);
   uint64_t *n = m->phase[group];
   if (!m->settings.phases)
      return;
   n[0] += (uint64_t)(is_fault && counts);
   for (unsigned k = 1; k < TLB_N_PHASES; k++) {
      if (group != TLB_GROUP_OTHER) {
         const tlb_fault_rules r = { .plane = TLB_N_VIEWS + k - 1, .shift = k,
                           .around = 1, .large = 1 };
         tlb_fault ignored;
         is_fault = touch_plane(m, &r, v, page, touch, &ignored)
                    != TLB_NO_FAULT;
      }
      n[k] += (uint64_t)(is_fault && counts);
   }
}

static void touch_trials(tlb_fault_model *m, const tlb_mapping *v, uint64_t page, tlb_touch touch)
{
   for (unsigned i = 0; i < m->settings.n_trials; i++) {
      const tlb_fault_rules r = { .plane = TLB_FIRST_TRIAL + i, .around = 1, .large = 1,
                        .folios = &m->settings.trial[i] };
      tlb_fault ignored;
      if (touch_plane(m, &r, v, page, touch, &ignored) != TLB_NO_FAULT)
         m->trial_faults |= 1u << i;
   }
}

static int may(const tlb_mapping *v, tlb_touch touch)
{
   switch (touch) {
   case TLB_TOUCH_WRITE: return (v->prot & TLB_MAY_WRITE) != 0;
   case TLB_TOUCH_FETCH: return (v->prot & TLB_MAY_EXECUTE) != 0;
   default: return v->prot != 0;
   }
}

/* The first thread's stack grows down to what is touched. It begins 128K below the arguments'
   strings, which are what is there first: setup_arg_pages() of Linux. */
static void grow_stack(tlb_fault_model *m, uint64_t page)
{
   enum { STACK_EXPAND = 128 << 10 };
   if (m->stack_low == 0)
      m->stack_low = page - tlb_min(page, STACK_EXPAND >> m->settings.page_shift);
   m->stack_low = tlb_min(m->stack_low, page);
}

static int touch_views(tlb_fault_model *m, uint64_t address, tlb_touch touch,
                       tlb_fault out[TLB_N_VIEWS], int counts)
{
   const tlb_mapping *v = tlb_mappings_find(&m->maps, address);
   int any = 0;
   m->trial_faults = 0;
   for (unsigned view = 0; view < TLB_N_VIEWS; view++)
      out[view].kind = TLB_NO_FAULT;
   if (v == NULL || !may(v, touch))
      return 0;
   const uint64_t page = tlb_page_of(m, address);
   if ((tlb_pte(m, TLB_VIEW_WARM, page) & TLB_PTE_OLD) != 0)
      *tlb_pte_at(m, TLB_VIEW_WARM, page) &= (uint8_t)~(TLB_PTE_OLD
                                                 | (touch == TLB_TOUCH_WRITE ? TLB_PTE_CLEAN : 0));
   /* What is there without help is there with help. */
   const uint8_t enough = touch == TLB_TOUCH_WRITE
                           ? TLB_PTE_PRESENT | TLB_PTE_WRITABLE
                           : TLB_PTE_PRESENT;
   if ((tlb_pte(m, TLB_VIEW_4K, page) & enough) == enough)
      return 0;
   if (v->kind == TLB_STACK)
      grow_stack(m, page);
   /* What the cold view reads, the warm one finds. */
   static const tlb_fault_view in_order[TLB_N_VIEWS] = { TLB_VIEW_4K, TLB_VIEW_COLD,
                                                         TLB_VIEW_WARM };
   for (unsigned i = 0; i < TLB_N_VIEWS; i++) {
      const tlb_fault_view view = in_order[i];
      tlb_fault *f = &out[view];
      tlb_fault_counts *n = &m->counts[view];
      if (touch_plane(m, &view_rules[view], v, page, touch, f) == TLB_NO_FAULT)
         continue;
      any = 1;
      n->faults += (uint64_t)counts;
      n->major += (uint64_t)(counts && f->major);
      n->kind[f->kind] += (uint64_t)counts;
   }
   touch_phases(m, v, page, touch, out[TLB_VIEW_WARM].kind != TLB_NO_FAULT,
                counts);
   touch_trials(m, v, page, touch);
   if (touch == TLB_TOUCH_WRITE && any && !tlb_is_shared(v))
      note_anon(m, v->start, v->end);
   return any;
}

int tlb_fault_touch(tlb_fault_model *m, uint64_t address, tlb_touch touch,
                    tlb_fault out[TLB_N_VIEWS])
{
   return touch_views(m, address, touch, out, 1);
}

int tlb_fault_is_present(tlb_fault_model *m, uint64_t address,
                         tlb_fault_view view)
{
   return (tlb_pte(m, view, tlb_page_of(m, address)) & TLB_PTE_PRESENT) != 0;
}

void tlb_fault_settle(tlb_fault_model *m, uint64_t address, tlb_touch touch)
{
   tlb_fault ignored[TLB_N_VIEWS];
   const tlb_fault_settings usual = m->settings;
   m->settings.thp = TLB_THP_NEVER;
   m->settings.mthp_always = m->settings.mthp_madvise = 0;
   for (unsigned i = 0; i < m->settings.n_trials; i++)
      m->settings.trial[i] = (tlb_fault_folios) { .thp = TLB_THP_NEVER };
   touch_views(m, address, touch, ignored, 0);
   m->settings = usual;
}

void tlb_fault_populate(tlb_fault_model *m, uint64_t start, uint64_t end,
                        tlb_touch touch)
{
   const uint64_t step = (uint64_t)1 << m->settings.page_shift;
   for (uint64_t a = start; a < end; a += step) {
      tlb_fault in[TLB_N_VIEWS];
      touch_views(m, a, touch, in, 0);
      for (unsigned view = 0; view < TLB_N_VIEWS; view++)
         m->counts[view].populated += in[view].kind != TLB_NO_FAULT;
   }
}

void tlb_fault_lock(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   tlb_mapping v;
   for (uint64_t at = start; tlb_mappings_piece(&m->maps, at, end, &v); at = v.end) {
      const int writes = (v.prot & TLB_MAY_WRITE) != 0 && !tlb_is_shared(&v);
      tlb_fault_populate(m, v.start, v.end, writes ? TLB_TOUCH_WRITE : TLB_TOUCH_READ);
   }
}

/* Views and trials that have pages of several sizes. */
static int is_of_large_pages(const tlb_fault_model *m, unsigned plane)
{
   return plane < TLB_N_VIEWS ? view_rules[plane].large
                              : plane >= TLB_FIRST_TRIAL
                                && plane < TLB_FIRST_TRIAL + m->settings.n_trials;
}

void tlb_fault_insert(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (!is_of_large_pages(m, plane) && plane != TLB_VIEW_4K)
         continue;
      for (uint64_t page = tlb_page_of(m, start); page < tlb_page_of(m, end); page++)
         *tlb_pte_at(m, plane, page) = TLB_PTE_SHARED;
   }
}

void tlb_fault_collapse(tlb_fault_model *m, uint64_t start, uint64_t end)
{
   const uint64_t pages = tlb_table_pages(m);
   const uint64_t bytes = pages << m->settings.page_shift;
   for (uint64_t a = (start + bytes - 1) & ~(bytes - 1); a + bytes <= end;
        a += bytes) {
      const tlb_mapping *v = tlb_mappings_find(&m->maps, a);
      if (v == NULL || tlb_is_file(v) || tlb_is_shared(v) || v->end < a + bytes)
         continue;
      for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
         for (uint64_t i = 0; i < pages && is_of_large_pages(m, plane); i++)
            *tlb_pte_at(m, plane, tlb_page_of(m, a) + i)
               = TLB_PTE_PRIVATE | TLB_PTE_HUGE;
      }
   }
}

/* --- fork() --- */

/* Pages of this process alone are shared with the other one from now on. */
static void share_pages(tlb_fault_model *m, tlb_fault_chunk *c, size_t from,
                        size_t to, const void *opaque)
{
   (void)opaque;
   for (unsigned plane = 0; plane < TLB_FAULT_PLANES; plane++) {
      if (!tlb_chunk_has_plane(c, plane))
         continue;
      uint8_t *s = tlb_chunk_plane(m, c, plane);
      for (size_t i = from; i < to; i++)
         s[i] &= (uint8_t)~TLB_PTE_WRITABLE;
   }
}

void tlb_fault_fork(tlb_fault_model *m, int is_child)
{
   tlb_mapping v;
   for (uint64_t at = 0; tlb_mappings_piece(&m->maps, at, UINT64_MAX, &v); at = v.end) {
      const uint64_t first = tlb_page_of(m, v.start);
      const uint64_t end = tlb_page_of(m, v.end);
      if (is_child && (v.flags & TLB_MAP_NO_FORK) != 0) {
         tlb_fault_unmap(m, v.start, v.end);
         continue;
      }
      /* The kernel copies the page tables only of what can not be had
         again. */
      const int copied = tlb_mappings_overlap(&m->anon, v.start, v.end)
                         && !tlb_is_shared(&v)
                         && (v.flags & TLB_MAP_WIPE_ON_FORK) == 0;
      if (copied && (v.flags & TLB_MAP_NO_FORK) == 0)
         tlb_chunk_each(m, first, end, share_pages, NULL);
      else if (is_child)
         tlb_chunk_each(m, first, end, clear_pages, NULL);
   }
}
