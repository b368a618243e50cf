import type { Stage } from './run-stage.mjs';

export interface SetUp {
  readonly seconds: number;
  /** Undefined where the system does not count them. */
  readonly bytes: number | undefined;
}

export function setUp(root: string, stages: readonly Stage[]): SetUp | undefined;
export function setUpLine(setUp: SetUp): string;
