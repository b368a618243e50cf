import type { OpReference } from '../op-reference.ts';
import { gatherElementsReference } from './gather-elements.reference.ts';
import { gatherNdReference } from './gather-nd.reference.ts';
import { oneHotReference } from './one-hot.reference.ts';
import { reverseSequenceReference } from './reverse-sequence.reference.ts';
import { tensorScatterReference } from './tensor-scatter.reference.ts';
import { triluReference } from './trilu.reference.ts';
import { checkIndicesReference } from './check-indices.reference.ts';
import { scatterElementsReference } from './scatter-elements.reference.ts';
import { scatterNdReference } from './scatter-nd.reference.ts';
import { topKReference } from './top-k.reference.ts';
import type { IndexingName } from './indexing-ops.ts';

export const INDEXING_REFERENCES = {
  gather_elements: gatherElementsReference,
  gather_nd: gatherNdReference,
  one_hot: oneHotReference,
  reverse_sequence: reverseSequenceReference,
  tensor_scatter: tensorScatterReference,
  trilu: triluReference,
  check_indices: checkIndicesReference,
  scatter_elements: scatterElementsReference,
  scatter_nd: scatterNdReference,
  top_k: topKReference,
} satisfies Record<IndexingName, OpReference>;
