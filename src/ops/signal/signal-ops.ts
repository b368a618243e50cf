import type { OpDefinition } from '../define-op.ts';
import { dft } from './dft.ts';
import { frames } from './frames.ts';
import { twiddles } from './twiddles.ts';

export const SIGNAL_OPS: readonly OpDefinition[] = [twiddles, dft, frames];
