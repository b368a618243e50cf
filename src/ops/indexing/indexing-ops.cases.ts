import type { OpCases } from '../op-cases.ts';
import { gatherElementsCases } from './gather-elements.cases.ts';
import { gatherNdCases } from './gather-nd.cases.ts';
import { oneHotCases } from './one-hot.cases.ts';
import { reverseSequenceCases } from './reverse-sequence.cases.ts';
import { tensorScatterCases } from './tensor-scatter.cases.ts';
import { triluCases } from './trilu.cases.ts';
import { checkIndicesCases } from './check-indices.cases.ts';
import { scatterElementsCases } from './scatter-elements.cases.ts';
import { scatterNdCases } from './scatter-nd.cases.ts';
import { topKCases } from './top-k.cases.ts';
import type { IndexingName } from './indexing-ops.ts';

export const INDEXING_CASES = {
  gather_elements: gatherElementsCases,
  gather_nd: gatherNdCases,
  one_hot: oneHotCases,
  reverse_sequence: reverseSequenceCases,
  tensor_scatter: tensorScatterCases,
  trilu: triluCases,
  check_indices: checkIndicesCases,
  scatter_elements: scatterElementsCases,
  scatter_nd: scatterNdCases,
  top_k: topKCases,
} satisfies Record<IndexingName, OpCases>;
