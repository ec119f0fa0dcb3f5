#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
volatile unsigned long sink;
static void burn(long n){for(long i=0;i<n;i++)sink+=i^sink;}
__attribute__((noinline)) void phase_one(void){burn(60000000);}
__attribute__((noinline)) void phase_two(void){burn(60000000);}
static void*run(void*a){pthread_setname_np(pthread_self(),"loader");phase_one();pthread_setname_np(pthread_self(),"renderer");phase_two();return a;}
int main(){pthread_t t;pthread_create(&t,0,run,0);phase_one();pthread_join(t,0);return 0;}
