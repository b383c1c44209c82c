/* run_members -- records whose members have known references.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

   Prints what it expects of each member, one a line:

      DATA OFFSET MEMBERS... Dr Dw

   DATA is a part of the name of the data. To be read with
   --data-type=nodes=app::Node --data-type=whole*=app::Node */

#include <cstdio>
#include <cstdlib>

#define NOINLINE __attribute__((noinline, noclone))
#define BARRIER __asm__ volatile("" ::: "memory")

namespace app {

struct Base {
   virtual ~Base() {}
   volatile long id;
};

struct Node : Base {
   volatile int a, b;
   volatile char name[20];
   union {
      volatile double real;
      volatile long whole;
   };
   volatile unsigned flag : 3, level : 7;
   Node* volatile next;
   static int counter;
};

struct Point {
   volatile int x, y, z;
};

int Node::counter;
Point grid[60][50];
Node table[500];
struct Small {
   volatile long first[3];
   Point point;
} small;

} // namespace app

enum { N = 2000 };

static void expect(const char* data, int offset, const char* members, int reads, int writes)
{
   std::printf("%s %d %s %d %d\n", data, offset, members, reads, writes);
}

static void* volatile kept;

static NOINLINE app::Node* nodes()
{
   app::Node* n = static_cast<app::Node*>(std::malloc(N * sizeof *n));
   kept = n;
   return n;
}

static NOINLINE app::Node* whole_node()
{
   app::Node* n = static_cast<app::Node*>(std::malloc(sizeof *n));
   kept = n;
   return n;
}

static NOINLINE void use(app::Node* n, int size)
{
   for (int i = 0; i < size; i++)
      n[i].a = 1;
   for (int i = 0; i < size; i++)
      (void)n[i].b;
   for (int i = 0; i < size; i++)
      n[i].name[12] = 1;
   for (int i = 0; i < size; i++)
      (void)n[i].whole;
   for (int i = 0; i < size; i++)
      (void)n[i].next;
}

static NOINLINE void expect_nodes(const char* data, int n)
{
   expect(data, 16, "a, b", n, n);
   expect(data, 32, "name[8..15]", 0, n);
   expect(data, 48, "real, whole", n, 0);
   expect(data, 64, "next", n, 0);
}

static NOINLINE void locals()
{
   static app::Point local[40];
   for (int i = 0; i < 40; i++)
      local[i].z = 1;
   /* Up to 4 KiB: offsets are those in the variable. */
   expect("locals()::local", 8, "[0].z, [1].x", 0, 1);
   expect("locals()::local", 32, "[2].z, [3].x", 0, 1);
}

int main()
{
   static char buffer[8192];
   std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
   use(nodes(), N);
   for (int i = 0; i < 100; i++)
      use(whole_node(), 1);
   use(app::table, 500);
   expect_nodes("nodes()", N);
   expect_nodes("whole_node()", 100);
   expect_nodes("app::table", 500);
   for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 60; i++) {
         for (int j = 0; j < 50; j++)
            app::grid[i][j].y = 2;
      }
   }
   expect("app::grid", 0, "x, y", 0, 6000);
   app::small.first[1] = 1;
   const int z = app::small.point.z;
   expect("app::small", 8, "first[1]", 0, 1);
   expect("app::small", 32, "point.z", 1 + z, 0); /* used, or Valgrind removes the load */
   locals();
   return 0;
}
