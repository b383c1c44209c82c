/* Positions of lines in an out-file. See output/positions.h. */

#include "pub_tool_basics.h"

#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include <stddef.h>

#include "output/positions.h"

typedef struct {
   const void* name; /* the key, hence the first member */
   UInt number;
} Number;

static OSet* new_numbers(void)
{
   return VG_(OSetGen_Create)(offsetof(Number, name), NULL, VG_(malloc),
                              "tg.out.numbers", VG_(free));
}

static void print_name(TgFile* f, const HChar* position, OSet* numbers,
                       const void* key, const HChar* name)
{
   Number* n = VG_(OSetGen_Lookup)(numbers, &key);
   if (n != NULL) {
      tg_file_print(f, "%s=(%u)\n", position, n->number);
      return;
   }
   n = VG_(OSetGen_AllocNode)(numbers, sizeof *n);
   n->name = key;
   n->number = (UInt)VG_(OSetGen_Size)(numbers) + 1;
   VG_(OSetGen_Insert)(numbers, n);
   tg_file_print(f, "%s=(%u) ", position, n->number);
   tg_file_text(f, name);
   tg_file_print(f, "\n");
}

void tg_positions_begin(TgPositions* p, Bool instr)
{
   *p = (TgPositions){ .objects = new_numbers(), .files = new_numbers(),
                       .functions = new_numbers(), .instr = instr };
}

void tg_positions_end(TgPositions* p)
{
   VG_(OSetGen_Destroy)(p->objects);
   VG_(OSetGen_Destroy)(p->files);
   VG_(OSetGen_Destroy)(p->functions);
}

/* Functions of the same name in different files are different functions. */
void tg_positions_print(TgPositions* p, TgFile* f, const TgLine* line)
{
   const TgFunction* fn = line->function;
   const TgFunction* at = p->at;
   if (at == NULL || at->object != fn->object) {
      tg_file_print(f, "\n");
      print_name(f, "ob", p->objects, fn->object, fn->object);
   }
   /* A function's own file is the file in effect at its fn= line. The previous function may have
      ended in code inlined from another file. */
   if (at == NULL || at->object != fn->object || at->file != fn->file
       || (at != fn && p->file != fn->file))
      print_name(f, "fl", p->files, fn->file, fn->file);
   if (at != fn) {
      print_name(f, "fn", p->functions, fn, fn->name);
      p->file = fn->file;
   }
   if (p->file != line->file) {
      print_name(f, line->file == fn->file ? "fe" : "fi", p->files, line->file, line->file);
      p->file = line->file;
   }
   p->at = fn;
}

void tg_positions_print_number(const TgPositions* p, TgFile* f, const TgLine* line, HChar end)
{
   if (p->instr)
      tg_file_print(f, "0x%lx ", line->address);
   tg_file_number(f, line->number, end);
}

void tg_positions_print_called(TgPositions* p, TgFile* f, const TgFunction* to)
{
   if (to->object != p->at->object)
      print_name(f, "cob", p->objects, to->object, to->object);
   if (to->file != p->file)
      print_name(f, "cfi", p->files, to->file, to->file);
   print_name(f, "cfn", p->functions, to, to->name);
}
