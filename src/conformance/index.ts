/** Package entry `weft-vm/testing`: tests of operators of your own. */
export {
  type ConformanceOptions,
  type ConformanceReport,
  operatorConformance,
} from './operator-conformance.ts';
export type { OpCase } from '../ops/op-cases.ts';
