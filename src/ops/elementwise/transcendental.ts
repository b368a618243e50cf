import { defineFunction } from './elementwise-unary.ts';

export const TRANSCENDENTAL_OPS = [
  defineFunction('sin'),
  defineFunction('cos'),
  defineFunction('tan'),
  defineFunction('asin'),
  defineFunction('acos'),
  defineFunction('atan'),
  defineFunction('sinh'),
  defineFunction('cosh'),
  defineFunction('asinh'),
  defineFunction('acosh'),
  defineFunction('atanh'),
  defineFunction('log1p'),
] as const;
