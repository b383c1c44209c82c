/* How an array overflows: which part of the references misses in it, under LRU. */

#ifndef TG_MEASURE_OVERFLOW_H
#define TG_MEASURE_OVERFLOW_H

/* The part of the references that misses when `pages` adjacent pages are used in turn, in any
   order that stays the same, in `sets` sets of `ways`. */
static inline double tg_lru_misses(double pages, double sets, double ways)
{
   const double over = pages - sets * ways;
   if (over <= 0)
      return 0;
   /* A set with one page too many misses all of its pages. */
   return over >= sets ? 1 : over * (ways + 1) / pages;
}

#endif
