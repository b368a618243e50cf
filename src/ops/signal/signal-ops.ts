import type { OpDefinition } from '../define-op.ts';
import { dft } from './dft.ts';
import { frames } from './frames.ts';

export const SIGNAL_OPS: readonly OpDefinition[] = [dft, frames];
