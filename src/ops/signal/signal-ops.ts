import { dft } from './dft.ts';
import { frames } from './frames.ts';

export const SIGNAL_OPS = [dft, frames] as const;

export type SignalName = (typeof SIGNAL_OPS)[number]['name'];
