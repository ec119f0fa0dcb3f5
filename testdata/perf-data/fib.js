function leaf(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum = (sum * 31 + i) | 0;
  return sum;
}
function middle(n) {
  return leaf(n) + leaf(n >> 1);
}
let total = 0;
const end = Date.now() + Number(process.argv[2] || 300);
while (Date.now() < end) total = (total + middle(20000)) | 0;
process.stdout.write(`${total & 0}\n`);
