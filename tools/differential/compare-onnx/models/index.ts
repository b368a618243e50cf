import { CONTROL_FLOW_MODELS } from './control-flow.ts';
import { FORM_MODELS } from './forms.ts';
import type { ModelTable } from './model-case.ts';
import { SEQUENCE_MODELS } from './sequences.ts';

/** A generator of models for each form. */
export const MODELS: ModelTable = {
  ...CONTROL_FLOW_MODELS,
  ...FORM_MODELS,
  ...SEQUENCE_MODELS,
};
