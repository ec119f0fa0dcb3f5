const crypto = require('crypto');

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function hash(times) {
  let text = 'x';
  for (let i = 0; i < times; i++) text = crypto.createHash('sha256').update(text).digest('hex');
  return text;
}

function sort() {
  const all = [];
  for (let i = 0; i < 200000; i++) all.push((i * 7919) % 100003);
  return all.sort((x, y) => x - y);
}

const match = () => {
  let found = 0;
  for (let i = 0; i < 1000; i++) found += ('abc'.repeat(100) + i).match(/(a|b)*c\d+$/) ? 1 : 0;
  return found;
};

class Work {
  get text() { return JSON.stringify(sort()); }
  run() { fib(27); hash(3000); sort(); match(); JSON.parse(this.text); }
}
new Work().run();
