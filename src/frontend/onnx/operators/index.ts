import type { NodeImporter } from '../import-node.ts';
import { ACTIVATION_IMPORTERS } from './activation.ts';
import { ATTENTION_IMPORTERS } from './attention.ts';
import { CASTING_IMPORTERS } from './casting.ts';
import { CONTROL_FLOW_IMPORTERS } from './control-flow.ts';
import { CONVOLUTION_IMPORTERS } from './convolution.ts';
import { DATA_MOVEMENT_IMPORTERS } from './data-movement.ts';
import { ELEMENTWISE_IMPORTERS } from './elementwise.ts';
import { JOINING_IMPORTERS } from './joining.ts';
import { INTEGER_PRODUCT_IMPORTERS } from './integer-products.ts';
import { INDEXING_IMPORTERS } from './indexing.ts';
import { LINEAR_IMPORTERS } from './linear.ts';
import { LOGICAL_IMPORTERS } from './logical.ts';
import { MICROSOFT_ATTENTION_IMPORTERS } from './microsoft-attention.ts';
import { MICROSOFT_FUSED_IMPORTERS } from './microsoft-fused.ts';
import { MICROSOFT_MOVEMENT_IMPORTERS } from './microsoft-movement.ts';
import { MICROSOFT_NORMALIZATION_IMPORTERS } from './microsoft-normalization.ts';
import { MICROSOFT_QUANTIZATION_IMPORTERS } from './microsoft-quantization.ts';
import { PACKED_WEIGHT_IMPORTERS } from './packed-weights.ts';
import { NORMALIZATION_IMPORTERS } from './normalization.ts';
import { LOSS_IMPORTERS } from './loss.ts';
import { PADDING_IMPORTERS } from './padding.ts';
import { QUANTIZATION_IMPORTERS } from './quantization.ts';
import { RANKING_IMPORTERS } from './ranking.ts';
import { REARRANGING_IMPORTERS } from './rearranging.ts';
import { RECURRENT_IMPORTERS } from './recurrent.ts';
import { REDUCTION_IMPORTERS } from './reduction.ts';
import { SOFTMAX_IMPORTERS } from './softmax.ts';
import { SCATTERING_IMPORTERS } from './scattering.ts';
import { SIGNAL_IMPORTERS } from './signal.ts';
import { SPATIAL_IMPORTERS } from './spatial.ts';
import { SELECTION_IMPORTERS } from './selection.ts';

/** One importer per operator of ONNX's default domain, by the name that ONNX gives it. */
export const ONNX_IMPORTERS: ReadonlyMap<string, NodeImporter> = new Map(
  Object.entries({
    ...ACTIVATION_IMPORTERS,
    ...ATTENTION_IMPORTERS,
    ...CASTING_IMPORTERS,
    ...CONTROL_FLOW_IMPORTERS,
    ...CONVOLUTION_IMPORTERS,
    ...DATA_MOVEMENT_IMPORTERS,
    ...ELEMENTWISE_IMPORTERS,
    ...INDEXING_IMPORTERS,
    ...INTEGER_PRODUCT_IMPORTERS,
    ...JOINING_IMPORTERS,
    ...LINEAR_IMPORTERS,
    ...LOGICAL_IMPORTERS,
    ...LOSS_IMPORTERS,
    ...NORMALIZATION_IMPORTERS,
    ...PADDING_IMPORTERS,
    ...QUANTIZATION_IMPORTERS,
    ...RANKING_IMPORTERS,
    ...REARRANGING_IMPORTERS,
    ...RECURRENT_IMPORTERS,
    ...REDUCTION_IMPORTERS,
    ...SCATTERING_IMPORTERS,
    ...SOFTMAX_IMPORTERS,
    ...SELECTION_IMPORTERS,
    ...SIGNAL_IMPORTERS,
    ...SPATIAL_IMPORTERS,
  }),
);

/** One importer per operator of the domain com.microsoft. */
export const MICROSOFT_IMPORTERS: ReadonlyMap<string, NodeImporter> = new Map(
  Object.entries({
    ...MICROSOFT_ATTENTION_IMPORTERS,
    ...MICROSOFT_FUSED_IMPORTERS,
    ...MICROSOFT_MOVEMENT_IMPORTERS,
    ...MICROSOFT_NORMALIZATION_IMPORTERS,
    ...MICROSOFT_QUANTIZATION_IMPORTERS,
    ...PACKED_WEIGHT_IMPORTERS,
  }),
);
