/* join.c -- the example of README.md and of the manual: adds up the orders of each customer.
   Part of tlbgrind.  GPL-2.0-or-later; see COPYING. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CUSTOMERS = 100000, BUCKETS = 1 << 17, ORDERS = 300000 };

/* A node of a hash table with chains, as a library would have it. */
typedef struct Customer {
   struct Customer* next;
   uint32_t number;
   uint32_t orders;
   uint64_t total;
   char name[40];
} Customer;

typedef struct {
   uint32_t customer;
   uint32_t amount;
} Order;

static Customer** table;
static Order* orders;

/* The same numbers in every run, in no order. */
static uint32_t random_number(void)
{
   static uint64_t state = 1;
   state = state * 6364136223846793005U + 1442695040888963407U;
   return state >> 33;
}

__attribute__((noinline)) static void add_customer(uint32_t number)
{
   Customer* customer = calloc(1, sizeof *customer);
   Customer** bucket = &table[number * 2654435769U >> 15];
   if (!customer)
      exit(1);
   customer->number = number;
   customer->next = *bucket;
   *bucket = customer;
}

__attribute__((noinline)) static Customer* find_customer(uint32_t number)
{
   Customer* customer = table[number * 2654435769U >> 15];
   while (customer->number != number)
      customer = customer->next;
   return customer;
}

__attribute__((noinline)) static void read_orders(void)
{
   for (int i = 0; i < ORDERS; i++)
      orders[i] = (Order){random_number() % CUSTOMERS, random_number() % 1000};
}

__attribute__((noinline)) static void add_orders(void)
{
   for (int i = 0; i < ORDERS; i++) {
      Customer* customer = find_customer(orders[i].customer);
      customer->orders++;
      customer->total += orders[i].amount;
   }
}

int main(void)
{
   table = calloc(BUCKETS, sizeof *table);
   orders = malloc(ORDERS * sizeof *orders);
   if (!table || !orders)
      return 1;
   for (uint32_t i = 0; i < CUSTOMERS; i++)
      add_customer(i);
   read_orders();
   add_orders();
   printf("customer 7: %lu\n", (unsigned long)find_customer(7)->total);
   return 0;
}
