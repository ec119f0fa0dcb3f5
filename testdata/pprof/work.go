// A program with something of everything: functions of its own, inlined ones, recursion, two
// threads with labels, allocations, and a lock that they wait for.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

var (
	lock  sync.Mutex
	kept  [][]byte
	total int
)

func square(x int) int { return x*x + 1 }

func sum(n int) (s int) {
	for i := 0; i < n; i++ {
		s += square(i)
	}
	return s
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func words(n int) string {
	parts := make([]string, 0, n)
	for i := 0; i < n; i++ {
		parts = append(parts, strings.Repeat("w", i%17))
	}
	sort.Strings(parts)
	return strings.Join(parts, " ")
}

//go:noinline
func keep(size int) {
	lock.Lock()
	defer lock.Unlock()
	kept = append(kept, make([]byte, size))
	time.Sleep(100 * time.Microsecond)
}

func worker(until time.Time) {
	for time.Now().Before(until) {
		total += sum(50000) + fib(20) + len(words(2000))
		keep(10000)
	}
}

func write(name, path string) {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := pprof.Lookup(name).WriteTo(file, 0); err != nil {
		panic(err)
	}
}

func main() {
	runtime.SetMutexProfileFraction(1)
	cpu, err := os.Create("go-cpu.pb.gz")
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	until := time.Now().Add(2 * time.Second)
	var both sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		both.Add(1)
		go pprof.Do(context.Background(), pprof.Labels("thread", name), func(context.Context) {
			defer both.Done()
			worker(until)
		})
	}
	both.Wait()
	pprof.StopCPUProfile()
	cpu.Close()
	runtime.GC()
	write("heap", "go-heap.pb.gz")
	write("mutex", "go-mutex.pb.gz")
}
