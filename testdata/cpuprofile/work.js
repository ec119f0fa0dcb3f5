// A program with recursion, an anonymous function, and time in the garbage collector.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function allocate(count) {
  const kept = [];
  for (let i = 0; i < count; i++) {
    kept.push({ place: i, text: "x".repeat(i % 7) });
  }
  return kept.length;
}

const twice = (work) => {
  work();
  work();
};

const until = Date.now() + 120;
while (Date.now() < until) {
  twice(() => fib(16));
  allocate(2000);
}
