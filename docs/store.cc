/* Two maps that are read through the same templates: which of them misses? (annotate.md) */

#include <cstdio>
#include <unordered_map>

enum { MANY = 200000, FEW = 3000 };

int main()
{
   std::unordered_map<int, long> prices, stock;
   for (int i = 0; i < MANY; i++)
      prices[i * 7] = i;
   for (int i = 0; i < FEW; i++)
      stock[i * 3] = i;

   long value = 0;
   for (long i = 0; i < MANY; i++) {
      const long price = prices.find(i * 7919 % MANY * 7)->second;
      const long count = stock.find(i * 31 % FEW * 3)->second;
      value += price * count;
   }
   std::printf("%ld\n", value);
}
