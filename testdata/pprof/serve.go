// A server without a network: it works on requests of three tenants under labels, as a real one does
// with pprof.Do, and allocates for each.
package main

import (
	"context"
	"hash/crc32"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"sync"
	"time"
)

var kept [][]byte

//go:noinline
func checksum(page []byte) uint32 {
	sum := uint32(0)
	for i := 0; i < 200; i++ {
		sum ^= crc32.ChecksumIEEE(page)
	}
	return sum
}

//go:noinline
func search(n int) int {
	words := make([]string, 0, n)
	for i := 0; i < n; i++ {
		words = append(words, strconv.Itoa(i*7919%n))
	}
	sort.Strings(words)
	return sort.SearchStrings(words, "77")
}

//go:noinline
func remember(size int) {
	kept = append(kept, make([]byte, size))
}

// handle is what every request runs.
func handle(ctx context.Context, kind string) {
	switch kind {
	case "read":
		checksum(make([]byte, 1<<16))
	case "search":
		search(20000)
	}
}

func serve(tenant string, kinds []string, until time.Time) {
	pprof.Do(context.Background(), pprof.Labels("tenant", tenant), func(ctx context.Context) {
		for i := 0; time.Now().Before(until); i++ {
			kind := kinds[i%len(kinds)]
			pprof.Do(ctx, pprof.Labels("request", kind), func(ctx context.Context) {
				handle(ctx, kind)
			})
		}
	})
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
	runtime.MemProfileRate = 1 << 16
	cpu, err := os.Create("go-labels-cpu.pb.gz")
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	until := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for tenant, kinds := range map[string][]string{
		"blue":  {"read"},
		"green": {"read", "search"},
		"red":   {"search"},
	} {
		all.Add(1)
		go func(tenant string, kinds []string) {
			defer all.Done()
			serve(tenant, kinds, until)
		}(tenant, kinds)
	}
	all.Wait()
	pprof.StopCPUProfile()
	cpu.Close()
	for size := 1 << 16; size <= 1<<20; size <<= 1 {
		remember(size)
		remember(size)
	}
	runtime.GC()
	write("heap", "go-labels-heap.pb.gz")
}
