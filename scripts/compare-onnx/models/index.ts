import { CONTROL_FLOW_MODELS } from './control-flow.ts';
import type { ModelTable } from './model-case.ts';

/** A generator of models for each idiom. */
export const MODELS: ModelTable = { ...CONTROL_FLOW_MODELS };
