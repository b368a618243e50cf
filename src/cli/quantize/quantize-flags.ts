import { basename } from 'node:path';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import type { QuantizeOptions } from '../../frontend/index.ts';

export interface QuantizeFlags
  extends Pick<QuantizeOptions, 'bits' | 'block' | 'symmetric' | 'weightsOnly'> {
  readonly output: string;
  readonly calibrate?: string;
  readonly keep?: readonly string[];
  readonly cosine?: number;
  readonly samples: number;
  readonly seed: number;
  readonly run: boolean;
  readonly json?: boolean;
  readonly dim?: Record<string, number>;
  readonly limit?: CompileLimits;
}

/** The file beside a model that is too large for one. */
export const dataFileOf = (output: string): string => `${basename(output)}.data`;
