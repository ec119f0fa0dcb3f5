function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function allocate() { const out = []; for (let i = 0; i < 20000; i++) out.push({ i, text: "x" + i }); return out.length; }
function work() { let sum = fib(24); for (let i = 0; i < 3; i++) sum += allocate(); return sum; }
const until = performance.now() + 150;
while (performance.now() < until) work();
document.title = "done";
