// SPDX-License-Identifier: Apache-2.0
// The same of JSON.parse and JSON.stringify, with the threads that collect garbage: FILE, and how long to measure in ms.
const text = require('fs').readFileSync(process.argv[2], 'utf8');
const least = Number(process.argv[3]) * 1000;

function cpu() {
  const used = process.cpuUsage();
  return used.user + used.system;
}

function measure(once, us) {
  const began = cpu();
  let used = 0, count = 0;
  while (used < us) {
    for (let done = 0; done < 100000; done += text.length, count++) once();
    used = cpu() - began;
  }
  return used / count;
}

const tree = JSON.parse(text);
const parse = () => JSON.parse(text), print = () => JSON.stringify(tree);
measure(parse, least / 2);
const parsed = measure(parse, least);
measure(print, least / 2);
console.log(parsed.toFixed(3), measure(print, least).toFixed(3));
