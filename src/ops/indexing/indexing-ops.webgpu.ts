import type { Lowering } from '../lowering.ts';
import type { IndexingName } from './indexing-ops.ts';
import { lowerScatterElements } from './scatter-elements-lowering.ts';
import { lowerScatterNd } from './scatter-nd-lowering.ts';
import { lowerTensorScatter } from './tensor-scatter-lowering.ts';
import { lowerTopK } from './top-k-lowering.ts';

export const INDEXING_WEBGPU = {
  tensor_scatter: lowerTensorScatter,
  scatter_elements: lowerScatterElements,
  scatter_nd: lowerScatterNd,
  top_k: lowerTopK,
} satisfies Partial<Record<IndexingName, Lowering>>;
