/** Seconds that both halves took, idle, on the machine on which the bounds were set. */
export const REFERENCE_SECONDS: number;
export function halfCalibration(): Promise<number>;
export function boundLine(run: {
  readonly minutes: number;
  readonly calibration: number;
  readonly seconds: number;
}): string;
