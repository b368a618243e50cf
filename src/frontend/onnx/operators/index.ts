import { MICROSOFT, PREVIEW, TRAINING } from '../model/operator-sets.ts';
import type { OperatorImporter, OperatorImporters } from '../operator-importer.ts';
import { ATTENTION_IMPORTERS } from './attention/attention.ts';
import { MICROSOFT_ATTENTION_IMPORTERS } from './attention/microsoft-attention.ts';
import {
  DECODER_ATTENTION_IMPORTERS,
  QUANTIZED_ATTENTION_IMPORTERS,
} from './attention/decoder-attention.ts';
import { FLEX_ATTENTION_IMPORTERS } from './attention/scaled-attention.ts';
import { GATED_DELTA_IMPORTERS } from './attention/gated-delta.ts';
import { MULTIMODAL_ROTARY_IMPORTERS } from './attention/rotary-embedding.ts';
import { POSITION_BIAS_IMPORTERS } from './attention/position-bias.ts';
import { CONTROL_FLOW_IMPORTERS } from './control-flow/control-flow.ts';
import {
  CAUSAL_CONVOLUTION_IMPORTERS,
  MICROSOFT_CAUSAL_CONVOLUTION_IMPORTERS,
} from './convolution/causal-convolution.ts';
import { CONVOLUTION_IMPORTERS } from './convolution/convolution.ts';
import { MICROSOFT_CONVOLUTION_IMPORTERS } from './convolution/fused-convolution.ts';
import { SELECTION_IMPORTERS } from './dynamic/selection.ts';
import { ACTIVATION_IMPORTERS, MICROSOFT_ACTIVATION_IMPORTERS } from './elementwise/activation.ts';
import { ELEMENTWISE_IMPORTERS } from './elementwise/elementwise.ts';
import { INDEXING_IMPORTERS } from './indexing/indexing.ts';
import { EXPERT_IMPORTERS } from './linear/experts.ts';
import { MICROSOFT_LINEAR_IMPORTERS, LINEAR_IMPORTERS } from './linear/linear.ts';
import { DATA_MOVEMENT_IMPORTERS } from './movement/data-movement.ts';
import { JOINING_IMPORTERS } from './movement/joining.ts';
import { MICROSOFT_MOVEMENT_IMPORTERS } from './movement/microsoft-movement.ts';
import { PADDING_IMPORTERS } from './movement/padding.ts';
import { LOSS_IMPORTERS } from './normalization/loss.ts';
import { MICROSOFT_NORMALIZATION_IMPORTERS } from './normalization/microsoft-normalization.ts';
import { NORMALIZATION_IMPORTERS } from './normalization/normalization.ts';
import { SOFTMAX_IMPORTERS } from './normalization/softmax.ts';
import { INTEGER_PRODUCT_IMPORTERS } from './quantization/integer-products.ts';
import { MICROSOFT_QUANTIZATION_IMPORTERS } from './quantization/microsoft-quantization.ts';
import { BIT_PACKED_WEIGHT_IMPORTERS } from './quantization/bit-packed-weights.ts';
import { QUANTIZATION_IMPORTERS } from './quantization/quantization.ts';
import { RANDOM_IMPORTERS } from './random/random.ts';
import { QUANTIZED_RECURRENT_IMPORTERS, RECURRENT_IMPORTERS } from './recurrent/recurrent.ts';
import { REDUCTION_IMPORTERS } from './reduction/reduction.ts';
import { SEQUENCE_IMPORTERS } from './sequence/sequence.ts';
import { SIGNAL_IMPORTERS } from './signal/signal.ts';
import { SPATIAL_IMPORTERS } from './spatial/spatial.ts';
import { DROPOUT_IMPORTERS } from './training/dropout.ts';
import { GRADIENT_IMPORTERS, OPTIMIZER_IMPORTERS } from './training/optimizers.ts';

/** ONNX's own domain, by the families of the core operators. */
const ONNX_IMPORTERS: OperatorImporters = {
  ...ATTENTION_IMPORTERS,
  ...CONTROL_FLOW_IMPORTERS,
  ...CAUSAL_CONVOLUTION_IMPORTERS,
  ...CONVOLUTION_IMPORTERS,
  ...SELECTION_IMPORTERS,
  ...ACTIVATION_IMPORTERS,
  ...ELEMENTWISE_IMPORTERS,
  ...INDEXING_IMPORTERS,
  ...LINEAR_IMPORTERS,
  ...DATA_MOVEMENT_IMPORTERS,
  ...JOINING_IMPORTERS,
  ...PADDING_IMPORTERS,
  ...LOSS_IMPORTERS,
  ...NORMALIZATION_IMPORTERS,
  ...SOFTMAX_IMPORTERS,
  ...INTEGER_PRODUCT_IMPORTERS,
  ...QUANTIZATION_IMPORTERS,
  ...RANDOM_IMPORTERS,
  ...RECURRENT_IMPORTERS,
  ...REDUCTION_IMPORTERS,
  ...SIGNAL_IMPORTERS,
  ...SPATIAL_IMPORTERS,
  ...SEQUENCE_IMPORTERS,
  ...DROPOUT_IMPORTERS,
};

const MICROSOFT_IMPORTERS: OperatorImporters = {
  ...MICROSOFT_ATTENTION_IMPORTERS,
  ...DECODER_ATTENTION_IMPORTERS,
  ...GATED_DELTA_IMPORTERS,
  ...MULTIMODAL_ROTARY_IMPORTERS,
  ...POSITION_BIAS_IMPORTERS,
  ...QUANTIZED_ATTENTION_IMPORTERS,
  ...MICROSOFT_CAUSAL_CONVOLUTION_IMPORTERS,
  ...MICROSOFT_CONVOLUTION_IMPORTERS,
  ...MICROSOFT_ACTIVATION_IMPORTERS,
  ...MICROSOFT_LINEAR_IMPORTERS,
  ...EXPERT_IMPORTERS,
  ...MICROSOFT_MOVEMENT_IMPORTERS,
  ...MICROSOFT_NORMALIZATION_IMPORTERS,
  ...MICROSOFT_QUANTIZATION_IMPORTERS,
  ...BIT_PACKED_WEIGHT_IMPORTERS,
  ...QUANTIZED_RECURRENT_IMPORTERS,
};

const TRAINING_IMPORTERS: OperatorImporters = { ...GRADIENT_IMPORTERS, ...OPTIMIZER_IMPORTERS };

/** The importers of each domain, by the names that it gives its operators. ONNX's own domain is ''. */
export const IMPORTERS: ReadonlyMap<string, ReadonlyMap<string, OperatorImporter>> = new Map([
  ['', new Map(Object.entries(ONNX_IMPORTERS))],
  [MICROSOFT, new Map(Object.entries(MICROSOFT_IMPORTERS))],
  [PREVIEW, new Map(Object.entries(FLEX_ATTENTION_IMPORTERS))],
  [TRAINING, new Map(Object.entries(TRAINING_IMPORTERS))],
]);
