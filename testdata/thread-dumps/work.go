package main

import (
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

type queue[T any] struct{ items chan T }

func (q *queue[T]) take() T { return <-q.items }

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func deep(n int, done map[int]bool) {
	if n > 0 {
		deep(n-1, done)
	}
	done[n] = true
}

func locked(m *sync.Mutex) { m.Lock() }

func main() {
	go func() {
		for {
			fib(30)
		}
	}()
	for i := 0; i < 3; i++ {
		go (&queue[int]{make(chan int)}).take()
	}
	var m sync.Mutex
	m.Lock()
	go locked(&m)
	go func() { runtime.LockOSThread(); time.Sleep(time.Hour) }()
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go listener.Accept()
	time.Sleep(65 * time.Second)
	file, _ := os.Create("goroutines.txt")
	pprof.Lookup("goroutine").WriteTo(file, 2)
	deep(150, nil)
}
