import { recurrent } from './recurrent.ts';

export const RECURRENT_OPS = [recurrent] as const;

export type RecurrentName = (typeof RECURRENT_OPS)[number]['name'];
