/* Shapes of arrays: entries in ways and sets, by an index; and what follows for pages that are a
   stride apart. */

#ifndef TG_MEASURE_SHAPES_H
#define TG_MEASURE_SHAPES_H

typedef struct {
   unsigned entries, ways, sets;
   unsigned xor; /* the set is the page's number XOR itself shifted so far; 0: modulo */
} TgShape;

enum { TG_SHAPES_OF = 512 }; /* no number of entries has more */

/* All shapes of so many entries: sets are a power of two, or three times one that is not small.
   Returns how many. */
unsigned tg_shapes_of(unsigned entries, TgShape out[TG_SHAPES_OF]);

int tg_shape_is_full(const TgShape *s);

/* How many pages 2^shift pages apart have room, and how many of those of the widest strides. */
unsigned tg_shape_fits(const TgShape *s, unsigned shift);
unsigned tg_shape_floor(const TgShape *s);

/* The part of the references that can miss when so many pages, 2^shift pages apart, are used in
   turn, whatever the replacement is: those of sets that have more of them than ways. */
double tg_shape_can_miss(const TgShape *s, unsigned pages, unsigned shift);

#endif
