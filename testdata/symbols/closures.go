// Closures, method values, generics and several init functions. Build 2 has one more of each before
// those of build 1.
package main

import (
	"fmt"
	"os"
	"sort"
)

type Cart struct{ items []int }

//go:noinline
func (c *Cart) Add(n int) int { c.items = append(c.items, n); return len(c.items) }

//go:noinline
func call(f func(int) int, n int) int { return f(n) }

//go:noinline
func Map[A, B any](list []A, f func(A) B) []B {
	var out []B
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

type List[T any] struct{ items []T }

//go:noinline
func (l *List[T]) Push(t T) int { l.items = append(l.items, t); return len(l.items) }

//2 var first = func(n int) int { fmt.Println("first"); return n + 2 }
var global = func(n int) int { fmt.Println("global"); return n * 2 }

//2 func init() { fmt.Println("init before", first(1)) }
func init() { fmt.Println("init", len(os.Args)) }

//go:noinline
func total(n int) int {
	//2 n += call(func(x int) int { fmt.Println("before", n); return x + n }, n)
	sum := call(func(x int) int {
		fmt.Println("outer", n)
		//2 x += call(func(y int) int { fmt.Println("inner before", x); return y + n }, x)
		return call(func(y int) int { fmt.Println("inner", x, n); return y * x }, x)
	}, n)
	defer func() { fmt.Println("deferred", sum) }()
	return sum
}

// Not a closure, though it is called like one.
//
//go:noinline
func func1(n int) int { fmt.Println("func1"); return n }

func main() {
	n := len(os.Args)
	cart := &Cart{}
	list, texts := &List[int]{}, &List[string]{}
	strings := Map([]int{n}, func(i int) string { return fmt.Sprint("n", i) })
	lengths := Map([]string{"a"}, func(s string) int { return len(s) + n })
	sort.Slice(lengths, func(i, j int) bool { return lengths[i] < lengths[j] })
	fmt.Println(total(n), call(cart.Add, n), list.Push(n), texts.Push("t"), strings, lengths, global(n), func1(n))
}
