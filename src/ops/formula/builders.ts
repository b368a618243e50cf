import * as build from './build.ts';

/**
 * All that builds formulas, as one value. Written out, for a namespace as a value would put a table of
 * its names into the file that defines them, which each worker loads.
 */
export const formula: typeof build = {
  operand: build.operand,
  X: build.X,
  A: build.A,
  B: build.B,
  attribute: build.attribute,
  bound: build.bound,
  neg: build.neg,
  abs: build.abs,
  not: build.not,
  floor: build.floor,
  ceil: build.ceil,
  round: build.round,
  sqrt: build.sqrt,
  add: build.add,
  sub: build.sub,
  mul: build.mul,
  div: build.div,
  rem: build.rem,
  min: build.min,
  max: build.max,
  and: build.and,
  or: build.or,
  xor: build.xor,
  shl: build.shl,
  shr: build.shr,
  equal: build.equal,
  notEqual: build.notEqual,
  less: build.less,
  lessEqual: build.lessEqual,
  greater: build.greater,
  greaterEqual: build.greaterEqual,
  select: build.select,
  convert: build.convert,
  isNaN: build.isNaN,
  isPositiveInfinity: build.isPositiveInfinity,
  intrinsic: build.intrinsic,
};
