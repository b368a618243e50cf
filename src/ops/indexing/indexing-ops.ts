import { checkIndices } from './check-indices.ts';
import { gatherElements } from './gather-elements.ts';
import { gatherNd } from './gather-nd.ts';
import { oneHot } from './one-hot.ts';
import { reverseSequence } from './reverse-sequence.ts';
import { scatterElements } from './scatter-elements.ts';
import { scatterNd } from './scatter-nd.ts';
import { tensorScatter } from './tensor-scatter.ts';
import { topK } from './top-k.ts';
import { trilu } from './trilu.ts';

export const INDEXING_OPS = [
  gatherElements,
  gatherNd,
  oneHot,
  reverseSequence,
  tensorScatter,
  trilu,
  checkIndices,
  scatterElements,
  scatterNd,
  topK,
] as const;

export type IndexingName = (typeof INDEXING_OPS)[number]['name'];
