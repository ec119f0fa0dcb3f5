// A program whose functions call each other in more than one way, for gprof.
#include <stdio.h>
#include <stdlib.h>

static volatile long calls;

__attribute__((noinline)) static long mix(long n) {
	calls++;
	long sum = 1;
	for (long i = 0; i < n; i++)
		sum = sum * 31 + (sum >> 7) + i;
	return sum;
}

__attribute__((noinline)) static long parse(long n) {
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += mix(2000) ^ i;
	return sum;
}

__attribute__((noinline)) static long render(long n) {
	long sum = mix(200000);
	for (long i = 0; i < n; i++)
		sum += mix(1000) ^ i;
	return sum;
}

__attribute__((noinline)) static long even(long n);
__attribute__((noinline)) static long odd(long n) {
	return n == 0 ? mix(1000) : even(n - 1) + mix(50);
}
__attribute__((noinline)) static long even(long n) {
	return n == 0 ? mix(2000) : odd(n - 1) ^ mix(70);
}

__attribute__((noinline)) static long fib(long n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv) {
	long rounds = argc > 1 ? atol(argv[1]) : 200;
	long sum = fib(30);
	for (long i = 0; i < rounds; i++)
		sum += parse(300) + render(200) + even(500);
	printf("%ld\n", sum);
	return 0;
}
