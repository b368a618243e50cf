import { CONTROL_FLOW_MODELS } from './control-flow.ts';
import { FORM_MODELS } from './forms.ts';
import type { ModelTable } from './model-case.ts';
import { QUANTIZED_MODELS } from './quantized.ts';
import { SEQUENCE_MODELS } from './sequences.ts';
import { TRANSFORMER_MODELS } from './transformers.ts';
import { VISION_MODELS } from './vision.ts';

/** A generator of models for each idiom. */
export const MODELS: ModelTable = {
  ...CONTROL_FLOW_MODELS,
  ...FORM_MODELS,
  ...QUANTIZED_MODELS,
  ...SEQUENCE_MODELS,
  ...TRANSFORMER_MODELS,
  ...VISION_MODELS,
};
