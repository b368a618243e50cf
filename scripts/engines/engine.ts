import type { CaseRunner } from '../conformance/browser-runner.ts';

export interface EngineFacts {
  readonly adapter: string;
  readonly adapterClass: string;
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

/** An implementation of WebGPU, with an adapter. */
export interface Engine extends CaseRunner {
  describe(): Promise<EngineFacts>;
  runOperators(sample: Sample): Promise<OperatorReport>;
}

/** The output of a program that runs inside an engine. */
export interface EngineProgram {
  describeEngine(gpu: GPU | undefined): Promise<EngineFacts>;
  runOperators(gpu: GPU | undefined, sample: Sample): Promise<OperatorReport>;
}
