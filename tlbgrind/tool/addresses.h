/* Splits each address of a superblock into a base and an offset.

   Most addresses are a register plus a constant. References with the same base can be looked up
   together. The bases are derived statement by statement, while the block is instrumented. */

#ifndef TG_ADDRESSES_H
#define TG_ADDRESSES_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* An address: the temporary `root` plus `offset`. */
typedef struct {
   IRTemp root; /* IRTemp_INVALID: the address is `offset` itself */
   UWord offset;
} TgAddress;

/* Begins a block with `n_temps` temporaries: discards the addresses of the last one. */
void tg_addresses_forget(Int n_temps);

/* Records the assignment of `e` to the temporary t, if `e` is another temporary plus or minus a
   constant, or an expression that the block has computed before. */
void tg_addresses_derive(IRTemp t, const IRExpr* e);

/* Base and offset of an address in a statement, which is a temporary or a constant. */
TgAddress tg_address_of(const IRExpr* atom);

/* Whether `e` is a constant of an address's width; `c`: its value. */
Bool tg_constant_of(const IRExpr* e, UWord* c);

#endif
