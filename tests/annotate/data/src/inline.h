static inline void touch(char *array, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		array[i] = 1;
}
