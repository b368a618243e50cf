import type { NodeImporter } from '../import-node.ts';
import { importResize, importUpsample } from './resize.ts';

export const SPATIAL_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  Resize: importResize,
  Upsample: importUpsample,
};
