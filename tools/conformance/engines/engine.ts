import type { AdapterClass } from '../../../src/core/contracts/launch-plan.ts';
import type { Outcome } from '../conformance-case.ts';
import type { FoundCase } from '../find-cases.ts';

/** Something that runs ONNX cases, one after the other. */
export interface CaseRunner {
  run(found: FoundCase): Promise<Outcome[]>;
  /** The device that the cases run on, for the report. */
  readonly title: string;
  close(): Promise<void>;
}

export interface EngineFacts {
  readonly adapter: string;
  readonly adapterClass: AdapterClass;
  readonly hasFloat16: boolean;
  readonly hasSubgroups: boolean;
  readonly hasTimestamps: boolean;
}

export interface OperatorReport {
  readonly caseCount: number;
  readonly failures: readonly string[];
}

/** The part of all cases that is run: all of them for a share of 1. */
export interface Sample {
  readonly share: number;
  readonly seed: number;
}

/** An implementation of WebGPU, with an adapter: runs the cases of operators too. */
export interface Engine extends CaseRunner {
  describe(): Promise<EngineFacts>;
  runOperators(sample: Sample): Promise<OperatorReport>;
}
