#include <unistd.h>
#include <time.h>
#include <fcntl.h>
#include <pthread.h>
volatile unsigned long sink;
__attribute__((noinline)) void compute(void){for(long i=0;i<5000000;i++)sink+=i^sink;}
__attribute__((noinline)) void nap(void){struct timespec t={0,30000000};nanosleep(&t,0);sink++;}
static pthread_mutex_t lock=PTHREAD_MUTEX_INITIALIZER;
static void*holder(void*a){pthread_mutex_lock(&lock);nap();pthread_mutex_unlock(&lock);return a;}
__attribute__((noinline)) void wait_for_lock(void){pthread_mutex_lock(&lock);sink++;pthread_mutex_unlock(&lock);}
__attribute__((noinline)) void write_out(void){int f=open("out.bin",O_CREAT|O_WRONLY|O_TRUNC,0600);static char b[1<<20];for(int i=0;i<8;i++)sink+=write(f,b,sizeof b);fsync(f);close(f);}
int main(){for(int i=0;i<2;i++){compute();nap();pthread_t t;pthread_create(&t,0,holder,0);struct timespec s={0,2000000};nanosleep(&s,0);wait_for_lock();pthread_join(t,0);write_out();}return 0;}
