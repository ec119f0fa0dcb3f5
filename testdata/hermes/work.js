// A program with recursion and two hot functions.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
function mix(x) {
  return ((x ^ (x >>> 15)) * 2654435761) | 0;
}
function hash(rounds) {
  var x = 1;
  for (var i = 0; i < rounds; i++) x = mix(x + i);
  return x;
}
function main() {
  var sink = 0;
  for (var i = 0; i < 8; i++) {
    sink += fib(24);
    sink += hash(600000);
  }
  return sink;
}
print(main());
