/* Walks an array with a stride: every step of a page or more misses the data TLB. */
#include <stdio.h>
#include <stdlib.h>
#include "inline.h"

static long walk(const char *array, size_t size, size_t stride)
{
	long sum = 0;
	for (size_t i = 0; i < size; i += stride)
		sum += array[i];
	return sum;
}

/*
 * A comment that is long enough
 * to show
 * how
 * lines
 * without
 * any
 * count
 * are
 * left
 * out
 * of
 * the
 * annotated
 * source.
 */

int main(int argc, char **argv)
{
	size_t size = 1 << 24;
	char *array = calloc(size, 1);
	if (array == NULL)
		return 1;
	touch(array, size);
	printf("%ld\n", walk(array, size, argc > 1 ? strtoul(argv[1], NULL, 0) : 4096));
	free(array);
	return 0;
}
