import type { LiteImporters } from '../lite-importer.ts';
import { ACTIVATION_IMPORTERS } from './activation.ts';
import { CONTROL_FLOW_IMPORTERS } from './control-flow.ts';
import { CONVOLUTION_IMPORTERS } from './convolution.ts';
import { ELEMENTWISE_IMPORTERS } from './elementwise.ts';
import { INDEXING_IMPORTERS } from './indexing.ts';
import { LINEAR_IMPORTERS } from './linear.ts';
import { MOVEMENT_IMPORTERS } from './movement.ts';
import { REDUCTION_IMPORTERS } from './reduction.ts';
import { SPATIAL_IMPORTERS } from './spatial.ts';
import { STORAGE_IMPORTERS } from './storage.ts';

/** The builtin operators that Weft imports, by name. */
export const BUILTIN_IMPORTERS: LiteImporters = {
  ...ACTIVATION_IMPORTERS,
  ...CONTROL_FLOW_IMPORTERS,
  ...CONVOLUTION_IMPORTERS,
  ...ELEMENTWISE_IMPORTERS,
  ...INDEXING_IMPORTERS,
  ...LINEAR_IMPORTERS,
  ...MOVEMENT_IMPORTERS,
  ...REDUCTION_IMPORTERS,
  ...SPATIAL_IMPORTERS,
  ...STORAGE_IMPORTERS,
};
