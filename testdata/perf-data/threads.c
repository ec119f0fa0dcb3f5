/* Two named threads that do different work, to be profiled. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static __attribute__((noinline)) uint64_t add(uint64_t rounds)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < rounds; i++)
		sum += sum >> 3 ^ i;
	return sum;
}

static __attribute__((noinline)) uint64_t divide(uint64_t rounds)
{
	uint64_t sum = 0;
	for (uint64_t i = 1; i < rounds; i++)
		sum += (sum | 1u << 31) / i;
	return sum;
}

static void *adder(void *sum)
{
	pthread_setname_np(pthread_self(), "adder");
	*(uint64_t *)sum = add(100000000);
	return NULL;
}

static void *divider(void *sum)
{
	pthread_setname_np(pthread_self(), "divider");
	*(uint64_t *)sum = divide(30000000);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	uint64_t sums[2];
	pthread_create(&threads[0], NULL, adder, &sums[0]);
	pthread_create(&threads[1], NULL, divider, &sums[1]);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%ju\n", (uintmax_t)(sums[0] ^ sums[1]));
	return 0;
}
