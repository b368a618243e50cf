import type { Stage } from './run-stage.mjs';

export const root: string;
export const STAGES: readonly Stage[];
export const BOUND_MINUTES: Readonly<Record<string, number>>;
export function isContinuousIntegration(): boolean;
export function chooseStages(words: readonly string[], tier: string): readonly Stage[];
