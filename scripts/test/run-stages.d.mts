import type { Stage, StageResult } from './run-stage.mjs';

export function runStages(
  stages: readonly Stage[],
  show?: (part: string) => void,
): Promise<StageResult[]>;
