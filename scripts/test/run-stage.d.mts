export interface Stage {
  readonly title: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  count?(): StageCounts | undefined;
  needs?(): string | undefined;
  isDemanded?(): boolean;
  /** How many it keeps busy; all by default. */
  readonly cores?: 1;
}

export interface StageCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures?: readonly StageFailure[];
}

/** A test that failed with its reason, and the command that repeats it. */
export interface StageFailure {
  readonly text: string;
  readonly command: string;
}

export interface StageResult extends StageCounts {
  readonly title: string;
  readonly seconds: number;
  /** Why it did not run. */
  readonly missing?: string;
}

export function runStage(stage: Stage, write?: (part: string) => void): Promise<StageResult>;
