/** Package entry `weft-vm/testing`: tests of operators of your own. */
export {
  type ConformanceOptions,
  type ConformanceReport,
  type ConformanceResult,
  operatorConformance,
} from './operator-conformance.ts';
export type { ProgramForm } from './operator-program.ts';
export type { OpCase, OpCaseInput } from '../ops/op-cases.ts';
