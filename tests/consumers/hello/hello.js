// SPDX-License-Identifier: Apache-2.0
// node hello.js vscan.node; hello_node.c is the addon
'use strict';

const { resolve } = require('node:path');
const vscan = require(resolve(process.argv[2]));

const v = Int32Array.of(3, 1, 4, 1, 5, 9, 2, 6);

// An array: one call.
console.log(vscan.sums(v).join(' '));

// Many calls: a context. It ends when nothing refers to it.
const ctx = new vscan.Context();
const sums = new Int32Array(8);
ctx.scan(v, sums, vscan.EXCLUSIVE);
console.log(sums.join(' '));

try {
  ctx.scan(v, new Int32Array(7), vscan.INCLUSIVE);
} catch (error) {
  if (error.code !== 'VSCAN_ERROR_LENGTH') throw error;
  console.log(error.message);
}
